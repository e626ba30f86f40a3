//! `vibe-relay project`: lists, creates, shows, changes and approves projects. Must not know the rules for them.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use domain::board::card::Card;
use domain::board::flow::Flow;
use domain::board::project::{PlanApproval, Project, ReviewPolicy};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::runs::branch_start::BranchStart;
use domain::runs::evidence::{RepositoryInfo, UncommittedFiles};
use domain::runs::repository_finding::RepositoryFinding;
use domain::runs::usage::{consumption, money};
use domain::wire::{BoardView, List, NewProject, ProjectDeletion, ProjectPatch, ProjectUsage, Relocation, RunnerHealth, ServerInfo};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output::{self, text_or_input};
use crate::runs::pause;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the current projects.
    List {
        /// List the archived projects instead.
        #[arg(long)]
        archived: bool,
    },
    /// Create a project. With a goal, a planner starts at once.
    New {
        /// Title; default: that of the issue.
        #[arg(required_unless_present = "issue")]
        title: Option<String>,
        /// Goal of the project; - for standard input.
        #[arg(long)]
        goal: Option<String>,
        /// Issue of GitHub or GitLab that becomes the goal, by its number or address. The pull request of the project closes it.
        #[arg(long, value_name = "ISSUE")]
        issue: Option<String>,
        /// The repository.
        #[arg(long, default_value = ".")]
        repo: PathBuf,
        /// Base branch; default: the configured one, or the one that is checked out.
        #[arg(long)]
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
        #[arg(long, value_name = "USD")]
        budget: Option<f64>,
        /// Reviewers of its work: agent, human, or both; default: agent.
        #[arg(long, value_name = "WHO")]
        review: Option<ReviewPolicy>,
    },
    /// Show a project's board.
    Show {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Change a project.
    Edit {
        /// Project id, for example PROJ-001.
        project: String,
        #[arg(long)]
        title: Option<String>,
        /// Goal of the project. Agents that start later read it.
        #[arg(long)]
        goal: Option<String>,
        /// Another base branch, for example because yours was renamed.
        #[arg(long, value_name = "BRANCH")]
        base_branch: Option<String>,
        /// Reviewers of its work: agent, human, or both.
        #[arg(long, value_name = "WHO")]
        review: Option<ReviewPolicy>,
    },
    /// Set the folder that a project's repository was moved to. This applies to every project on that repository.
    Relocate {
        /// Project id, for example PROJ-001.
        project: String,
        /// The moved repository.
        folder: PathBuf,
    },
    /// Set the budget of a project in US dollars; 0 for the configured one.
    Budget {
        /// Project id, for example PROJ-001.
        project: String,
        #[arg(value_name = "USD")]
        budget: f64,
    },
    /// Raise the budget of a project by the original amount.
    Raise {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Archive a project: it leaves the lists, and no agent starts in it until it is restored.
    Archive {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Restore an archived project.
    Restore {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Delete a project. Its repository and branches stay, and unmerged work is kept in rescue refs.
    Delete {
        /// Project id, for example PROJ-001.
        project: String,
        /// Its title, to confirm that you mean this project.
        #[arg(long)]
        title: String,
    },
    /// Keep new agents from starting in a project. Running agents continue.
    Pause {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// End the pause of a project.
    Resume {
        /// Project id, for example PROJ-001.
        project: String,
    },
    /// Approve a plan, which starts its tasks.
    Approve {
        /// Project id, for example PROJ-001.
        project: String,
    },
}

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    match command {
        Command::List { archived } => {
            let projects: List<Project> = client.get(if archived { "/api/projects?archived=true" } else { "/api/projects" }).await?;
            let line = |project: &Project| format!("{}  {:8}  {}  ({})", project.id, project.status, project.title, project.repo_path);
            let none = if archived { "No project is archived." } else { "No project exists yet; create one with `vibe-relay project new TITLE`." };
            output::list(&projects.items, none, line);
        }
        Command::New { title, goal, issue, repo, base, make_base, snapshot, from_upstream, ask, budget, review } => {
            let repo = std::fs::canonicalize(&repo).map_err(CliError::io(format!("find {}", repo.display())))?;
            let repo = repo.to_str().ok_or_else(|| CliError::NotUtf8 { path: repo.clone() })?.to_owned();
            print_findings(&client, &repo, base.as_deref(), make_base, snapshot).await?;
            let start = match (snapshot, from_upstream) {
                (true, _) => BranchStart::Snapshot,
                (false, true) => BranchStart::Upstream,
                (false, false) => BranchStart::Base,
            };
            let new = NewProject {
                title: title.unwrap_or_default(),
                description: goal.map(text_or_input).transpose()?,
                issue,
                repo_path: Some(repo),
                base_branch: base,
                make_base,
                start,
                plan: None,
                plan_approval: ask.then_some(PlanApproval::Ask),
                budget_micro_usd: budget.map(micro_usd),
                profile: None,
                review,
            };
            let project: Project = client.post("/api/projects", &new).await?;
            output::data(&project, |project| output::line(format!("{}  {}/projects/{}", project.id, client.url(), project.id)));
        }
        Command::Show { project } => {
            let id = id::project(&project)?;
            let server: ServerInfo = client.get("/api/server").await?;
            let view: BoardView = client.get(&format!("/api/projects/{id}/board")).await?;
            let usage: ProjectUsage = client.get(&format!("/api/projects/{id}/usage")).await?;
            output::data(&view, |view| show(&view.board, &usage, &server.runner));
        }
        Command::Edit { project, title, goal, base_branch, review } => {
            let patch = ProjectPatch { title, description: goal, base_branch, review, ..ProjectPatch::default() };
            let project: Project = client.patch(&format!("/api/projects/{}", id::project(&project)?), &patch).await?;
            let line = |project: &Project| {
                output::line(format!("{}  {}  ({} → {})", project.id, project.title, project.integration_branch, project.base_branch));
            };
            output::data(&project, line);
        }
        Command::Relocate { project, folder } => {
            let folder = std::fs::canonicalize(&folder).map_err(CliError::io(format!("find {}", folder.display())))?;
            let to = Relocation { repo_path: folder.to_string_lossy().into_owned() };
            let project: Project = client.post(&format!("/api/projects/{}/relocate", id::project(&project)?), &to).await?;
            output::data(&project, |project| output::line(format!("{}  {}", project.id, project.repo_path)));
        }
        Command::Budget { project, budget } => {
            let patch = ProjectPatch { budget_micro_usd: Some(micro_usd(budget)), ..ProjectPatch::default() };
            let project: Project = client.patch(&format!("/api/projects/{}", id::project(&project)?), &patch).await?;
            let budget =
                project.budget_micro_usd.and_then(money).map_or("the configured budget".to_owned(), |budget| format!("a budget of {budget}"));
            output::data(&project, |project| output::line(format!("{} has {budget}", project.id)));
        }
        Command::Raise { project } => {
            let id = id::project(&project)?;
            let project: Project = client.post(&format!("/api/projects/{id}/raise"), &serde_json::json!({})).await?;
            let usage: ProjectUsage = client.get(&format!("/api/projects/{id}/usage")).await?;
            let sentence = usage.budget.map_or("no limit applies".to_owned(), |limit| limit.sentence());
            output::data(&usage, |_| output::line(format!("{}: {sentence}", project.id)));
        }
        Command::Pause { project } => return pause::pause(config, Some(&project)).await,
        Command::Resume { project } => return pause::resume(config, Some(&project)).await,
        Command::Archive { project } => {
            let id = id::project(&project)?;
            let project: Project = client.post(&format!("/api/projects/{id}/archive"), &serde_json::json!({})).await?;
            output::data(&project, |project| output::line(format!("{} is archived", project.id)));
        }
        Command::Restore { project } => {
            let id = id::project(&project)?;
            let project: Project = client.post(&format!("/api/projects/{id}/restore"), &serde_json::json!({})).await?;
            output::data(&project, |project| output::line(format!("{} is restored", project.id)));
        }
        Command::Delete { project, title } => {
            let id = id::project(&project)?;
            let project: Project = client.delete_with(&format!("/api/projects/{id}"), &ProjectDeletion { title }).await?;
            let line = |project: &Project| {
                output::line(format!(
                    "{} is deleted; its branches stay in {}, and work that was not merged, if any, in rescue refs",
                    project.id, project.repo_path
                ));
            };
            output::data(&project, line);
        }
        Command::Approve { project } => {
            let project: Project = client.post(&format!("/api/projects/{}/plan/approve", id::project(&project)?), &serde_json::json!({})).await?;
            output::data(&project, |project| output::line(format!("{}: the plan has started", project.id)));
        }
    }
    Ok(())
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

fn micro_usd(dollars: f64) -> i64 {
    (dollars * 1e6).round() as i64
}

fn show(board: &Board, usage: &ProjectUsage, runner: &RunnerHealth) {
    let pause = board.project.paused_at.map(|since| format!(", paused since {}", since.clock())).unwrap_or_default();
    output::line(format!("{} {} ({}{pause})", board.project.id, board.project.title, board.project.status));
    let flow = Flow::of(&board.cards);
    output::line(format!("{}: {}", flow.state(runner).sentence(), flow.facts(runner, &board.project, db::now()).join(" · ")));
    show_usage(usage);
    for status in Status::ALL {
        let cards = board.column(*status);
        if !cards.is_empty() {
            output::line(format!("\n{status} ({})", cards.len()));
        }
        cards.into_iter().for_each(|card| output::line(line(card)));
    }
}

fn show_usage(usage: &ProjectUsage) {
    let Some(total) = consumption(usage.total.cost_micro_usd, usage.total.tokens()) else { return };
    let limits = [usage.budget, usage.today].into_iter().flatten().filter(|limit| limit.is_near() || limit.is_reached());
    limits.for_each(|limit| output::line(limit.sentence()));
    let days =
        usage.by_day.iter().take(7).filter_map(|day| Some(format!("{} {}", day.day, consumption(day.sums.cost_micro_usd, day.sums.tokens())?)));
    output::line(format!("spent {total}: {}", days.collect::<Vec<_>>().join(", ")));
}

/// A card in one line, with its state or its wait reason, and what its agents consumed.
pub(crate) fn line(card: &Card) -> String {
    let state = match (&card.attention, &card.run, &card.wait_reason) {
        (Some(attention), _, _) => format!("needs you: {}", attention.detail),
        (None, Some(run), _) => format!("{} is running, attempt {}", run.phase, run.attempt),
        (None, None, Some(why)) => why.sentence(),
        (None, None, None) => String::new(),
    };
    let cost = consumption(card.cost_micro_usd, card.tokens).map(|cost| format!("({cost})")).unwrap_or_default();
    [card.id.as_str(), &card.title, &state, &cost].into_iter().filter(|part| !part.is_empty()).fold(String::new(), |line, part| line + "  " + part)
}
