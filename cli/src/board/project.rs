//! `vibe-relay project`: lists, creates, shows and approves projects. Must not know the rules for them.

use std::path::Path;

use domain::board::card::Card;
use domain::board::project::{PlanApproval, Project as ProjectRow};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::ProjectId;
use domain::wire::{List, NewProject};

use crate::args::Project;
use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, command: Project) -> Result<(), CliError> {
    let client = Client::find(config)?;
    match command {
        Project::List => {
            let projects: List<ProjectRow> = client.get("/api/projects").await?;
            for project in projects.items {
                output::line(format!("{}  {:8}  {}  ({})", project.id, project.status, project.title, project.repo_path));
            }
        }
        Project::New { title, goal, repo, base, ask } => {
            let repo = std::fs::canonicalize(&repo).map_err(CliError::io(format!("find {}", repo.display())))?;
            let new = NewProject {
                title,
                description: goal,
                repo_path: Some(repo.to_string_lossy().into_owned()),
                base_branch: base,
                plan: None,
                plan_approval: ask.then_some(PlanApproval::Ask),
            };
            let project: ProjectRow = client.post("/api/projects", &new).await?;
            output::line(format!("{}  {}/projects/{}", project.id, client.url(), project.id));
        }
        Project::Show { project } => show(&client.get(&format!("/api/projects/{}/board", project.parse::<ProjectId>()?)).await?),
        Project::Approve { project } => {
            let project: ProjectRow =
                client.post(&format!("/api/projects/{}/plan/approve", project.parse::<ProjectId>()?), &serde_json::json!({})).await?;
            output::line(format!("{}: the plan has started", project.id));
        }
    }
    Ok(())
}

fn show(board: &Board) {
    output::line(format!("{} {} ({})", board.project.id, board.project.title, board.project.status));
    for status in Status::ALL {
        let cards = board.column(*status);
        if !cards.is_empty() {
            output::line(format!("\n{status} ({})", cards.len()));
        }
        cards.into_iter().for_each(|card| output::line(line(card)));
    }
}

/// A card in one line, with its state or its wait reason.
pub(crate) fn line(card: &Card) -> String {
    let state = match (&card.attention, &card.run, &card.wait_reason) {
        (Some(attention), _, _) => format!("needs you: {}", attention.detail),
        (None, Some(run), _) => format!("{} is running, attempt {}", run.phase, run.attempt),
        (None, None, Some(why)) => why.sentence(),
        (None, None, None) => String::new(),
    };
    format!("  {}  {}  {state}", card.id, card.title).trim_end().to_owned()
}
