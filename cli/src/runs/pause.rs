//! `vibe-relay pause` and `resume`: let no new agent start, in one project or in all. Must not know which agents would start.

use std::path::Path;

use domain::board::project::Project;
use domain::runs::pause::PauseStatus;
use domain::time::Timestamp;
use serde_json::json;

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;

/// Pauses a project, or all without one.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn pause(config: Option<&Path>, project: Option<&str>) -> Result<(), CliError> {
    let say = |subject: &str, at: Option<Timestamp>| {
        let since = at.map(|at| format!(" since {}", at.clock())).unwrap_or_default();
        output::line(format!("{subject} paused{since}: no new agents start, and running agents continue"));
    };
    change(config, project, "pause", say).await
}

/// Ends the pause of a project, or of all without one.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn resume(config: Option<&Path>, project: Option<&str>) -> Result<(), CliError> {
    change(config, project, "resume", |subject, _| output::line(format!("{subject} no longer paused"))).await
}

async fn change(config: Option<&Path>, project: Option<&str>, verb: &str, say: impl Fn(&str, Option<Timestamp>)) -> Result<(), CliError> {
    let client = Client::find(config)?;
    match project {
        Some(project) => {
            let project: Project = client.post(&format!("/api/projects/{}/{verb}", id::project(project)?), &json!({})).await?;
            output::data(&project, |project| say(&format!("{} is", project.id), project.paused_at));
        }
        None => {
            let status: PauseStatus = client.post(&format!("/api/{verb}"), &json!({})).await?;
            output::data(&status, |status| say("all projects are", status.paused_at));
        }
    }
    Ok(())
}
