//! `vibe-relay init`: writes a configuration and the agents' prompts into a repository, for you to edit. Must not change existing files.

use std::path::Path;

use domain::runs::agent_kind::AgentKind;
use runner::prompt;
use serde_json::json;

use crate::error::CliError;
use crate::output;
use crate::settings::CONFIG_FILE;

/// Writes the files that do not exist yet.
///
/// # Errors
/// When the folder cannot be written.
pub(crate) fn run(path: &Path) -> Result<(), CliError> {
    let prompts = path.join("agents");
    std::fs::create_dir_all(&prompts).map_err(CliError::io(format!("create the folder {}", prompts.display())))?;
    let mut agents = serde_json::Map::new();
    for phase in AgentKind::ALL {
        let name = format!("agents/{phase}.md");
        write(&path.join(&name), prompt::role(*phase))?;
        agents.insert(phase.to_string(), json!({ "system_prompt_file": name }));
    }
    let config = json!({ "repo_path": ".", "max_parallel_agents": 3, "agents": agents });
    let text = serde_json::to_string_pretty(&config).map_err(|error| CliError::Demo(error.to_string()))?;
    write(&path.join(CONFIG_FILE), &format!("{text}\n"))?;
    output::line("Next: `vibe-relay serve` in this folder.");
    Ok(())
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
