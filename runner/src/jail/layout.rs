//! Collects what an agent may see and write into the layout of its jail.
//!
//! It reads the file system to follow symbolic links and to leave out what does not exist, and must not change it; `prepare` does.

use std::path::{Path, PathBuf};

use domain::runs::sandbox::{Access, AccessKind, SandboxTier};

use super::arguments::{Layout, Mount, MountAccess};
use super::home;
use super::paths::{expanded, hidden_links, outermost, resolve};
use super::prepare::{RefFolders, SOCKETS, TMP};
use crate::backend::AgentFiles;

/// The folder of Git LFS in a repository.
const LFS: &str = "lfs";
/// The folders of all users.
const HOMES: [&str; 2] = ["/home", "/root"];

/// The needs of a run.
#[derive(Debug, Clone)]
pub struct JailRequest {
    pub tier: SandboxTier,
    pub is_root: bool,
    pub home: PathBuf,
    /// The files of the agent program in the home folder.
    pub agent: AgentFiles,
    /// The folder of the database, with its secrets.
    pub data: PathBuf,
    /// The folder in which agents find the board.
    pub board: PathBuf,
    /// The folder of all checkouts.
    pub worktrees: PathBuf,
    /// The repository's common `.git` folder.
    pub git_dir: PathBuf,
    /// The checkout's own folder in `git_dir`.
    pub admin: PathBuf,
    pub checkout: PathBuf,
    /// The branch that the agent may move. Without one, no reference can be written.
    pub branch: Option<String>,
    /// Whether the agent neither edits nor runs commands, so that nothing of the repository has to be written.
    pub is_read_only: bool,
    /// The run's folder, without symbolic links. It may not exist yet.
    pub run_dir: PathBuf,
    /// The names of the files in the run's folder that the agent reads.
    pub files: Vec<&'static str>,
    /// The agent program, and this program.
    pub programs: Vec<PathBuf>,
    /// Files that the agent's command names.
    pub arguments: Vec<PathBuf>,
    /// The accesses that a person allowed for the project.
    pub allowed: Vec<Access>,
}

/// Why no jail can be built for a run.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    #[error("{} does not exist, so the agent's jail cannot be built; retry the task, or check the repository", path.display())]
    Missing { path: PathBuf },
    #[error("the branch {branch} shares its folder with other branches, so a jail cannot confine an agent to it; rename it to NAME/work")]
    SharedBranchFolder { branch: String },
    #[error("could not {attempt} {}; check that the disk has space and that this user owns the folder", path.display())]
    Io { attempt: &'static str, path: PathBuf, source: std::io::Error },
}

impl JailRequest {
    /// The layout of the jail. Call it after [`super::prepare::prepare`].
    ///
    /// # Errors
    /// When something that the agent cannot work without does not exist.
    pub fn layout(&self) -> Result<Layout, JailError> {
        let home = resolve(&self.home).unwrap_or_else(|| self.home.clone());
        let hidden = self.hidden(&home);
        let mut mounts = Mounts::default();
        self.add_allowed(&mut mounts, &home);
        self.add_home(&mut mounts, &home);
        for program in &self.programs {
            mounts.add_program(program, |folder| hidden.iter().chain([&home]).any(|path| path.starts_with(folder)));
        }
        for path in &self.arguments {
            mounts.offer(path, MountAccess::Read);
        }
        self.add_repository(&mut mounts)?;
        let git_file = self.checkout.join(".git");
        mounts.require(&self.checkout, self.work_access())?;
        mounts.require(&git_file, MountAccess::Read)?;
        mounts.require(&self.board, MountAccess::Read)?;
        for file in &self.files {
            mounts.add(self.run_dir.join(file), MountAccess::Read, false);
        }
        let named = [&self.home, &self.git_dir, &self.checkout, &self.board, &self.run_dir].into_iter().chain(&self.programs);
        let mut links: Vec<_> = named.flat_map(|path| hidden_links(path, &hidden)).collect();
        links.sort();
        links.dedup();
        Ok(Layout {
            shares_network: self.tier != SandboxTier::JailNet,
            is_root: self.is_root,
            scratch: vec![home.join(home::SCRATCH), existing(&self.agent.private)],
            home,
            tmp: self.run_dir.join(TMP),
            sockets: self.run_dir.join(SOCKETS),
            links,
            mounts: mounts.0,
            cwd: required(&self.checkout)?,
            hidden,
        })
    }

    /// The access to what work in a checkout changes.
    const fn work_access(&self) -> MountAccess {
        if self.is_read_only { MountAccess::Read } else { MountAccess::Write }
    }

    /// The folders that are empty in the jail: all homes, our data, and the checkouts of other agents.
    fn hidden(&self, home: &Path) -> Vec<PathBuf> {
        let all = HOMES.iter().map(Path::new).chain([home, &self.data, &self.worktrees, &self.agent.private]);
        outermost(all.filter_map(resolve).filter(|path| path.is_dir()).collect())
    }

    fn add_allowed(&self, mounts: &mut Mounts, home: &Path) {
        for Access { kind, target } in &self.allowed {
            let path = expanded(target, home);
            match kind {
                AccessKind::Read => mounts.offer(&path, MountAccess::Read),
                AccessKind::Write => mounts.offer(&path, MountAccess::Write),
                AccessKind::Host | AccessKind::Sign => {}
            }
        }
    }

    fn add_home(&self, mounts: &mut Mounts, home: &Path) {
        for tool in home::TOOLS {
            mounts.offer(&home.join(tool), MountAccess::Read);
        }
        for cache in home::CACHES {
            mounts.offer(&home.join(cache), MountAccess::Write);
        }
        for path in &self.agent.readable {
            mounts.offer(path, MountAccess::Read);
        }
        for path in &self.agent.sessions {
            mounts.offer(path, MountAccess::Write);
        }
    }

    /// The repository is readable. Objects, the task's branch and the checkout's own files can be written, but not what git reads as
    /// configuration or as the way to the repository.
    fn add_repository(&self, mounts: &mut Mounts) -> Result<(), JailError> {
        mounts.require(&self.git_dir, MountAccess::Read)?;
        let objects = self.git_dir.join("objects");
        mounts.require(&objects, self.work_access())?;
        mounts.require(&objects.join("info"), MountAccess::Read)?;
        // The files of Git LFS, which are objects too.
        mounts.offer(&self.git_dir.join(LFS), self.work_access());
        if let Some(branch) = &self.branch {
            let RefFolders { refs, log } = RefFolders::of(&self.git_dir, branch)?;
            mounts.require(&refs, MountAccess::Write)?;
            mounts.require(&log, MountAccess::Write)?;
        }
        mounts.require(&self.admin, self.work_access())?;
        for name in ["commondir", "gitdir", "config.worktree"] {
            mounts.require(&self.admin.join(name), MountAccess::Read)?;
        }
        mounts.offer(&self.admin.join("locked"), MountAccess::Read);
        Ok(())
    }
}

#[derive(Default)]
struct Mounts(Vec<Mount>);

impl Mounts {
    fn add(&mut self, path: PathBuf, access: MountAccess, optional: bool) {
        self.0.push(Mount { path, access, optional });
    }

    fn require(&mut self, path: &Path, access: MountAccess) -> Result<(), JailError> {
        self.add(required(path)?, access, false);
        Ok(())
    }

    fn offer(&mut self, path: &Path, access: MountAccess) {
        if let Some(path) = resolve(path) {
            self.add(path, access, true);
        }
    }

    /// A program needs the files beside it: the folder that was named, and the one in which the program really is. A folder that would
    /// uncover hidden ones is left out.
    fn add_program(&mut self, program: &Path, uncovers: impl Fn(&Path) -> bool) {
        let Some(real) = resolve(program) else { return };
        // A program of npm reads other files of its package.
        let package = real.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "node_modules"));
        let folders = [package.or(real.parent()), program.parent()];
        for folder in folders.into_iter().flatten().filter_map(resolve).filter(|folder| !uncovers(folder)) {
            self.add(folder, MountAccess::Read, true);
        }
        self.add(real, MountAccess::Read, true);
    }
}

fn required(path: &Path) -> Result<PathBuf, JailError> {
    resolve(path).ok_or_else(|| JailError::Missing { path: path.to_owned() })
}

fn existing(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests;
