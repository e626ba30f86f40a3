//! `vibe-relay land`: merges the project branch into the base branch, or takes the last landing back. Must not know how.

use std::path::Path;

use domain::wire::{LandOptions, LandingResult, UndoLanding};

use crate::client::Client;
use crate::error::CliError;
use crate::id;
use crate::output;

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses it.
pub(crate) async fn run(config: Option<&Path>, project: &str, bring_back: Option<String>, undo: bool) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let project = id::project(project)?;
    let result: LandingResult = if undo {
        client.post(&format!("/api/projects/{project}/landing/undo"), &UndoLanding::default()).await?
    } else {
        client.post(&format!("/api/projects/{project}/land"), &LandOptions { bring_back }).await?
    };
    output::data(&result, |result| output::line(&result.detail));
    Ok(())
}
