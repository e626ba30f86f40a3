//! `vibe-relay uninstall`: says what vibe-relay has left on the machine, and how to remove each. Must not remove anything.

use std::path::{Path, PathBuf};

use domain::board::project::Project;
use domain::config::Config;
use domain::text::shell_word;
use domain::wire::List;
use runner::backend;
use serde::Serialize;

use crate::client::Client;
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
/// When the configuration cannot be read, or a running board does not answer.
pub(crate) async fn run(named: Option<&Path>) -> Result<(), CliError> {
    let file = settings::file(named)?;
    let config = settings::config(named)?;
    let mut left = on_disk(&config, file, &service::unit_file()?);
    let mut complete = false;
    if let Ok(client) = Client::new(&config) {
        for path in ["/api/projects", "/api/projects?archived=true"] {
            let projects: List<Project> = client.get(path).await?;
            left.extend(projects.items.iter().map(in_repository));
        }
        left.dedup();
        complete = true;
    }
    output::list(&left, "vibe-relay has left nothing here.", |Leftover { what, place, remove }| format!("{what}: {place}\n  {remove}"));
    output::hint("Nothing was removed. Stop the board first. `vibe-relay rescue list PROJECT` shows work that was never merged.");
    if !complete {
        output::hint("No board is running, so repositories with branches and worktrees of vibe-relay are not listed.");
    }
    Ok(())
}

fn on_disk(config: &Config, file: Option<PathBuf>, unit: &Path) -> Vec<Leftover> {
    let remove = |paths: &[PathBuf]| {
        let words: Vec<String> = paths.iter().map(|path| shell_word(&path.display().to_string())).collect();
        format!("rm -r {}", words.join(" "))
    };
    let board = of_board(&config.db_path);
    let mut left = Vec::new();
    if !board.is_empty() {
        let place = config.db_path.parent().unwrap_or(&config.db_path).display().to_string();
        left.push(Leftover { what: "database, tokens and run folders", place, remove: remove(&board) });
    }
    let places = [("logs", Some(logging::folder(config))), ("worktrees", Some(config.worktrees_path.clone())), ("configuration", file)];
    let existing = places.into_iter().filter_map(|(what, path)| Some((what, path.filter(|path| path.exists())?)));
    left.extend(existing.map(|(what, path)| Leftover { what, place: path.display().to_string(), remove: remove(&[path]) }));
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
    if config.db_path.with_file_name("companion").exists() {
        let remove = "claude mcp remove --scope user vibe-relay".to_owned();
        left.push(Leftover { what: "registration in Claude Code", place: "vibe-relay".to_owned(), remove });
    }
    left
}

/// The files of a board beside its database, by name: the folder may hold others.
fn of_board(db_path: &Path) -> Vec<PathBuf> {
    const BESIDE: [&str; 15] = [
        "token",
        "companion",
        "port",
        "server.json",
        "sockets",
        "runs",
        "backups",
        "checks",
        "previews",
        "cleanups",
        "knowledge",
        "landing",
        "publishing",
        "fetching",
        "code-maps",
    ];
    let name = db_path.file_name().unwrap_or_default().to_string_lossy();
    let own = ["", "-wal", "-shm"].map(|end| db_path.with_file_name(format!("{name}{end}")));
    let lock = db_path.with_extension("lock");
    own.into_iter().chain([lock]).chain(BESIDE.map(|name| db_path.with_file_name(name))).filter(|path| path.exists()).collect()
}

fn in_repository(project: &Project) -> Leftover {
    let folder = shell_word(&project.repo_path);
    let remove = format!(
        "git -C {folder} worktree prune; git -C {folder} for-each-ref --format='delete %(refname)' refs/vibe-relay refs/heads/vibe-relay refs/heads/vr | \
         git -C {folder} update-ref --stdin"
    );
    Leftover { what: "branches and kept work in the repository of a project", place: project.repo_path.clone(), remove }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exists_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { db_path: folder.path().join("my board/board.db"), worktrees_path: folder.path().join("trees"), ..Config::default() };
        assert_eq!(on_disk(&config, None, &folder.path().join("unit")), []);
        std::fs::create_dir(folder.path().join("my board")).unwrap();
        std::fs::write(folder.path().join("my board/companion"), "token").unwrap();
        let left = on_disk(&config, None, &folder.path().join("unit"));
        assert_eq!(left.iter().map(|one| one.what).collect::<Vec<_>>(), ["database, tokens and run folders", "registration in Claude Code"]);
        assert!(left[0].remove.starts_with("rm -r '") && left[0].remove.ends_with("/my board/companion'"), "{left:?}");
        std::fs::write(folder.path().join("my board/diary.txt"), "mine").unwrap();
        let left = on_disk(&config, None, &folder.path().join("unit"));
        assert!(!left[0].remove.contains("diary") && !left[0].remove.ends_with("/my board'"), "files of others stay: {left:?}");
    }
}
