//! Cache of generated and compiled kernels, and of what was found out about cases, on disk, addressed by content.
//!
//! The name of an entry is the hash of all its inputs. An entry ends with the hash of its name and bytes, and is used
//! only if that hash matches. Neither the entry nor the folder may belong to another user or be writable by others. Any
//! other entry is made again. An unusable cache is not an error: the user gets a notice and the run continues
//! without it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::file;

/// Bytes of the hash at the end of an entry. The system's loader ignores trailing bytes.
const SEAL: usize = blake3::OUT_LEN;
/// Largest entry that is read, in bytes; kernels have a few hundred thousand.
const LARGEST: u64 = 256 << 20;

/// Hash of the inputs of an entry.
pub struct Key(blake3::Hasher);

impl Key {
    /// A key for one kind of file.
    pub fn new(kind: &str) -> Self {
        let mut key = Key(blake3::Hasher::new());
        key.add(kind);
        key
    }

    /// Adds an input of the file.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// File name with this extension.
    pub fn file_name(&self, ending: &str) -> String {
        format!("{}.{ending}", &self.0.finalize().to_hex()[..32])
    }
}

/// A cache folder, and notices about it for the user.
pub struct Cache {
    folder: Option<PathBuf>,
    /// One sentence each.
    pub notices: Vec<String>,
}

impl Cache {
    /// The cache in `$LBMC_CACHE`, or else in the user's cache folder.
    pub fn find() -> Cache {
        let named = std::env::var_os("LBMC_CACHE").filter(|name| !name.is_empty()).map(PathBuf::from);
        let usual = || directories::ProjectDirs::from("", "", "lbmc").map(|dirs| dirs.cache_dir().join("kernels"));
        named.or_else(usual).map_or(Cache { folder: None, notices: vec![] }, |folder| Cache::open(&folder))
    }

    /// The cache in this folder. A missing folder is created with access for this user only.
    pub fn open(folder: &Path) -> Cache {
        let mut cache = Cache { folder: None, notices: vec![] };
        let there = create(folder).and_then(|()| fs::symlink_metadata(folder));
        match there {
            Err(error) => cache.without(folder, &format!("it cannot be used ({error})"), None),
            Ok(there) => match distrust(&there, user()) {
                Some(why) => cache.without(folder, why, Some("or name another in LBMC_CACHE")),
                None if !there.is_dir() => cache.without(folder, "it is no folder", None),
                None => cache.folder = Some(folder.to_path_buf()),
            },
        }
        cache
    }

    /// Path of an entry, if there is a cache.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(name))
    }

    /// The bytes of an entry, if it exists and passes all checks.
    pub fn fetch(&mut self, name: &str) -> Option<Vec<u8>> {
        let path = self.path(name)?;
        let found = match read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => Err(format!("cannot be read ({error})")),
            Ok((there, _)) if !there.is_file() => Err("is no file".to_string()),
            Ok((there, sealed)) => match distrust(&there, user()) {
                Some(why) => Err(format!("is not used: {why}")),
                None => unseal(name, &sealed).ok_or("is damaged".to_string()),
            },
        };
        found.map_err(|why| self.notices.push(format!("`{}` {why}: what it had is made again", path.display()))).ok()
    }

    /// Stores an entry.
    pub fn store(&mut self, name: &str, bytes: &[u8]) {
        let Some(path) = self.path(name) else { return };
        if let Err(error) = file::replace_private(&path, |out| out.write_all(&seal(name, bytes))) {
            self.notices.push(format!("not cached: `{}` cannot be written ({error})", path.display()));
        }
    }

    fn without(&mut self, folder: &Path, why: &str, advice: Option<&str>) {
        let advice = advice.map_or(String::new(), |advice| {
            format!("; make it yours alone (`chown`, `chmod 700 {}`), {advice}", folder.display())
        });
        self.notices.push(format!("compiled kernels are not cached in `{}`: {why}{advice}", folder.display()));
    }
}

fn seal(name: &str, bytes: &[u8]) -> Vec<u8> {
    [bytes, digest(name, bytes).as_bytes().as_slice()].concat()
}

fn unseal(name: &str, sealed: &[u8]) -> Option<Vec<u8>> {
    let (bytes, hash) = sealed.split_at_checked(sealed.len().checked_sub(SEAL)?)?;
    (digest(name, bytes).as_bytes().as_slice() == hash).then(|| bytes.to_vec())
}

/// Includes the name, so that an entry is invalid under any other name.
fn digest(name: &str, bytes: &[u8]) -> blake3::Hash {
    let mut key = Key::new("entry");
    key.add(name);
    key.0.update(bytes).finalize()
}

/// Content and metadata of one opened file. Symbolic links are not followed.
fn read(path: &Path) -> io::Result<(Metadata, Vec<u8>)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file: File = options.open(path)?;
    let there = file.metadata()?;
    let mut bytes = vec![];
    if there.is_file() {
        file.take(LARGEST).read_to_end(&mut bytes)?;
    }
    Ok((there, bytes))
}

fn create(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Why a file or folder cannot be trusted as a source of machine code, if so: another user may control it.
#[cfg(unix)]
fn distrust(there: &Metadata, user: u32) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if there.is_symlink() {
        Some("it is a symbolic link")
    } else if there.uid() != user {
        Some("it belongs to another user")
    } else if there.mode() & 0o022 != 0 {
        Some("other users may write to it")
    } else {
        None
    }
}

#[cfg(not(unix))]
fn distrust(there: &Metadata, _: u32) -> Option<&'static str> {
    there.is_symlink().then_some("it is a symbolic link")
}

/// Effective user id.
#[cfg(unix)]
#[allow(unsafe_code)]
fn user() -> u32 {
    // SAFETY: has no arguments and always succeeds.
    unsafe { libc::geteuid() }
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "kernel.so";

    /// A cache with one entry, and its temporary folder, which the caller must keep alive.
    fn filled() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = Cache::open(&folder.path().join("deep/kernels"));
        cache.store(NAME, b"machine code");
        assert_eq!(cache.fetch(NAME).as_deref(), Some(b"machine code".as_slice()));
        assert_eq!(cache.notices, [""; 0]);
        (folder, cache)
    }

    fn path(cache: &Cache) -> PathBuf {
        cache.path(NAME).unwrap()
    }

    fn folder(cache: &Cache) -> &Path {
        cache.folder.as_deref().unwrap()
    }

    /// Asserts that there is exactly one notice and that it contains this text.
    fn assert_warned(cache: &Cache, expected: &str) {
        assert!(matches!(&cache.notices[..], [one] if one.contains(expected)), "{expected}: {:?}", cache.notices);
    }

    #[test]
    fn keys_differ_where_parts_are_divided_differently() {
        let name = |parts: &[&str]| {
            let mut key = Key::new("test");
            parts.iter().for_each(|part| key.add(part));
            key.file_name("x")
        };
        assert_ne!(name(&["ab", "c"]), name(&["a", "bc"]));
        assert_eq!(name(&["ab", "c"]), name(&["ab", "c"]));
    }

    #[test]
    fn storing_leaves_the_whole_entry_and_nothing_else() {
        let (_folder, mut cache) = filled();
        cache.store(NAME, b"other code");
        assert_eq!(cache.fetch(NAME).as_deref(), Some(b"other code".as_slice()));
        assert_eq!(fs::read_dir(folder(&cache)).unwrap().count(), 1);
    }

    #[test]
    fn an_entry_with_any_bit_changed_or_any_byte_lost_is_not_used() {
        let (_folder, mut cache) = filled();
        let path = path(&cache);
        let whole = fs::read(&path).unwrap();
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, bytes).unwrap();
            assert_eq!(cache.fetch(NAME), None, "bit {bit}");
        }
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.fetch(NAME), None, "{length} bytes");
        }
        assert!(cache.notices.iter().all(|notice| notice.contains("is damaged")), "{:?}", cache.notices);
        assert_eq!(cache.notices.len(), 9 * whole.len());
    }

    #[test]
    fn an_entry_under_anothers_name_is_not_used() {
        let (_folder, mut cache) = filled();
        fs::copy(path(&cache), folder(&cache).join("other.so")).unwrap();
        assert_eq!(cache.fetch("other.so"), None);
        assert_warned(&cache, "is damaged");
    }

    #[test]
    fn a_cache_below_a_file_is_done_without() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("plain");
        fs::write(&blocked, b"").unwrap();
        for place in [blocked.clone(), blocked.join("kernels")] {
            let mut cache = Cache::open(&place);
            cache.store(NAME, b"machine code");
            assert_eq!(cache.fetch(NAME), None);
            assert_warned(&cache, "compiled kernels are not cached in");
        }
    }

    #[cfg(unix)]
    mod permissions {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn set(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn folder_and_entries_are_the_users_alone() {
            let (_folder, cache) = filled();
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(folder(&cache)), mode(&path(&cache))), (0o700, 0o600));
        }

        #[test]
        fn a_folder_that_others_may_write_to_is_refused() {
            for mode in [0o770, 0o702, 0o1777] {
                let (_folder, cache) = filled();
                set(folder(&cache), mode);
                let mut cache = Cache::open(folder(&cache));
                assert_eq!(cache.fetch(NAME), None);
                assert_warned(&cache, "other users may write to it; make it yours alone");
            }
        }

        #[test]
        fn an_entry_that_others_may_write_to_is_compiled_again_and_closed() {
            for mode in [0o620, 0o602, 0o666] {
                let (_folder, mut cache) = filled();
                set(&path(&cache), mode);
                assert_eq!(cache.fetch(NAME), None);
                assert_warned(&cache, "other users may write to it: what it had is made again");
                cache.store(NAME, b"machine code");
                assert!(cache.fetch(NAME).is_some());
            }
        }

        #[test]
        fn what_belongs_to_another_is_refused() {
            let (_folder, cache) = filled();
            for place in [folder(&cache), &path(&cache)] {
                let there = fs::symlink_metadata(place).unwrap();
                assert_eq!(distrust(&there, user()), None);
                assert_eq!(distrust(&there, user() + 1), Some("it belongs to another user"));
            }
        }

        #[test]
        fn symbolic_links_are_not_followed() {
            let (_folder, mut cache) = filled();
            let (entry, elsewhere) = (path(&cache), folder(&cache).join("elsewhere"));
            fs::rename(&entry, &elsewhere).unwrap();
            symlink(&elsewhere, &entry).unwrap();
            assert_eq!(cache.fetch(NAME), None);
            assert_warned(&cache, "cannot be read");
            cache.store(NAME, b"machine code");
            assert!(fs::symlink_metadata(&entry).unwrap().is_file());

            let linked = folder(&cache).with_file_name("linked");
            symlink(folder(&cache), &linked).unwrap();
            assert_warned(&Cache::open(&linked), "it is a symbolic link");
        }

        #[test]
        fn a_pipe_in_place_of_an_entry_does_not_block() {
            let (_folder, mut cache) = filled();
            fs::remove_file(path(&cache)).unwrap();
            let made = std::process::Command::new("mkfifo").arg(path(&cache)).status().unwrap();
            assert!(made.success());
            assert_eq!(cache.fetch(NAME), None);
            assert_warned(&cache, "is no file");
        }
    }
}
