//! `vibe-relay project`: lists, creates, shows, changes and approves projects. Must not know the rules for them.

mod new;
mod show;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use domain::board::card::Card;
use domain::board::project::{Project, ReviewPolicy};
use domain::runs::usage::{consumption, money};
use domain::wire::{List, ProjectDeletion, ProjectPatch, ProjectUsage, Relocation};

use self::new::New;
use crate::client::Client;
use crate::error::CliError;
use crate::output::{self, text_or_input};
use crate::runs::pause;
use crate::{id, vocabulary};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the current projects.
    List {
        /// List the archived projects instead.
        #[arg(long)]
        archived: bool,
    },
    /// Create a project. With a goal, a planner starts at once.
    New(New),
    /// Show a project's board.
    Show {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Change a project.
    Edit {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// Another title.
        #[arg(long)]
        title: Option<String>,
        /// Goal of the project; - for standard input. Agents that start later read it.
        #[arg(long, value_name = "TEXT")]
        goal: Option<String>,
        /// Another base branch, for example because yours was renamed.
        #[arg(long, value_name = "BRANCH")]
        base_branch: Option<String>,
        /// Reviewers of its work.
        #[arg(long, value_name = "WHO", value_parser = vocabulary::one_of(ReviewPolicy::ALL, ReviewPolicy::as_str))]
        review: Option<ReviewPolicy>,
    },
    /// Set the folder that a project's repository was moved to. This applies to every project on that repository.
    Relocate {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// The moved repository.
        folder: PathBuf,
    },
    /// Set the budget of a project in US dollars; 0 for the configured one.
    Budget {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// The budget; 0 for the configured one.
        #[arg(value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
        budget: f64,
    },
    /// Raise the budget of a project by the original amount.
    Raise {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Archive a project: it leaves the lists, and no agent starts in it until it is restored.
    Archive {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Restore an archived project.
    Restore {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Delete a project. Its repository and branches stay, and unmerged work is kept in rescue refs.
    Delete {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
        /// Its title, to confirm that you mean this project.
        #[arg(long)]
        title: String,
    },
    /// Keep new agents from starting in a project. Running agents continue.
    Pause {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// End the pause of a project.
    Resume {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Approve a plan, which starts its tasks.
    Approve {
        /// Project id or number, for example PROJ-001 or 1.
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
            let none = if archived {
                "No project is archived."
            } else {
                "No current project exists. `vibe-relay project new TITLE` creates one; `project list --archived` shows the archived ones."
            };
            output::list(&projects.items, none, list_line);
        }
        Command::New(new) => new.send(&client).await?,
        Command::Show { project } => show::show(&client, &id::project(&project)?).await?,
        Command::Edit { project, title, goal, base_branch, review } => {
            let (title, description) = (title.map(text_or_input).transpose()?, goal.map(text_or_input).transpose()?);
            let patch = ProjectPatch { title, description, base_branch, review, ..ProjectPatch::default() };
            if patch == ProjectPatch::default() {
                return Err(CliError::NothingToChange { command: "project edit" });
            }
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
            let before: Project = client.get(&format!("/api/projects/{id}")).await?;
            let project: Project = client.post(&format!("/api/projects/{id}/archive"), &serde_json::json!({})).await?;
            let outcome = if before.archived_at.is_some() { "was archived already" } else { "is archived" };
            output::data(&project, |project| output::line(format!("{} {outcome}", project.id)));
        }
        Command::Restore { project } => {
            let id = id::project(&project)?;
            let before: Project = client.get(&format!("/api/projects/{id}")).await?;
            let project: Project = client.post(&format!("/api/projects/{id}/restore"), &serde_json::json!({})).await?;
            let outcome = if before.archived_at.is_some() { "is restored" } else { "was not archived" };
            output::data(&project, |project| output::line(format!("{} {outcome}", project.id)));
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

fn micro_usd(dollars: f64) -> i64 {
    (dollars * 1e6).round() as i64
}

/// Reads an amount of US dollars.
fn dollars(given: &str) -> Result<f64, String> {
    let amount = given.trim_start_matches('$').parse().ok().filter(|amount: &f64| amount.is_finite() && *amount >= 0.0);
    amount.ok_or_else(|| "expected US dollars, such as 20 or 12.50".to_owned())
}

/// A project in one line. Its state is what keeps agents from it, or whether work remains.
fn list_line(project: &Project) -> String {
    let state = match (project.archived_at, project.paused_at) {
        (Some(_), _) => "archived",
        (None, Some(_)) => "paused",
        (None, None) => project.status.as_str(),
    };
    format!("{}  {state:8}  {}  ({})", project.id, project.title, project.repo_path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_is_a_number_of_dollars() {
        assert_eq!(["20", "12.50", "$3", "0"].map(dollars), [20.0, 12.5, 3.0, 0.0].map(Ok));
        for wrong in ["", "-1", "abc", "inf", "NaN", "1,5"] {
            assert!(dollars(wrong).unwrap_err().contains("12.50"), "{wrong}");
        }
    }
}
