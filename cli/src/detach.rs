//! `vibe-relay serve --detach`: starts the server in a session of its own and returns when it listens. Must not know how it serves.

use std::path::Path;
use std::time::Duration;

use runner::process::{self, Programs};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use crate::args::Serve;
use crate::error::CliError;
use crate::output;

/// How long the server may take to listen. A large database is copied before a migration.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Starts the server and prints its address.
///
/// # Errors
/// When the server ends before it listens. Its own error is in the text.
pub(crate) async fn run(config: Option<&Path>, options: &Serve) -> Result<(), CliError> {
    let program = Programs::of_this_process().map_err(CliError::io("find the program file"))?.running;
    let mut arguments: Vec<String> = config.iter().flat_map(|file| ["--config".to_owned(), file.display().to_string()]).collect();
    arguments.extend(["serve", "--detached"].map(str::to_owned));
    arguments.extend(options.no_open.then(|| "--no-open".to_owned()));
    arguments.extend(options.port.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]));
    let folder = std::env::current_dir().map_err(CliError::io("find the current folder"))?;
    let mut child = process::start_detached(&program, &arguments, &folder)?;
    let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else { return Err(ended("")) };
    let mut lines = BufReader::new(stdout).lines();
    let listens = async {
        while let Ok(Some(line)) = lines.next_line().await {
            output::line(&line);
            // The last line of the start.
            if line.starts_with("open ") {
                return true;
            }
        }
        false
    };
    match tokio::time::timeout(START_TIMEOUT, listens).await {
        Ok(true) => {
            output::line(format!(
                "the board is running in the background (process {}); stop it with `vibe-relay stop`",
                child.id().unwrap_or_default()
            ));
            Ok(())
        }
        Ok(false) => {
            let mut text = String::new();
            // The text until a read failure says enough.
            drop(stderr.read_to_string(&mut text).await);
            Err(ended(&text))
        }
        Err(_) => Err(CliError::Detached { text: format!("the server is still starting after {} s; its log says why", START_TIMEOUT.as_secs()) }),
    }
}

/// The error of a server that ended, from what it wrote to standard error.
fn ended(text: &str) -> CliError {
    let text = match text.trim() {
        "" => "the server ended before it listened; run `vibe-relay serve` to see why",
        text => text.strip_prefix(output::ERROR_PREFIX).unwrap_or(text),
    };
    CliError::Detached { text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_the_server_is_said_once() {
        assert_eq!(ended("vibe-relay: the board is already running\n").to_string(), "the board is already running");
        assert!(ended(" \n").to_string().contains("run `vibe-relay serve` to see why"));
    }
}
