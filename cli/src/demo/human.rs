//! The human's part in the demo: creates the project, answers a question that stays open, and lands the result with `--exit`.
//!
//! Must not know how the agents work.

use std::time::Duration;

use domain::board::project::{Project, ProjectStatus};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::wire::{LandingResult, NewProject, TaskView, TextBody};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::demo::workspace::DemoWorkspace;
use crate::error::CliError;

/// How long a question stays open for you before the demo answers it.
const ANSWER_DELAY: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The client that plays the human.
pub(crate) struct DemoHuman {
    client: Client,
    project: ProjectId,
    /// Whether to land the result and end.
    exit: bool,
    started_at: Instant,
    asked: Option<(TaskId, Instant)>,
}

impl DemoHuman {
    /// Creates the project of the demo.
    ///
    /// # Errors
    /// When the board refuses.
    pub(crate) async fn start(client: Client, workspace: &DemoWorkspace, exit: bool) -> Result<Self, CliError> {
        let goal = "Finish the page of the lighthouse museum: a headline that invites, colours, cards for the exhibition, and a footer with the opening hours.";
        let new = NewProject {
            title: "The lighthouse museum".to_owned(),
            description: Some(goal.to_owned()),
            repo_path: Some(workspace.site().to_string_lossy().into_owned()),
            ..NewProject::default()
        };
        let project: Project = client.post("/api/projects", &new).await?;
        Ok(Self { client, project: project.id, exit, started_at: Instant::now(), asked: None })
    }

    /// Reads the board once and acts on it. Returns a summary when the demo is complete.
    ///
    /// # Errors
    /// When the board refuses.
    pub(crate) async fn step(&mut self) -> Result<Option<String>, CliError> {
        sleep(POLL_INTERVAL).await;
        let board: Board = match self.client.get(&format!("/api/projects/{}/board", self.project)).await {
            Ok(board) => board,
            // The server is restarting.
            Err(CliError::NoAnswer { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.answer(&board).await?;
        // The runner removes a task's files after its card has moved.
        let quiet = board.cards.iter().all(|card| card.run.is_none());
        if self.exit && quiet && board.project.status == ProjectStatus::Complete {
            return self.land(&board).await.map(Some);
        }
        Ok(None)
    }

    async fn answer(&mut self, board: &Board) -> Result<(), CliError> {
        let waiting = board
            .cards
            .iter()
            .find(|card| card.attention.as_ref().is_some_and(|attention| attention.kind == domain::board::attention::AttentionKind::NeedsInput));
        let Some(card) = waiting else {
            self.asked = None;
            return Ok(());
        };
        let since = match &self.asked {
            Some((task, since)) if *task == card.id => *since,
            _ => {
                self.asked = Some((card.id.clone(), Instant::now()));
                Instant::now()
            }
        };
        if !self.exit && since.elapsed() < ANSWER_DELAY {
            return Ok(());
        }
        let view: TaskView = self.client.get(&format!("/api/tasks/{}", card.id)).await?;
        let Some(question) = view.question else { return Ok(()) };
        let content = question.default.or_else(|| question.options.first().cloned()).unwrap_or_else(|| "Decide yourself.".to_owned());
        let path = format!("/api/tasks/{}/answer", card.id);
        match self.client.post::<TaskView>(&path, &TextBody { content }).await {
            // You were faster.
            Ok(_) | Err(CliError::Refused { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn land(&self, board: &Board) -> Result<String, CliError> {
        let landed: LandingResult = self.client.post(&format!("/api/projects/{}/land", self.project), &json!({})).await?;
        let tasks = board.cards.iter().filter(|card| card.phase == AgentKind::Coder && card.status == Status::Done).count();
        let runs: u32 = board.cards.iter().map(|card| card.runs).sum();
        Ok(format!(
            "{tasks} tasks done in {runs} runs, {} commits landed on {} at {}, after {:.0} s.",
            landed.commits,
            landed.base_branch,
            landed.sha.get(..10).unwrap_or(&landed.sha),
            self.started_at.elapsed().as_secs_f64()
        ))
    }
}
