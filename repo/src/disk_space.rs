//! The size and the free space of the disk on which checkouts are, or would be made. Must not decide how much is enough.

use std::path::Path;

use nix::sys::statvfs::statvfs;

/// The size of a file system in bytes, as far as an ordinary user can use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    pub free: u64,
    pub total: u64,
}

impl DiskSpace {
    /// The space of the disk on which a folder is, or would be created; `None` if it cannot be examined.
    pub fn of(folder: &Path) -> Option<Self> {
        let existing = folder.ancestors().find(|ancestor| ancestor.exists())?;
        let found = statvfs(existing).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.fragment_size());
        Some(Self { free: bytes(found.blocks_available()), total: bytes(found.blocks()) })
    }
}
