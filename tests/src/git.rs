//! Runs the `git` program to prepare repositories and to inspect them independently of the product. It must not know what the product does
//! in a repository.

use std::io;
use std::path::Path;
use std::process::Command;

/// A fixed identity and date for commits, because equal work must have equal commit ids.
pub const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
];

/// Runs `git` in a folder without the user's configuration and returns its output.
///
/// # Errors
/// The command failed. The error contains its stderr.
pub fn git(folder: &Path, arguments: &[&str]) -> io::Result<String> {
    run(Path::new("/dev/null"), folder, arguments)
}

/// As [`git`], with the configuration of the person whose home folder is `home`.
///
/// # Errors
/// As [`git`].
pub fn git_as(home: &Path, folder: &Path, arguments: &[&str]) -> io::Result<String> {
    run(&home.join(".gitconfig"), folder, arguments)
}

fn run(configuration: &Path, folder: &Path, arguments: &[&str]) -> io::Result<String> {
    #[expect(clippy::disallowed_methods, reason = "a test inspects a repository with the real program")]
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).envs(IDENTITY).env("GIT_CONFIG_GLOBAL", configuration).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output()?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("git {}: {stderr}", arguments.join(" "))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Creates a repository with one commit of these files on `main`.
///
/// # Errors
/// A file or the commit could not be written.
pub fn repository(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    git(folder, &["init", "-q", "-b", "main"])?;
    for (path, content) in files {
        std::fs::write(folder.join(path), content)?;
    }
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "-m", "Begin"])?;
    Ok(())
}
