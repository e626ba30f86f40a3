//! Keeps the last code map of a project in a folder, so that the next one only parses what changed.
//!
//! Each file is replaced at once, so that a process that dies leaves the last one. Must not know which commit is wanted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use domain::warroom::code_map::{CodeMapSummary, CodeMapView};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{CodeMap, VERSION};
use crate::error::RepoError;
use crate::file_times::modified_at;
use crate::handle::Repository;

/// The folder beside the database.
const FOLDER: &str = "code-maps";
/// The map as a person reads it.
const TEXT: &str = "CODE_MAP.md";
/// The map as this program reads it. Written last.
const MAP: &str = "map.json";
/// The source of the next map.
const OUTLINES: &str = "outlines.json";

/// A code map without what the next one is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptCodeMap {
    version: u32,
    pub tree: Sha,
    pub text: String,
    pub summary: CodeMapSummary,
}

impl KeptCodeMap {
    /// Reads the last map from a folder. One that is missing, damaged or of an earlier version of this program is none.
    pub fn read(folder: &Path) -> Option<Self> {
        read::<Self>(&folder.join(MAP)).filter(|map| map.version == VERSION)
    }

    /// The numbers of the map that is kept in a folder. None if there is no map.
    pub fn view(folder: &Path) -> Option<CodeMapView> {
        let made_at = modified_at(&fs::metadata(folder.join(MAP)).ok()?)?;
        let Self { text, summary, .. } = Self::read(folder)?;
        Some(CodeMapView { summary, made_at, path: Self::file(folder).display().to_string(), bytes: text.len() as u64 })
    }

    /// The folder of a project, beside the database.
    pub fn folder(beside: &Path, project: &str) -> PathBuf {
        beside.join(FOLDER).join(project)
    }

    /// The file with the text of the map in a folder.
    pub fn file(folder: &Path) -> PathBuf {
        folder.join(TEXT)
    }
}

impl Repository {
    /// Makes the map of a commit from the last one in a folder, and keeps it there.
    ///
    /// # Errors
    /// The commit is missing or cannot be read, or the folder cannot be written.
    pub fn renew_code_map(&self, commit: &str, folder: &Path) -> Result<CodeMap, RepoError> {
        // A map that cannot be read is made from nothing.
        let last = read::<CodeMap>(&folder.join(OUTLINES));
        let map = self.code_map(commit, last)?;
        if KeptCodeMap::read(folder).is_none_or(|kept| kept.tree != map.tree) {
            let kept = KeptCodeMap { version: VERSION, tree: map.tree.clone(), text: map.text.clone(), summary: map.summary.clone() };
            let stored = store(&map, &kept, folder);
            stored.map_err(|reason| RepoError::Io { attempted: format!("write the code map to {}", folder.display()), reason })?;
        }
        Ok(map)
    }
}

fn read<T: DeserializeOwned>(file: &Path) -> Option<T> {
    fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

fn store(map: &CodeMap, kept: &KeptCodeMap, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    replace(&folder.join(OUTLINES), &serde_json::to_vec(map)?)?;
    replace(&folder.join(TEXT), map.text.as_bytes())?;
    replace(&folder.join(MAP), &serde_json::to_vec(kept)?)
}

/// Another process may make the same map, so each has a file of its own until it is complete.
fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    let new = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, content)?;
    fs::rename(new, file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestRepository;

    #[test]
    fn next_map_parses_what_changed_and_a_damaged_one_is_replaced() {
        let sample = TestRepository::new();
        sample.write("src/lib.rs", "pub fn run() {}\n");
        sample.write("src/card.rs", "pub struct Card;\n");
        let folder = sample.beside("maps/PROJ-001");
        let renew = |commit: &str| sample.repository().renew_code_map(commit, &folder).unwrap();
        let first = sample.commit_all("add files");
        assert_eq!(KeptCodeMap::read(&folder), None);
        assert_eq!(renew(&first).parsed, 2);
        sample.write("src/card.rs", "pub struct CardView;\n");
        let second = sample.commit_all("rename it");
        let next = renew(&second);
        assert!(next.parsed == 1 && next.text.contains("- card.rs (1): CardView"), "{}", next.text);
        assert_eq!(renew(&second).parsed, 0);
        fs::write(folder.join(OUTLINES), "{").unwrap();
        assert_eq!(renew(&second).parsed, 2);
        let kept = KeptCodeMap::read(&folder).unwrap();
        assert_eq!((&kept.text, &kept.summary), (&next.text, &next.summary));
        assert_eq!(fs::read_to_string(KeptCodeMap::file(&folder)).unwrap(), next.text);
        let view = KeptCodeMap::view(&folder).unwrap();
        assert_eq!((view.summary, view.bytes), (kept.summary, kept.text.len() as u64));
        assert!(view.path.ends_with("maps/PROJ-001/CODE_MAP.md") && view.made_at.milliseconds() > 0, "{}", view.path);
        fs::remove_file(folder.join("map.json")).unwrap();
        assert_eq!(KeptCodeMap::view(&folder), None);
        std::fs::remove_file(sample.top().join("src/lib.rs")).unwrap();
        let third = sample.commit_all("remove one");
        renew(&third);
        assert_eq!(KeptCodeMap::read(&folder).unwrap().summary.folders.iter().map(|folder| folder.files).sum::<u32>(), 1);
    }
}
