//! On what a flow runs, as a case asks for it.

use lbm_bundle::Target;

/// Where to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    /// On a GPU if there is one, else on the CPU.
    Auto,
    /// On a GPU that runs kernels of this target.
    Gpu(Target),
    /// On the CPU.
    Cpu,
    /// The same, where each access of a kernel is compared with the arrays it was given.
    Checked,
}

impl TargetChoice {
    /// As a case says it.
    pub(crate) const WORDS: [(&'static str, TargetChoice); 5] = [
        ("auto", TargetChoice::Auto),
        ("cuda", TargetChoice::Gpu(Target::Cuda)),
        ("hip", TargetChoice::Gpu(Target::Hip)),
        ("cpu", TargetChoice::Cpu),
        ("checked", TargetChoice::Checked),
    ];

    /// Whether it is the CPU that is asked for.
    pub fn is_host(self) -> bool {
        matches!(self, TargetChoice::Cpu | TargetChoice::Checked)
    }
}

/// How many sets of populations a flow has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffers {
    /// One: steps replace populations in it.
    One,
    /// Two: a step reads one and writes the other.
    #[default]
    Two,
    /// Two where they fit into memory, else one.
    Auto,
}

/// What a flow runs on, a part of it on each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// So many devices: GPUs of the numbers from 0 on, or parts on the host.
    Count(usize),
    /// GPUs by their numbers, each once.
    Gpus(Vec<usize>),
}

impl Devices {
    /// How many they are.
    pub fn count(&self) -> usize {
        match self {
            Devices::Count(count) => *count,
            Devices::Gpus(numbers) => numbers.len(),
        }
    }

    /// The numbers of the GPUs, where they are GPUs.
    pub fn gpus(&self) -> Vec<usize> {
        match self {
            Devices::Count(count) => (0..*count).collect(),
            Devices::Gpus(numbers) => numbers.clone(),
        }
    }
}
