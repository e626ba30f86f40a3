//! `vibe-relay publish`: pushes the project branch, and opens its pull request. Must not know how.

use std::path::Path;

use domain::board::project::Project;
use domain::runs::evidence::short;
use domain::runs::publication::PublishOptions;

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;

/// Runs the command.
///
/// # Errors
/// When the board is not running, or the branch or the pull request is refused.
pub(crate) async fn run(config: Option<&Path>, project: &str, pull_request: bool) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let path = format!("/api/projects/{}/publication", id::project(project)?);
    let project: Project = client.post(&path, &PublishOptions { pull_request }).await?;
    output::data(&project.published, |published| {
        if let Some(published) = published {
            output::line(format!("{} at {} was pushed to {}", published.branch, short(&published.sha), published.remote));
            published.pull_request.iter().for_each(output::line);
        }
    });
    Ok(())
}
