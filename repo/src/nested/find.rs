//! Finds the nested repositories of a checkout in its folders and in git's data about it. Opens none of them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::NestedRepository;
use crate::checkout::read_small;
use crate::error::{Attempt, RepoError};
use crate::handle::{Repository, oid};

impl Repository {
    /// Lists the repositories that would be removed together with the checkout `name` at `worktree`: in its folders, also ignored ones,
    /// and its submodules. `head` is the commit that decides which paths are ignored.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn nested_repositories(&self, name: &str, worktree: &Path, head: &str) -> Result<Vec<NestedRepository>, RepoError> {
        let admin = self.admin_dir(name)?;
        let reading = || format!("search {} for nested repositories", worktree.display());
        let mut search = Search { worktree, admin: &admin, found: Vec::new(), seen: BTreeSet::new() };
        search.folder(Path::new("")).attempting(reading)?;
        search.modules(&admin.join("modules"), Path::new("")).attempting(reading)?;
        let mut found = search.found;
        let handle = self.handle_on(worktree, oid(head)?)?;
        for nested in &mut found {
            // Nobody asked git to track what lies there, except by a commit.
            if handle.is_path_ignored(&nested.path).unwrap_or(false) {
                nested.workdir = None;
            }
        }
        Ok(found)
    }
}

struct Search<'a> {
    worktree: &'a Path,
    admin: &'a Path,
    found: Vec<NestedRepository>,
    seen: BTreeSet<PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, relative: &Path) -> io::Result<()> {
        let folder = self.worktree.join(relative);
        let entries = match fs::read_dir(&folder) {
            // It vanished, or the removal itself will report it.
            Err(reason) if matches!(reason.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            if kind.is_dir() && (name == ".git" || name == ".git.found") {
                self.add(entry.path(), relative)?;
            } else if kind.is_dir() {
                self.folder(&relative.join(&name))?;
            } else if kind.is_file()
                && name == ".git"
                && !relative.as_os_str().is_empty()
                && let Some(git_dir) = self.own_target(&entry.path(), &folder)
            {
                self.add(git_dir, relative)?;
            }
        }
        Ok(())
    }

    /// The folder that a `.git` file names, if it is removed with the checkout.
    fn own_target(&self, file: &Path, folder: &Path) -> Option<PathBuf> {
        let text = read_small(file)?;
        let target = folder.join(text.trim_end().strip_prefix("gitdir: ")?).canonicalize().ok()?;
        let roots = [self.worktree, self.admin].into_iter().filter_map(|root| root.canonicalize().ok());
        let is_own = roots.into_iter().any(|root| target.starts_with(&root) && target != root);
        is_own.then_some(target)
    }

    fn add(&mut self, git_dir: PathBuf, relative: &Path) -> io::Result<()> {
        self.record(&git_dir, relative, Some(self.worktree.join(relative)));
        self.modules(&git_dir.join("modules"), relative)
    }

    /// Adds the submodules below a folder `modules`, whose names may contain slashes.
    fn modules(&mut self, folder: &Path, relative: &Path) -> io::Result<()> {
        let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
        for entry in entries {
            let entry = entry?;
            if !entry.file_type()?.is_dir() {
                continue;
            }
            let (git_dir, path) = (entry.path(), relative.join(entry.file_name()));
            if git_dir.join("HEAD").is_file() && git_dir.join("objects").is_dir() {
                self.record(&git_dir, &path, None);
                self.modules(&git_dir.join("modules"), &path)?;
            } else {
                self.modules(&git_dir, &path)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, git_dir: &Path, relative: &Path, workdir: Option<PathBuf>) {
        let known_as = git_dir.canonicalize().unwrap_or_else(|_| git_dir.to_path_buf());
        if self.seen.insert(known_as) {
            let path = if relative.as_os_str().is_empty() { ".".to_owned() } else { relative.to_string_lossy().into_owned() };
            self.found.push(NestedRepository { path, git_dir: git_dir.to_path_buf(), workdir });
        }
    }
}
