//! `vibe-relay completions` and `man`: what shells and readers of manuals know about the commands. It must not describe a command itself;
//! `args` does.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::CliError;
use crate::output;

/// Prints the completion script of a shell.
pub(crate) fn script(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "vibe-relay", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
}

/// Writes a manual page for each command that help shows.
///
/// # Errors
/// When the folder cannot be written.
pub(crate) fn manual(folder: &Path) -> Result<(), CliError> {
    let failed = || CliError::io(format!("write manual pages to {}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed())?;
    clap_mangen::generate_to(Args::command(), folder).map_err(failed())?;
    output::done(format!("Manual pages are in {}.", folder.display()));
    Ok(())
}
