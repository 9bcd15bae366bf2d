//! A folder that is open, and the files in it.
//!
//! In: a path. After: files are reached through the open folder and never through a symbolic link in it, whatever others plant there or make
//! of its path meanwhile.

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

/// How folders are opened.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A file in a folder is no link, and no pipe that somebody has planted holds anybody up.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// A folder that is open.
#[derive(Clone, Debug)]
pub struct Folder {
    handle: Arc<OwnedFd>,
    path: PathBuf,
}

impl Folder {
    /// A folder that the user named, created with those above it where it is missing. Links on the way to it are followed.
    pub fn create(path: &Path) -> io::Result<Folder> {
        std::fs::create_dir_all(path)?;
        Folder::open(path)
    }

    /// A folder that is there. Links on the way to it are followed.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let at = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let handle = fs::open(at, FOLDER, Mode::empty())?;
        Ok(Folder { handle: Arc::new(handle), path: path.to_path_buf() })
    }

    /// A folder below the one that the program runs in, created with those above it where it is missing. No link on the way is followed:
    /// the error is [`io::ErrorKind::NotADirectory`].
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

    /// A folder in this one, created where it is missing; a link there is not followed.
    pub fn within(&self, name: &str) -> io::Result<Folder> {
        match fs::mkdirat(&*self.handle, name, Mode::from_raw_mode(0o777)) {
            Err(error) if error != Errno::EXIST => return Err(error.into()),
            _ => {}
        }
        let handle = fs::openat(&*self.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()).map_err(|error| {
            // What the system says of a link differs.
            let is_link = self.kind(name).is_some_and(|kind| kind == FileType::Symlink);
            let link = || io::Error::new(io::ErrorKind::NotADirectory, format!("`{name}` is a symbolic link"));
            if is_link { link() } else { error.into() }
        })?;
        Ok(Folder { handle: Arc::new(handle), path: self.path.join(name) })
    }

    /// Its path, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is there under a name, if something is; links are links.
    fn kind(&self, name: &str) -> Option<FileType> {
        let found = fs::statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(found.st_mode))
    }

    /// Whether anything is there under a name: a file, a folder, a link that leads nowhere.
    pub fn has(&self, name: &str) -> bool {
        self.kind(name).is_some()
    }

    /// Whether a regular file has that name, which is no link.
    pub fn has_file(&self, name: &str) -> bool {
        self.kind(name) == Some(FileType::RegularFile)
    }

    /// Whether a folder has that name, which is no link.
    pub fn has_folder(&self, name: &str) -> bool {
        self.kind(name) == Some(FileType::Directory)
    }

    /// The names of all that is in it, in order; those that are no UTF-8 with signs in their place.
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

    /// A regular file to read.
    pub fn read(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::RDONLY)
    }

    /// The bytes of a regular file that has at most so many.
    pub fn bytes(&self, name: &str, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![];
        self.read(name)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("`{name}` has more than {most} bytes"));
        if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
    }

    /// A regular file to add to the end of.
    pub fn append(&self, name: &str) -> io::Result<File> {
        self.at(name, OFlags::WRONLY | OFlags::APPEND)
    }

    /// A regular file to read and write, created where there is none. One that has other names too is refused: it may be anybody's.
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

    /// Whether a name is still that of this file.
    pub fn is(&self, name: &str, file: &File) -> io::Result<bool> {
        let own = fs::fstat(file)?;
        match fs::statat(&*self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (own.st_dev, own.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file, or a link and not what it leads to.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&*self.handle, name, AtFlags::empty())?)
    }

    /// Removes a folder in it that is empty.
    pub fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(fs::unlinkat(&*self.handle, name, AtFlags::REMOVEDIR)?)
    }

    /// Puts a file in the place of what has that name, whole or not at all, with the permissions of the file that was there; a link is
    /// replaced, not followed.
    pub fn replace(
        &self,
        name: impl AsRef<OsStr>,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.write(name.as_ref(), content)?.rename()
    }

    /// Writes a file that is to have that name, with the permissions of the one that has it.
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

    /// The same with these permissions, where they are given.
    pub(super) fn write_with(
        &self,
        name: &OsStr,
        mode: Option<Mode>,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Written<'_>> {
        // From the start: what only the user may read is not for others while it is written either.
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
        // The error itself, without the name of a file that nobody has asked for.
        let partial = partial.map_err(|error| failed.map_or(error, io::Error::from))?;
        let mut out = BufWriter::new(partial);
        content(&mut out)?;
        let partial = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(mode) = mode {
            // What creation gave may be fewer: the user's mask took them away.
            fs::fchmod(partial.as_file(), mode)?;
        }
        partial.as_file().sync_all()?;
        Ok(Written { folder: self, name: name.to_owned(), partial })
    }
}

/// A file that is whole and on the disk, and has no name yet. Without one it goes away.
#[derive(Debug)]
pub struct Written<'a> {
    folder: &'a Folder,
    name: OsString,
    partial: NamedTempFile<File>,
}

impl Written<'_> {
    /// Gives it its name.
    pub fn rename(self) -> io::Result<()> {
        let handle = &*self.folder.handle;
        let own = self.partial.path().file_name().unwrap_or_default();
        fs::renameat(handle, own, handle, &self.name)?;
        // What had another name is not removed.
        self.partial.into_temp_path().keep().ok();
        // A name is as safe as the folder that holds it.
        Ok(fs::fsync(handle)?)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_on_the_way_to_a_folder_below_is_followed_and_none_to_a_file() {
        // The test runs in the folder of the crate: a path from there.
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
        // Whatever becomes of its path: files are in the folder that was opened.
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
