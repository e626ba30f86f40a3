//! `vibe-relay uninstall`: says what vibe-relay has left on the machine, and how to remove each. Must not remove anything.

use std::path::{Path, PathBuf};

use domain::board::project::Project;
use domain::config::Config;
use domain::text::shell_word;
use domain::wire::List;
use serde::Serialize;

use crate::client::Client;
use crate::error::CliError;
use crate::{output, service, settings};

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
    let remove = |path: &Path| format!("rm -r {}", shell_word(&path.display().to_string()));
    let board = config.db_path.parent().unwrap_or(&config.db_path).to_owned();
    let places =
        [("database, tokens, logs and run folders", Some(board)), ("worktrees", Some(config.worktrees_path.clone())), ("configuration", file)];
    let mut left: Vec<Leftover> = places
        .into_iter()
        .filter_map(|(what, path)| Some((what, path.filter(|path| path.exists())?)))
        .map(|(what, path)| Leftover { what, place: path.display().to_string(), remove: remove(&path) })
        .collect();
    if unit.exists() {
        left.push(Leftover { what: "service", place: unit.display().to_string(), remove: "vibe-relay service remove".to_owned() });
    }
    if config.db_path.with_file_name("companion").exists() {
        let remove = "claude mcp remove --scope user vibe-relay".to_owned();
        left.push(Leftover { what: "registration in Claude Code", place: "vibe-relay".to_owned(), remove });
    }
    left
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
        assert_eq!(left.iter().map(|one| one.what).collect::<Vec<_>>(), ["database, tokens, logs and run folders", "registration in Claude Code"]);
        assert!(left[0].remove.starts_with("rm -r '") && left[0].remove.ends_with("/my board'"), "{left:?}");
    }
}
