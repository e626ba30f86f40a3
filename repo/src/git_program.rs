//! Runs the `git` program for tests: to check the results of this crate, and to create repositories that libgit2 cannot
//! create. Must not be used by product code.

use std::cell::Cell;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::git_call::{GitCall, GitOutput, use_git};
use crate::testing::TestRepository;

/// Runs `git` in `folder` without the configuration of this machine.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    run_with(folder, arguments, "")
}

/// The filter of the person in tests, which is configured for all repositories: it changes each letter from `a` to `z`, there and back.
const FILTER: [&str; 2] = ["filter.rot13.clean=tr a-z n-za-m", "filter.rot13.smudge=tr a-z n-za-m"];

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the calls of this crate that this thread made.
pub(crate) fn calls() -> usize {
    CALLS.get()
}

/// Runs `git` like [`git`], with the filter `rot13`, as the person and agents do.
pub(crate) fn filtered(folder: &Path, arguments: &[&str]) -> String {
    git(folder, &[&["-c", FILTER[0], "-c", FILTER[1]], arguments].concat())
}

/// Makes a key of `ssh` for signatures, and lets git trust it in this repository.
#[expect(clippy::disallowed_methods, reason = "the key of a person in tests")]
pub(crate) fn make_key(sample: &TestRepository) -> PathBuf {
    let key = sample.beside("key");
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "sam@example.org", "-f"]).arg(&key).status();
    assert!(made.unwrap().success());
    let (public, trusted) = (fs::read_to_string(key.with_extension("pub")).unwrap(), sample.beside("trusted"));
    fs::write(&trusted, format!("sam@example.org {public}")).unwrap();
    sample.configure("gpg.ssh.allowedSignersFile", trusted.to_str().unwrap());
    key
}

/// A server that is this machine, in the place of `ssh`.
const SERVER: [&str; 2] = ["core.sshCommand=sh -c 'eval \"$1\"'", "ssh.variant=simple"];

/// Lets this crate call `git`, with the filter `rot13`.
pub(crate) fn serve_calls() {
    use_git(run_call);
}

#[expect(clippy::disallowed_methods, reason = "stands in for the server, which is not part of this crate")]
fn run_call(call: GitCall) -> io::Result<GitOutput> {
    CALLS.set(CALLS.get() + 1);
    let mut command = Command::new("git");
    command.current_dir(call.worktree.as_ref().unwrap_or(&call.carrier)).env("GIT_DIR", &call.carrier).env("GIT_OBJECT_DIRECTORY", &call.objects);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.envs(call.worktree.iter().map(|path| ("GIT_WORK_TREE", path))).envs(call.index.iter().map(|path| ("GIT_INDEX_FILE", path)));
    command.args(call.settings.iter().map(String::as_str).chain(FILTER).chain(SERVER).flat_map(|setting| ["-c", setting])).args(&call.arguments);
    command.envs(call.variables).stdin(call.input.map_or_else(Stdio::null, Stdio::from));
    let Output { status, stdout, stderr } = command.output()?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(GitOutput { code: status.code(), stdout: text(stdout), stderr: text(stderr) })
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
