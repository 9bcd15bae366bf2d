//! The HIP runtime and hiprtc: their functions, from libraries that are loaded when they are first used.
//!
//! The libraries are those in `$HIP_PATH/lib` or `$ROCM_PATH/lib`, else those that the dynamic loader finds, else those
//! in `/opt/rocm/lib`. Only functions and numbers that are the same from ROCm 5 on are used. The properties of a device
//! are a struct that changed with ROCm 6, along with the name of the function that fills it.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::Library;

use crate::device::error::DeviceError;

/// Result of a function of the runtime: 0, or an error.
pub(super) type Status = c_int;

/// Opaque pointers.
pub(super) type Stream = *mut c_void;
pub(super) type Event = *mut c_void;
pub(super) type Module = *mut c_void;
pub(super) type Function = *mut c_void;
pub(super) type Program = *mut c_void;

/// Enums.
type Attribute = c_int;
type Way = c_int;

/// Identifier of a GPU.
type Uuid = [c_char; 16];

/// Errors, attributes and flags of `hip_runtime_api.h`.
pub(super) const OUT_OF_MEMORY: Status = 2;
pub(super) const NOT_FOUND: Status = 500;
pub(super) const MULTIPROCESSOR_COUNT: c_int = 63;
pub(super) const MAX_THREADS_PER_MULTIPROCESSOR: c_int = 57;
pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 74;
pub(super) const WARP_SIZE: c_int = 87;
pub(super) const TO_DEVICE: c_int = 1;
pub(super) const TO_HOST: c_int = 2;
pub(super) const ON_DEVICE: c_int = 3;
pub(super) const NON_BLOCKING: c_uint = 1;

/// The functions that fill the properties of a device, each with the offset of the name of its architecture
/// (`gcnArchName`): of ROCm 6 and later, and of ROCm 5.
const PROPERTIES: [(&str, usize); 2] = [("hipGetDevicePropertiesR0600", 1160), ("hipGetDeviceProperties", 396)];

/// More bytes than the properties of a device have in any version.
const PROPERTIES_BYTES: usize = 1 << 14;

/// Bytes of the name of an architecture.
const ARCHITECTURE_BYTES: usize = 256;

/// Declares functions of a library, all of which return an error or 0.
macro_rules! functions {
    ($(#[$doc:meta])* $of:ident { $($name:ident($($kind:ty),*);)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        pub(super) struct $of {
            $(pub $name: unsafe extern "C" fn($($kind),*) -> Status,)*
        }

        impl $of {
            /// The functions of a loaded library, or the name of one that it lacks.
            #[allow(unsafe_code)]
            fn of(library: &'static Library) -> Result<$of, &'static str> {
                Ok($of {
                    // SAFETY: functions of these names have these types in all versions (see `declarations`).
                    $($name: *unsafe { library.get(stringify!($name).as_bytes()) }.map_err(|_| stringify!($name))?,)*
                })
            }

            /// The name and the types of the parameters of each function.
            #[cfg(test)]
            const DECLARED: &'static [(&'static str, &'static [&'static str])] =
                &[$((stringify!($name), &[$(stringify!($kind)),*])),*];
        }
    };
}

functions! {
    /// Functions of the runtime.
    Runtime {
        hipGetDeviceCount(*mut c_int);
        hipSetDevice(c_int);
        hipDeviceGetAttribute(*mut c_int, Attribute, c_int);
        hipDeviceGetName(*mut c_char, c_int, c_int);
        hipDeviceGetUuid(*mut Uuid, c_int);
        hipMemGetInfo(*mut usize, *mut usize);
        hipMalloc(*mut *mut c_void, usize);
        hipFree(*mut c_void);
        hipMemcpyAsync(*mut c_void, *const c_void, usize, Way, Stream);
        hipMemsetAsync(*mut c_void, c_int, usize, Stream);
        hipStreamCreateWithFlags(*mut Stream, c_uint);
        hipStreamSynchronize(Stream);
        hipStreamDestroy(Stream);
        hipEventCreate(*mut Event);
        hipEventRecord(Event, Stream);
        hipEventSynchronize(Event);
        hipEventElapsedTime(*mut f32, Event, Event);
        hipEventDestroy(Event);
        hipModuleLoadData(*mut Module, *const c_void);
        hipModuleGetFunction(*mut Function, Module, *const c_char);
        hipModuleUnload(Module);
        hipModuleLaunchKernel(
            Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream, *mut *mut c_void,
            *mut *mut c_void
        );
    }
}

functions! {
    /// Functions of the compiler.
    Compiler {
        hiprtcVersion(*mut c_int, *mut c_int);
        hiprtcCreateProgram(*mut Program, *const c_char, *const c_char, c_int, *mut *const c_char, *mut *const c_char);
        hiprtcCompileProgram(Program, c_int, *mut *const c_char);
        hiprtcGetProgramLogSize(Program, *mut usize);
        hiprtcGetProgramLog(Program, *mut c_char);
        hiprtcGetCodeSize(Program, *mut usize);
        hiprtcGetCode(Program, *mut c_char);
        hiprtcDestroyProgram(*mut Program);
    }
}

/// The text of an error, as a function gives it.
type Text = unsafe extern "C" fn(c_int) -> *const c_char;

/// The loaded libraries, which stay loaded.
pub(super) struct Api {
    pub runtime: Runtime,
    pub compiler: Compiler,
    text: Text,
    compiler_text: Text,
    /// Fills the properties of a device; the offset of the name of its architecture in them.
    properties: (unsafe extern "C" fn(*mut c_char, c_int) -> Status, usize),
}

/// The libraries, or the reason why they cannot be used.
pub(super) fn api() -> Result<&'static Api, DeviceError> {
    static FOUND: OnceLock<Result<Api, String>> = OnceLock::new();
    FOUND.get_or_init(Api::load).as_ref().map_err(|reason| DeviceError::NoGpu { reason: reason.clone() })
}

/// A library of ROCm. It is never unloaded.
#[allow(unsafe_code)]
fn open(name: &str) -> Option<&'static Library> {
    let root = |variable: &str| std::env::var_os(variable).map(|root| PathBuf::from(root).join("lib"));
    let named = ["HIP_PATH", "ROCM_PATH"].into_iter().filter_map(root);
    let usual = [PathBuf::new(), PathBuf::from("/opt/rocm/lib")];
    // SAFETY: libraries of ROCm, whose initialisers permit loading.
    let found = named.chain(usual).find_map(|folder| unsafe { Library::new(folder.join(name)) }.ok());
    found.map(|library| &*Box::leak(Box::new(library)))
}

impl Api {
    #[allow(unsafe_code)]
    fn load() -> Result<Api, String> {
        let lacks = |library: &'static str| move |name: &str| format!("{library} has no `{name}`");
        let hip = open("libamdhip64.so").ok_or("no HIP runtime found (libamdhip64.so)")?;
        // Before it was a library of its own, hiprtc was part of the runtime.
        let rtc = open("libhiprtc.so").unwrap_or(hip);
        let runtime = Runtime::of(hip).map_err(lacks("libamdhip64.so"))?;
        let compiler = Compiler::of(rtc).map_err(lacks("libhiprtc.so"))?;
        // SAFETY, for the rest: as in `functions`; the buffer of the caller is larger than the properties.
        let text = |library: &'static Library, name: &'static str| {
            unsafe { library.get::<Text>(name.as_bytes()) }
                .map(|found| *found)
                .map_err(|_| format!("no `{name}` found"))
        };
        let (text, compiler_text) = (text(hip, "hipGetErrorString")?, text(rtc, "hiprtcGetErrorString")?);
        let properties = PROPERTIES.into_iter().find_map(|(name, offset)| {
            let found = unsafe { hip.get::<unsafe extern "C" fn(*mut c_char, c_int) -> Status>(name.as_bytes()) };
            Some((*found.ok()?, offset))
        });
        let properties = properties.ok_or("libamdhip64.so has no `hipGetDeviceProperties`")?;
        Ok(Api { runtime, compiler, text, compiler_text, properties })
    }

    /// The text of an error of the runtime.
    pub fn words(&self, error: Status) -> String {
        words(self.text, error)
    }

    /// The text of an error of the compiler.
    pub fn compiler_words(&self, error: Status) -> String {
        words(self.compiler_text, error)
    }

    /// An error if a function of the runtime returned one.
    pub fn check(&self, status: Status, action: &str) -> Result<(), DeviceError> {
        match status {
            0 => Ok(()),
            error => {
                Err(DeviceError::Driver { device: "the GPU".into(), action: action.into(), reason: self.words(error) })
            }
        }
    }

    /// The architecture of a GPU, with the features that its code depends on: `gfx90a:sramecc+:xnack-`.
    #[allow(unsafe_code)]
    pub fn architecture(&self, ordinal: c_int) -> Result<String, DeviceError> {
        let (fill, offset) = self.properties;
        // Aligned for any member of the struct.
        let mut properties = vec![0u64; PROPERTIES_BYTES / 8];
        // SAFETY: the function writes a struct, which is smaller than the buffer.
        let status = unsafe { fill(properties.as_mut_ptr().cast(), ordinal) };
        self.check(status, "tell its properties")?;
        let bytes: Vec<u8> = properties.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let name = &bytes[offset..offset + ARCHITECTURE_BYTES];
        Ok(CStr::from_bytes_until_nul(name).map_or(String::new(), |name| name.to_string_lossy().into_owned()))
    }
}

#[allow(unsafe_code)]
fn words(text: Text, error: Status) -> String {
    // SAFETY: both functions accept any number, and return a static text or null.
    let words = unsafe { text(error) };
    if words.is_null() {
        return format!("error {error}");
    }
    // SAFETY: a text that ends with zero.
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// In C: the headers of ROCm, and then the declarations of this module, which have to agree with them.
    #[test]
    #[expect(clippy::print_stderr)]
    fn declarations_are_those_of_the_headers() {
        let mut probe = Command::new("hipcc");
        let have = probe.env("HIP_PLATFORM", "amd").arg("--version").output().is_ok_and(|run| run.status.success());
        assert!(have || !std::env::var("CI").is_ok_and(|value| value == "true"), "no hipcc here");
        if !have {
            eprintln!("skipped: no hipcc here: apt-get install hipcc libamdhip64-dev");
            return;
        }
        let mut text = "#define __HIP_PLATFORM_AMD__\n#include <stddef.h>\n#include <hip/hip_runtime_api.h>\n\
            #include <hip/hip_version.h>\n#include <hip/hiprtc.h>\n"
            .to_string();
        for (name, value) in [
            ("hipErrorOutOfMemory", OUT_OF_MEMORY),
            ("hipErrorNotFound", NOT_FOUND),
            ("hipDeviceAttributeMultiprocessorCount", MULTIPROCESSOR_COUNT),
            ("hipDeviceAttributeMaxThreadsPerMultiProcessor", MAX_THREADS_PER_MULTIPROCESSOR),
            ("hipDeviceAttributeMaxSharedMemoryPerBlock", MAX_SHARED_MEMORY_PER_BLOCK),
            ("hipDeviceAttributeWarpSize", WARP_SIZE),
            ("hipMemcpyHostToDevice", TO_DEVICE),
            ("hipMemcpyDeviceToHost", TO_HOST),
            ("hipMemcpyDeviceToDevice", ON_DEVICE),
            ("hipStreamNonBlocking", NON_BLOCKING as c_int),
        ] {
            text += &format!("_Static_assert({name} == {value}, \"{name}\");\n");
        }
        let [(_, new), (_, old)] = PROPERTIES;
        text += &format!(
            "_Static_assert(offsetof(hipDeviceProp_t, gcnArchName) == (HIP_VERSION_MAJOR >= 6 ? {new} : {old}), \"\");\n\
             _Static_assert(sizeof(hipDeviceProp_t) <= {PROPERTIES_BYTES}, \"\");\n"
        );
        for (result, declared) in [("hipError_t", Runtime::DECLARED), ("hiprtcResult", Compiler::DECLARED)] {
            for (name, kinds) in declared {
                let kinds: Vec<String> = kinds.iter().map(|kind| c_type(kind)).collect();
                text += &format!("{result} {name}({});\n", kinds.join(", "));
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("declarations.c");
        std::fs::write(&file, &text).unwrap();
        let output = Command::new("cc").arg("-fsyntax-only").arg(&file).output().unwrap();
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    }

    fn c_type(kind: &str) -> String {
        if let Some(to) = kind.strip_prefix("*mut ") {
            return c_type(to) + " *";
        }
        if let Some(to) = kind.strip_prefix("*const ") {
            return format!("const {} *", c_type(to));
        }
        let name = match kind {
            "c_int" => "int",
            "c_uint" => "unsigned",
            "c_char" => "char",
            "c_void" => "void",
            "usize" => "size_t",
            "f32" => "float",
            "Attribute" => "hipDeviceAttribute_t",
            "Way" => "hipMemcpyKind",
            "Uuid" => "hipUUID",
            "Program" => "hiprtcProgram",
            other => return format!("hip{other}_t"),
        };
        name.to_string()
    }
}
