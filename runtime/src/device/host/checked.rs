//! Kernels compiled with checks: each load and store is compared with the arrays of the launch.
//!
//! In: a source, as for any host kernel. After: an access outside the arrays of a launch, a store to a read-only array,
//! a load of a real that has not been written since its buffer was poisoned, or an index outside a local array ends the
//! kernel and is reported with the array and the index. An access to the wrong value of the right array is not
//! detected.
//!
//! The compiler inserts the checks with its address sanitizer, in the mode for operating system kernels. The functions
//! that it calls are in `checked.c`.

use std::ffi::c_void;
use std::ops::Range;

use super::super::array::{Array, Scalar};
use super::super::error::DeviceError;
use super::{Entry, Function, Packed, Value};

/// Compiler flags for checked kernels. Vectorization is not enabled, so that each access is a separate operation.
pub(super) const FLAGS: &[&str] = &[
    "-std=c11",
    "-O1",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-shared",
    "-fPIC",
    "-fno-semantic-interposition",
    "-Dmemcpy=lbmc_copy",
    "-fsanitize=kernel-address",
    "-fsanitize=bounds",
    "--param=asan-instrumentation-with-call-threshold=0",
    "--param=asan-stack=0",
    "--param=asan-globals=0",
];

/// Text appended to a source.
pub(super) const HOOKS: &str = include_str!("checked.c");

/// The symbol that calls a kernel.
pub(super) const CALL: &[u8] = b"lbmc_checked";

/// An array of a launch, or other memory that the launch may access; declared identically in `checked.c`.
#[repr(C)]
pub(super) struct Lent {
    begin: *const u8,
    bytes: usize,
    argument: i32,
    written: i32,
    size: i32,
}

/// A detected error; declared identically in `checked.c`.
#[repr(C)]
pub(super) struct Wrong {
    kind: i32,
    store: i32,
    argument: i32,
    line: i32,
    at: i64,
    of: [u8; 64],
}

/// Type of `lbmc_checked`.
pub(super) type Call = unsafe extern "C" fn(Function, *const *mut c_void, *const Lent, i32, *mut Wrong);

/// The memory that a launch may access.
pub(super) struct Reach {
    lent: Vec<Lent>,
}

// SAFETY: addresses of memory that is borrowed for the launch; Rust code does not dereference them.
#[allow(unsafe_code)]
unsafe impl Sync for Reach {}

impl Reach {
    /// The arrays among the arguments.
    pub(super) fn of(args: &[Value<'_>]) -> Self {
        let lent = args.iter().enumerate().filter_map(|(argument, arg)| {
            let (array, range, written) = array_of(arg)?;
            let size = match array.scalar() {
                Scalar::F32 => 4,
                Scalar::F64 => 8,
                Scalar::I32 | Scalar::F16 => 0,
            };
            Some(Lent {
                begin: (array.address() + array.offset(range.start)) as usize as *const u8,
                bytes: range.len() * array.scalar().bytes(),
                argument: argument as i32,
                written: i32::from(written),
                size,
            })
        });
        Reach { lent: lent.collect() }
    }

    /// Calls a kernel; `pointers` lead to its arguments.
    #[allow(unsafe_code)]
    pub(super) fn call(
        &self,
        entry: &Entry,
        call: Call,
        args: &[Packed<'_>],
        pointers: &[*mut c_void],
        values: &[Value<'_>],
    ) -> Result<(), String> {
        let plain = |begin: *const u8, bytes: usize| Lent { begin, bytes, argument: -1, written: 0, size: 0 };
        let structs = args.iter().filter_map(|arg| match arg {
            Packed::Struct(words) => Some(plain(words.as_ptr().cast(), size_of_val(*words))),
            Packed::Cell(_) => None,
        });
        let of_arrays = self.lent.iter().map(|lent| Lent { ..*lent });
        let of_call =
            [plain(args.as_ptr().cast(), size_of_val(args)), plain(pointers.as_ptr().cast(), size_of_val(pointers))];
        let lent: Vec<Lent> = of_arrays.chain(of_call).chain(structs).collect();
        let mut wrong = Wrong { kind: 0, store: 0, argument: -1, line: 0, at: 0, of: [0; 64] };
        // SAFETY: as for a kernel without checks. Only C frames lie between this call and the kernel, so the `longjmp`
        // of a failed check skips no Rust frame.
        unsafe { call(entry.packed, pointers.as_ptr(), lent.as_ptr(), lent.len() as i32, &mut wrong) }
        wrong.reported(&entry.arguments, values)
    }
}

/// The array of an argument, the range of its values that the kernel may access, and whether it may write them.
fn array_of<'a>(arg: &'a Value<'_>) -> Option<(&'a Array, Range<usize>, bool)> {
    match arg {
        Value::Read(array) => Some((array, 0..array.len, false)),
        Value::Slice(array, range) => Some((array, range.clone(), false)),
        Value::Write(array) | Value::Peer(array) => Some((array, 0..array.len, true)),
        Value::WriteFrom(array, start) => Some((array, *start..array.len, true)),
        Value::Int(_) | Value::Struct(_) => None,
    }
}

impl Wrong {
    fn reported(&self, names: &[String], values: &[Value<'_>]) -> Result<(), String> {
        let does = if self.store == 1 { "writes" } else { "reads" };
        let argument = usize::try_from(self.argument).ok();
        let name = argument.and_then(|at| names.get(at)).map_or("an argument".to_string(), |name| format!("`{name}`"));
        let array = argument.and_then(|at| array_of(&values[at]));
        let (scalar, len) = array.as_ref().map_or((Scalar::I32, 0), |(array, range, _)| (array.scalar(), range.len()));
        let place = self.at.div_euclid(scalar.bytes() as i64);
        Err(match self.kind {
            0 => return Ok(()),
            1 if array.is_none() => format!("it {does} memory that is none of its arguments"),
            1 => format!("it {does} value {place} of {name}, which has {len}, 0 to {}", len.saturating_sub(1)),
            2 => format!("it writes value {place} of {name}, which it is only given to read"),
            3 => format!("it reads value {place} of {name}, which nothing has written"),
            _ => {
                let of: Vec<u8> = self.of.iter().copied().take_while(|byte| *byte != 0).collect();
                let of = String::from_utf8_lossy(&of).replace('\'', "`");
                format!("index {} is outside of an array of type {of}, in line {} of its text", self.at, self.line)
            }
        })
    }
}

/// Refuses compilers that do not support [`FLAGS`], by their version text: all but GCC.
pub(super) fn refuse_others(version: &str, compiler: String) -> Result<(), DeviceError> {
    match version.contains("Free Software Foundation") {
        true => Ok(()),
        false => Err(DeviceError::NoChecks { compiler }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_compiler_than_gcc_is_refused() {
        let gcc = "cc (Debian 12.2.0) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n";
        assert!(refuse_others(gcc, "cc (Debian 12.2.0) 12.2.0".into()).is_ok());
        let error = refuse_others("clang version 15.0.6\n", "clang version 15.0.6".into()).expect_err("no GCC");
        assert!(error.to_string().contains("clang version 15.0.6"), "{error}");
    }
}
