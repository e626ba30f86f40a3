//! `git` in a carrier, on the files and the index of a checkout of another repository.

use std::path::Path;
use std::time::Duration;

use super::{ProbeOutput, Result, collect, command};
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
