//! `vibe-relay config`: checks the configuration file. Must not know what a setting means.

use std::path::Path;

use clap::Subcommand;

use crate::error::CliError;
use crate::{output, settings};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Read the configuration with every file that it names, and print the values in use.
    Check,
}

/// Runs the command.
///
/// # Errors
/// When the configuration, or a file that it names, cannot be read.
pub(crate) fn run(named: Option<&Path>, command: &Command) -> Result<(), CliError> {
    match command {
        Command::Check => {
            let file = settings::file(named)?;
            let config = settings::with_files(file.as_deref())?;
            let source = file.map_or_else(|| "no file; defaults apply".to_owned(), |file| file.display().to_string());
            output::data(&config, |config| {
                output::line(format!("ok  {source}"));
                output::line(serde_json::to_string_pretty(config).unwrap_or_default());
            });
            Ok(())
        }
    }
}
