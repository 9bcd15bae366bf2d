//! An open folder and the files in it.
//!
//! In: a path. After: files are accessed relative to the open folder and never through a symbolic link in it, even if
//! others replace files in it or its path meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fd::OwnedFd;
use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use super::{PARTIAL, RANDOM};

/// Flags for opening folders.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Flags for opening files: symbolic links are refused, and opening a planted pipe does not block.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Clone, Debug)]
pub struct Folder {
    handle: Arc<OwnedFd>,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder named by the user, and creates it and its parents if missing. Symbolic links in the path are
    /// followed.
    pub fn create(path: &Path) -> io::Result<Folder> {
        std::fs::create_dir_all(path)?;
        Folder::open(path)
    }

    /// Opens an existing folder. Symbolic links in the path are followed.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let at = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = fs::open(at, FOLDER, Mode::empty())?;
        Ok(Folder { handle: Arc::new(handle), path: path.to_path_buf() })
    }

    /// Opens a folder below the current directory, and creates it and its parents if missing. Symbolic links in the
    /// path are not followed: the error is [`io::ErrorKind::NotADirectory`].
    pub fn create_below(path: &Path) -> io::Result<Folder> {
        let mut folder = Folder::open(Path::new("."))?;
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::Normal(name) => folder = folder.within(&name.to_string_lossy())?,
                _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not below this folder")),
            }
        }
        Ok(Folder { path: path.to_path_buf(), ..folder })
    }

    /// Opens a folder in this one, and creates it if missing; a symbolic link is not followed.
    pub fn within(&self, name: &str) -> io::Result<Folder> {
        match fs::mkdirat(&*self.handle, name, Mode::from_raw_mode(0o777)) {
            Err(error) if error != Errno::EXIST => return Err(error.into()),
            _ => {}
        }
        let handle = fs::openat(&*self.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
            // The system's error for a symbolic link varies.
            let is_link = self.kind(name).is_some_and(|kind| kind == FileType::Symlink);
            let link = || io::Error::new(io::ErrorKind::NotADirectory, format!("`{name}` is a symbolic link"));
            if is_link { link() } else { error.into() }
        })?;
        Ok(Folder { handle: Arc::new(handle), path: self.path.join(name) })
    }

    /// Path of the folder, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Type of the entry with this name, if it exists; symbolic links are not followed.
    fn kind(&self, name: &str) -> Option<FileType> {
        let found = fs::statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(found.st_mode))
    }

    /// Whether an entry of this name exists: a file, a folder, or a link, even a dangling one.
    pub fn has(&self, name: &str) -> bool {
        self.kind(name).is_some()
    }

    /// Whether the entry of this name is a regular file and not a link.
    pub fn has_file(&self, name: &str) -> bool {
        self.kind(name) == Some(FileType::RegularFile)
    }

    /// Whether the entry of this name is a folder and not a link.
    pub fn has_folder(&self, name: &str) -> bool {
        self.kind(name) == Some(FileType::Directory)
    }

    /// Names of all entries, sorted. Invalid UTF-8 is replaced.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = vec![];
        for entry in Dir::read_from(&*self.handle)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens a regular file.
    fn at(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let file = File::from(fs::openat(&*self.handle, name, flags | FILE, Mode::from_raw_mode(0o666))?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` is no file")));
        }
        Ok(file)
    }

    /// Opens a regular file for reading.
    pub fn read(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::RDONLY)
    }

    /// The content of a regular file; an error if it has more than `most` bytes.
    pub fn bytes(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![];
        self.read(name)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("`{name}` has more than {most} bytes"));
        if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
    }

    /// Opens a regular file for appending.
    pub fn append(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::WRONLY | OFlags::APPEND)
    }

    /// Opens a regular file for reading and writing, and creates it if missing. A file with further hard links is
    /// refused: it may belong to anyone.
    pub fn shared(&self, name: &str) -> io::Result<File> {
        let file = self.at(name, OFlags::RDWR | OFlags::CREATE)?;
        if fs::fstat(&file)?.st_nlink > 1 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{name}` is a file that has other names"),
            ));
        }
        Ok(file)
    }

    /// Whether this name still refers to `file`.
    pub fn is(&self, name: &str, file: &File) -> io::Result<bool> {
        let own = fs::fstat(file)?;
        match fs::statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file, or a symbolic link without its target.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&*self.handle, name, AtFlags::empty())?)
    }

    /// Removes an empty folder from this one.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&*self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Replaces the entry of this name by a file, completely or not at all, with the permissions of the previous file.
    /// A symbolic link is replaced, not followed.
    pub fn replace(
        &self,
        name: impl AsRef<OsStr>,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.write(name.as_ref(), content)?.rename()
    }

    /// Writes a file to be renamed to `name`, with the permissions of the existing file of that name.
    pub fn write(
        &self,
        name: impl AsRef<OsStr>,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Written<'_>> {
        let name = name.as_ref();
        let there = fs::statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok();
        let is_file = |mode| FileType::from_raw_mode(mode) == FileType::RegularFile;
        let mode = there.filter(|there| is_file(there.st_mode)).map(|there| Mode::from_raw_mode(there.st_mode));
        self.write_with(name, mode, content)
    }

    /// As [`Folder::write`], with these permissions, if any.
    pub(super) fn write_with(
        &self,
        name: &OsStr,
        mode: Option<Mode>,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Written<'_>> {
        // Set on creation, so that a private file is never readable by others, not even while it is written.
        let first = mode.unwrap_or(Mode::from_raw_mode(0o666));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE;
        let mut failed = None;
        let new = |path: &Path| {
            let name = path.file_name().unwrap_or_default();
            let file = fs::openat(&*self.handle, name, flags, first).inspect_err(|error| failed = Some(*error))?;
            Ok(File::from(file))
        };
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = tempfile::Builder::new();
        let partial = builder.prefix(&prefix).suffix(PARTIAL).rand_bytes(RANDOM).make_in(&self.path, new);
        // Report the error without the name of the temporary file, which the user does not know.
        let partial = partial.map_err(|error| failed.map_or(error, io::Error::from))?;
        let mut out = BufWriter::new(partial);
        content(&mut out)?;
        let partial = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(mode) = mode {
            // The umask may have removed permissions on creation.
            fs::fchmod(partial.as_file(), mode)?;
        }
        partial.as_file().sync_all()?;
        Ok(Written { folder: self, name: name.to_owned(), partial })
    }
}

/// A complete file on disk that does not have its final name yet. It is deleted when dropped.
#[derive(Debug)]
pub struct Written<'a> {
    folder: &'a Folder,
    name: OsString,
    partial: NamedTempFile<File>,
}

impl Written<'_> {
    /// Gives the file its final name.
    pub fn rename(self) -> io::Result<()> {
        let handle = &*self.folder.handle;
        let own = self.partial.path().file_name().unwrap_or_default();
        fs::renameat(handle, own, handle, &self.name)?;
        // The temporary name no longer exists: do not try to remove it.
        self.partial.into_temp_path().keep().ok();
        // The new name is durable once the folder is synchronized.
        Ok(fs::fsync(handle)?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_on_the_way_to_a_folder_below_is_followed_and_none_to_a_file() {
        // The test runs in the folder of the crate; the path is relative to it.
        let here = tempfile::Builder::new().tempdir_in(".").unwrap();
        let below = Path::new(here.path().file_name().unwrap());
        std::fs::create_dir(here.path().join("treasure")).unwrap();
        symlink("treasure", here.path().join("link")).unwrap();
        for path in ["link", "link/further"] {
            let error = Folder::create_below(&below.join(path)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotADirectory, "{error}");
            assert!(error.to_string().contains("`link` is a symbolic link"), "{error}");
        }
        assert!(Folder::create_below(&below.join("..")).is_err());
        assert!(Folder::create_below(Path::new("/tmp")).is_err());
        assert_eq!(std::fs::read_dir(here.path().join("treasure")).unwrap().count(), 0);
        let folder = Folder::create_below(&below.join("a/b")).unwrap();
        std::fs::write(here.path().join("treasure/gold"), "gold").unwrap();
        symlink("../../treasure/gold", here.path().join("a/b/x")).unwrap();
        assert!(folder.read("x").is_err() && folder.append("x").is_err() && folder.shared("x").is_err());
        assert!(folder.has("x") && !folder.has_file("x"));
        folder.replace("x", |out| out.write_all(b"results")).unwrap();
        assert_eq!(folder.bytes("x", 100).unwrap(), b"results");
        assert_eq!(std::fs::read(here.path().join("treasure/gold")).unwrap(), b"gold");
        assert_eq!(folder.bytes("x", 6).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        // Files stay in the folder that was opened, even if its path changes.
        std::fs::rename(here.path().join("a"), here.path().join("moved")).unwrap();
        symlink("treasure", here.path().join("a")).unwrap();
        folder.replace("y", |out| out.write_all(b"more")).unwrap();
        assert!(here.path().join("moved/b/y").is_file());
        assert_eq!(folder.names().unwrap(), ["x", "y"]);
    }

    #[test]
    fn a_file_that_gets_no_name_leaves_the_old_one() {
        let here = tempfile::tempdir().unwrap();
        let folder = Folder::create(here.path()).unwrap();
        folder.replace("x", |out| out.write_all(b"old")).unwrap();
        drop(folder.write("x", |out| out.write_all(b"new")).unwrap());
        assert_eq!(folder.bytes("x", 100).unwrap(), b"old");
        assert_eq!(folder.names().unwrap(), ["x"]);
    }
}
