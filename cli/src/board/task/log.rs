//! Prints the transcript of the last run of a task. Must not know how a transcript is made.

use std::time::Duration;

use domain::id::TaskId;
use domain::runs::output::{Output, OutputLine};
use domain::runs::run::Run;
use domain::wire::List;
use tokio::time::sleep;

use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// The time between two looks at a run that works.
const INTERVAL: Duration = Duration::from_secs(1);

/// Prints the transcript so far, or with `follow` until the run has ended.
///
/// # Errors
/// When the board is not running, or no agent has worked on the task.
pub(super) async fn print(client: &Client, task: &TaskId, follow: bool) -> Result<(), CliError> {
    let runs: List<Run> = client.get(&format!("/api/tasks/{task}/runs")).await?;
    let run = runs.items.last().ok_or_else(|| CliError::NoRun { task: task.clone() })?;
    let mut offset = 0;
    loop {
        let page: Output = client.get(&format!("/api/runs/{}/output?offset={offset}", run.id)).await?;
        page.lines.iter().for_each(|entry| output::data(entry, |entry| output::line(line(entry))));
        let is_at_end = page.next == offset;
        offset = page.next;
        if page.complete || (is_at_end && !follow) || output::is_over() {
            return Ok(());
        }
        if is_at_end {
            sleep(INTERVAL).await;
        }
    }
}

fn line(entry: &OutputLine) -> String {
    let detail = entry.detail.iter().flat_map(|detail| detail.lines()).map(|line| format!("\n    {line}"));
    format!("[{}] {}{}", entry.kind, entry.text, detail.collect::<String>())
}
