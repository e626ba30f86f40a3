//! Tells whether an error was caused by an exhausted resource of this machine, through all layers that wrap it: a full disk, or a limit on open
//! files, processes or memory.
//!
//! It must not look at a disk or a limit: how much an action needs is unknown until it is missing.

use std::error::Error;
use std::io::ErrorKind;

use domain::runs::failure::FailureClass;
use nix::libc;
use repo::RepoError;

use crate::runs::checkout::CheckoutError;

/// Returns the failure class for `error`: that of the exhausted resource that caused it, else `otherwise`.
pub(crate) fn failure(error: &(dyn Error + 'static), otherwise: FailureClass) -> FailureClass {
    if is_full(error) {
        FailureClass::DiskFull
    } else if is_limit(error) {
        FailureClass::SystemLimit
    } else {
        otherwise
    }
}

/// Whether `error` or one of its causes reports that this process or machine may not open more files or start more processes.
fn is_limit(error: &(dyn Error + 'static)) -> bool {
    const LIMITS: [i32; 4] = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EAGAIN];
    let code = |error: &(dyn Error + 'static)| error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error);
    std::iter::successors(Some(error), |error| (*error).source()).filter_map(code).any(|code| LIMITS.contains(&code))
}

/// Whether `error` or one of its causes reports a full disk or an exceeded quota.
pub(crate) fn is_full(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| (*error).source()).any(|cause| {
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        } else if let Some(CheckoutError::Repository { error }) = cause.downcast_ref() {
            is_full(error)
        } else {
            match cause.downcast_ref() {
                Some(RepoError::Io { reason, .. }) => is_full(reason),
                // libgit2 passes on the system's message.
                Some(RepoError::Git { reason, .. }) => mentions_full_disk(reason.message()),
                _ => false,
            }
        }
    })
}

/// Whether a program's output contains the system's message for a full disk. `ENOSPC` alone does not count: other limits report it too.
pub(crate) fn mentions_full_disk(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("no space left on device") || text.contains("disk quota exceeded")
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::process::ProcessError;
    use crate::run_dir::RunDirError;

    fn io(code: i32) -> io::Error {
        io::Error::from_raw_os_error(code)
    }

    #[test]
    fn full_disk_is_detected_below_every_layer() {
        let (full, quota, denied) = (libc::ENOSPC, libc::EDQUOT, libc::EACCES);
        for (code, expected) in [(full, true), (quota, true), (denied, false)] {
            let repository = || RepoError::Io { attempted: "write".to_owned(), reason: io(code) };
            let run_dir = || RunDirError::Io { attempt: "write", path: "x".into(), source: io(code) };
            let errors: [&(dyn Error + 'static); 5] =
                [&io(code), &repository(), &CheckoutError::from(repository()), &run_dir(), &ProcessError::RunDir(run_dir())];
            assert_eq!(errors.map(is_full), [expected; 5], "{code}");
        }
    }

    #[test]
    fn limits_of_the_system_are_told_from_other_failures() {
        let start = |code| ProcessError::Start { program: "x".into(), source: io(code) };
        let class = |code| failure(&start(code), FailureClass::Spawn);
        assert_eq!([libc::EMFILE, libc::EAGAIN].map(class), [FailureClass::SystemLimit; 2]);
        assert_eq!([libc::ENOSPC, libc::ENOENT].map(class), [FailureClass::DiskFull, FailureClass::Spawn]);
    }

    #[test]
    fn messages_of_other_programs_are_recognized() {
        for text in ["ENOSPC: no space left on device, write", "could not write chunk: No space left on device", "Disk quota exceeded"] {
            assert!(mentions_full_disk(text), "{text}");
        }
        assert!(!mentions_full_disk("ENOSPC: System limit for number of file watchers reached"));
    }
}
