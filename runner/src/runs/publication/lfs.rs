//! Uploads the files of Git LFS before a branch is pushed, as its `pre-push` hook would: hooks do not run in a carrier.
//!
//! Must not decide which commits are pushed.

use std::path::Path;

use domain::board::project::Project;
use domain::runs::evidence::Sha;
use domain::runs::publication::{PublicationRefusal, PublicationTarget, shown_url};

use super::{PUSH_LIMIT, output_of};
use crate::process;
use crate::runs::checkout::with_files;

/// Uploads the files that the commits up to `tip` name and that the remote lacks. Does nothing in a repository without such files.
///
/// # Errors
/// When Git LFS is not installed, or the remote does not take them.
pub(super) async fn upload(git: &Path, carrier: &Path, project: &Project, target: &PublicationTarget, tip: &Sha) -> db::Result<()> {
    let (folder, to, pushed) = (carrier.to_path_buf(), target.clone(), tip.clone());
    let prepared = with_files(Path::new(&project.git_dir), move |repository| repository.prepare_upload(&folder, &to, &pushed));
    if !prepared.await? {
        return Ok(());
    }
    let uploaded = output_of(process::publish(git, &["lfs", "push", "--", &target.remote, &target.branch], carrier, PUSH_LIMIT).await);
    uploaded.map(drop).map_err(|output| {
        let (remote, branch) = (target.remote.clone(), target.branch.clone());
        PublicationRefusal::NotUploaded { remote, branch, output: output.replace(&target.url, &shown_url(&target.url)) }.into()
    })
}
