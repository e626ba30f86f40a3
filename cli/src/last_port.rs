//! The port that the board had last, in a file beside the database. The next start tries it first, so that addresses that people and
//! programs keep stay true.

use std::path::Path;

/// Returns the port of the last start.
pub(crate) fn read(db_path: &Path) -> Option<u16> {
    std::fs::read_to_string(db_path.with_file_name("port")).ok()?.trim().parse().ok().filter(|port| *port > 0)
}

/// Keeps the port for the next start. It is only a preference, so a failure is only logged.
pub(crate) fn write(db_path: &Path, port: u16) {
    if let Err(error) = std::fs::write(db_path.with_file_name("port"), format!("{port}\n")) {
        tracing::debug!(%error, "the port was not kept");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_port_is_read_again_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let db_path = folder.path().join("board.db");
        assert_eq!(read(&db_path), None);
        write(&db_path, 9412);
        assert_eq!(read(&db_path), Some(9412));
        for nonsense in ["", "0", "70000", "port"] {
            std::fs::write(folder.path().join("port"), nonsense).unwrap();
            assert_eq!(read(&db_path), None, "{nonsense}");
        }
    }
}
