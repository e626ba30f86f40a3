//! `vibe-relay land`: merges the project branch into the base branch. Must not know how.

use std::path::Path;

use domain::id::ProjectId;
use domain::wire::{LandOptions, LandingResult};

use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses to land.
pub(crate) async fn run(config: Option<&Path>, project: &str, bring_back: Option<String>) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let landed: LandingResult = client.post(&format!("/api/projects/{}/land", project.parse::<ProjectId>()?), &LandOptions { bring_back }).await?;
    output::line(landed.detail);
    Ok(())
}
