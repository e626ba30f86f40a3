//! Paths of a jail: without symbolic links, and with the links that an agent needs to reach them under the names that it was told.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A symbolic link inside the jail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    pub target: PathBuf,
    pub path: PathBuf,
}

/// The path without symbolic links, if it exists.
pub fn resolve(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// The paths that are not below another one, sorted.
pub fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    let all = paths.clone();
    paths.retain(|path| !all.iter().any(|other| other != path && path.starts_with(other)));
    paths
}

/// The symbolic links on the way to `path` that lie in a hidden folder, where the jail would lack them.
pub fn hidden_links(path: &Path, hidden: &[PathBuf]) -> Vec<Link> {
    let mut links = Vec::new();
    let mut walked = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            walked.pop();
            continue;
        }
        let next = walked.join(component);
        match resolve(&next) {
            Some(target) if target != next => {
                if hidden.iter().any(|folder| next.starts_with(folder)) {
                    links.push(Link { target: target.clone(), path: next });
                }
                walked = target;
            }
            _ => walked = next,
        }
    }
    links
}

/// The path as people write it: with `~` for the home folder.
pub fn shown(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

/// The reverse of [`shown`].
pub fn expanded(shown: &str, home: &Path) -> PathBuf {
    match shown.strip_prefix('~') {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => PathBuf::from(shown),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nested_folders_are_dropped() {
        let paths = ["/home", "/srv/.vibe-relay", "/srv", "/served", "/home"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(paths), ["/home", "/served", "/srv"].map(PathBuf::from));
    }

    #[test]
    fn only_links_in_hidden_folders_are_recreated() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("disk/code/repo")).unwrap();
        fs::create_dir_all(root.join("home")).unwrap();
        symlink(root.join("disk/code"), root.join("home/code")).unwrap();
        symlink(root.join("home"), root.join("link")).unwrap();
        let path = root.join("link/code/repo");
        let expected = Link { target: root.join("disk/code"), path: root.join("home/code") };
        assert_eq!(hidden_links(&path, &[root.join("home")]), [expected]);
        assert_eq!(hidden_links(&root.join("disk/code/repo"), &[root.join("home")]), []);
        assert_eq!(resolve(&path).unwrap(), root.join("disk/code/repo"));
    }

    #[test]
    fn home_is_shown_as_tilde_and_expanded_again() {
        let home = Path::new("/home/ann");
        for (path, text) in [("/home/ann/.bashrc", "~/.bashrc"), ("/home/ann", "~"), ("/etc/cron.d", "/etc/cron.d"), ("/home/anna", "/home/anna")] {
            assert_eq!(shown(Path::new(path), home), text);
            assert_eq!(expanded(text, home), Path::new(path));
        }
    }
}
