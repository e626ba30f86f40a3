//! `vibe-relay uninstall`: says what vibe-relay has left on the machine, and how to remove each. Must not remove anything.

mod own_files;

use std::path::{Path, PathBuf};

use db::{RecordedCheckouts, RecordedReferences};
use domain::config::Config;
use domain::text::shell_word;
use repo::Repository;
use runner::backend;
use serde::Serialize;

use crate::error::CliError;
use crate::{logging, output, service, settings};

/// Something that is left.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Leftover {
    /// The thing, for people.
    what: &'static str,
    place: String,
    /// The command that removes it.
    remove: String,
}

/// Prints what exists.
///
/// # Errors
/// When the configuration cannot be read.
pub(crate) async fn run(named: Option<&Path>) -> Result<(), CliError> {
    let file = settings::file(named)?;
    let config = settings::config(named)?;
    let recorded = recorded(&config.db_path).await;
    let (checkouts, references) = recorded.as_ref().cloned().unwrap_or_default();
    let mut left = on_disk(&config, &checkouts, file, &service::unit_file()?);
    left.extend(repositories(&references).into_iter().map(|repository| in_repository(&repository)));
    output::list(&left, "vibe-relay has left nothing here.", |Leftover { what, place, remove }| format!("{what}: {place}\n  {remove}"));
    output::hint(
        "Nothing was removed. `vibe-relay rescue list PROJECT` shows work that was never merged. Stop the board before you remove anything.",
    );
    match recorded {
        Err(error) => output::hint(format!("The database cannot be read, so worktrees and repositories are not listed: {error}.")),
        Ok(_) if !config.db_path.exists() && config.worktrees_path.exists() => {
            let worktrees = config.worktrees_path.display();
            output::hint(format!(
                "The board has no database that says which worktrees in {worktrees} are its own, and which repositories it used, so they are not listed."
            ));
        }
        Ok(_) => {}
    }
    Ok(())
}

async fn recorded(db_path: &Path) -> db::Result<(RecordedCheckouts, RecordedReferences)> {
    Ok((db::recorded_checkouts(db_path).await?, db::recorded_references(db_path).await?))
}

/// The folders of the repositories that still have something of vibe-relay. One that exists and cannot be read may have.
fn repositories(recorded: &RecordedReferences) -> Vec<PathBuf> {
    let has_references = |git_dir: &&PathBuf| Repository::open(git_dir).and_then(|repository| repository.has_own_references()).unwrap_or(true);
    recorded.keys().filter(|git_dir| git_dir.exists()).filter(has_references).map(|git_dir| folder_of(git_dir).to_owned()).collect()
}

/// The folder in which a person works, of a repository that has files.
pub(crate) fn folder_of(git_dir: &Path) -> &Path {
    if git_dir.ends_with(".git") { git_dir.parent().unwrap_or(git_dir) } else { git_dir }
}

fn on_disk(config: &Config, recorded: &RecordedCheckouts, file: Option<PathBuf>, unit: &Path) -> Vec<Leftover> {
    let remove = |paths: &[PathBuf]| {
        let words: Vec<String> = paths.iter().map(|path| shell_word(&path.display().to_string())).collect();
        format!("rm -r {}", words.join(" "))
    };
    let board = own_files::beside(&config.db_path);
    let mut left = Vec::new();
    if !board.is_empty() {
        let place = config.db_path.parent().unwrap_or(&config.db_path).display().to_string();
        left.push(Leftover { what: "database, tokens and run folders", place, remove: remove(&board) });
    }
    let logs = own_files::logs(config);
    if !logs.is_empty() {
        left.push(Leftover { what: "logs", place: logging::folder(config).display().to_string(), remove: remove(&logs) });
    }
    let worktrees = own_files::worktrees(&config.worktrees_path, recorded);
    if !worktrees.is_empty() {
        left.push(Leftover { what: "worktrees", place: config.worktrees_path.display().to_string(), remove: remove(&worktrees) });
    }
    if let Some(file) = file.filter(|file| file.exists()) {
        left.push(Leftover { what: "configuration", place: file.display().to_string(), remove: remove(&[file]) });
    }
    let sessions = backend::left_sessions(&config.worktrees_path);
    if !sessions.is_empty() {
        left.push(Leftover {
            what: "conversations of agents",
            place: format!("{} folders of Claude Code", sessions.len()),
            remove: remove(&sessions),
        });
    }
    if unit.exists() {
        left.push(Leftover { what: "service", place: unit.display().to_string(), remove: "vibe-relay service remove".to_owned() });
    }
    if own_files::has_companion(&config.db_path) {
        let remove = "claude mcp remove --scope user vibe-relay".to_owned();
        left.push(Leftover { what: "registration in Claude Code", place: "vibe-relay".to_owned(), remove });
    }
    left
}

fn in_repository(repository: &Path) -> Leftover {
    let place = repository.display().to_string();
    let folder = shell_word(&place);
    // Branches of people may begin with the same words.
    let remove = format!(
        "git -C {folder} worktree prune; git -C {folder} for-each-ref --format='delete %(refname)' refs/vibe-relay 'refs/heads/vr/TASK-*/*' \
         'refs/heads/vibe-relay/PROJ-*' | git -C {folder} update-ref --stdin"
    );
    Leftover { what: "branches and kept work in the repository of a project", place, remove }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use domain::id::ProjectId;
    use repo::testing::TestRepository;
    use runner::process;

    use super::*;

    #[test]
    fn only_what_exists_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("my board/board.db"), worktrees_path: folder.path().join("trees"), ..Config::default() };
        let on_disk = |recorded: &RecordedCheckouts| on_disk(&config, recorded, None, &folder.path().join("unit"));
        let mut recorded = RecordedCheckouts::default();
        assert_eq!(on_disk(&recorded), []);
        std::fs::create_dir(folder.path().join("my board")).unwrap();
        settings::write_token(&folder.path().join("my board/companion"), &db::new_token()).unwrap();
        let left = on_disk(&recorded);
        assert_eq!(left.iter().map(|one| one.what).collect::<Vec<_>>(), ["database, tokens and run folders", "registration in Claude Code"]);
        assert!(left[0].remove.starts_with("rm -r '") && left[0].remove.ends_with("/my board/companion'"), "{left:?}");
        std::fs::write(folder.path().join("my board/diary.txt"), "mine").unwrap();
        let left = on_disk(&recorded);
        assert!(!left[0].remove.contains("diary") && !left[0].remove.ends_with("/my board'"), "files of others stay: {left:?}");
        let tree = folder.path().join("trees/PROJ-001/TASK-001");
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(folder.path().join("trees/diary.txt"), "mine").unwrap();
        assert_eq!(on_disk(&recorded).len(), 2, "it is of another board");
        recorded.projects.insert(ProjectId::new(1));
        recorded.checkouts.insert(tree);
        let trees = &on_disk(&recorded)[1];
        assert!(trees.what == "worktrees" && trees.remove.ends_with("/trees/PROJ-001"), "{trees:?}");
    }

    #[test]
    fn repositories_on_record_are_named_while_they_have_references() {
        let (used, unused) = (TestRepository::new(), TestRepository::new());
        let head = used.repository().ref_sha("main").unwrap().unwrap();
        used.set_branch("vibe-relay/PROJ-001", &head);
        let removed = used.beside("removed/.git");
        let recorded: RecordedReferences = [used.git_dir(), unused.git_dir(), removed]
            .into_iter()
            .map(|git_dir| (git_dir, BTreeSet::from(["vibe-relay/PROJ-001".to_owned()])))
            .collect();
        let top = used.git_dir().parent().unwrap().to_owned();
        assert_eq!(repositories(&recorded), [top]);
    }

    #[tokio::test]
    async fn only_branches_of_tasks_and_projects_are_deleted() {
        let sample = TestRepository::new();
        let head = sample.repository().ref_sha("main").unwrap().unwrap();
        let branches = ["vr/TASK-001/work", "vr/TASK-1000/work-2", "vr/headset", "vibe-relay/PROJ-001", "vibe-relay/PROJ-001-2", "vibe-relay/notes"];
        branches.iter().for_each(|branch| sample.set_branch(branch, &head));
        let remove = in_repository(sample.top()).remove;
        let shell = process::find_program("sh", &std::env::var_os("PATH").unwrap()).unwrap();
        let ended = process::probe(&shell, &["-c", &remove], Duration::from_secs(30)).await.unwrap();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let left: Vec<&str> = branches.into_iter().filter(|branch| sample.repository().ref_sha(branch).unwrap().is_some()).collect();
        assert_eq!(left, ["vr/headset", "vibe-relay/notes"]);
    }
}
