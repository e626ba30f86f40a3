//! Takes checkpoints of a coder's worktree: after its actions that may have changed files, at intervals, and at the end of the run.
//!
//! A task of its own, because comparing a large worktree takes seconds in which the watch must go on. It must not know what a checkpoint is
//! used for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::runs::agent_kind::AgentKind;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::run::Run;
use domain::runs::run_event::{RunEvent, ToolKind};
use tokio::sync::watch::{self, Receiver, Sender};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::activity::activity;
use crate::runs::checkout::{CheckoutError, checkout_name, with_files, with_repository};
use crate::runs::run::RunContext;

/// The shortest pause between two checkpoints.
const MIN_PAUSE: Duration = Duration::from_secs(20);
/// The pause after a checkpoint is this many times as long as taking it, which bounds its share of the machine.
const PAUSE_FACTOR: u32 = 20;

/// The last action of an agent that may have changed files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Action {
    text: String,
    /// Whether the agent ended its turn since.
    turn_ended: bool,
}

/// Feeds the checkpoints of one run.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// The action whose result is not known yet.
    begun: Option<String>,
    actions: Sender<Action>,
    taker: JoinHandle<()>,
}

impl Checkpoints {
    /// `None` for an agent whose checkout is not kept.
    pub(super) fn begin(context: &RunContext, run: &Run) -> Option<Self> {
        let worktree = PathBuf::from(run.worktree_path.as_ref().filter(|_| run.phase == AgentKind::Coder)?);
        let (actions, receiver) = watch::channel(Action::default());
        let taker = tokio::spawn(take_all(context.clone(), run.clone(), worktree, receiver));
        Some(Self { begun: None, actions, taker })
    }

    /// Notes what the agent did.
    pub(super) fn observe(&mut self, events: &[RunEvent], checkout: &str) {
        for event in events {
            match event {
                RunEvent::ToolStarted(call) if may_change_files(call.kind) => self.begun = activity(event, checkout),
                RunEvent::ToolEnded { .. } => {
                    if let Some(text) = self.begun.take() {
                        self.actions.send_replace(Action { text, turn_ended: false });
                    }
                }
                RunEvent::TurnEnded { .. } => {
                    // Seen by the taker only if an action waits.
                    self.actions.send_if_modified(|action| !std::mem::replace(&mut action.turn_ended, true) && !action.text.is_empty());
                }
                _ => {}
            }
        }
    }

    /// Takes the last checkpoint. The agent has ended, perhaps in the middle of an action.
    pub(super) async fn finish(self) {
        if let Some(text) = self.begun {
            self.actions.send_replace(Action { text, turn_ended: false });
        }
        drop(self.actions);
        if let Err(error) = self.taker.await {
            tracing::warn!(%error, "checkpoints of a run were not taken");
        }
    }
}

const fn may_change_files(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Write | ToolKind::Edit | ToolKind::Delete | ToolKind::Move | ToolKind::Execute | ToolKind::Helper | ToolKind::Other => true,
        ToolKind::Board | ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::Fetch | ToolKind::SwitchMode => false,
    }
}

/// Takes checkpoints until the run ends.
async fn take_all(context: RunContext, run: Run, worktree: PathBuf, mut actions: Receiver<Action>) {
    let mut next_at = Instant::now();
    while actions.changed().await.is_ok() {
        wait_until(next_at, &mut actions).await;
        let action = actions.borrow_and_update().clone();
        let began = Instant::now();
        if let Err(error) = take(&context, &run, &worktree, action).await {
            tracing::warn!(run = %run.id, %error, "a checkpoint was not taken");
        }
        next_at = Instant::now() + (began.elapsed() * PAUSE_FACTOR).max(MIN_PAUSE);
    }
}

/// Waits until `at`, until the agent ends its turn, or until the run ends.
async fn wait_until(at: Instant, actions: &mut Receiver<Action>) {
    let turn_end = async {
        while !actions.borrow_and_update().turn_ended {
            if actions.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = sleep_until(at) => {}
        () = turn_end => {}
    }
}

async fn take(context: &RunContext, run: &Run, worktree: &Path, action: Action) -> Result<(), CheckoutError> {
    let db = &context.db;
    let card = db.card(&run.task_id).await?;
    let project = db.project(&card.project_id).await?;
    let Some(earlier) = db.last_checkpoint(&run.task_id).await?.or_else(|| run.sha.clone()) else { return Ok(()) };
    let git_dir = PathBuf::from(project.git_dir);
    let (folder, worktree) = (run.task_id.to_string(), worktree.to_path_buf());
    let taken = with_files(&git_dir, move |repository| repository.take_checkpoint(&folder, &checkout_name(&worktree), &worktree, &earlier)).await?;
    let Some(taken) = taken else { return Ok(()) };
    let checkpoint = Checkpoint { sha: taken.sha, taken_at: db::now(), files: taken.files, action: action.text };
    let dropped = db.record_checkpoint(&run.id, checkpoint).await?;
    if !dropped.is_empty() {
        let folder = run.task_id.to_string();
        with_repository(&git_dir, move |repository| repository.drop_checkpoints(&folder, &dropped)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
