//! `vibe-relay pair`: shows the link that signs a phone in as a QR code.
//!
//! Must not know which hosts are allowed; the board chooses or refuses.

use std::path::Path;

use domain::team::pairing::{NewPairing, PAIRING_LIFETIME, Pairing};

use crate::client::Client;
use crate::error::CliError;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Pair {
    /// Name of the device, for the list of sessions; default: Phone.
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// One of `allowed_hosts` in the configuration; default: the only one.
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
}

/// Prints the QR code and the link. Its last line on standard output is the link, for scripts.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, Pair { name, host }: Pair) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let pairing: Pairing = client.post("/api/pairings", &NewPairing { device: name, host }).await?;
    output::data(&pairing, |pairing| {
        output::dark_on_light(&pairing.text);
        output::line(&pairing.link);
    });
    let minutes = PAIRING_LIFETIME.as_secs() / 60;
    output::hint(format!("Scan the code with {}: the link signs it in once, within {minutes} minutes.", pairing.device));
    output::hint("`vibe-relay session list` shows the device, and `vibe-relay session revoke ID` signs it out.");
    Ok(())
}
