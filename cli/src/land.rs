//! `vibe-relay land`: brings what a project merged to its base branch.

use std::path::Path;

use domain::id::ProjectId;
use domain::wire::LandingResult;
use serde_json::json;

use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// # Errors
/// When the board is not running, or the repository is not in a state to land on.
pub(crate) async fn run(config: Option<&Path>, project: &str) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let landed: LandingResult = client.post(&format!("/api/projects/{}/land", project.parse::<ProjectId>()?), &json!({})).await?;
    output::line(landed.detail);
    Ok(())
}
