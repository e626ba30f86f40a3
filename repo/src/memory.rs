//! Limits the memory that a process keeps: for repositories, whatever their size, and freed memory. Must not know any repository.

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

/// Gives memory that was freed back to the system, for a process that then waits. Other allocators than glibc's do so by themselves, or never.
#[cfg_attr(target_env = "gnu", expect(unsafe_code, reason = "the allocator has no other interface for this"))]
pub fn return_freed_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: It takes the locks of the allocator, and touches only memory that is free.
    unsafe {
        nix::libc::malloc_trim(0);
    }
}

#[cfg(test)]
#[cfg(target_env = "gnu")]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    /// The memory of this process that is not of a file, in bytes.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }

    #[test]
    fn freed_blocks_below_one_in_use_are_returned() {
        let mut blocks: Vec<Box<[u8]>> = (0..64 * 1024).map(|_| vec![1_u8; 1024].into_boxed_slice()).collect();
        let last = blocks.pop();
        drop(blocks);
        let before = resident();
        return_freed_memory();
        let after = resident();
        assert!(after + 32 * MIB < before, "{before} and then {after} bytes");
        assert_eq!(last.map(|block| block.len()), Some(1024));
    }
}
