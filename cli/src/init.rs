//! `vibe-relay init`: writes a configuration into a repository, for you to edit, and the agents' prompts on request. Must not change existing files.

use std::path::Path;

use domain::runs::agent_kind::AgentKind;
use runner::prompt;
use serde_json::{Map, json};

use crate::error::CliError;
use crate::output;
use crate::settings::CONFIG_FILE;

/// Writes the files that do not exist yet into the root of a repository.
///
/// # Errors
/// When the folder is not the root of a repository, or cannot be written.
pub(crate) fn run(path: &Path, prompts: bool) -> Result<(), CliError> {
    let root = std::fs::canonicalize(path).map_err(CliError::io(format!("find {}", path.display())))?;
    let found = repo::place(&root).map_err(|error| CliError::NotRepository { path: root.clone(), reason: error.to_string() })?;
    if Path::new(&found.repo_path) != root {
        return Err(CliError::NotRoot { path: root, root: found.repo_path.into() });
    }
    let mut config = Map::from_iter([("repo_path".to_owned(), json!("."))]);
    if prompts {
        config.insert("agents".to_owned(), write_prompts(&root)?);
    }
    let text = serde_json::to_string_pretty(&config).map_err(|error| CliError::io("write the configuration")(error.into()))?;
    write(&root.join(CONFIG_FILE), &format!("{text}\n"))?;
    output::hint("Next: `vibe-relay serve` in this folder. docs/configuration.md lists every setting.");
    Ok(())
}

/// Copies the prompts, and returns the settings that name them.
fn write_prompts(root: &Path) -> Result<serde_json::Value, CliError> {
    let folder = root.join("agents");
    std::fs::create_dir_all(&folder).map_err(CliError::io(format!("create the folder {}", folder.display())))?;
    let mut agents = Map::new();
    for phase in AgentKind::ALL {
        let name = format!("agents/{phase}.md");
        write(&root.join(&name), prompt::role(*phase))?;
        agents.insert(phase.to_string(), json!({ "system_prompt_file": name }));
    }
    output::hint("Prompts that you copied stay as they are when vibe-relay is upgraded. Delete one, and its setting, to follow upgrades again.");
    Ok(agents.into())
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    if path.exists() {
        output::line(format!("kept    {}", path.display()));
        return Ok(());
    }
    std::fs::write(path, text).map_err(CliError::io(format!("write {}", path.display())))?;
    output::line(format!("written {}", path.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use repo::testing::TestRepository;

    use super::*;

    #[test]
    fn only_the_root_of_a_repository_is_written() {
        let sample = TestRepository::new();
        let inner = sample.top().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let error = run(&inner, false).unwrap_err().to_string();
        assert!(error.contains("is inside the repository") && error.contains("run `vibe-relay init "), "{error}");
        let missing = run(&sample.top().join("missing"), false).unwrap_err();
        assert!(missing.to_string().starts_with("could not find"), "{missing}");
        let outside = tempfile::tempdir().unwrap();
        assert!(run(outside.path(), false).unwrap_err().to_string().contains("is not in a git repository"));
        assert!(!sample.top().join("missing").exists() && !inner.join(CONFIG_FILE).exists());
    }

    #[test]
    fn existing_files_stay_and_prompts_are_copied_only_on_request() {
        let sample = TestRepository::new();
        run(sample.top(), false).unwrap();
        let written = std::fs::read_to_string(sample.top().join(CONFIG_FILE)).unwrap();
        assert_eq!(written, "{\n  \"repo_path\": \".\"\n}\n");
        assert!(!sample.top().join("agents").exists());
        run(sample.top(), true).unwrap();
        assert_eq!(std::fs::read_to_string(sample.top().join(CONFIG_FILE)).unwrap(), written, "it is not overwritten");
        assert!(sample.top().join("agents/coder.md").exists());
    }
}
