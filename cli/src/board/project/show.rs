//! Shows one project. Must not know why a task waits; its card says so.

use domain::board::flow::Flow;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::ProjectId;
use domain::runs::usage::consumption;
use domain::time::{Timestamp, ago};
use domain::wire::{BoardView, ProjectUsage, RunnerHealth, ServerInfo};

use super::line;
use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// Prints the board of a project, a card on each line.
///
/// # Errors
/// When the board is not running, or the project does not exist.
pub(super) async fn show(client: &Client, id: &ProjectId) -> Result<(), CliError> {
    let server: ServerInfo = client.get("/api/server").await?;
    let view: BoardView = client.get(&format!("/api/projects/{id}/board")).await?;
    let usage: ProjectUsage = client.get(&format!("/api/projects/{id}/usage")).await?;
    output::data(&view, |view| print(&view.board, &usage, &server.runner));
    Ok(())
}

fn print(board: &Board, usage: &ProjectUsage, runner: &RunnerHealth) {
    output::line(format!("{} {} ({})", board.project.id, board.project.title, state(&board.project, db::now())));
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

/// Whether work remains, and what keeps agents from it.
fn state(project: &Project, now: Timestamp) -> String {
    match (project.archived_at, project.paused_at) {
        (Some(since), _) => format!("{}, archived {}", project.status, ago(now.since(since))),
        (None, Some(since)) => format!("{}, paused {}", project.status, ago(now.since(since))),
        (None, None) => project.status.to_string(),
    }
}

fn show_usage(usage: &ProjectUsage) {
    usage.budget.iter().for_each(|budget| output::line(budget.sentence()));
    usage.today.iter().filter(|limit| limit.is_near() || limit.is_reached()).for_each(|limit| output::line(limit.sentence()));
    let Some(total) = consumption(usage.total.cost_micro_usd, usage.total.tokens()) else { return };
    let days =
        usage.by_day.iter().take(7).filter_map(|day| Some(format!("{} {}", day.day, consumption(day.sums.cost_micro_usd, day.sums.tokens())?)));
    output::line(format!("spent {total}: {}", days.collect::<Vec<_>>().join(", ")));
}
