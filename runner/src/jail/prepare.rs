//! Creates what the mounts of a jail need, and removes it again. Repeating a step is harmless.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::layout::{JailError, JailRequest};

/// Git removes a folder of references when it is empty, for example in `git pack-refs`, and a mount in it would be lost. Git ignores this
/// file, because no reference may begin with a dot.
const KEEP: &str = ".keep";

/// The folder in the run's folder that is `/tmp` inside.
pub const TMP: &str = "tmp";
/// The folder in the run's folder with the sockets that the shim offers to the jail.
pub const SOCKETS: &str = "s";

/// The folders of a task's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefFolders {
    pub(super) refs: PathBuf,
    pub(super) log: PathBuf,
}

impl RefFolders {
    /// # Errors
    /// When the branch has no folder of its own, such as `vr/TASK-001` for `vr/TASK-001/work`.
    pub(super) fn of(git_dir: &Path, branch: &str) -> Result<Self, JailError> {
        match branch.rsplit_once('/') {
            Some((folder, _)) if folder.contains('/') => {
                let refs = Path::new("refs/heads").join(folder);
                Ok(Self { log: git_dir.join("logs").join(&refs), refs: git_dir.join(refs) })
            }
            _ => Err(JailError::SharedBranchFolder { branch: branch.to_owned() }),
        }
    }
}

/// Prepares the folder of a run.
///
/// # Errors
/// When a folder cannot be created.
pub fn prepare_run_dir(run_dir: &Path) -> Result<(), JailError> {
    [TMP, SOCKETS].iter().try_for_each(|name| create_private(&run_dir.join(name)))
}

/// Prepares the repository, the board's folder and the agent program's sessions.
///
/// # Errors
/// When something cannot be created.
pub fn prepare(request: &JailRequest) -> Result<(), JailError> {
    create_private(&request.board)?;
    for folder in &request.agent.sessions {
        create(folder)?;
    }
    create(&request.git_dir.join("objects/info"))?;
    if let Some(branch) = &request.branch {
        let RefFolders { refs, log } = RefFolders::of(&request.git_dir, branch)?;
        for folder in [refs, log] {
            create(&folder)?;
            create_file(&folder.join(KEEP))?;
        }
    }
    // Absent, it could be created by the agent, and git reads it as configuration.
    create_file(&request.admin.join("config.worktree"))
}

/// Removes what [`prepare`] added to the folders of a branch, so that git can remove them. Files that are already gone are not an error.
pub fn release_branch(git_dir: &Path, branch: &str) {
    let Ok(RefFolders { refs, log }) = RefFolders::of(git_dir, branch) else { return };
    for folder in [refs, log] {
        let _ = fs::remove_file(folder.join(KEEP));
        // Only when it is empty.
        let _ = fs::remove_dir(folder);
    }
}

fn create(path: &Path) -> Result<(), JailError> {
    fs::create_dir_all(path).map_err(failed("create", path))
}

fn create_private(path: &Path) -> Result<(), JailError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create", path))
}

/// Creates an empty file and follows no link, because an agent may have written to the folder.
fn create_file(path: &Path) -> Result<(), JailError> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed("create", path)(error)),
        _ => Ok(()),
    }
}

fn failed(attempt: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JailError {
    move |source| JailError::Io { attempt, path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_without_own_folder_is_rejected() {
        let folders = RefFolders::of(Path::new("/r/.git"), "vr/TASK-001/work").unwrap();
        assert_eq!(folders.refs, Path::new("/r/.git/refs/heads/vr/TASK-001"));
        assert_eq!(folders.log, Path::new("/r/.git/logs/refs/heads/vr/TASK-001"));
        for shared in ["main", "vr/TASK-001"] {
            assert!(matches!(RefFolders::of(Path::new("/r/.git"), shared), Err(JailError::SharedBranchFolder { .. })), "{shared}");
        }
    }
}
