//! `git` in a carrier, on the files, the index and the objects of another repository.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use repo::{GitCall, GitOutput};

use super::{ProbeOutput, Result, collect, collect_from, command, find_program};
use crate::env;

/// Runs `git` to its end with the carrier as its repository, so that no configuration of the checkout's own repository applies.
///
/// # Errors
/// As [`super::probe`].
pub(crate) async fn in_carrier(
    git: &Path,
    carrier: &Path,
    (workdir, index): (&Path, &Path),
    arguments: &[&str],
    limit: Duration,
) -> Result<ProbeOutput> {
    let mut command = command(git, carrier, env::filter_env(std::env::vars_os()));
    command.env("GIT_DIR", carrier).env("GIT_WORK_TREE", workdir).env("GIT_INDEX_FILE", index);
    command.args(arguments).envs(env::WITHOUT_QUESTIONS.iter().copied()).env("GIT_NO_LAZY_FETCH", "1");
    collect(git, command, limit).await
}

/// Runs a call of `repo` to its end, with the credentials of the person and without a question at a terminal. Blocks, so it must not be called
/// on an async thread.
///
/// # Errors
/// `NotFound` if `git` is not installed. Otherwise it did not start, or did not end in time.
pub fn run_git(call: GitCall) -> io::Result<GitOutput> {
    let GitCall { carrier, objects, worktree, index, settings, arguments, variables, input, limit } = call;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let git = find_program("git", &path).ok_or(ErrorKind::NotFound)?;
    let mut command = command(&git, worktree.as_ref().unwrap_or(&carrier), env::filter_env_for_publishing(std::env::vars_os()));
    let settings = settings.into_iter().flat_map(|setting| ["-c".into(), OsString::from(setting)]);
    command.args(settings).args(arguments).env("GIT_DIR", &carrier).env("GIT_OBJECT_DIRECTORY", objects);
    let places = [("GIT_WORK_TREE", worktree), ("GIT_INDEX_FILE", index)];
    command.envs(places.into_iter().filter_map(|(name, place)| Some((name, place?))));
    command.envs(env::WITHOUT_QUESTIONS.iter().copied()).env("GIT_NO_LAZY_FETCH", "1").envs(variables);
    let input = input.map_or_else(Stdio::null, Stdio::from);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(collect_from(&git, command, input, limit)).map_err(io::Error::other)?;
    Ok(GitOutput { code: ended.code, stdout: ended.stdout, stderr: ended.stderr })
}
