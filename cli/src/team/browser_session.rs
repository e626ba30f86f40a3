//! `vibe-relay session`: lists the browsers that are signed in, and signs them out.

use std::path::Path;

use clap::Subcommand;
use domain::team::browser_session::BrowserSession;
use domain::team::person::OWNER;
use domain::wire::List;

use crate::client::Client;
use crate::error::CliError;
use crate::{number, output};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the sessions: number, last request, sign-in and browser.
    List,
    /// Sign a browser out.
    Revoke {
        /// Number of the session, from the list.
        #[arg(value_parser = number::whole::<i64>)]
        id: i64,
    },
}

/// Runs the command.
///
/// # Errors
/// When the board is not running, or there is no such session.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    match command {
        Command::List => {
            let sessions: List<BrowserSession> = client.get("/api/sessions").await?;
            let one_person = sessions.items.iter().all(|session| session.person_id == OWNER);
            output::list(&sessions.items, "No browser is signed in.", |session| line(session, !one_person));
        }
        Command::Revoke { id } => {
            client.delete(&format!("/api/sessions/{id}")).await?;
            output::done(format!("session {id} is revoked"));
        }
    }
    Ok(())
}

/// The line of a session. With several persons it names the one who signed in.
fn line(session: &BrowserSession, with_person: bool) -> String {
    let BrowserSession { id, person_id: _, person, device, user_agent, created_at, last_seen_at } = session;
    let person = if with_person { format!("  {person}") } else { String::new() };
    let device = device.as_ref().map(|device| format!("  {device}")).unwrap_or_default();
    format!("{id}{person}{device}  last seen {last_seen_at}  signed in {created_at}  {}", user_agent.as_deref().unwrap_or("unknown browser"))
}
