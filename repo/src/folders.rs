//! Opens the folders of a checkout one below the other, so that no link among them leads elsewhere.
//!
//! Must not know which files are in them. An agent may replace a folder by a link at any moment.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::Result;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};

const FLAGS: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);

/// The open folders from the top of a checkout to the last file that was asked for. Files in the order of their paths need few steps.
#[derive(Debug)]
pub(crate) struct Folders {
    top: OwnedFd,
    below: Vec<(Vec<u8>, OwnedFd)>,
    /// Whether missing folders are made.
    makes: bool,
}

impl Folders {
    /// Opens the checkout at `top`, whose files are read.
    pub(crate) fn open(top: &Path) -> Result<Self> {
        Ok(Self { top: open(top, FLAGS, Mode::empty())?, below: Vec::new(), makes: false })
    }

    /// Opens the checkout at `top`, into which files are written.
    pub(crate) fn create(top: &Path) -> Result<Self> {
        Ok(Self { makes: true, ..Self::open(top)? })
    }

    /// Returns the folder of the file at `path`, which is relative to the top, and the name of the file in it.
    ///
    /// # Errors
    /// One of the folders does not exist, or is a link or a file, or the path leads out of the checkout.
    pub(crate) fn of<'a>(&mut self, path: &'a [u8]) -> Result<(BorrowedFd<'_>, &'a std::ffi::OsStr)> {
        if path.split(|byte| *byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
            return Err(Errno::EINVAL);
        }
        let mut parts = path.split(|byte| *byte == b'/');
        let name = parts.next_back().unwrap_or_default();
        let mut depth = 0;
        for part in parts {
            if self.below.get(depth).is_none_or(|(known, _)| known != part) {
                self.below.truncate(depth);
                let opened = self.open_below(part)?;
                self.below.push((part.to_vec(), opened));
            }
            depth += 1;
        }
        self.below.truncate(depth);
        Ok((self.last(), std::ffi::OsStr::from_bytes(name)))
    }

    fn last(&self) -> BorrowedFd<'_> {
        self.below.last().map_or(self.top.as_fd(), |(_, folder)| folder.as_fd())
    }

    fn open_below(&self, name: &[u8]) -> Result<OwnedFd> {
        let parent = self.last();
        match openat(parent, name, FLAGS, Mode::empty()) {
            Err(Errno::ENOENT) if self.makes => {}
            opened => return opened,
        }
        match mkdirat(parent, name, Mode::from_bits_truncate(0o777)) {
            // Another thread was faster.
            Ok(()) | Err(Errno::EEXIST) => openat(parent, name, FLAGS, Mode::empty()),
            Err(error) => Err(error),
        }
    }
}
