//! `vibe-relay attach`: connects the person's own Claude Code to the board. Must not know what a companion may do; the store decides that.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::text::shell_word;
use domain::wire::CompanionToken;
use runner::process;
use serde::Serialize;
use serde_json::json;

use crate::client::Client;
use crate::error::CliError;
use crate::{output, settings};

/// The name under which Claude Code knows the board.
const NAME: &str = "vibe-relay";

/// The program that is asked to register the board.
const CLAUDE: &str = "claude";

const TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub(crate) struct Attach {
    /// Print the command that registers the board, instead of running it.
    #[arg(long)]
    print: bool,
}

/// How Claude Code learns of the board.
#[derive(Debug, Serialize)]
struct Registration {
    command: String,
}

/// The file of the companion's token: beside the database, and readable only by its owner.
fn token_file(db_path: &Path) -> PathBuf {
    db_path.with_file_name("companion")
}

/// Returns the companion's token.
///
/// # Errors
/// When no companion was attached.
pub(crate) fn token(db_path: &Path) -> Result<String, CliError> {
    let path = token_file(db_path);
    match std::fs::read_to_string(&path) {
        Ok(token) => Ok(token.trim().to_owned()),
        Err(source) => Err(CliError::NoCompanion { path, source }),
    }
}

/// Creates the companion's token and registers the board for all projects of the person's Claude Code, or prints the command.
///
/// # Errors
/// When the board is not running or refuses, or the token cannot be written.
pub(crate) async fn run(config: Option<&Path>, options: &Attach) -> Result<(), CliError> {
    let config = settings::config(config)?;
    let created: CompanionToken = Client::new(&config)?.post("/api/companion-token", &json!({})).await?;
    let path = token_file(&config.db_path);
    settings::write_token(&path, &created.token).map_err(CliError::io(format!("write {}", path.display())))?;
    let program = std::env::current_exe().map_err(CliError::io("find this program"))?;
    let arguments = registration(&program, &config.db_path)?;
    let command = command_line(&arguments);
    if options.print {
        output::data(&Registration { command }, |registration| output::line(&registration.command));
        return Ok(());
    }
    match register(&arguments).await {
        Ok(()) => {
            output::done(format!("Claude Code knows the board as {NAME} in every folder. Ask it, for example, to create a task on the board."));
            output::hint(
                "It can read everything, and create, edit, comment on, hold, start and steer tasks. It cannot approve, land, answer or change settings.",
            );
            output::hint(format!(
                "`{CLAUDE} mcp remove --scope user {NAME}` disconnects it; `vibe-relay token list` and `token revoke` end its token."
            ));
        }
        Err(reason) => {
            output::hint(format!("`{CLAUDE}` did not register the board ({reason}). This command does:"));
            output::line(command);
        }
    }
    Ok(())
}

/// Returns the arguments of `claude` that register the bridge. The token stays in its file.
fn registration(program: &Path, db_path: &Path) -> Result<Vec<String>, CliError> {
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| CliError::NotUtf8 { path: path.to_owned() });
    let database = format!("VIBE_RELAY_DB={}", text(db_path)?);
    let words = ["mcp", "add", "--scope", "user", NAME, "-e", &database, "--", &text(program)?, "mcp", "--companion"];
    Ok(words.map(str::to_owned).to_vec())
}

fn command_line(arguments: &[String]) -> String {
    let words: Vec<String> = std::iter::once(CLAUDE).chain(arguments.iter().map(String::as_str)).map(shell_word).collect();
    words.join(" ")
}

/// Replaces an earlier registration.
async fn register(arguments: &[String]) -> Result<(), String> {
    let call = async |arguments: &[&str]| process::probe(Path::new(CLAUDE), arguments, TIMEOUT).await.map_err(|error| error.to_string());
    // It fails if there is none.
    call(&["mcp", "remove", "--scope", "user", NAME]).await?;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = call(&words).await?;
    let said = [&ended.stderr, &ended.stdout].into_iter().flat_map(|text| text.lines()).find(|line| !line.trim().is_empty());
    if ended.code == Some(0) { Ok(()) } else { Err(said.unwrap_or("it gave no reason").trim().to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_holds_no_token_and_quotes_what_a_shell_would_split() {
        let arguments = registration(Path::new("/opt/my programs/vibe-relay"), Path::new("/home/ann/.vibe-relay/vibe-relay.db")).unwrap();
        assert_eq!(
            command_line(&arguments),
            "claude mcp add --scope user vibe-relay -e VIBE_RELAY_DB=/home/ann/.vibe-relay/vibe-relay.db -- '/opt/my programs/vibe-relay' mcp \
             --companion"
        );
    }

    #[test]
    fn missing_companion_says_how_to_attach_one() {
        let error = token(Path::new("/nonexistent/board.db")).unwrap_err().to_string();
        assert_eq!(error, "no companion is attached (/nonexistent/companion cannot be read); run `vibe-relay attach` while the board is running");
    }
}
