//! The conversations that Claude Code stores outside of a checkout, for the agents that worked in it.
//!
//! It must not touch the conversations of any other folder.

use std::io;
use std::path::{Path, PathBuf};

/// The files of a repository that instruct an agent, relative to its top folder.
pub const RULE_FILES: &[&str] = &["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"];

/// The folder of all conversations, in the folder of the program's files.
pub(super) const PROJECTS: &str = "projects";

/// Removes the conversations that agents had in `checkout`, which no later run resumes. Blocks.
///
/// # Errors
/// When they exist and cannot be removed.
pub fn remove_sessions(checkout: &Path) -> io::Result<()> {
    let Some(config) = config_folder() else { return Ok(()) };
    match std::fs::remove_dir_all(sessions_folder(&config, checkout)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The folders of conversations that agents had in checkouts below `worktrees` and that were not removed.
pub fn left_sessions(worktrees: &Path) -> Vec<PathBuf> {
    let Some(config) = config_folder() else { return Vec::new() };
    let prefix = format!("{}-", sessions_folder(&config, worktrees).to_string_lossy());
    let entries = std::fs::read_dir(config.join(PROJECTS)).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.to_string_lossy().starts_with(&prefix)).collect()
}

fn config_folder() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CLAUDE_CONFIG_DIR").or_else(|| variable("HOME").map(|home| home.join(".claude")))
}

/// The program names the folder after the working folder, with a dash for each character that is neither a letter nor a digit.
pub(super) fn sessions_folder(config: &Path, checkout: &Path) -> PathBuf {
    let path = checkout.to_string_lossy();
    let name: String = path.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '-' }).collect();
    config.join(PROJECTS).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_named_after_the_checkout() {
        let folder = sessions_folder(Path::new("/home/ada/.claude"), Path::new("/home/ada/.vibe-relay/worktrees/PROJ-001/TASK-002"));
        assert_eq!(folder, Path::new("/home/ada/.claude/projects/-home-ada--vibe-relay-worktrees-PROJ-001-TASK-002"));
    }
}
