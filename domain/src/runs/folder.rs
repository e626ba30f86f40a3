//! The folders of runs and their names: the id of a run, and a suffix that distinguishes the folder from that of another database.
//!
//! Must not know where the folder is.

use std::path::Path;

use crate::id::RunId;

/// The digits of a suffix.
const SUFFIX_LENGTH: usize = 8;

/// Returns the name of the folder of a run.
pub fn name_of(run: &RunId, suffix: u32) -> String {
    format!("{run}-{suffix:0SUFFIX_LENGTH$x}")
}

/// Whether a folder is named as that of a run. Others may be beside it, because a person chooses where the database is.
pub fn is_of_run(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Some((run, suffix)) = name.rsplit_once('-') else { return false };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    run.parse::<RunId>().is_ok() && suffix.len() == SUFFIX_LENGTH && suffix.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_recognized() {
        assert_eq!(name_of(&RunId::new(2), 0x76f9_cd1b), "RUN-002-76f9cd1b");
        for (run, suffix) in [(1, 0), (12, 7), (999, u32::MAX), (1_234_567, 0x00ab_cdef)] {
            let name = name_of(&RunId::new(run), suffix);
            assert!(is_of_run(&Path::new("/data/runs").join(&name)), "{name}");
        }
    }

    #[test]
    fn other_names_are_not() {
        for name in [
            "",
            "RUN-002",
            "RUN-002-",
            "RUN-002-76f9cd1",
            "RUN-002-76f9cd1bb",
            "RUN-002-76F9CD1B",
            "RUN-2-76f9cd1b",
            "PROJ-002-76f9cd1b",
            "exp-76f9cd1b",
        ] {
            assert!(!is_of_run(Path::new(name)), "{name}");
        }
    }
}
