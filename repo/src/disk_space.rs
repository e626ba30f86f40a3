//! The disk on which checkouts are, or would be made: its size and free space, and whether it can be written. Must not decide how much is enough.

use std::path::Path;

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};

/// The size of a file system in bytes, as far as an ordinary user can use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    pub free: u64,
    pub total: u64,
}

/// Whether a folder, or the nearest existing one above it, can be written by this user.
///
/// # Errors
/// The folder that cannot be written, with the system's reason.
pub fn require_writable(folder: &Path) -> Result<(), String> {
    let existing = folder.ancestors().find(|ancestor| ancestor.is_dir()).unwrap_or(folder);
    access(existing, AccessFlags::W_OK | AccessFlags::X_OK).map_err(|reason| format!("{} cannot be written ({reason})", existing.display()))
}

impl DiskSpace {
    /// The space of the disk on which a folder is, or would be created; `None` if it cannot be examined.
    pub fn of(folder: &Path) -> Option<Self> {
        let existing = folder.ancestors().find(|ancestor| ancestor.exists())?;
        let found = statvfs(existing).ok()?;
        let size = found.fragment_size();
        Some(Self { free: bytes(found.blocks_available(), size), total: bytes(found.blocks(), size) })
    }
}

/// The number of blocks has fewer bits on macOS.
fn bytes(blocks: impl Into<u64>, size: u64) -> u64 {
    blocks.into().saturating_mul(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_that_does_not_exist_yet_is_judged_by_the_one_above_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(require_writable(&folder.path().join("a/b")), Ok(()));
        // Root may write everything.
        if !nix::unistd::geteuid().is_root() {
            let closed = require_writable(Path::new("/proc/a")).unwrap_err();
            assert!(closed.starts_with("/proc cannot be written ("), "{closed}");
        }
    }
}
