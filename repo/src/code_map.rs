//! The code map: the folders and files of a commit with their sizes, public symbols and imports, so that an agent finds its way without reading
//! everything.
//!
//! A map is made from the last one: files whose blob is known are not read again. It must not run anything that a repository names.

mod imports;
mod kept;
mod language;
mod outline;
mod render;
mod summary;

use std::collections::{HashMap, HashSet};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use domain::runs::evidence::Sha;
use domain::warroom::code_map::CodeMapSummary;
use git2::{ObjectType, Oid, TreeWalkMode, TreeWalkResult};
use serde::{Deserialize, Serialize};

use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, find_commit, oid};

pub use kept::KeptCodeMap;
use language::{LANGUAGES, language_of};
use outline::{Outline, Outliner};
use render::{MappedFile, render};
use summary::summary;

/// The most files of a map. Those beyond it are counted, not listed.
const MAX_FILES: usize = 100_000;
/// Changes when the outlines of the same file would differ.
const VERSION: u32 = 3;

/// The map of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeMap {
    version: u32,
    /// The tree of the commit.
    tree: Sha,
    /// Markdown, at most 400 kB unless the repository has thousands of folders.
    pub text: String,
    pub summary: CodeMapSummary,
    /// By blob and language. An empty file of the same content is the same in two languages, so the key has both.
    outlines: HashMap<String, Outline>,
    /// How many files were parsed for this map.
    #[serde(skip)]
    pub parsed: usize,
}

/// A file of a tree.
struct Entry {
    path: String,
    blob: Oid,
    language: Option<usize>,
}

impl Entry {
    fn key(&self, language: usize) -> String {
        format!("{} {language}", self.blob)
    }
}

impl Repository {
    /// Maps the files of a commit. Parses the files that `last` does not know, on all processors.
    ///
    /// # Errors
    /// The commit is missing or cannot be read.
    pub fn code_map(&self, commit: &str, last: Option<CodeMap>) -> Result<CodeMap, RepoError> {
        let handle = self.handle()?;
        let tree = find_commit(&handle, oid(commit)?)?.tree().attempting(|| format!("read the files of {commit}"))?;
        let mut known = match last {
            Some(last) if last.version == VERSION && last.tree == tree.id().to_string() => return Ok(CodeMap { parsed: 0, ..last }),
            Some(last) if last.version == VERSION => last.outlines,
            _ => HashMap::new(),
        };
        let entries = entries(&tree)?;
        let missing: Vec<(&Entry, usize)> = entries
            .iter()
            .filter_map(|entry| Some((entry, entry.language?)))
            .filter(|(entry, language)| !known.contains_key(&entry.key(*language)))
            .collect();
        let parsed = missing.len();
        known.extend(self.parse(&missing)?);
        let files: Vec<MappedFile> = entries
            .iter()
            .map(|entry| MappedFile {
                path: entry.path.clone(),
                source: entry.language.and_then(|language| Some((LANGUAGES.get(language)?.name, known.get(&entry.key(language))?.clone()))),
            })
            .collect();
        let summary = summary(commit, &files);
        let text = render(&summary, &files);
        let used: HashSet<String> = entries.iter().filter_map(|entry| Some(entry.key(entry.language?))).collect();
        known.retain(|key, _| used.contains(key));
        Ok(CodeMap { version: VERSION, tree: tree.id().to_string(), text, summary, outlines: known, parsed })
    }

    /// Parses files on all processors. Each has a handle of its own.
    fn parse(&self, missing: &[(&Entry, usize)]) -> Result<Vec<(String, Outline)>, RepoError> {
        let workers = thread::available_parallelism().map_or(1, NonZero::get).min(missing.len().div_ceil(64)).max(1);
        // Some files take a hundred times as long as others, so each worker takes the next one.
        let next = AtomicUsize::new(0);
        thread::scope(|scope| {
            let running: Vec<_> = (0..workers).map(|_| scope.spawn(|| self.parse_in_turn(missing, &next))).collect();
            let mut outlines = Vec::with_capacity(missing.len());
            for worker in running {
                outlines.extend(worker.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok(outlines)
        })
    }

    fn parse_in_turn(&self, missing: &[(&Entry, usize)], next: &AtomicUsize) -> Result<Vec<(String, Outline)>, RepoError> {
        let handle = self.handle()?;
        let objects = handle.odb().attempting(|| "read the files of the code map".to_owned())?;
        let mut outliner = Outliner::new();
        let mut outlines = Vec::new();
        while let Some((entry, language)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
            let attempted = || format!("read the file {}", entry.path);
            let (bytes, _) = objects.read_header(entry.blob).attempting(attempted)?;
            let outline = match Outline::of_large(bytes) {
                Some(outline) => outline,
                None => outliner.outline(*language, handle.find_blob(entry.blob).attempting(attempted)?.content()),
            };
            outlines.push((entry.key(*language), outline));
        }
        Ok(outlines)
    }
}

/// Lists the files of a tree. Symbolic links and submodules are no files of their own.
fn entries(tree: &git2::Tree<'_>) -> Result<Vec<Entry>, RepoError> {
    let mut entries = Vec::new();
    let walked = tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        let name = String::from_utf8_lossy(entry.name_bytes());
        let is_file = entry.kind() == Some(ObjectType::Blob) && entry.filemode() != i32::from(git2::FileMode::Link);
        if is_file && entries.len() < MAX_FILES {
            let path = format!("{folder}{name}");
            entries.push(Entry { language: language_of(&path), path, blob: entry.id() });
        }
        TreeWalkResult::Ok
    });
    walked.attempting(|| "list the files of the code map".to_owned())?;
    Ok(entries)
}

#[cfg(test)]
mod tests;
