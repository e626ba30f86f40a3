//! A log file of bounded size: when it is full, it is renamed and a new one begins. Must not know what a line says.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The size of one file.
const MAX_BYTES: u64 = 8 << 20;
/// The current file and older ones.
const MAX_FILES: usize = 5;

/// Returns the log file in `folder` of the server of `db_path`. Older ones have a number: `vibe-relay.1.log` is the one before.
pub(super) fn path(folder: &Path, db_path: &Path) -> PathBuf {
    folder.join(db_path.file_stem().unwrap_or("vibe-relay".as_ref())).with_extension("log")
}

/// The current file.
#[derive(Debug)]
pub(super) struct RotatingFile {
    path: PathBuf,
    file: File,
    size: u64,
    max_bytes: u64,
}

impl RotatingFile {
    /// Continues the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Self::with_limit(path, MAX_BYTES)
    }

    fn with_limit(path: &Path, max_bytes: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = append(path)?;
        let size = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, size, max_bytes })
    }

    /// Renames every file to the next number, which replaces the oldest, and begins a new one.
    fn rotate(&mut self) -> io::Result<()> {
        for number in (1..MAX_FILES).rev() {
            let (newer, older) = (self.numbered(number - 1), self.numbered(number));
            match fs::rename(newer, older) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.file = append(&self.path)?;
        self.size = 0;
        Ok(())
    }

    fn numbered(&self, number: usize) -> PathBuf {
        if number == 0 { self.path.clone() } else { self.path.with_extension(format!("{number}.log")) }
    }
}

impl Write for RotatingFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.size > 0 && self.size.saturating_add(length) > self.max_bytes {
            self.rotate()?;
        }
        self.file.write_all(line)?;
        self.size = self.size.saturating_add(length);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_number_of_files_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(&folder.path().join("logs"), &folder.path().join("board.db"));
        assert_eq!(path, folder.path().join("logs/board.log"));
        for restart in 0..3 {
            let mut log = RotatingFile::with_limit(&path, 100).unwrap();
            for line in 0..50 {
                log.write_all(format!("{restart} {line:02} {}\n", "x".repeat(24)).as_bytes()).unwrap();
            }
        }
        let mut names: Vec<String> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["board.1.log", "board.2.log", "board.3.log", "board.4.log", "board.log"]);
        for name in &names {
            assert!(fs::metadata(path.with_file_name(name)).unwrap().len() <= 100);
        }
        let newest = fs::read_to_string(&path).unwrap();
        assert!(newest.contains("2 49 "), "{newest}");
        let before = fs::read_to_string(path.with_file_name("board.1.log")).unwrap();
        let last = before.lines().last().unwrap()[..4].to_owned();
        let first = newest.lines().next().unwrap()[..4].to_owned();
        assert_eq!(last[2..].trim().parse::<u32>().unwrap() + 1, first[2..].trim().parse::<u32>().unwrap(), "no line is lost between two files");
    }

    #[test]
    fn line_longer_than_a_file_is_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.log");
        let mut log = RotatingFile::with_limit(&path, 10).unwrap();
        log.write_all(&[b'x'; 100]).unwrap();
        log.write_all(b"y").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "y");
        assert_eq!(fs::metadata(folder.path().join("x.1.log")).unwrap().len(), 100);
    }
}
