//! Runs the `git` program for tests: to check the results of this crate, and to create repositories that libgit2 cannot
//! create. Must not be used by product code.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `git` in `folder` without the configuration of this machine.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_with(folder, arguments, "")
}

/// Runs `git` like [`run`], with `input` on its standard input.
#[expect(clippy::disallowed_methods, reason = "checks test results, not part of the product")]
pub(crate) fn run_with(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "Sam Sample");
        command.env(format!("GIT_{name}_EMAIL"), "sam@example.org");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that reads no input may exit before everything is written.
    _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs `git` like [`run`], requires success and returns the output without its final line break.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Creates a named pipe, which blocks its readers.
#[expect(clippy::disallowed_methods, reason = "the standard library cannot create named pipes")]
pub(crate) fn mkfifo(path: &Path) -> bool {
    Command::new("mkfifo").arg(path).status().unwrap().success()
}
