//! Lists the tasks of a project. Must not know which tasks exist; the board of the project does.

use domain::board::card::Card;
use domain::board::reducer::column;
use domain::board::status::Status;
use domain::id::ProjectId;
use domain::team::agent::is_short_for;
use domain::wire::{BoardView, CardPage};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::board::project;
use crate::client::Client;
use crate::error::CliError;
use crate::team::token::project_or_sole;
use crate::{output, vocabulary};

/// The tasks that a list shows.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Filter {
    /// Project id or number; default: the only project, or the one on this folder's repository.
    project: Option<String>,
    /// Only tasks with this status; separate several with commas, or repeat the option.
    #[arg(long, value_delimiter = ',', value_parser = vocabulary::one_of(Status::ALL, Status::as_str))]
    status: Vec<Status>,
    /// Only tasks of this agent.
    #[arg(long, value_name = "NAME")]
    assignee: Option<String>,
    /// Only tasks that wait for your decision.
    #[arg(long)]
    needs_you: bool,
    /// Finished tasks too.
    #[arg(long, conflicts_with = "status")]
    all: bool,
}

/// Prints the tasks of a project that match, in the order of their columns.
///
/// # Errors
/// When the board is not running, or several projects match.
pub(super) async fn list(client: &Client, filter: Filter) -> Result<(), CliError> {
    let project = project_or_sole(client, filter.project.clone(), "`vibe-relay task list PROJECT`").await?;
    let BoardView { board, finished } = client.get(&format!("/api/projects/{project}/board")).await?;
    let mut cards = board.cards;
    for (status, column) in [(Status::Done, finished.done), (Status::Cancelled, finished.cancelled)] {
        let mut next = column.next.filter(|_| filter.includes(status));
        while let Some(before) = next {
            let page: CardPage = client
                .get(&format!("/api/projects/{project}/cards?status={status}&before={}", utf8_percent_encode(&before, NON_ALPHANUMERIC)))
                .await?;
            cards.extend(page.items);
            next = page.next;
        }
    }
    let cards: Vec<&Card> = Status::ALL.iter().flat_map(|status| column(&cards, *status)).filter(|card| filter.matches(card)).collect();
    let line = |card: &&Card| format!("{:11}  {}", card.status, project::line(card).trim());
    output::list(&cards, &filter.none(&project), line);
    Ok(())
}

impl Filter {
    /// Says that the list is empty, and what else can be listed.
    fn none(&self, project: &ProjectId) -> String {
        match (&self.assignee, self.needs_you, self.status.is_empty()) {
            (_, true, _) => format!("No task of {project} waits for you."),
            (Some(name), false, _) => format!("No task of {project} is assigned to {name}. --all includes finished ones."),
            (None, false, false) => format!("No task of {project} has this status."),
            (None, false, true) if self.all => format!("{project} has no task. `vibe-relay task add {project} TITLE` adds one."),
            (None, false, true) => {
                format!("{project} has no open task. `vibe-relay task add {project} TITLE` adds one; --all lists finished ones too.")
            }
        }
    }

    fn includes(&self, status: Status) -> bool {
        if self.status.is_empty() { self.all || status.is_open() } else { self.status.contains(&status) }
    }

    fn matches(&self, card: &Card) -> bool {
        let is_assigned = |wanted: &String| card.contributors.assigned_to.as_deref().is_some_and(|own| is_short_for(wanted, own));
        self.includes(card.status) && self.assignee.as_ref().is_none_or(is_assigned) && (!self.needs_you || card.attention.is_some())
    }
}
