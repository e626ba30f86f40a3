//! `vibe-relay open`: signs a browser in to the running board. Must not know how the link works.

use std::path::Path;

use domain::wire::SignInLink;
use serde_json::json;

use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// Makes a link that signs one browser in, once, prints it and opens it.
///
/// # Errors
/// When the board is not running.
pub(crate) async fn run(config: Option<&Path>, print: bool) -> Result<(), CliError> {
    let made: SignInLink = Client::find(config)?.post("/api/sign-in-link", &json!({})).await?;
    output::data(&made, |made| output::line(&made.sign_in_link));
    if !print && let Err(error) = runner::process::open_browser(&made.sign_in_link) {
        output::hint(format!("No browser could be opened: {error}. Open the link yourself."));
    }
    Ok(())
}
