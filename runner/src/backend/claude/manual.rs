//! How a person continues an agent's session in a terminal. Pure.

use std::path::Path;

use domain::text::shell_word;

use super::environment::CONFIG_VARIABLE;

/// The shell command that continues a session that was used in `checkout`, without the id of the session. `config_dir` is the value of
/// `CLAUDE_CONFIG_DIR` for the agent: the program finds a session only below its own folder.
pub fn resume_command(command: &[String], config_dir: Option<&str>, checkout: &Path) -> String {
    let program: Vec<String> = command.iter().map(|word| shell_word(word)).collect();
    let folder = config_dir.map(|folder| format!("{CONFIG_VARIABLE}={} ", shell_word(folder))).unwrap_or_default();
    format!("cd {} && {folder}{} --resume", shell_word(&checkout.to_string_lossy()), program.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_finds_folder_program_and_session() {
        let command = ["/usr/bin/claude".to_owned()];
        assert_eq!(resume_command(&command, None, Path::new("/w/TASK-001")), "cd /w/TASK-001 && /usr/bin/claude --resume");
        let odd = resume_command(&command, Some("/home/ann/my claude"), Path::new("/w/it's"));
        assert_eq!(odd, r"cd '/w/it'\''s' && CLAUDE_CONFIG_DIR='/home/ann/my claude' /usr/bin/claude --resume");
    }
}
