//! Writes the files of knowledge into the checkout of the person who asked for it, below `.dead-drop`.
//!
//! The checkout is theirs: nothing else is touched, no symbolic link is followed, and git is not asked to do anything. It must not fail the
//! history of knowledge, which has the same files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::mirror::FOLDER;
use crate::blocking::off_thread;

/// The name under which a file is written before it replaces its last version.
const DRAFT: &str = ".vibe-relay-draft";

/// Writes or removes each file, from its path below the folder. The log names a file that cannot be written.
pub(super) async fn write(top: PathBuf, changes: BTreeMap<String, Option<String>>) {
    let shown = top.display().to_string();
    let written = off_thread(move || changes.iter().try_for_each(|(file, text)| apply(&top, file, text.as_deref()))).await;
    match written {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(checkout = shown, %error, "knowledge was not written into the checkout"),
        Err(error) => tracing::warn!(checkout = shown, %error, "knowledge was not written into the checkout"),
    }
}

fn apply(top: &Path, file: &str, text: Option<&str>) -> io::Result<()> {
    let path = top.join(FOLDER).join(file);
    let Some(parent) = path.parent() else { return Ok(()) };
    let below = parent.strip_prefix(top).map_err(io::Error::other)?;
    let mut folder = top.to_path_buf();
    for part in below.components() {
        folder.push(part);
        match folder.symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::new(ErrorKind::NotADirectory, format!("{} is not a folder", folder.display()))),
            Err(error) if error.kind() == ErrorKind::NotFound && text.is_some() => fs::create_dir(&folder)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    let Some(text) = text else {
        return match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    };
    let draft = parent.join(DRAFT);
    // A draft of an interrupted write may be left. A link in its place is removed, not followed.
    if draft.symlink_metadata().is_ok() {
        fs::remove_file(&draft)?;
    }
    fs::write(&draft, text)?;
    fs::rename(&draft, &path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn changes(files: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
        files.iter().map(|(file, text)| ((*file).to_owned(), text.map(str::to_owned))).collect()
    }

    #[tokio::test]
    async fn files_appear_change_and_go() {
        let top = tempfile::tempdir().unwrap();
        let read = |file: &str| fs::read_to_string(top.path().join(FOLDER).join(file)).ok();
        write(top.path().to_owned(), changes(&[("traps/port.md", None)])).await;
        assert!(!top.path().join(FOLDER).exists(), "nothing to remove makes no folder");
        write(top.path().to_owned(), changes(&[("traps/port.md", Some("Port 80")), ("intel/trie.md", Some("A trie"))])).await;
        assert_eq!((read("traps/port.md").as_deref(), read("intel/trie.md").as_deref()), (Some("Port 80"), Some("A trie")));
        write(top.path().to_owned(), changes(&[("traps/port.md", None), ("traps/resolved/port.md", Some("Gone"))])).await;
        assert_eq!((read("traps/port.md"), read("traps/resolved/port.md").as_deref()), (None, Some("Gone")));
    }

    #[tokio::test]
    async fn links_are_not_followed() {
        let (top, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(elsewhere.path(), top.path().join(FOLDER)).unwrap();
        write(top.path().to_owned(), changes(&[("traps/port.md", Some("Port 80"))])).await;
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        fs::remove_file(top.path().join(FOLDER)).unwrap();

        let secret = elsewhere.path().join("secret");
        fs::write(&secret, "mine").unwrap();
        fs::create_dir_all(top.path().join(FOLDER).join("traps")).unwrap();
        for name in ["port.md", DRAFT] {
            symlink(&secret, top.path().join(FOLDER).join("traps").join(name)).unwrap();
        }
        write(top.path().to_owned(), changes(&[("traps/port.md", Some("Port 80"))])).await;
        assert_eq!(fs::read_to_string(&secret).unwrap(), "mine");
        assert_eq!(fs::read_to_string(top.path().join(FOLDER).join("traps/port.md")).unwrap(), "Port 80", "the link is replaced");
    }
}
