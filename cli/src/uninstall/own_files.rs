//! Tells which files are those of a board. Its folder may be one of the person's with files of the same names, so each file is recognized by
//! what is in it. Must not remove anything.

use std::path::{Path, PathBuf};

use db::RecordedCheckouts;
use domain::config::Config;
use domain::id::{ProjectId, TaskId};
use domain::runs::folder;
use mcp::{server_file, server_socket};

use crate::{last_port, logging};

/// The folders in which the runner has one entry for each project or task.
const BY_PROJECT: [&str; 8] = ["checks", "previews", "cleanups", "knowledge", "landing", "publishing", "fetching", "code-maps"];

/// The files and folders of a board beside its database.
pub(super) fn beside(db_path: &Path) -> Vec<PathBuf> {
    let name = db_path.file_name().unwrap_or_default().to_string_lossy();
    let mut own = Vec::from(["", "-wal", "-shm"].map(|end| db_path.with_file_name(format!("{name}{end}"))));
    own.retain(|path| path.exists());
    let lock = db_path.with_extension("lock");
    let files = [
        (holds(&lock, |text| text.starts_with("process ")), lock),
        (has_token(db_path, "token"), db_path.with_file_name("token")),
        (has_companion(db_path), db_path.with_file_name("companion")),
        (last_port::read(db_path).is_some(), db_path.with_file_name("port")),
        (matches!(server_file::read(db_path), Ok(Some(_))), server_file::path(db_path)),
    ];
    own.extend(files.into_iter().filter_map(|(is_own, path)| is_own.then_some(path)));
    let socket = server_socket::path(db_path);
    own.extend(in_folder(&db_path.with_file_name("sockets"), |path, _| path == socket));
    own.extend(in_folder(&db_path.with_file_name("runs"), |path, _| folder::is_of_run(path) && path.join("spec.json").is_file()));
    let copies = format!("{}-", db_path.file_stem().unwrap_or_default().to_string_lossy());
    own.extend(in_folder(&db_path.with_file_name("backups"), |_, name| name.starts_with(&copies) && name.contains("-schema-")));
    own.extend(BY_PROJECT.iter().flat_map(|folder| in_folder(&db_path.with_file_name(folder), |_, name| is_named_by_id(name))));
    own
}

/// The worktrees of a board, or the folder of a project, or of all, that has nothing else. Boards may share the folder `worktrees`, and each
/// numbers its projects and tasks alike, so only what the database of the board has `recorded` is its own.
pub(super) fn worktrees(worktrees: &Path, recorded: &RecordedCheckouts) -> Vec<PathBuf> {
    let of_project = |project: &ProjectId| {
        let is_own = |path: &Path| recorded.checkouts.contains(path) || runner::is_of_project(path, worktrees, project);
        in_folder(&runner::folder_of(worktrees, project), |path, _| is_own(path))
    };
    let mut own: Vec<PathBuf> = recorded.projects.iter().flat_map(of_project).collect();
    let together = in_folder(worktrees, |path, _| own.iter().any(|own| own == path));
    if together == [worktrees] {
        own = together;
    }
    // The folder may have been another one before.
    own.extend(recorded.checkouts.iter().filter(|path| !path.starts_with(worktrees) && path.exists()).cloned());
    own
}

/// The log files of a board, or their folder.
pub(super) fn logs(config: &Config) -> Vec<PathBuf> {
    let stem = config.db_path.file_stem().unwrap_or_default().to_string_lossy();
    in_folder(&logging::folder(config), |_, name| {
        let number = name.strip_prefix(&*stem).and_then(|rest| rest.strip_suffix(".log"));
        number.is_some_and(|number| number.is_empty() || number.strip_prefix('.').is_some_and(|number| number.parse::<u8>().is_ok()))
    })
}

/// Whether a companion is attached.
pub(super) fn has_companion(db_path: &Path) -> bool {
    has_token(db_path, "companion")
}

fn has_token(db_path: &Path, name: &str) -> bool {
    let is_token = |text: &str| text.trim().len() == 64 && text.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
    holds(&db_path.with_file_name(name), is_token)
}

fn holds(file: &Path, is_expected: impl Fn(&str) -> bool) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| is_expected(&text))
}

/// Whether a name is an id, or one with an end: `PROJ-001`, `PROJ-001.git`, `PROJ-001-followed.git`.
fn is_named_by_id(name: &str) -> bool {
    let id: Vec<&str> = name.trim_end_matches(".git").splitn(3, '-').take(2).collect();
    let id = id.join("-");
    id.parse::<ProjectId>().is_ok() || id.parse::<TaskId>().is_ok()
}

/// The folder, if nothing in it belongs to others, else the files in it that are the board's.
fn in_folder(folder: &Path, is_own: impl Fn(&Path, &str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_own = |path: &PathBuf| path.file_name().is_some_and(|name| is_own(path, &name.to_string_lossy()));
    let (mut own, others): (Vec<PathBuf>, Vec<PathBuf>) = entries.flatten().map(|entry| entry.path()).partition(is_own);
    own.sort_unstable();
    if others.is_empty() { vec![folder.to_owned()] } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn names(folder: &Path, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.strip_prefix(folder).unwrap().display().to_string()).collect()
    }

    #[test]
    fn files_of_others_with_the_same_names_are_not_of_the_board() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let config = Config { db_path: folder.join("board.db"), ..Config::default() };
        for (name, text) in [("token", "mine"), ("companion", "mine"), ("port", "left"), ("server.json", "{}"), ("board.lock", "[[package]]")] {
            write(folder, name, text);
        }
        for name in ["runs/today.csv", "backups/home.tar", "checks/all.sh", "knowledge/PROJECT.md", "logs/app.log", "logs/board-old.log", "sockets/x"]
        {
            write(folder, name, "mine");
        }
        assert_eq!(names(folder, &beside(&config.db_path)), [] as [&str; 0]);
        assert_eq!(logs(&config), [] as [PathBuf; 0]);

        for name in [
            "runs/RUN-002-76f9cd1b/spec.json",
            "runs/RUN-001/spec.json",
            "runs/mine/spec.json",
            "backups/board-2026-01-31T09-05-00Z-schema-4.db",
            "checks/PROJ-001/main/a.rs",
            "board.db",
        ] {
            write(folder, name, "ours");
        }
        write(folder, "token", &"a".repeat(64));
        write(folder, "board.lock", "process 7");
        write(folder, "fetching/PROJ-001-followed.git/config", "ours");
        write(folder, "logs/board.log", "ours");
        write(folder, "logs/board.1.log", "ours");
        let expected = [
            "board.db",
            "board.lock",
            "token",
            "runs/RUN-002-76f9cd1b",
            "backups/board-2026-01-31T09-05-00Z-schema-4.db",
            "checks/PROJ-001",
            "fetching",
        ];
        assert_eq!(names(folder, &beside(&config.db_path)), expected);
        assert_eq!(names(folder, &logs(&config)), ["logs/board.1.log", "logs/board.log"]);
        for name in ["app.log", "board-old.log"] {
            std::fs::remove_file(folder.join("logs").join(name)).unwrap();
        }
        assert_eq!(names(folder, &logs(&config)), ["logs"], "nothing else is in it");
    }

    #[test]
    fn worktrees_of_other_boards_and_folders_of_the_person_are_not_of_the_board() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, trees) = (folder.path(), folder.path().join("trees"));
        let mut recorded = RecordedCheckouts::default();
        assert_eq!(worktrees(&trees, &recorded), [] as [PathBuf; 0]);
        recorded.projects.extend([ProjectId::new(1), ProjectId::new(2)]);
        recorded.checkouts.extend(["trees/PROJ-001/TASK-001", "trees/PROJ-002/TASK-002", "before/PROJ-001/TASK-003"].map(|path| folder.join(path)));
        for tree in ["trees/PROJ-001/TASK-001", "trees/PROJ-001/checks-full", "trees/PROJ-002/TASK-002", "before/PROJ-001/TASK-003"] {
            write(folder, &format!("{tree}/a.txt"), "ours");
        }
        assert_eq!(names(folder, &worktrees(&trees, &recorded)), ["trees", "before/PROJ-001/TASK-003"], "nothing else is in it");
        for theirs in ["trees/PROJ-003/TASK-004/a.txt", "trees/PROJ-001/TASK-001-2/a.txt", "trees/mine.txt"] {
            write(folder, theirs, "theirs");
        }
        let expected = ["trees/PROJ-001/TASK-001", "trees/PROJ-001/checks-full", "trees/PROJ-002", "before/PROJ-001/TASK-003"];
        assert_eq!(names(folder, &worktrees(&trees, &recorded)), expected);
    }
}
