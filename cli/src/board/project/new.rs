//! `vibe-relay project new`: creates a project. Must not know which repositories can have one; the board examines them.

use std::path::PathBuf;

use domain::board::project::{PlanApproval, Project, ReviewPolicy};
use domain::runs::branch_start::BranchStart;
use domain::runs::evidence::{RepositoryInfo, UncommittedFiles};
use domain::runs::repository_finding::RepositoryFinding;
use domain::wire::{NewProject, ServerInfo};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::client::Client;
use crate::error::CliError;
use crate::output::{self, text_or_input};
use crate::runs::parking;
use crate::vocabulary;

#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// Title; default: that of the issue.
    #[arg(required_unless_present = "issue")]
    title: Option<String>,
    /// Goal of the project; - for standard input.
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
    /// Issue of GitHub or GitLab that becomes the goal, by its number or address. The pull request of the project closes it.
    #[arg(long, value_name = "ISSUE")]
    issue: Option<String>,
    /// The repository; default: that of this folder, else the one that "repo_path" of the configuration names.
    #[arg(long, value_name = "FOLDER")]
    repo: Option<PathBuf>,
    /// Base branch; default: the configured one, or the one that is checked out.
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Create the local base branch if --base is a branch of a remote or a tag.
    #[arg(long, requires = "base")]
    make_base: bool,
    /// Start from a snapshot of your uncommitted files, except ignored ones and those with secrets. Your checkout stays as it is.
    #[arg(long)]
    snapshot: bool,
    /// Start from the newest fetched commit of the base branch's upstream.
    #[arg(long, conflicts_with = "snapshot")]
    from_upstream: bool,
    /// Start tasks only after you approve the plan.
    #[arg(long)]
    ask: bool,
    /// Budget in US dollars; default: the configured one.
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = super::dollars)]
    budget: Option<f64>,
    /// Reviewers of its work; default: agent.
    #[arg(long, value_name = "WHO", value_parser = vocabulary::one_of(ReviewPolicy::ALL, ReviewPolicy::as_str))]
    review: Option<ReviewPolicy>,
}

impl New {
    /// Creates the project.
    ///
    /// # Errors
    /// When the board is not running, or refuses.
    pub(super) async fn send(self, client: &Client) -> Result<(), CliError> {
        let Self { title, goal, issue, repo, base, make_base, snapshot, from_upstream, ask, budget, review } = self;
        let repo = match repo {
            Some(named) => named,
            None => {
                let here = std::env::current_dir().map_err(CliError::io("find the current folder"))?;
                let server: ServerInfo = client.get("/api/server").await?;
                default_repository(here, server.repo_path)
            }
        };
        let repo = std::fs::canonicalize(&repo).map_err(CliError::io(format!("find {}", repo.display())))?;
        let repo = repo.to_str().ok_or_else(|| CliError::NotUtf8 { path: repo.clone() })?.to_owned();
        print_findings(client, &repo, base.as_deref(), make_base, snapshot).await?;
        let start = match (snapshot, from_upstream) {
            (true, _) => BranchStart::Snapshot,
            (false, true) => BranchStart::Upstream,
            (false, false) => BranchStart::Base,
        };
        let new = NewProject {
            title: title.map(text_or_input).transpose()?.unwrap_or_default(),
            description: goal.map(text_or_input).transpose()?,
            issue,
            repo_path: Some(repo),
            base_branch: base,
            make_base,
            start,
            plan: None,
            plan_approval: ask.then_some(PlanApproval::Ask),
            budget_micro_usd: budget.map(super::micro_usd),
            profile: None,
            review,
        };
        let project: Project = client.post("/api/projects", &new).await?;
        output::data(&project, |project| output::line(format!("{}  {}/projects/{}", project.id, client.url(), project.id)));
        if project.description.is_some() {
            parking::hint(client, &project.id).await;
        }
        Ok(())
    }
}

/// Returns the folder of a new project for which no repository is named. If there is none, the board says that this folder is in no repository.
fn default_repository(here: PathBuf, configured: Option<String>) -> PathBuf {
    if repo::place(&here).is_ok() { here } else { configured.map_or(here, PathBuf::from) }
}

/// Prints what is unusual about a repository. The output is not part of the result.
async fn print_findings(client: &Client, repo: &str, base: Option<&str>, make_base: bool, snapshot: bool) -> Result<(), CliError> {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let base = base.map(|base| format!("&base_branch={}", encoded(base))).unwrap_or_default();
    let found: RepositoryInfo = client.get(&format!("/api/repository?path={}&make_base={make_base}{base}", encoded(repo))).await?;
    let uncommitted: UncommittedFiles = client.get(&format!("/api/repository/uncommitted?path={}", encoded(&found.repo_path))).await?;
    for RepositoryFinding { finding, consequence, remedy, .. } in uncommitted.finding.into_iter().filter(|_| !snapshot).chain(found.findings) {
        output::hint(format!("{finding} {consequence} {remedy}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use repo::testing::TestRepository;

    use super::*;

    #[test]
    fn repository_of_the_folder_comes_before_the_configured_one() {
        let (repository, elsewhere) = (TestRepository::new(), tempfile::tempdir().unwrap());
        let configured = || Some("/srv/site".to_owned());
        assert_eq!(default_repository(repository.top().to_owned(), configured()), repository.top());
        assert_eq!(default_repository(elsewhere.path().to_owned(), configured()), PathBuf::from("/srv/site"));
        assert_eq!(default_repository(elsewhere.path().to_owned(), None), elsewhere.path());
    }
}
