//! Tells whether something failed because there is no room on the disk, through whatever layers the error came.
//!
//! It looks at errors alone, never at a disk: how much room is needed is not known before it is missing.

use std::error::Error;
use std::io::ErrorKind;

use domain::runs::failure::FailureClass;
use repo::RepoError;

use crate::checkout::CheckoutError;

/// The failure to record for `error`: that the disk is full where that is its cause, else `otherwise`.
pub(crate) fn failure(error: &(dyn Error + 'static), otherwise: FailureClass) -> FailureClass {
    if is_full(error) { FailureClass::DiskFull } else { otherwise }
}

/// Whether `error`, or what caused it, says that the disk or the user's share of it is full.
pub(crate) fn is_full(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| (*error).source()).any(|cause| {
        if let Some(error) = cause.downcast_ref::<std::io::Error>() {
            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        } else if let Some(CheckoutError::Repository { error }) = cause.downcast_ref() {
            is_full(error)
        } else {
            match cause.downcast_ref() {
                Some(RepoError::Io { reason, .. }) => is_full(reason),
                // libgit2 hands on the system's words.
                Some(RepoError::Git { reason, .. }) => says_full(reason.message()),
                _ => false,
            }
        }
    })
}

/// Whether a program's words are the system's for a full disk. `ENOSPC` alone is not: it is also said of other limits.
pub(crate) fn says_full(text: &str) -> bool {
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
    fn a_full_disk_is_found_below_every_layer() {
        let (full, quota, denied) = (nix::libc::ENOSPC, nix::libc::EDQUOT, nix::libc::EACCES);
        for (code, expected) in [(full, true), (quota, true), (denied, false)] {
            let repository = || RepoError::Io { attempted: "write".to_owned(), reason: io(code) };
            let run_dir = || RunDirError::Io { attempt: "write", path: "x".into(), source: io(code) };
            let errors: [&(dyn Error + 'static); 5] =
                [&io(code), &repository(), &CheckoutError::from(repository()), &run_dir(), &ProcessError::RunDir(run_dir())];
            assert_eq!(errors.map(is_full), [expected; 5], "{code}");
        }
    }

    #[test]
    fn what_other_programs_say_of_it_is_understood() {
        for text in ["ENOSPC: no space left on device, write", "could not write chunk: No space left on device", "Disk quota exceeded"] {
            assert!(says_full(text), "{text}");
        }
        assert!(!says_full("ENOSPC: System limit for number of file watchers reached"));
    }
}
