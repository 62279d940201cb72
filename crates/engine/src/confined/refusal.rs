//! Why a file is not read.

use std::{fmt, fs::File, io};

use rustix::{
    fs::{self as system, FileType},
    io::Errno,
};

/// Says why something that was named is not read.
#[derive(Debug, thiserror::Error)]
pub enum FileRefusal {
    /// Its name or a link leads elsewhere than it may.
    #[error("it leads out of the project")]
    LeadsOut,
    /// It is something else than a file with content of its own.
    #[error("it is {0}")]
    NotRegular(FileKind),
    /// It has too much content.
    #[error("it has more than {}", size_text(*max_bytes))]
    TooLarge {
        /// The most that is read.
        max_bytes: u64,
    },
    /// A directory has too many names in it.
    #[error("it has more than {max_names} files")]
    TooMany {
        /// The most that are listed.
        max_names: usize,
    },
    /// Links lead from one to the next too often, perhaps for ever.
    #[error("it leads through too many links")]
    TooManyLinks,
    /// The system does not give it.
    #[error("it cannot be read")]
    Unreadable(#[source] io::Error),
}

/// What can have a name beside regular files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A directory.
    Directory,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// What the kernel makes up when somebody reads it, such as a file of `/proc`.
    Kernel,
    /// Something that stands where a directory is needed, or that has no kind that is known.
    Other,
}

impl FileRefusal {
    /// Tells whether there is nothing of that name.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Unreadable(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl From<Errno> for FileRefusal {
    fn from(error: Errno) -> Self {
        Self::Unreadable(error.into())
    }
}

impl From<FileRefusal> for io::Error {
    fn from(refusal: FileRefusal) -> Self {
        match refusal {
            FileRefusal::Unreadable(error) => error,
            other => Self::other(other),
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "a directory",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Kernel => "a file of the kernel",
            Self::Other => "no regular file",
        })
    }
}

impl FileKind {
    /// Returns what it is; nothing for a regular file.
    pub(super) fn of(kind: FileType) -> Option<Self> {
        Some(match kind {
            FileType::RegularFile => return None,
            FileType::Directory => Self::Directory,
            FileType::Fifo => Self::Pipe,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Self::Device,
            FileType::Symlink | FileType::Unknown => Self::Other,
        })
    }
}

/// Looks at what was opened, because a name may mean something else by then.
pub(super) fn check_regular(file: &File) -> Result<(), FileRefusal> {
    let stat = system::fstat(file)?;
    match FileKind::of(FileType::from_raw_mode(stat.st_mode)) {
        Some(kind) => Err(FileRefusal::NotRegular(kind)),
        None if is_of_kernel(file)? => Err(FileRefusal::NotRegular(FileKind::Kernel)),
        None => Ok(()),
    }
}

/// Tells whether a file lies where the kernel answers for it: such files look regular.
#[cfg(target_os = "linux")]
fn is_of_kernel(file: &File) -> Result<bool, FileRefusal> {
    const SYSFS: system::FsWord = 0x6265_6572;
    Ok([system::PROC_SUPER_MAGIC, SYSFS].contains(&system::fstatfs(file)?.f_type))
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "Linux has to ask")]
fn is_of_kernel(_file: &File) -> Result<bool, FileRefusal> {
    Ok(false)
}

fn size_text(bytes: u64) -> String {
    const MEBIBYTE: u64 = 1024 * 1024;
    if bytes >= MEBIBYTE && bytes.is_multiple_of(MEBIBYTE) {
        format!("{} MiB", bytes / MEBIBYTE)
    } else {
        format!("{bytes} bytes")
    }
}
