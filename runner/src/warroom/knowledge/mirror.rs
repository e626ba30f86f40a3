//! Copies the live intel and traps of a project, its zones and its code map into the folder `.dead-drop` of a worktree, where an agent reads them like other files.
//!
//! The folder ignores itself, so git never sees it, and it goes with its worktree. A worktree belongs to an agent: a folder of this name that
//! is not this copy stays untouched, and no symbolic link is followed. It must not fail a run: without the copy, an agent only knows less.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use db::{Db, KnowledgeQuery};
use domain::id::ProjectId;
use domain::warroom::knowledge::{Knowledge, KnowledgeState};
use domain::warroom::zone::code_owners::code_owners;

use super::is_mirrored;
use crate::blocking::off_thread;

/// The folder in a worktree.
pub(super) const FOLDER: &str = ".dead-drop";
/// The map in that folder.
const CODE_MAP: &str = "CODE_MAP.md";
/// The zones in that folder.
const CODE_OWNERS: &str = "CODE_OWNERS.md";
/// The file that says that the folder is this copy, and hides all of it from git.
const IGNORE: &str = ".gitignore";
const IGNORE_ALL: &str = "# A copy of the knowledge of this project. Changes are lost; use write_intel and write_trap.\n*\n";

/// Renews the copy in a worktree.
pub(crate) async fn mirror(db: &Db, project: &ProjectId, worktree: &Path, code_map: Option<String>) {
    let mut files = match texts(db, project).await {
        Ok(files) => files,
        Err(error) => return tracing::warn!(%project, %error, "the knowledge of a project was not read"),
    };
    files.extend(code_map.map(|map| (CODE_MAP.to_owned(), map)));
    let (folder, shown) = (worktree.join(FOLDER), worktree.display().to_string());
    match off_thread(move || write(&folder, &files)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(worktree = shown, %error, "the knowledge of a project was not copied"),
        Err(error) => tracing::warn!(worktree = shown, %error, "the knowledge of a project was not copied"),
    }
}

/// Returns each file with its text, except for the code map.
async fn texts(db: &Db, project: &ProjectId) -> db::Result<Vec<(String, String)>> {
    let mut files = files(&live(db, project).await?);
    let zones = db.zones(project).await?;
    if !zones.is_empty() {
        files.push((CODE_OWNERS.to_owned(), code_owners(&zones)));
    }
    Ok(files)
}

/// Reads all live items, whose number is limited.
async fn live(db: &Db, project: &ProjectId) -> db::Result<Vec<Knowledge>> {
    let mut items = Vec::new();
    let mut query = KnowledgeQuery { state: Some(KnowledgeState::Live), ..KnowledgeQuery::default() };
    loop {
        let page = db.knowledge(project, &query).await?;
        let Some(last) = page.last() else { return Ok(items) };
        query.before = Some(last.id);
        items.extend(page.into_iter().filter(is_mirrored));
    }
}

/// Returns the files of items with their texts.
fn files(items: &[Knowledge]) -> Vec<(String, String)> {
    items.iter().map(|item| (item.file(), item.markdown())).collect()
}

/// Replaces the copy. Blocks.
fn write(folder: &Path, files: &[(String, String)]) -> io::Result<()> {
    if folder.symlink_metadata().is_ok() {
        if !is_copy(folder) {
            return Ok(());
        }
        fs::remove_dir_all(folder)?;
    }
    if files.is_empty() {
        return Ok(());
    }
    DirBuilder::new().create(folder)?;
    write_new(&folder.join(IGNORE), IGNORE_ALL)?;
    for (file, text) in files {
        let path = folder.join(file);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        write_new(&path, text)?;
    }
    Ok(())
}

/// Whether this program made the folder.
fn is_copy(folder: &Path) -> bool {
    let is_folder = folder.symlink_metadata().is_ok_and(|found| found.is_dir());
    let ignore = folder.join(IGNORE);
    let is_file = ignore.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == IGNORE_ALL.len() as u64);
    is_folder && is_file && fs::read_to_string(ignore).is_ok_and(|text| text == IGNORE_ALL)
}

fn write_new(path: &Path, content: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)?.write_all(content.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::warroom::knowledge::tests::item;

    #[test]
    fn copy_is_renewed_and_read_only() {
        let worktree = tempfile::tempdir().unwrap();
        let folder = worktree.path().join(FOLDER);
        write(&folder, &[]).unwrap();
        assert!(!folder.exists(), "nothing to copy");
        write(&folder, &files(&[item(1, "port"), item(2, "deps")])).unwrap();
        let port = folder.join("traps/port.md");
        assert_eq!(fs::read_to_string(&port).unwrap(), item(1, "port").markdown());
        assert_eq!(port.metadata().unwrap().permissions().mode() & 0o777, 0o444);
        write(&folder, &files(&[item(2, "deps")])).unwrap();
        assert!(!port.exists() && folder.join("traps/deps.md").exists(), "resolved meanwhile");
        write(&folder, &[]).unwrap();
        assert!(!folder.exists());
    }

    #[test]
    fn folder_of_others_stays_untouched() {
        let (worktree, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = worktree.path().join(FOLDER);
        symlink(elsewhere.path(), &folder).unwrap();
        write(&folder, &files(&[item(1, "port")])).unwrap();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "a link is not followed");
        fs::remove_file(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("mine.md"), "Mine").unwrap();
        write(&folder, &files(&[item(1, "port")])).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a tracked folder of the repository");
        fs::remove_dir_all(&folder).unwrap();

        // An agent put a link into the copy.
        write(&folder, &files(&[item(1, "port")])).unwrap();
        fs::remove_dir_all(folder.join("traps")).unwrap();
        fs::write(elsewhere.path().join("kept.md"), "Kept").unwrap();
        symlink(elsewhere.path(), folder.join("traps")).unwrap();
        write(&folder, &files(&[item(1, "port")])).unwrap();
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
        assert!(folder.join("traps/port.md").exists());
    }

    #[test]
    fn git_does_not_see_the_copy() {
        let sample = repo::testing::TestRepository::new();
        write(&sample.top().join(FOLDER), &files(&[item(1, "port")])).unwrap();
        let probe = repo::probe(sample.top(), None).unwrap();
        assert!(!format!("{probe:?}").contains(FOLDER), "{probe:?}");
    }
}
