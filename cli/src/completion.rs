//! `vibe-relay completions` and `man`: what shells and readers of manuals know about the commands. It must not describe a command itself;
//! `args` does.

use std::path::Path;

use clap::{Command as Commands, CommandFactory};
use clap_complete::Shell;

use crate::args::Args;
use crate::error::CliError;
use crate::{output, version};

const PROGRAM: &str = "vibe-relay";

/// Prints the completion script of a shell.
pub(crate) fn script(shell: Shell) {
    output::line(text(shell).trim_end());
}

fn text(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut public(), PROGRAM, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    // For a program with a hyphen in its name, clap_complete names each command in two ways, so that no case of bash matches below it.
    if shell == Shell::Bash { script.replace("vibe__subcmd__relay", "vibe__relay") } else { script }
}

/// The commands that help shows. The program calls the others itself.
fn public() -> Commands {
    let all = Args::command();
    let shown = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    Commands::new(PROGRAM).version(version::LINE).args(all.get_arguments().cloned()).subcommands(shown)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::ValueEnum;
    use runner::process;

    use super::*;

    /// The words that bash offers for the last of `words`.
    async fn completed(script: &Path, words: &[&str]) -> String {
        let quoted = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let [.., before, last] = words else { panic!("two words") };
        let call = format!("_vibe__relay vibe-relay '{last}' '{before}'");
        let line = format!("source {}; COMP_WORDS=({quoted}); COMP_CWORD={}; {call}; echo \"${{COMPREPLY[@]}}\"", script.display(), words.len() - 1);
        let answer = process::probe(Path::new("bash"), &["-c", &line], Duration::from_secs(60)).await.unwrap();
        answer.stdout.trim().to_owned()
    }

    #[tokio::test]
    async fn bash_completes_commands_options_and_values_at_every_depth() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("vibe-relay.bash");
        std::fs::write(&script, text(Shell::Bash)).unwrap();
        for (words, wanted) in [
            (["vibe-relay", "doc"].as_slice(), "doctor"),
            (&["vibe-relay", "task", "li"], "list"),
            (&["vibe-relay", "service", "s"], "status"),
            (&["vibe-relay", "completions", "z"], "zsh"),
            (&["vibe-relay", "project", "new", "--rev"], "--review"),
            (&["vibe-relay", "project", "new", "--review", ""], "agent human both"),
            (&["vibe-relay", "task", "list", "--status", "in_"], "in_progress in_review"),
            (&["vibe-relay", "task", "move", "4", "canc"], "cancelled"),
        ] {
            assert_eq!(completed(&script, words).await, wanted, "{words:?}");
        }
    }

    #[test]
    fn scripts_offer_no_command_that_help_hides() {
        for shell in Shell::value_variants() {
            let text = text(*shell);
            assert!(text.contains("takeover"), "{shell}");
            for hidden in ["shim", "jail-exec", "code-map", "jail-forward", "jail-serve", "scripted-agent"] {
                assert!(!text.contains(hidden), "{shell} offers {hidden}");
            }
        }
    }
}
