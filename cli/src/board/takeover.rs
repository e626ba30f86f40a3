//! `vibe-relay takeover`: hands the work of an agent to the person at the terminal, and back. Must not know how an agent is stopped.

use std::path::Path;
use std::time::Duration;

use domain::board::status::HeldBy;
use domain::board::takeover::Takeover;
use domain::id::TaskId;
use domain::wire::TaskView;
use serde_json::json;
use tokio::time::sleep;

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;

const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Takes a task over and prints where and how to continue, once its agent is gone; or gives the task back.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, task: &str, give_back: bool) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let path = format!("/api/tasks/{}", id::task(task)?);
    if give_back {
        let view: TaskView = client.post(&format!("{path}/give-back"), &json!({})).await?;
        output::data(&view, |view| output::line(format!("{} is given back: the next agent continues in its worktree", view.task.card.id)));
        return Ok(());
    }
    let mut view: TaskView = client.get(&path).await?;
    if view.task.card.held_by != Some(HeldBy::Takeover) {
        view = client.post(&format!("{path}/take-over"), &json!({})).await?;
    }
    let takeover = loop {
        match view.takeover {
            Some(takeover) => break takeover,
            None => sleep(POLL_INTERVAL).await,
        }
        view = client.get(&path).await?;
    };
    output::data(&takeover, |takeover| show(&view.task.card.id, takeover));
    Ok(())
}

fn show(id: &TaskId, takeover: &Takeover) {
    output::line(format!("{id} is yours: no agent works on it until you give it back.\n"));
    output::line(format!("Worktree:  {}", takeover.folder));
    if let Some(command) = &takeover.command {
        output::line(format!("Continue:  {command}"));
    }
    output::line(format!("Give back: vibe-relay takeover {id} --give-back"));
}
