//! The functions of an MPI that are called, in its library as it is found at run time.
//!
//! Libraries have one of two binary interfaces: that of Open MPI, where handles are pointers to objects of the library, the predefined ones
//! under names of their own; and that of MPICH and those that agreed on it (Intel MPI, MVAPICH, Cray MPI), where handles are numbers. The
//! library's own handler of errors ends all processes, so calls return what they are to or do not return.

use std::error::Error;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// Which MPI has started processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Launcher {
    /// That of Open MPI.
    Open,
    /// That of MPICH, or of its kin.
    Mpich,
    /// One that serves either.
    Either,
}

impl Launcher {
    /// Names of libraries: of Linux, of macOS.
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

    /// Whether a library is of the MPI whose processes it starts.
    #[allow(unsafe_code)]
    fn has_started(self, library: &Library) -> bool {
        // SAFETY: nothing is done with the symbol.
        let is_open = unsafe { library.get::<*mut c_void>(OPEN_WORLD) }.is_ok();
        self == Launcher::Either || is_open == (self == Launcher::Open)
    }
}

/// An object of Open MPI alone.
const OPEN_WORLD: &[u8] = b"ompi_mpi_comm_world";

/// Any thread calls, one at a time: `MPI_THREAD_SERIALIZED`.
const SERIALIZED: c_int = 2;

/// Bytes of a message at most: counts are 32-bit integers.
const MOST_BYTES: usize = 1 << 30;

/// `MPI_COMM_WORLD`, `MPI_BYTE` and `MPI_STATUSES_IGNORE` of the interface of MPICH.
const MPICH: (c_int, c_int, *mut c_void) = (0x4400_0000, 0x4c00_010d, ptr::without_provenance_mut(1));

/// The functions with the types that `mpi.h` gives them, and predefined handles, of type `H`.
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

/// What is called, whatever handles are.
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
    /// Of a library, with its predefined handles.
    fn new(library: &Library, (world, byte, ignored): (H, H, *mut c_void)) -> Result<Calls<H>, libloading::Error> {
        // SAFETY: the symbols have these types in `mpi.h` of the library, whose handles are of type `H`.
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
        // SAFETY: it writes one integer.
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
        // SAFETY: it reads the bytes of one number and writes those of as many as there are processes.
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
        // SAFETY: a message is no longer than the bytes that it is read from or written to; these stay where they are, and are not
        // touched, until all requests are done. What is expected is as long as what is sent.
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
        // SAFETY: these are the requests, each once; nobody asks for what became of them.
        unsafe { (self.wait_all)(requests.len() as c_int, requests.as_mut_ptr(), self.ignored) };
    }

    fn abort(&self, status: c_int) {
        // SAFETY: it may be called while another call waits, and does not return.
        unsafe { (self.abort)(self.world, status) };
    }

    fn finalize(&self) {
        // SAFETY: nothing is called after it.
        unsafe { (self.finalize)() };
    }
}

/// An MPI, from its beginning to its end.
pub(super) struct Mpi {
    calls: Box<dyn Called>,
    /// Held in each call.
    one_at_a_time: Mutex<()>,
}

// SAFETY: handles are numbers, or pointers to objects of the library that stay where they are; it was asked for calls from any thread, one
// at a time, and the lock sees to that.
#[allow(unsafe_code)]
unsafe impl Send for Mpi {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Mpi {}

/// What the system says of an error.
fn why(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

/// The folder of libraries beside the `mpirun` that is found first: of an MPI that was installed into a folder of its own.
fn beside_mpirun() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let folder = std::env::split_paths(&paths).find(|folder| folder.join("mpirun").is_file())?;
    Some(folder.parent()?.join("lib"))
}

#[allow(unsafe_code)]
impl Mpi {
    /// Loads the library and begins; says why that is not possible.
    pub(super) fn load(launcher: Launcher) -> Result<Mpi, String> {
        // SAFETY: whoever started the program with mpirun lets it run the library that belongs to it. Parts of the library that it loads
        // itself look for its symbols among those of the program.
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
        // SAFETY: the symbols are objects and a function of Open MPI and of MPICH.
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
        // SAFETY: it is called once, and asks for no arguments of the program.
        let failed = unsafe { init(ptr::null_mut(), ptr::null_mut(), SERIALIZED, &mut provided) } != 0;
        // It stays where it is: what it has started may outlast its end.
        std::mem::forget(library);
        let mpi = Mpi { calls, one_at_a_time: Mutex::new(()) };
        if failed || provided < SERIALIZED {
            return Err("it does not let threads call it one at a time".into());
        }
        Ok(mpi)
    }

    /// The functions, for one call.
    fn call<R>(&self, call: impl FnOnce(&dyn Called) -> R) -> R {
        let _one = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        call(&*self.calls)
    }

    /// The number of this process.
    pub(super) fn rank(&self) -> usize {
        self.call(|calls| calls.rank())
    }

    /// How many there are.
    pub(super) fn size(&self) -> usize {
        self.call(|calls| calls.size())
    }

    /// A number of each process.
    pub(super) fn all_gather(&self, own: u64) -> Vec<u64> {
        let mut all = vec![0u64; self.size()];
        self.call(|calls| calls.all_gather(own, &mut all));
        all
    }

    /// Sends bytes to processes and receives from others as many as there is room for; those of two processes arrive in the order in which
    /// they were sent.
    pub(super) fn exchange(&self, sent: &[(usize, &[u8])], expected: &mut [(usize, &mut [u8])]) {
        self.call(|calls| calls.exchange(sent, expected));
    }

    /// Ends all processes.
    pub(super) fn abort(&self, status: c_int) {
        // Another call may wait.
        self.calls.abort(status);
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Others may wait for this one.
            self.abort(101);
        }
        self.calls.finalize();
    }
}
