//! `vibe-relay preview`: starts the app of a task or a project and ends it. Must not know the command that starts it.

use std::path::Path;
use std::time::Duration;

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::preview::{Preview as App, PreviewState, PreviewSubject};
use domain::wire::TaskView;
use serde_json::json;
use tokio::time::sleep;

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;

/// The time between two looks at an app that starts.
const INTERVAL: Duration = Duration::from_millis(300);

#[derive(Debug, clap::Args)]
pub(crate) struct Preview {
    /// Task id or number, or project id, for example TASK-004, 4 or PROJ-001.
    id: String,
    /// Stop the app.
    #[arg(long, conflicts_with = "log")]
    stop: bool,
    /// Print the output of the app.
    #[arg(long)]
    log: bool,
}

/// Runs the command.
///
/// # Errors
/// When the board is not running or refuses, or the app does not start.
pub(crate) async fn run(config: Option<&Path>, preview: &Preview) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let subject = subject(&preview.id)?;
    let path = match &subject {
        PreviewSubject::Task(id) => format!("/api/tasks/{id}/preview"),
        PreviewSubject::Project(id) => format!("/api/projects/{id}/preview"),
    };
    if preview.stop {
        client.delete(&path).await?;
        output::done(format!("the app of {} is stopping", subject.name()));
        return Ok(());
    }
    if preview.log {
        output::data(client.text(&format!("{path}/log")).await?.trim_end(), |log| output::line(log));
        return Ok(());
    }
    let mut app = Some(client.post::<App>(&path, &json!({})).await?);
    loop {
        match app {
            Some(App { state: PreviewState::Running, address: Some(address), .. }) => {
                output::data(&address, |address| output::line(address));
                return Ok(());
            }
            Some(App { state: PreviewState::Failed, failure, .. }) => {
                return Err(CliError::AppFailed { name: subject.name(), failure: failure.unwrap_or_default() });
            }
            None => return Err(CliError::AppFailed { name: subject.name(), failure: "it was stopped".to_owned() }),
            Some(_) => sleep(INTERVAL).await,
        }
        app = read(&client, &subject).await?;
    }
}

fn subject(id: &str) -> Result<PreviewSubject, CliError> {
    // A number alone is a task.
    let is_project = id.get(..ProjectId::PREFIX.len()).is_some_and(|prefix| prefix.eq_ignore_ascii_case(ProjectId::PREFIX));
    Ok(if is_project { PreviewSubject::Project(id::project(id)?) } else { PreviewSubject::Task(id::task(id)?) })
}

async fn read(client: &Client, subject: &PreviewSubject) -> Result<Option<App>, CliError> {
    Ok(match subject {
        PreviewSubject::Task(id) => client.get::<TaskView>(&format!("/api/tasks/{id}")).await?.task.card.preview,
        PreviewSubject::Project(id) => client.get::<Project>(&format!("/api/projects/{id}")).await?.preview,
    })
}

#[cfg(test)]
mod tests {
    use domain::id::TaskId;

    use super::*;

    #[test]
    fn id_names_a_task_or_a_project() {
        assert_eq!(subject("PROJ-001").unwrap(), PreviewSubject::Project(ProjectId::new(1)));
        assert_eq!(subject("proj-1").unwrap(), PreviewSubject::Project(ProjectId::new(1)));
        assert_eq!(subject("TASK-004").unwrap(), PreviewSubject::Task(TaskId::new(4)));
        assert!(subject("page").is_err());
    }
}
