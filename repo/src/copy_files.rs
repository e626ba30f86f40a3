//! Copies ignored files of a person's checkout, such as `.env`, into the fresh checkout of an agent.
//!
//! Only files that git ignores are copied, so nothing of them is ever committed. It never follows a symbolic link, never replaces a file and
//! never reads inside of `.git`. Must not know which files are wanted; the caller says.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use nix::libc::O_NOFOLLOW;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

/// The most files and bytes that are copied. More are not settings but data.
const MAX_FILES: usize = 200;
const MAX_BYTES: u64 = 64 << 20;
/// The most entries of the person's checkout that are read.
const MAX_ENTRIES: usize = 500_000;

/// Files for the checkouts of agents, by their paths from the root of the repository, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoredFiles {
    pub paths: Vec<PathBuf>,
    /// Files that were left out because there are too many, or they are too large.
    pub left_out: usize,
}

impl Repository {
    /// Finds the ignored files of the checkout at `top` that `is_wanted` names. Costs one look at each folder that git does not ignore,
    /// and grows with them. Ignored folders are entered only if they are wanted themselves.
    ///
    /// # Errors
    /// The checkout cannot be read.
    pub fn ignored_files(&self, top: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<IgnoredFiles, RepoError> {
        let handle = self.checkout_handle(self.git_dir(), top)?;
        let mut found = IgnoredFiles::default();
        let (mut folders, mut entries, mut bytes) = (VecDeque::from([PathBuf::new()]), 0, 0);
        while let Some(folder) = folders.pop_front() {
            let Ok(listed) = fs::read_dir(top.join(&folder)) else { continue };
            for entry in listed.flatten() {
                entries += 1;
                let (path, Ok(kind)) = (folder.join(entry.file_name()), entry.file_type()) else { continue };
                if entries > MAX_ENTRIES || entry.file_name() == ".git" {
                    continue;
                }
                let text = &*path.to_string_lossy();
                let is_folder = kind.is_dir();
                if !(is_folder || kind.is_file() && is_wanted(text)) {
                    continue;
                }
                // A folder is named with a slash at its end.
                let named = if is_folder { path.join("") } else { path.clone() };
                let is_ignored = handle.is_path_ignored(&named).attempting(|| format!("find out whether git ignores {text}"))?;
                if is_folder && (!is_ignored || is_wanted(text)) {
                    // A nested repository has its own files.
                    if !top.join(&path).join(".git").exists() {
                        folders.push_back(path);
                    }
                } else if !is_folder && is_ignored {
                    bytes += entry.metadata().map_or(0, |metadata| metadata.len());
                    if found.paths.len() < MAX_FILES && bytes <= MAX_BYTES { found.paths.push(path) } else { found.left_out += 1 }
                }
            }
        }
        found.paths.sort();
        Ok(found)
    }

    /// Copies files from one checkout to the same paths in another one that has none of them. Returns those that were copied.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn copy_files(&self, from: &Path, to: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>, RepoError> {
        let mut copied = Vec::new();
        for path in files {
            let is_copied =
                copy(from, to, path).map_err(|reason| RepoError::Io { attempted: format!("copy {} to {}", path.display(), to.display()), reason })?;
            copied.extend(is_copied.then(|| path.clone()));
        }
        Ok(copied)
    }
}

fn copy(from: &Path, to: &Path, path: &Path) -> io::Result<bool> {
    if path.components().any(|part| !matches!(part, Component::Normal(_))) || !make_parents(to, path)? {
        return Ok(false);
    }
    let mut source = match OpenOptions::new().read(true).custom_flags(O_NOFOLLOW).open(from.join(path)) {
        Ok(source) => source,
        // It was removed or replaced since it was listed.
        Err(_) => return Ok(false),
    };
    let mode = source.metadata()?.permissions().mode() & 0o777;
    let mut target: File = match OpenOptions::new().write(true).create_new(true).mode(mode).open(to.join(path)) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error),
    };
    io::copy(&mut source, &mut target).map(|_| true)
}

/// Makes the folders above a file. Returns false if one of them is a file or a link.
fn make_parents(to: &Path, path: &Path) -> io::Result<bool> {
    let mut folder = to.to_path_buf();
    for part in path.parent().into_iter().flat_map(Path::components) {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::testing::TestRepository;

    fn sample() -> TestRepository {
        let sample = TestRepository::new();
        sample.write(".gitignore", ".env*\nnode_modules/\nlocal/\n");
        sample.write(".env", "KEY=1\n");
        sample.write("apps/web/.env.local", "KEY=2\n");
        sample.write("node_modules/a/.env", "KEY=3\n");
        sample.write("local/settings.toml", "a = 1\n");
        sample.write("notes.txt", "not ignored\n");
        sample
    }

    fn found(sample: &TestRepository, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let found = sample.repository().ignored_files(sample.top(), wanted).unwrap();
        found.paths.iter().map(|path| path.display().to_string()).collect()
    }

    fn is_env(path: &str) -> bool {
        path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"))
    }

    #[test]
    fn only_wanted_and_ignored_files_are_found() {
        let sample = sample();
        assert_eq!(found(&sample, is_env), [".env", "apps/web/.env.local"]);
        assert_eq!(found(&sample, |path| path == "local" || path.starts_with("local/")), ["local/settings.toml"]);
        assert_eq!(found(&sample, |path| path == "notes.txt" || path == "README.md"), [] as [&str; 0], "git does not ignore them");
        assert_eq!(found(&sample, |_| false), [] as [&str; 0]);
    }

    #[test]
    fn links_and_nested_repositories_are_left_alone() {
        let sample = sample();
        symlink("/etc/passwd", sample.top().join(".env.link")).unwrap();
        sample.write("nested/.git/HEAD", "ref: refs/heads/main\n");
        sample.write("nested/.env", "KEY=4\n");
        assert_eq!(found(&sample, is_env), [".env", "apps/web/.env.local"]);
    }

    #[test]
    fn copies_replace_nothing_and_follow_no_link() {
        let sample = sample();
        let to = sample.beside("checkout");
        fs::create_dir_all(&to).unwrap();
        let outside = sample.beside("outside");
        fs::create_dir_all(&outside).unwrap();
        symlink(&outside, to.join("apps")).unwrap();
        fs::write(to.join("kept"), "own").unwrap();
        sample.write("kept", "other");
        let files = [".env", "apps/web/.env.local", "kept", "../x", "gone"].map(PathBuf::from);
        let copied = sample.repository().copy_files(sample.top(), &to, &files).unwrap();
        assert_eq!(copied, [PathBuf::from(".env")]);
        assert_eq!(fs::read_to_string(to.join(".env")).unwrap(), "KEY=1\n");
        assert_eq!(fs::read_to_string(to.join("kept")).unwrap(), "own");
        assert!(fs::read_dir(&outside).unwrap().next().is_none());
    }

    #[test]
    fn data_is_left_out() {
        let sample = sample();
        File::create(sample.top().join(".env.large")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let all = sample.repository().ignored_files(sample.top(), is_env).unwrap();
        assert!(all.left_out >= 1 && !all.paths.contains(&PathBuf::from(".env.large")));
        for number in 0..MAX_FILES {
            sample.write(&format!("many/.env.{number}"), "");
        }
        assert!(sample.repository().ignored_files(sample.top(), is_env).unwrap().paths.len() <= MAX_FILES);
    }
}
