//! Gives back the memory of a process that mostly waits: pages of the program and its libraries, which any later use reads from the file again.
//! Must not know what the process does.

use std::collections::HashSet;
use std::fs;
use std::io;

/// A read-only mapping of a file that has no page of its own.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    start: usize,
    length: usize,
}

/// Returns the pages to the system. Other systems than Linux keep them.
///
/// # Errors
/// When the kernel does not list the mappings of this process, or refuses the advice. Nothing but memory is lost.
pub(super) fn release() -> io::Result<()> {
    if cfg!(not(target_os = "linux")) {
        return Ok(());
    }
    for mapping in mappings(&fs::read_to_string("/proc/self/smaps")?) {
        advise(&mapping)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "advice about memory has no other interface")]
fn advise(mapping: &Mapping) -> io::Result<()> {
    use rustix::mm::{Advice, madvise};
    let start = std::ptr::without_provenance_mut(mapping.start);
    // SAFETY: The mapping cannot be written, and it has no private copy of a page, neither in memory (`Anonymous`) nor swapped out (`Swap`). So no
    // page of it differs from the file, and one that is dropped comes back unchanged. It belongs to the program or a library, which nothing
    // unmaps, so the address still means the same.
    Ok(unsafe { madvise(start, mapping.length, Advice::LinuxDontNeed) }?)
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &Mapping) -> io::Result<()> {
    Ok(())
}

/// The mappings of `/proc/PID/smaps` that may be dropped: those of programs and libraries, which stay where they are for as long as a process lives.
/// Relocated pages look read-only too, but are copies, which the kernel counts as anonymous while they are in memory, and as swap once they were
/// written there.
fn mappings(smaps: &str) -> Vec<Mapping> {
    let code: HashSet<_> = smaps.lines().filter_map(header).filter(|header| header.is_code).map(|header| header.file).collect();
    let mut found = Vec::new();
    let mut candidate = None;
    // `Swap` comes after `Anonymous`.
    let mut has_copies = true;
    for line in smaps.lines() {
        if let Some(Header { mapping, file, is_read_only, .. }) = header(line) {
            candidate = (is_read_only && code.contains(&file)).then_some(mapping);
            has_copies = true;
        } else if line.starts_with("Anonymous:") {
            has_copies = !is_zero(line);
        } else if line.starts_with("Swap:") && !has_copies && is_zero(line) {
            found.extend(candidate.take());
        }
    }
    found
}

/// Whether a line is `NAME: 0 kB`.
fn is_zero(line: &str) -> bool {
    line.split_whitespace().skip(1).eq(["0", "kB"])
}

/// The first line of a mapping: `START-END PERMISSIONS OFFSET DEVICE INODE PATH`.
struct Header<'a> {
    mapping: Mapping,
    /// Device and inode.
    file: (&'a str, &'a str),
    is_read_only: bool,
    /// Whether it is of a file that is executed.
    is_code: bool,
}

/// Reads the first line of a mapping. None for other lines.
fn header(line: &str) -> Option<Header<'_>> {
    let mut fields = line.split_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let address = |text: &str| usize::from_str_radix(text, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    let (permissions, _offset, device, inode) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let is_file = fields.next().is_some_and(|path| path.starts_with('/'));
    Some(Header {
        mapping: Mapping { start, length: end - start },
        file: (device, inode),
        is_read_only: is_file && permissions.starts_with("r-"),
        is_code: is_file && permissions.contains('x'),
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const SMAPS: &str = "\
5600000000-5600003000 r--p 00000000 fd:00 77 /opt/a program
Rss:                  12 kB
Anonymous:             0 kB
AnonHugePages:         0 kB
Swap:                  0 kB
SwapPss:               0 kB
VmFlags: rd mr mw me
5600003000-5600009000 r-xp 00003000 fd:00 77 /opt/a program
Anonymous:             0 kB
Swap:                  0 kB
5600009000-560000a000 r--p 00009000 fd:00 77 /opt/a program
Anonymous:             4 kB
Swap:                  0 kB
560000a000-560000b000 rw-p 0000a000 fd:00 77 /opt/a program
Anonymous:             0 kB
Swap:                  0 kB
560000b000-560000c000 r--p 0000b000 fd:00 77 /opt/a program
Anonymous:             0 kB
Swap:                  4 kB
SwapPss:               0 kB
560000c000-560000d000 r--p 0000c000 fd:00 77 /opt/a program
Swap:                  0 kB
6600000000-6600001000 r--p 00000000 fd:00 78 /opt/data that may be unmapped
Anonymous:             0 kB
Swap:                  0 kB
7ffd000000-7ffd002000 r-xp 00000000 00:00 0 [vdso]
Anonymous:             0 kB
Swap:                  0 kB
";

    #[test]
    fn only_unchanged_read_only_pages_of_code_are_dropped() {
        let expected = [(0x56_0000_0000, 0x3000), (0x56_0000_3000, 0x6000)].map(|(start, length)| Mapping { start, length });
        assert_eq!(mappings(SMAPS), expected);
    }

    #[test]
    fn program_goes_on_after_its_pages_were_dropped() {
        let resident = || -> u64 {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssFile:")).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        // Reads all of the program, so that there is something to drop.
        for mapping in mappings(&fs::read_to_string("/proc/self/smaps").unwrap()) {
            std::hint::black_box(touch(&mapping));
        }
        let before = resident();
        release().unwrap();
        let after = resident();
        assert!(after < before / 2, "{before} kB before, {after} kB after");
    }

    #[expect(unsafe_code, reason = "reads memory by its address")]
    fn touch(mapping: &Mapping) -> u64 {
        (0..mapping.length)
            .step_by(4096)
            // SAFETY: The kernel listed the mapping as readable, and nothing unmaps files of a running program.
            .map(|offset| u64::from(unsafe { std::ptr::with_exposed_provenance::<u8>(mapping.start + offset).read_volatile() }))
            .sum()
    }
}
