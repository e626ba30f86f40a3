//! Limits the memory that a server keeps for repositories, whatever their size. Must not know any of them.

use crate::error::{Attempt, RepoError};

/// The largest part of a pack that is mapped at once. By default that is the whole pack, and what was read of it counts as memory of the server.
const MAX_WINDOW_BYTES: usize = 8 << 20;
/// The most that is mapped of all packs.
const MAX_MAPPED_BYTES: usize = 32 << 20;
/// The most that libgit2 keeps of trees, commits and tags that it read. By default, that is 256 MB.
const MAX_CACHED_BYTES: nix::libc::ssize_t = 16 << 20;
/// The heaps that threads share. By default, there are eight for each processor, and each keeps what its largest work needed.
#[cfg(target_env = "gnu")]
const MAX_HEAPS: i32 = 2;
/// Freed memory at the end of a heap, and freed blocks, of this size return to the system. By default, that size grows with the largest block.
#[cfg(target_env = "gnu")]
const MIN_RETURNED_BYTES: i32 = 256 << 10;

/// Sets the limits for this process. Call it once, before there are other threads.
///
/// # Errors
/// libgit2 refuses a limit.
#[expect(unsafe_code, reason = "libgit2 and the allocator have no other interface for this")]
pub fn limit_memory() -> Result<(), RepoError> {
    // SAFETY: The caller promises that no other thread reads these settings meanwhile.
    let limited = unsafe {
        #[cfg(target_env = "gnu")]
        for (setting, value) in [
            (nix::libc::M_ARENA_MAX, MAX_HEAPS),
            (nix::libc::M_TRIM_THRESHOLD, MIN_RETURNED_BYTES),
            (nix::libc::M_MMAP_THRESHOLD, MIN_RETURNED_BYTES),
        ] {
            // A setting that is refused costs memory and nothing else.
            nix::libc::mallopt(setting, value);
        }
        git2::opts::set_cache_max_size(MAX_CACHED_BYTES)
            .and_then(|()| git2::opts::set_mwindow_size(MAX_WINDOW_BYTES))
            .and_then(|()| git2::opts::set_mwindow_mapped_limit(MAX_MAPPED_BYTES))
    };
    limited.attempting(|| "limit the memory for repositories".to_owned())
}
