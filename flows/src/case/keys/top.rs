//! The keys at the top of a case file.

use std::collections::BTreeSet;

use lbm_bundle::{Real, Storage};
use lbm_runtime::mesh::MOST_SUBDOMAINS as MOST_DEVICES;

use super::reader::Reader;
use crate::case::devices::{Buffers, Devices, TargetChoice};
use crate::case::diag::{self, Spanned};
use crate::case::results::is_plain;
use crate::case::takes::{COUNT, LEVEL, TEXT, Takes};
use crate::case::tree::{Kind, Table, Value};

keys! {
    /// The keys at the top.
    RawTop, "" {
        name: String = case_name(), TEXT,
            "name of the case, in titles; default: the name of its file";
        spec: Spanned<String> = text(), TEXT,
            "the method: the name of a shipped spec, or a path to a .lbm file", else "the method to run", "for example `spec = \"d2q9_bgk\"`; `lbmc specs` lists what is shipped";
        target: TargetChoice = target(), Takes::Word(&["auto", "cuda", "hip", "cpu", "checked"]),
            "auto, cuda, hip, cpu, or checked: the CPU, each access of a kernel to memory checked, some 30 times slower", or TargetChoice::Auto;
        devices: Spanned<Devices> = devices(), Takes::Either(&[COUNT, Takes::List(&LEVEL)]),
            "number of devices, or the numbers of GPUs: 2, [0, 1]; on the host, the number of subdomains";
        precision: Real = real(), Takes::Word(&["f32", "f64", "f16/f32"]),
            "f32, f64, or f16/f32: stored in 16 bits, computed in 32", or Real::F32;
        storage: Spanned<Storage> = storage(), Takes::Word(&["populations", "moments", "auto"]),
            "populations, moments (from which populations follow), or auto: the faster one";
        buffers: Spanned<Buffers> = buffers(), Takes::Either(&[COUNT, Takes::Word(&["auto"])]),
            "sets of populations: 2, 1 (steps replace populations in place, in half the memory), or auto: 1 where 2 do not fit; default: 2";
        block: Spanned<Vec<u32>> = block(), Takes::List(&COUNT),
            "cells of a block along each axis; default: chosen by domain, target and precision";
    }
}

impl Reader {
    /// What the case is called: a part of paths.
    fn case_name(&mut self, root: &Table, key: &str) -> Option<String> {
        let name = self.text(root, key)?;
        if is_plain(&name.value) {
            return Some(name.value);
        }
        let help = "results go to `out/NAME`: a name has no slashes, and no dot in front".to_string();
        self.report.add(diag::BAD_VALUE, &name.span, "a case cannot have this name", "not a name", help)
    }

    fn target(&mut self, root: &Table, key: &str) -> Option<TargetChoice> {
        self.one_of(root, key, TargetChoice::WORDS).map(|target| target.value)
    }

    fn real(&mut self, root: &Table, key: &str) -> Option<Real> {
        self.one_of(root, key, Real::ALL.map(|real| (real.name(), real))).map(|real| real.value)
    }

    fn storage(&mut self, root: &Table, key: &str) -> Option<Spanned<Storage>> {
        self.one_of(root, key, Storage::ALL.map(|storage| (storage.name(), storage)))
    }

    /// How many sets of populations there are: a number, or a word.
    fn buffers(&mut self, root: &Table, key: &str) -> Option<Spanned<Buffers>> {
        let value = &root.get(key)?.value;
        let help = "write `buffers = 2`, `buffers = 1`, or `buffers = \"auto\"`".to_string();
        let buffers = match &value.kind {
            Kind::Integer(1) => Buffers::One,
            Kind::Integer(2) => Buffers::Two,
            Kind::Text(word) if word == "auto" => Buffers::Auto,
            Kind::Integer(_) | Kind::Text(_) => {
                let message = "a flow has one or two sets of populations";
                return self.report.add(diag::BAD_VALUE, &value.span, message, "not 1, 2 or \"auto\"", help);
            }
            _ => return self.wrong_type(value, "an integer or \"auto\"", help),
        };
        Some(Spanned { value: buffers, span: value.span.clone() })
    }

    /// What one of some words means.
    fn one_of<T: Copy, const N: usize>(
        &mut self,
        table: &Table,
        key: &str,
        words: [(&'static str, T); N],
    ) -> Option<Spanned<T>> {
        let word = self.word(table, key, &words.map(|(word, _)| word))?;
        let (_, value) = words.into_iter().find(|(known, _)| *known == word.value)?;
        Some(Spanned { value, span: word.span })
    }

    /// What a flow runs on: a number of devices, or on GPUs a list of their numbers.
    fn devices(&mut self, root: &Table, key: &str) -> Option<Spanned<Devices>> {
        let value = &root.get(key)?.value;
        let target = root.get("target").map(|entry| &entry.value.kind);
        let is_host = |(word, of): &(&str, TargetChoice)| {
            of.is_host() && matches!(target, Some(Kind::Text(target)) if target == word)
        };
        let on_host = TargetChoice::WORDS.iter().any(is_host);
        let help = || Some("write how many, `devices = 2`, or the numbers of GPUs, `devices = [0, 1]`".to_string());
        let number = |value: &Value| match value.kind {
            Kind::Integer(number) => usize::try_from(number).ok().filter(|number| *number <= MOST_DEVICES),
            _ => None,
        };
        let devices = match &value.kind {
            Kind::Integer(_) => number(value).filter(|count| *count > 0).map(Devices::Count),
            Kind::List(_) if on_host => {
                let help = Some("the host has no numbers: `devices = 2` divides the flow into two parts".to_string());
                let message = "a list of devices names GPUs, and `target` is the CPU";
                return self.report.add(diag::NO_DEVICES, &value.span, message, "not on the host", help);
            }
            Kind::List(values) => {
                let numbers: Option<Vec<usize>> = values.iter().map(number).collect();
                let once = |numbers: &Vec<usize>| numbers.iter().collect::<BTreeSet<_>>().len() == numbers.len();
                numbers.filter(|numbers| !numbers.is_empty() && once(numbers)).map(Devices::Gpus)
            }
            _ => {
                return self.wrong_type(value, "an integer or a list of integers", help().unwrap_or_default());
            }
        };
        match devices {
            Some(value_of) => Some(Spanned { value: value_of, span: value.span.clone() }),
            None => {
                let message = "no flow can run on these devices";
                self.report.add(diag::NO_DEVICES, &value.span, message, "not one or more devices, each once", help())
            }
        }
    }

    fn block(&mut self, root: &Table, key: &str) -> Option<Spanned<Vec<u32>>> {
        let entry = root.get(key)?;
        let help = "for example `block = [8, 8]`, or `[4, 4, 4]` in three dimensions";
        let Kind::List(list) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a list", help.to_string());
        };
        let mut block = vec![];
        for value in list {
            match &value.kind {
                Kind::Integer(cells @ 1..=64) => block.push(*cells as u32),
                Kind::Integer(_) => {
                    return self.report.add(
                        diag::BAD_VALUE,
                        &value.span,
                        "a block has 1 to 64 cells along an axis",
                        "out of range",
                        help.to_string(),
                    );
                }
                _ => return self.wrong_type(value, "an integer", help.to_string()),
            }
        }
        Some(Spanned { value: block, span: entry.value.span.clone() })
    }
}
