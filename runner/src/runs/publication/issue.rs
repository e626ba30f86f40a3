//! Imports issues: reads one through the program of its host, and makes it a task. Must not decide what the task says.

use std::path::{Path, PathBuf};

use db::{Caller, Db};
use domain::board::task::Task;
use domain::id::ProjectId;
use domain::runs::publication::issue::{IssueImport, IssueName, IssueRefusal};
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
    caller.person(Right::Work, "importing an issue")?;
    let project = db.project(id).await?;
    let (repository, number) = match IssueName::parse(&import.issue)? {
        IssueName::Address { repository, number } => (repository, number),
        IssueName::Number(number) => {
            let (branch, base) = (project.integration_branch.clone(), project.base_branch.clone());
            let target = with_files(&PathBuf::from(&project.git_dir), move |repository| repository.publication_target(&branch, &base)).await?;
            (target.and_then(|target| target.repository).ok_or(IssueRefusal::NoHost { number })?, number)
        }
    };
    let host = Host::of(tools, repository, Path::new(NO_REPOSITORY)).map_err(|program| IssueRefusal::NoProgram { program })?;
    let issue = host.issue(number).await.map_err(|output| IssueRefusal::NotRead { program: host.program_name(), output })?;
    db.import_issue(caller, id, issue, import.start).await
}
