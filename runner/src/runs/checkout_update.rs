//! Updates a person's checkout with `git` itself when a project lands, where libgit2 cannot: sparse checkouts and split indexes.
//!
//! `git` runs in a carrier, in which no hook and no configuration of the repository applies. It overwrites no change: it checks all files
//! before it writes the first. Must not move a branch.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::Db;
use domain::board::project::Project;
use domain::refusal::RepositoryRefusal;
use domain::runs::publication::PublicationRefusal;
use repo::GitUpdate;

use crate::blocking::off_thread;
use crate::process;
use crate::runs::checkout::with_files;

/// The folder of carriers beside the database.
const FOLDER: &str = "landing";
/// How long `git` may write the files of a checkout.
const LIMIT: Duration = Duration::from_secs(300);
/// Programs that the person's own configuration may name, and an index that other programs can read.
const ALWAYS: [&str; 6] =
    ["core.bare=false", "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.splitIndex=false", "submodule.recurse=false", "gc.auto=0"];

/// Makes an update of a checkout of the repository of `project` with the `git` that is found in `path`.
///
/// # Errors
/// When `git` is not installed, or refuses because a changed file is in the way: then nothing was changed.
pub async fn update_checkout(db: &Db, path: &OsStr, project: &Project, update: GitUpdate) -> db::Result<()> {
    let Some(git) = process::find_program("git", path) else {
        let detail = format!("only git can write to {}, and it is not installed; nothing was changed", update.workdir.display());
        return Err(RepositoryRefusal { code: "program-missing", detail, hint: "Install git, then land again.".to_owned() }.into());
    };
    let carrier = db.folder().join(FOLDER).join(format!("{}.git", project.id));
    let (folder, made) = (carrier.clone(), update.clone());
    with_files(Path::new(&project.git_dir), move |repository| repository.make_update_carrier(&folder, &made)).await?;
    let updated = run(&git, &carrier, &update).await;
    remove(carrier).await;
    updated.map_err(|output| {
        let detail = format!("git did not update {}: {}; nothing was changed", update.workdir.display(), PublicationRefusal::output(&output));
        RepositoryRefusal { code: "checkout-dirty", detail, hint: "Commit or stash these files, then land again.".to_owned() }.into()
    })
}

/// Returns what `git` printed if it failed.
async fn run(git: &Path, carrier: &Path, update: &GitUpdate) -> Result<(), String> {
    let settings: Vec<&str> = update.settings.iter().map(String::as_str).chain(ALWAYS).flat_map(|setting| ["-c", setting]).collect();
    let index = update.admin.join("index");
    let call = async |arguments: &[&str]| {
        let arguments = [&settings[..], arguments].concat();
        process::git::in_carrier(git, carrier, (&update.workdir, &index), &arguments, LIMIT).await.map_err(|error| error.to_string())
    };
    // A file that was only touched is not changed. The next step names those that are.
    call(&["update-index", "-q", "--refresh"]).await?;
    let updated = call(&["read-tree", "-m", "-u", &update.from, &update.to]).await?;
    if updated.code == Some(0) { Ok(()) } else { Err(updated.stderr) }
}

async fn remove(carrier: PathBuf) {
    let shown = carrier.display().to_string();
    if let Ok(Err(error)) = off_thread(move || fs::remove_dir_all(carrier)).await {
        tracing::warn!(carrier = shown, %error, "the folder of a landing was not removed");
    }
}

#[cfg(test)]
mod tests;
