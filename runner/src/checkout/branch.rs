//! The project branch: named, made, brought back, and looked at before anything is begun from it or merged into it.
//!
//! It is ours where the store recorded it, where a killed server left a merge that it did not record, and where the person took it as it
//! is. Whatever else is found there came past the review: nothing is built on it before the person said what is to become of it.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use db::{BranchRecord, Db};
use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::runs::evidence::Sha;
use domain::text::excerpt;
use repo::{Commit, MergeOutcome, RESCUE_PREFIX, RepoError, Repository};
use tokio::sync::Mutex;

use super::{CheckoutError, blocking, free_name};

/// Held while a project branch is named: two runs of a project that start at once must not name it twice.
static NAMING: Mutex<()> = Mutex::const_new(());

/// As many commits are named to the person.
const NAMED: usize = 5;
const SUBJECT_CHARACTERS: usize = 80;
const AUTHOR_CHARACTERS: usize = 40;

/// Where a project branch is.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) name: String,
    /// The last commit of it that is ours, as long as the repository has it; what else is below its tip may be taken back.
    pub(crate) ours: Sha,
    pub(crate) foreign: Option<Foreign>,
}

/// A tip of the project branch that nobody of ours brought there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Foreign {
    branch: String,
    pub(crate) tip: Sha,
    /// Where we left the branch, unless the repository has lost that commit.
    left: Option<Sha>,
    /// What it holds beyond that, the newest first, one more than is named at most.
    added: Vec<Commit>,
    /// What it lacks of that.
    lost: Vec<Commit>,
}

impl Display for Foreign {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut found = Vec::new();
        if !self.added.is_empty() {
            found.push(format!("holds what nobody approved: {}", listed(&self.added)));
        }
        if !self.lost.is_empty() {
            found.push(format!("lacks what was merged: {}", listed(&self.lost)));
        }
        let way_back = match &self.left {
            Some(left) => format!(", or set it back with `git branch -f {} {left}`: work then goes on by itself", self.branch),
            None => {
                found.push("was left at a commit that the repository does not have any more".to_owned());
                String::new()
            }
        };
        let found = found.join("; and ");
        write!(
            formatter,
            "The project branch {} {found}. Nothing is begun from it or merged into it. Press Retry to take it as it is{way_back}.",
            self.branch
        )
    }
}

fn listed(commits: &[Commit]) -> String {
    let named = commits.iter().take(NAMED).map(|commit| {
        let (sha, subject, author) = (commit.sha.get(..7).unwrap_or_default(), &commit.subject, &commit.author);
        format!("{sha} “{}” by {}", excerpt(subject, SUBJECT_CHARACTERS), excerpt(author, AUTHOR_CHARACTERS))
    });
    let mut named: Vec<String> = named.collect();
    if commits.len() > NAMED {
        named.push("and more".to_owned());
    }
    named.join(", ")
}

/// Makes sure that the project branch exists and holds nothing but what is ours, and answers its name and tip.
///
/// # Errors
/// [`CheckoutError::Foreign`] when it holds something else; when the repository cannot be served or the base branch is gone.
pub(crate) async fn project_branch(db: &Db, project: &Project) -> Result<(String, Sha), CheckoutError> {
    let Standing { name, ours, foreign } = standing(db, &project.id).await?;
    match foreign {
        Some(foreign) => Err(CheckoutError::Foreign(Box::new(foreign))),
        None => Ok((name, ours)),
    }
}

/// Asks the person about foreign commits, on the card that cannot go on because of them.
///
/// # Errors
/// When the store fails.
pub(crate) async fn ask(db: &Db, task: &TaskId, foreign: &Foreign) -> db::Result<()> {
    db.request_branch_decision(task, &foreign.tip, &foreign.to_string()).await
}

/// Takes back what was asked on a card when the person brought the branch back meanwhile. What cannot be read is looked at again later.
///
/// # Errors
/// When the store fails.
pub(crate) async fn look_again(db: &Db, task: &TaskId) -> db::Result<()> {
    let card = db.card(task).await?;
    let project = db.project(&card.project_id).await?;
    let (git_dir, branch) = (PathBuf::from(&project.git_dir), project.integration_branch);
    let asked = card.attention.and_then(|attention| attention.tip);
    // It was judged already, and this is looked at after every event.
    if blocking(move || Repository::open(&git_dir)?.ref_sha(&branch)).await.is_ok_and(|tip| tip == asked) {
        return Ok(());
    }
    match standing(db, &card.project_id).await {
        Ok(Standing { foreign: None, .. }) => db.clear_branch_decision(task).await,
        Ok(Standing { foreign: Some(_), .. }) => Ok(()),
        Err(CheckoutError::Store(error)) => Err(error),
        Err(error) => {
            tracing::warn!(%task, %error, "could not look at the project branch");
            Ok(())
        }
    }
}

/// Where the project branch is. It is made where it is missing.
///
/// # Errors
/// When the repository cannot be served or the base branch is gone.
pub(super) async fn standing(db: &Db, id: &ProjectId) -> Result<Standing, CheckoutError> {
    let _naming = NAMING.lock().await;
    // Whoever held the lock before may have named it.
    let project = db.project(id).await?;
    let (git_dir, wanted) = (PathBuf::from(&project.git_dir), project.integration_branch);
    let name = if db.owns_reference(&project.git_dir, &wanted).await? { wanted } else { free_name(&git_dir, wanted).await? };
    db.claim_reference(&project.git_dir, &name, None).await?;
    loop {
        // Read before the tip: of what is merged meanwhile it knows the approval.
        let record = db.branch_record(id).await?;
        let judged = {
            let (record, name) = (record.clone(), name.clone());
            blocking(move || judge(&record, &name)).await?
        };
        let left = record.project.integration_head.as_ref();
        let Some(foreign) = judged.foreign else {
            if left != Some(&judged.ours) || record.project.integration_branch != name {
                db.record_branch_tip(id, &name, left, &judged.ours).await?;
            }
            return Ok(Standing { name, ..judged });
        };
        // Something may have been approved and merged since the record was read; then that is what was found.
        if db.branch_record(id).await? == record {
            keep(db, &record.project, &foreign).await?;
            return Ok(Standing { name, ours: judged.ours, foreign: Some(foreign) });
        }
    }
}

/// Compares the branch with the record, and makes it where it is missing: anew, or with everything that was merged.
fn judge(record: &BranchRecord, name: &str) -> Result<Standing, RepoError> {
    let project = &record.project;
    let repository = Repository::open(Path::new(&project.git_dir))?;
    let ours = |tip: Sha| Ok(Standing { name: name.to_owned(), ours: tip, foreign: None });
    let tip = match (repository.ref_sha(name)?, &project.integration_head) {
        (Some(tip), _) => tip,
        // Somebody deleted it: what was merged is not lost.
        (None, Some(left)) => return repository.move_ref(name, None, left, "vibe-relay: restored").and_then(|()| ours(left.clone())),
        (None, None) => return repository.ensure_project_branch(name, &project.base_branch).and_then(ours),
    };
    if record.accepted_tip.as_ref() == Some(&tip) {
        return ours(tip);
    }
    let base = || {
        repository.ref_sha(&project.base_branch)?.ok_or_else(|| RepoError::BranchMissing { branch: project.base_branch.clone(), near: Vec::new() })
    };
    let left = match &project.integration_head {
        Some(left) => left.clone(),
        None => base()?,
    };
    // Where nothing is recorded the branch was just made, and the base may have gone on since.
    let untouched = tip == left || (project.integration_head.is_none() && repository.log(&left, &tip, 1)?.is_empty());
    if untouched || is_unrecorded_merge(&repository, record, &left, &tip)? {
        return ours(tip);
    }
    let branch = name.to_owned();
    if repository.tree_of(&left).is_err() {
        // Thrown away by `git gc` long after somebody took it from the branch.
        let added = repository.log(&base()?, &tip, NAMED + 1)?;
        let foreign = Foreign { branch, tip: tip.clone(), left: None, added, lost: Vec::new() };
        return Ok(Standing { name: name.to_owned(), ours: tip, foreign: Some(foreign) });
    }
    let (added, lost) = (repository.log(&left, &tip, NAMED + 1)?, repository.log(&tip, &left, NAMED + 1)?);
    let foreign = Foreign { branch, tip, left: Some(left.clone()), added, lost };
    Ok(Standing { name: name.to_owned(), ours: left, foreign: Some(foreign) })
}

/// Whether `tip` is what merging an approved commit into `left` makes: a server that was killed before it recorded its merge.
fn is_unrecorded_merge(repository: &Repository, record: &BranchRecord, left: &Sha, tip: &Sha) -> Result<bool, RepoError> {
    // Moved on to the approved commit itself, which holds everything that was there.
    if record.approved.contains(tip) {
        return Ok(repository.log(tip, left, 1)?.is_empty());
    }
    let [first, second] = repository.parents_of(tip)?.try_into().unwrap_or_default();
    if first != *left || !record.approved.contains(&second) {
        return Ok(false);
    }
    // Anybody can commit anything with these parents: what counts is that it holds what our merge would.
    let merged = repository.merge_commit(left, &second, "Merged again to compare", &repository.identity("runner")?)?;
    Ok(match merged {
        MergeOutcome::Merged { sha, .. } => repository.tree_of(&sha)? == repository.tree_of(tip)?,
        MergeOutcome::Conflict { .. } => false,
    })
}

/// Keeps what was taken from the branch, so that it can be set back however late the person looks.
async fn keep(db: &Db, project: &Project, foreign: &Foreign) -> Result<(), CheckoutError> {
    let Some(left) = foreign.left.clone().filter(|_| !foreign.lost.is_empty()) else { return Ok(()) };
    let git_dir = PathBuf::from(&project.git_dir);
    let name = format!("{RESCUE_PREFIX}{}/{}", project.id, left.get(..12).unwrap_or(&left));
    db.claim_reference(&project.git_dir, &name, None).await?;
    blocking(move || Repository::open(&git_dir)?.rescue_tip(&name, &left)).await
}

#[cfg(test)]
mod tests;
