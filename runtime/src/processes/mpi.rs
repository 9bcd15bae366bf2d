//! The functions of Open MPI that are called, in its library as it is found at run time.
//!
//! Handles are as in the `mpi.h` of Open MPI: pointers to objects of the library, the predefined ones under names of their own. The library's
//! own handler of errors ends all processes, so calls return what they are to or do not return.

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// Names of the library: of Linux, of macOS.
const NAMES: [&str; 4] = ["libmpi.so.40", "libmpi.so", "libmpi.40.dylib", "libmpi.dylib"];

/// Any thread calls, one at a time: `MPI_THREAD_SERIALIZED`.
const SERIALIZED: c_int = 2;

/// Bytes of a message at most: counts are 32-bit integers.
const MOST_BYTES: usize = 1 << 30;

/// A pointer of the library.
type Handle = *mut c_void;

/// The functions, with the types that `mpi.h` gives them.
struct Functions {
    rank: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    size: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    all_gather: unsafe extern "C" fn(*const c_void, c_int, Handle, *mut c_void, c_int, Handle, Handle) -> c_int,
    send: unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int,
    wait_all: unsafe extern "C" fn(c_int, *mut Handle, *mut c_void) -> c_int,
    abort: unsafe extern "C" fn(Handle, c_int) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
}

/// Open MPI, from its beginning to its end.
pub(super) struct Mpi {
    functions: Functions,
    /// `MPI_COMM_WORLD`
    world: Handle,
    /// `MPI_BYTE`
    byte: Handle,
    /// Held in each call.
    one_at_a_time: Mutex<()>,
}

// SAFETY: handles are pointers to objects of the library that stay where they are; it was asked for calls from any thread, one at a time,
// and the lock sees to that.
#[allow(unsafe_code)]
unsafe impl Send for Mpi {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Mpi {}

/// What the system says of an error.
fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

#[allow(unsafe_code)]
impl Mpi {
    /// Loads the library and begins; says why that is not possible.
    pub(super) fn load() -> Result<Mpi, String> {
        // SAFETY: whoever started the program with mpirun lets it run the library that belongs to it. Parts of the library that it loads
        // itself look for its symbols among those of the program.
        let open = |name: &str| unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) };
        let mut reason = None;
        let library = NAMES.into_iter().find_map(|name| match open(name) {
            Ok(library) => Some(library),
            Err(error) => {
                reason.get_or_insert(why(&error));
                None
            }
        });
        let Some(library) = library else { return Err(reason.unwrap_or_default()) };
        let missing = |error: libloading::Error| format!("it is no Open MPI: {}", why(&error));
        // SAFETY: the symbols have these types in `mpi.h` of Open MPI; the objects are there as long as the library, which stays.
        unsafe {
            let world = library.get::<Handle>(b"ompi_mpi_comm_world").map_err(missing)?.into_raw();
            let byte = library.get::<Handle>(b"ompi_mpi_byte").map_err(missing)?.into_raw();
            let init: unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int =
                *library.get(b"MPI_Init_thread").map_err(missing)?;
            let functions = Functions {
                rank: *library.get(b"MPI_Comm_rank").map_err(missing)?,
                size: *library.get(b"MPI_Comm_size").map_err(missing)?,
                all_gather: *library.get(b"MPI_Allgather").map_err(missing)?,
                send: *library.get(b"MPI_Isend").map_err(missing)?,
                receive: *library.get(b"MPI_Irecv").map_err(missing)?,
                wait_all: *library.get(b"MPI_Waitall").map_err(missing)?,
                abort: *library.get(b"MPI_Abort").map_err(missing)?,
                finalize: *library.get(b"MPI_Finalize").map_err(missing)?,
            };
            let mut provided = 0;
            let failed = init(ptr::null_mut(), ptr::null_mut(), SERIALIZED, &mut provided) != 0;
            // It stays where it is: what it has started may outlast its end.
            std::mem::forget(library);
            let mpi = Mpi { functions, world, byte, one_at_a_time: Mutex::new(()) };
            if failed || provided < SERIALIZED {
                return Err("it does not let threads call it one at a time".into());
            }
            Ok(mpi)
        }
    }

    fn asked(&self, function: unsafe extern "C" fn(Handle, *mut c_int) -> c_int) -> usize {
        let _one = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = 0;
        // SAFETY: it writes one integer.
        unsafe { function(self.world, &mut found) };
        found as usize
    }

    /// The number of this process.
    pub(super) fn rank(&self) -> usize {
        self.asked(self.functions.rank)
    }

    /// How many there are.
    pub(super) fn size(&self) -> usize {
        self.asked(self.functions.size)
    }

    /// A number of each process.
    pub(super) fn all_gather(&self, own: u64) -> Vec<u64> {
        let mut all = vec![0u64; self.size()];
        let bytes = size_of::<u64>() as c_int;
        let _one = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: it reads the bytes of one number and writes those of as many as there are processes.
        unsafe {
            let (from, to) = (ptr::from_ref(&own).cast(), all.as_mut_ptr().cast());
            (self.functions.all_gather)(from, bytes, self.byte, to, bytes, self.byte, self.world)
        };
        all
    }

    /// Sends bytes to processes and receives so many of others; those of two processes arrive in the order in which they were sent.
    pub(super) fn exchange(&self, sent: &[(usize, &[u8])], expected: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut received: Vec<Vec<u8>> = expected.iter().map(|(_, length)| vec![0; *length]).collect();
        let mut requests: Vec<Handle> = vec![];
        let _one = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mut begin = |start: &dyn Fn(*mut Handle)| {
            let mut request = MaybeUninit::uninit();
            start(request.as_mut_ptr());
            // SAFETY: the library has written a handle there.
            requests.push(unsafe { request.assume_init() });
        };
        // SAFETY: a message is no longer than the bytes that it is read from or written to; these stay where they are, and are not
        // touched, until all requests are done. What is expected is as long as what is sent.
        for ((from, _), bytes) in expected.iter().zip(&mut received) {
            for piece in bytes.chunks_mut(MOST_BYTES) {
                let (to, length) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
                begin(&|request| unsafe {
                    (self.functions.receive)(to, length, self.byte, *from as c_int, 0, self.world, request);
                });
            }
        }
        for (to, bytes) in sent {
            for piece in bytes.chunks(MOST_BYTES) {
                let (from, length) = (piece.as_ptr().cast(), piece.len() as c_int);
                begin(&|request| unsafe {
                    (self.functions.send)(from, length, self.byte, *to as c_int, 0, self.world, request);
                });
            }
        }
        // SAFETY: these are the requests, each once; nobody asks for what became of them (`MPI_STATUSES_IGNORE`).
        unsafe { (self.functions.wait_all)(requests.len() as c_int, requests.as_mut_ptr(), ptr::null_mut()) };
        received
    }

    /// Ends all processes.
    pub(super) fn abort(&self, status: c_int) {
        // SAFETY: it may be called while another call waits, and does not return.
        unsafe { (self.functions.abort)(self.world, status) };
    }
}

#[allow(unsafe_code)]
impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Others may wait for this one.
            self.abort(101);
        }
        // SAFETY: nothing is called after it.
        unsafe { (self.functions.finalize)() };
    }
}
