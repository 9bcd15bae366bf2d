//! The MPI functions in use, from a library found at run time.
//!
//! MPI libraries have one of two binary interfaces. In that of Open MPI, handles are pointers to objects of the
//! library, and predefined handles are symbols. In that of MPICH and compatible libraries (Intel MPI, MVAPICH, Cray
//! MPI), handles are integers. The library's default error handler aborts all processes, so a call either succeeds or
//! does not return.

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// The MPI that has started the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
    /// Open MPI.
    Open,
    /// MPICH or a compatible library.
    Mpich,
    /// A launcher that serves both.
    Either,
}

impl Launcher {
    /// Names of the library on Linux and macOS.
    fn names(self) -> Vec<&'static str> {
        let open = ["libmpi.so.40", "libmpi.40.dylib"];
        let mpich = ["libmpi.so.12", "libmpich.so.12", "libmpi.12.dylib", "libmpich.12.dylib"];
        let any = ["libmpi.so", "libmpi.dylib"];
        match self {
            Launcher::Open => [&open[..], &any].concat(),
            Launcher::Mpich => [&mpich[..], &any].concat(),
            Launcher::Either => [&open[..], &mpich, &any].concat(),
        }
    }

    /// Whether a library belongs to the MPI that has started the processes.
    #[allow(unsafe_code)]
    fn has_started(self, library: &Library) -> bool {
        // SAFETY: the symbol is not used.
        let is_open = unsafe { library.get::<*mut c_void>(OPEN_WORLD) }.is_ok();
        self == Launcher::Either || is_open == (self == Launcher::Open)
    }
}

/// A symbol that only Open MPI has.
const OPEN_WORLD: &[u8] = b"ompi_mpi_comm_world";

/// `MPI_THREAD_SERIALIZED`: any thread may call, one at a time.
const SERIALIZED: c_int = 2;

/// Largest message in bytes: counts are 32-bit integers.
const MOST_BYTES: usize = 1 << 30;

/// `MPI_COMM_WORLD`, `MPI_BYTE` and `MPI_STATUSES_IGNORE` in the MPICH interface.
const MPICH: (c_int, c_int, *mut c_void) = (0x4400_0000, 0x4c00_010d, ptr::without_provenance_mut(1));

/// The functions, with the types in `mpi.h`, and predefined handles, which have type `H`.
struct Calls<H> {
    rank: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    size: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    all_gather: unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int,
    send: unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    wait_all: unsafe extern "C" fn(c_int, *mut H, *mut c_void) -> c_int,
    abort: unsafe extern "C" fn(H, c_int) -> c_int,
    finalize: unsafe extern "C" fn() -> c_int,
    /// `MPI_COMM_WORLD`
    world: H,
    /// `MPI_BYTE`
    byte: H,
    /// `MPI_STATUSES_IGNORE`
    ignored: *mut c_void,
}

/// The calls in use, independent of the type of handles.
trait Called {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;
    fn all_gather(&self, own: u64, all: &mut [u64]);
    fn exchange(&self, sent: &[(usize, &[u8])], expected: &mut [(usize, &mut [u8])]);
    fn abort(&self, status: c_int);
    fn finalize(&self);
}

#[allow(unsafe_code)]
impl<H: Copy> Calls<H> {
    /// Looks up the functions in a library; the predefined handles are given.
    fn new(library: &Library, (world, byte, ignored): (H, H, *mut c_void)) -> Result<Calls<H>, libloading::Error> {
        // SAFETY: the symbols have these types in the library's `mpi.h`, with handles of type `H`.
        unsafe {
            Ok(Calls {
                rank: *library.get(b"MPI_Comm_rank")?,
                size: *library.get(b"MPI_Comm_size")?,
                all_gather: *library.get(b"MPI_Allgather")?,
                send: *library.get(b"MPI_Isend")?,
                receive: *library.get(b"MPI_Irecv")?,
                wait_all: *library.get(b"MPI_Waitall")?,
                abort: *library.get(b"MPI_Abort")?,
                finalize: *library.get(b"MPI_Finalize")?,
                world,
                byte,
                ignored,
            })
        }
    }

    fn asked(&self, function: unsafe extern "C" fn(H, *mut c_int) -> c_int) -> usize {
        let mut found = 0;
        // SAFETY: the function writes one integer.
        unsafe { function(self.world, &mut found) };
        found as usize
    }
}

#[allow(unsafe_code)]
impl<H: Copy> Called for Calls<H> {
    fn rank(&self) -> usize {
        self.asked(self.rank)
    }

    fn size(&self) -> usize {
        self.asked(self.size)
    }

    fn all_gather(&self, own: u64, all: &mut [u64]) {
        let bytes = size_of::<u64>() as c_int;
        // SAFETY: reads the bytes of one number and writes one number per process.
        unsafe {
            let (from, to) = (ptr::from_ref(&own).cast(), all.as_mut_ptr().cast());
            (self.all_gather)(from, bytes, self.byte, to, bytes, self.byte, self.world)
        };
    }

    fn exchange(&self, sent: &[(usize, &[u8])], expected: &mut [(usize, &mut [u8])]) {
        let mut requests: Vec<H> = vec![];
        let mut begin = |start: &dyn Fn(*mut H)| {
            let mut request = MaybeUninit::uninit();
            start(request.as_mut_ptr());
            // SAFETY: the library has written a handle there.
            requests.push(unsafe { request.assume_init() });
        };
        // SAFETY: each message is exactly as long as its buffer. The buffers are neither moved nor accessed until all
        // requests are complete. Send and receive lengths match.
        for (from, bytes) in expected {
            for piece in bytes.chunks_mut(MOST_BYTES) {
                let (to, length) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
                begin(&|request| unsafe {
                    (self.receive)(to, length, self.byte, *from as c_int, 0, self.world, request);
                });
            }
        }
        for (to, bytes) in sent {
            for piece in bytes.chunks(MOST_BYTES) {
                let (from, length) = (piece.as_ptr().cast(), piece.len() as c_int);
                begin(&|request| unsafe {
                    (self.send)(from, length, self.byte, *to as c_int, 0, self.world, request);
                });
            }
        }
        // SAFETY: each request is passed once; statuses are ignored.
        unsafe { (self.wait_all)(requests.len() as c_int, requests.as_mut_ptr(), self.ignored) };
    }

    fn abort(&self, status: c_int) {
        // SAFETY: may be called while another call blocks; does not return.
        unsafe { (self.abort)(self.world, status) };
    }

    fn finalize(&self) {
        // SAFETY: no MPI call follows.
        unsafe { (self.finalize)() };
    }
}

/// An initialised MPI library; finalized when dropped.
pub(super) struct Mpi {
    calls: Box<dyn Called>,
    /// Locked during each call.
    one_at_a_time: Mutex<()>,
}

// SAFETY: handles are integers, or pointers to objects of the library that do not move. The library was initialised for
// calls from any thread, one at a time, which the lock ensures.
#[allow(unsafe_code)]
unsafe impl Send for Mpi {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Mpi {}

/// The system's message for an error.
fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

/// The library folder next to the first `mpirun` in `PATH`, for an MPI installed in a folder of its own.
fn beside_mpirun() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let folder = std::env::split_paths(&paths).find(|folder| folder.join("mpirun").is_file())?;
    Some(folder.parent()?.join("lib"))
}

#[allow(unsafe_code)]
impl Mpi {
    /// Loads and initialises the library; returns the reason on failure.
    pub(super) fn load(launcher: Launcher) -> Result<Mpi, String> {
        // SAFETY: a user who starts the program with mpirun permits it to run the library that belongs to mpirun.
        // `RTLD_GLOBAL`: plugins that the library loads look up its symbols globally.
        let open = |path: PathBuf| unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) };
        let names = launcher.names();
        let folders = beside_mpirun().into_iter().chain([PathBuf::new()]);
        let paths = folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        let mut reason = None;
        let library = paths.into_iter().find_map(|path| match open(path) {
            Ok(library) => launcher.has_started(&library).then_some(library),
            Err(error) => {
                reason = Some(why(&error));
                None
            }
        });
        let Some(library) = library else { return Err(reason.unwrap_or_default()) };
        let missing = |error: libloading::Error| format!("it is no MPI: {}", why(&error));
        // SAFETY: these symbols are objects and a function in Open MPI and MPICH.
        let (init, predefined) = unsafe {
            let init: unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int =
                *library.get(b"MPI_Init_thread").map_err(missing)?;
            let object = |name: &[u8]| library.get::<*mut c_void>(name).map(|symbol| symbol.into_raw());
            (init, object(OPEN_WORLD).and_then(|world| Ok((world, object(b"ompi_mpi_byte")?))))
        };
        let calls: Box<dyn Called> = match predefined {
            Ok((world, byte)) => Box::new(Calls::new(&library, (world, byte, ptr::null_mut())).map_err(missing)?),
            Err(_) => Box::new(Calls::new(&library, MPICH).map_err(missing)?),
        };
        let mut provided = 0;
        // SAFETY: called once, without program arguments.
        let failed = unsafe { init(ptr::null_mut(), ptr::null_mut(), SERIALIZED, &mut provided) } != 0;
        // The library is never unloaded: its threads or handlers may outlive `MPI_Finalize`.
        std::mem::forget(library);
        let mpi = Mpi { calls, one_at_a_time: Mutex::new(()) };
        if failed || provided < SERIALIZED {
            return Err("it does not let threads call it one at a time".into());
        }
        Ok(mpi)
    }

    /// Makes one call while holding the lock.
    fn call<R>(&self, call: impl FnOnce(&dyn Called) -> R) -> R {
        let _one = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        call(&*self.calls)
    }

    /// Rank of this process.
    pub(super) fn rank(&self) -> usize {
        self.call(|calls| calls.rank())
    }

    /// Number of processes.
    pub(super) fn size(&self) -> usize {
        self.call(|calls| calls.size())
    }

    /// The numbers of all processes.
    pub(super) fn all_gather(&self, own: u64) -> Vec<u64> {
        let mut all = vec![0u64; self.size()];
        self.call(|calls| calls.all_gather(own, &mut all));
        all
    }

    /// Sends bytes to processes and receives bytes from others; lengths are those of the buffers. Messages between two
    /// processes arrive in the order in which they are sent.
    pub(super) fn exchange(&self, sent: &[(usize, &[u8])], expected: &mut [(usize, &mut [u8])]) {
        self.call(|calls| calls.exchange(sent, expected));
    }

    /// Aborts all processes.
    pub(super) fn abort(&self, status: c_int) {
        // Without the lock: another call may be blocked.
        self.calls.abort(status);
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Other processes may be waiting for this one.
            self.abort(101);
        }
        self.calls.finalize();
    }
}
