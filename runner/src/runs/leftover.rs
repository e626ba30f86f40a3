//! Names on the card the processes of an agent that survive its run, because they are below an earlier daemon such as tmux or systemd.
//!
//! It must not end anything, because a process may be the human's. Processes in containers have other working folders and are not found.

use std::fmt::Write;
use std::path::PathBuf;

use domain::id::RunId;
use domain::runs::run::Run;
use domain::text::excerpt;

use super::run::RunContext;
use crate::blocking::off_thread;
use crate::procfs;

/// How many processes are named.
const MAX_SHOWN: usize = 5;
/// The most characters of a command line.
const MAX_COMMAND_CHARS: usize = 120;

/// Tells on the card which processes work in the checkout of a run that ended, if they started after its agent. Call it before the end of
/// the run is recorded.
///
/// # Errors
/// When the store fails.
pub(crate) async fn report(context: &RunContext, run: &Run) -> db::Result<()> {
    let shim = context.db.run_process(&run.id).await?.and_then(|process| process.shim);
    // Without its start time, processes of the human could not be told from those of the agent.
    let (Some(shim), Some(folder)) = (shim, run.worktree_path.clone().map(PathBuf::from)) else { return Ok(()) };
    match off_thread(move || procfs::working_in(&folder, shim.started)).await {
        Ok(Ok(left)) if left.is_empty() => {}
        Ok(Ok(left)) => context.db.note_for_run(&run.id, &note(&run.id, &left)).await?,
        Ok(Err(error)) => tracing::warn!(run = %run.id, %error, "whether an agent left processes is unknown"),
        Err(error) => tracing::warn!(run = %run.id, %error, "whether an agent left processes is unknown"),
    }
    Ok(())
}

fn note(run: &RunId, left: &[(i32, String)]) -> String {
    let mut text = format!(
        "These processes started while {run} was at work and are still running in its checkout, below a program that the end of the run does not reach, such as tmux. \
         Nothing was done to them.\n\n"
    );
    let mut ids = String::new();
    for (pid, command) in left.iter().take(MAX_SHOWN) {
        // Writing to a string never fails.
        let _ = writeln!(text, "    {pid} {}", excerpt(&printable(command), MAX_COMMAND_CHARS));
        let _ = write!(ids, " {pid}");
    }
    let more = left.len().saturating_sub(MAX_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "    and {more} more");
    }
    let _ = write!(text, "\nUnless they are yours, end them with `kill{ids}`.");
    text
}

/// The text with its control characters written out, because terminals obey them.
fn printable(command: &str) -> String {
    let mut text = String::with_capacity(command.len());
    for character in command.chars() {
        if character.is_control() { text.extend(character.escape_default()) } else { text.push(character) }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_named_with_the_command_that_ends_them() {
        let run = RunId::new(7);
        let one = [(812, "npm\u{1b}[2J start\n".to_owned())];
        insta::assert_snapshot!(note(&run, &one), @r"
        These processes started while RUN-007 was at work and are still running in its checkout, below a program that the end of the run does not reach, such as tmux. Nothing was done to them.

            812 npm\u{1b}[2J start\n

        Unless they are yours, end them with `kill 812`.
        ");
        let many: Vec<(i32, String)> = (1..=7).map(|pid| (pid, "x".repeat(999))).collect();
        let text = note(&run, &many);
        assert!(text.contains("    and 2 more\n") && text.ends_with("`kill 1 2 3 4 5`.") && text.len() < 1200, "{text}");
    }
}
