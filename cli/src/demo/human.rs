//! The human's part in the demo: creates the project, and lets the agents start when a browser shows it. With `--exit`, nobody watches: it
//! answers the question and lands the result.
//!
//! Must not know how the agents work.

use std::time::Duration;

use domain::board::project::{Project, ProjectStatus};
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::team::browser_session::BrowserSession;
use domain::wire::{LandingResult, List, NewProject, TaskView, TextBody};
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::client::Client;
use crate::demo::workspace::DemoWorkspace;
use crate::error::CliError;

const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The client that plays the human.
pub(crate) struct DemoHuman {
    client: Client,
    project: ProjectId,
    /// Whether to land the result and end.
    exit: bool,
    started_at: Instant,
    /// Whether the agents wait for the first browser.
    waits_for_browser: bool,
}

impl DemoHuman {
    /// Creates the project of the demo.
    ///
    /// # Errors
    /// When the board refuses.
    pub(crate) async fn start(client: Client, workspace: &DemoWorkspace, exit: bool) -> Result<Self, CliError> {
        if !exit {
            // The agents would be done before anyone looks.
            let _paused: IgnoredAny = client.post("/api/pause", &json!({})).await?;
        }
        let goal =
            "Finish the page of the lighthouse museum: an inviting headline, colours, cards for the exhibition, and a footer with the opening hours.";
        let new = NewProject {
            title: "The lighthouse museum".to_owned(),
            description: Some(goal.to_owned()),
            repo_path: Some(workspace.site().to_string_lossy().into_owned()),
            ..NewProject::default()
        };
        let project: Project = client.post("/api/projects", &new).await?;
        Ok(Self { client, project: project.id, exit, started_at: Instant::now(), waits_for_browser: !exit })
    }

    /// Reads the board once and acts on it. Returns a summary when the demo is complete.
    ///
    /// # Errors
    /// When the board refuses.
    pub(crate) async fn step(&mut self) -> Result<Option<String>, CliError> {
        sleep(POLL_INTERVAL).await;
        if !self.exit {
            return self.await_browser().await.map(|()| None);
        }
        let board: Board = match self.client.get(&format!("/api/projects/{}/board", self.project)).await {
            Ok(board) => board,
            // The server is restarting.
            Err(CliError::NoAnswer { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.answer(&board).await?;
        // The runner removes a task's files after its card has moved.
        let quiet = board.cards.iter().all(|card| card.run.is_none());
        if quiet && board.project.status == ProjectStatus::Complete {
            return self.land(&board).await.map(Some);
        }
        Ok(None)
    }

    /// Lets the agents start when the first browser has signed in.
    async fn await_browser(&mut self) -> Result<(), CliError> {
        if self.waits_for_browser {
            let sessions: List<BrowserSession> = match self.client.get("/api/sessions").await {
                // The server is restarting.
                Err(CliError::NoAnswer { .. }) => return Ok(()),
                sessions => sessions?,
            };
            if !sessions.items.is_empty() {
                let _resumed: IgnoredAny = self.client.post("/api/resume", &json!({})).await?;
                self.waits_for_browser = false;
            }
        }
        Ok(())
    }

    async fn answer(&self, board: &Board) -> Result<(), CliError> {
        let waiting = board
            .cards
            .iter()
            .find(|card| card.attention.as_ref().is_some_and(|attention| attention.kind == domain::board::attention::AttentionKind::NeedsInput));
        let Some(card) = waiting else { return Ok(()) };
        let view: TaskView = self.client.get(&format!("/api/tasks/{}", card.id)).await?;
        let Some(question) = view.question else { return Ok(()) };
        let content = question.default.or_else(|| question.options.first().cloned()).unwrap_or_else(|| "Decide for yourself.".to_owned());
        let path = format!("/api/tasks/{}/answer", card.id);
        match self.client.post::<TaskView>(&path, &TextBody { content }).await {
            // A person was faster.
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
