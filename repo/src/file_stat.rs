//! The facts of the file system about one file, without its content, in the form of git's index.

use git2::{IndexEntry, IndexTime, Oid};
use nix::libc;
use nix::sys::stat::{FileStat as SystemStat, SFlag};

/// Size, times and place of a file. A program can set the time of the last change of the content, but not `changed`, which the system sets
/// at each change of content, mode or times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// git's mode of the file.
    pub(crate) mode: u32,
    pub(crate) size: u32,
    pub(crate) modified: (i32, u32),
    pub(crate) changed: (i32, u32),
    pub(crate) device: u32,
    pub(crate) inode: u32,
    pub(crate) owner: (u32, u32),
}

impl FileStat {
    /// Returns `None` for what git does not track: neither a file nor a link.
    pub(crate) fn new(found: &SystemStat) -> Option<Self> {
        let mode = match SFlag::from_bits_truncate(found.st_mode & libc::S_IFMT) {
            SFlag::S_IFLNK => 0o120_000,
            SFlag::S_IFREG if found.st_mode & 0o100 != 0 => 0o100_755,
            SFlag::S_IFREG => 0o100_644,
            _ => return None,
        };
        #[cfg(target_os = "linux")]
        let device = found.st_dev.cast_signed();
        #[cfg(not(target_os = "linux"))]
        let device = i64::from(found.st_dev);
        Some(Self {
            mode,
            size: low(found.st_size),
            modified: (low(found.st_mtime).cast_signed(), low(found.st_mtime_nsec)),
            changed: (low(found.st_ctime).cast_signed(), low(found.st_ctime_nsec)),
            device: low(device),
            inode: low(found.st_ino.cast_signed()),
            owner: (found.st_uid, found.st_gid),
        })
    }

    /// Returns the stat in an entry of an index.
    #[cfg(test)]
    pub(crate) fn of_entry(entry: &IndexEntry) -> Self {
        Self {
            mode: entry.mode,
            size: entry.file_size,
            modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
            changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
            device: entry.dev,
            inode: entry.ino,
            owner: (entry.uid, entry.gid),
        }
    }

    /// Writes the stat into an entry of an index, all but the mode.
    pub(crate) fn fill(&self, entry: &mut IndexEntry) {
        entry.file_size = self.size;
        entry.mtime = IndexTime::new(self.modified.0, self.modified.1);
        entry.ctime = IndexTime::new(self.changed.0, self.changed.1);
        (entry.dev, entry.ino) = (self.device, self.inode);
        (entry.uid, entry.gid) = self.owner;
    }

    /// Whether the file was last changed before `time`. Only then does every later change show. A file system without fractions of a second
    /// needs a whole second in between.
    pub(crate) fn is_older_than(&self, time: (i32, u32)) -> bool {
        [self.modified, self.changed].iter().all(|own| if own.1 == 0 { own.0 < time.0 } else { *own < time })
    }
}

/// Makes the entry of a file of which nothing is known but its content and mode.
pub(crate) fn plain_entry(path: &[u8], id: Oid, mode: u32) -> IndexEntry {
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.to_vec(),
    }
}

/// The lower half of a number, which is what git keeps of it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "git compares the lower half")]
fn low(number: i64) -> u32 {
    number as u32
}
