//! Imports issues: reads one through the program of its host, and makes it a task or the goal of a project. Must not decide what these say.

use std::path::Path;

use db::{Caller, Db};
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::runs::publication::issue::{Issue, IssueImport, IssueName, IssueRefusal};
use domain::team::person::Right;

use super::host::Host;
use super::{NO_REPOSITORY, Tools};
use crate::runs::checkout::with_files;

/// Makes an issue a task of a project.
///
/// # Errors
/// When the caller is not a person who may work, the text names no issue, its host has no program here, or the issue cannot be read or is a
/// task already.
pub async fn import_issue(db: &Db, tools: &Tools, caller: &Caller, id: &ProjectId, import: IssueImport) -> db::Result<Task> {
    let project = db.project(id).await?;
    let issue = read_issue(tools, caller, Path::new(&project.git_dir), &project.base_branch, &import.issue).await?;
    db.import_issue(caller, id, issue, import.start).await
}

/// Reads an issue, which a person named by its address, or by its number on the host of a repository.
///
/// # Errors
/// When the caller is not a person who may work, the text names no issue, its host has no program here, or the issue cannot be read.
pub async fn read_issue(tools: &Tools, caller: &Caller, git_dir: &Path, base_branch: &str, given: &str) -> db::Result<Issue> {
    caller.person(Right::Work, "importing an issue")?;
    let (repository, number) = match IssueName::parse(given)? {
        IssueName::Address { repository, number } => (repository, number),
        IssueName::Number(number) => {
            let base = base_branch.to_owned();
            let target = with_files(git_dir, move |repository| repository.publication_target(&base, &base)).await?;
            (target.and_then(|target| target.repository).ok_or(IssueRefusal::NoHost { number })?, number)
        }
    };
    let host = Host::of(tools, repository, Path::new(NO_REPOSITORY)).map_err(|program| IssueRefusal::NoProgram { program })?;
    Ok(host.issue(number).await.map_err(|output| IssueRefusal::NotRead { program: host.program_name(), output })?)
}
