//! How a person continues an agent's session in a terminal. Pure.

use std::path::Path;

use super::environment::CONFIG_VARIABLE;

/// The shell command that continues a session that was used in `checkout`, without the id of the session. `config_dir` is the value of
/// `CLAUDE_CONFIG_DIR` for the agent: the program finds a session only below its own folder.
pub fn resume_command(command: &[String], config_dir: Option<&str>, checkout: &Path) -> String {
    let program: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    let folder = config_dir.map(|folder| format!("{CONFIG_VARIABLE}={} ", quoted(folder))).unwrap_or_default();
    format!("cd {} && {folder}{} --resume", quoted(&checkout.to_string_lossy()), program.join(" "))
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:@%+,=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
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
