//! `vibe-relay init`: writes a configuration into a repository, for you to edit, and the agents' prompts on request. Must not change existing files.

use std::path::{Path, PathBuf};

use domain::config::Config;
use domain::prompt::Prompt;
use serde::Serialize;
use serde_json::{Map, json};

use crate::error::CliError;
use crate::settings::CONFIG_FILE;
use crate::{output, settings};

/// The folder of copied prompts in the repository.
const PROMPTS_FOLDER: &str = "agents";

/// Writes the files that do not exist yet into the root of a repository.
///
/// # Errors
/// When another configuration is named, or the folder is not the root of a repository, or cannot be written.
pub(crate) fn run(config: Option<&Path>, path: &Path, prompts: bool) -> Result<(), CliError> {
    if let Some(config) = config {
        return Err(CliError::InitElsewhere { config: config.to_owned() });
    }
    let root = std::fs::canonicalize(path).map_err(CliError::io(format!("find {}", path.display())))?;
    let found = repo::place(&root).map_err(|error| CliError::NotRepository { reason: error.to_string(), hint: error.hint() })?;
    if Path::new(&found.repo_path) != root {
        return Err(CliError::NotRoot { path: root, root: found.repo_path.into() });
    }
    let mut files = Vec::new();
    let mut config = Map::from_iter([("repo_path".to_owned(), json!("."))]);
    if prompts {
        files = write_prompts(&root)?;
        config.insert("prompts_path".to_owned(), json!(PROMPTS_FOLDER));
        // Agents work in this repository, so a change of their own instructions has to be seen.
        let mut protected = Config::default().protected_paths;
        protected.push(format!("{PROMPTS_FOLDER}/**"));
        config.insert("protected_paths".to_owned(), json!(protected));
    }
    let text = serde_json::to_string_pretty(&config).map_err(|error| CliError::io("write the configuration")(error.into()))?;
    let file = write(root.join(CONFIG_FILE), &format!("{text}\n"))?;
    if prompts && !names_copies(&file.path) {
        // Without it, a person would think that the copies are in use.
        output::report(existing_configuration(&file.path));
    }
    files.push(file);
    output::list(&files, "", |file| format!("{:7} {}", if file.written { "written" } else { "kept" }, file.path.display()));
    output::hint("Next: `vibe-relay serve` in this folder. Every setting: https://github.com/vibe-relay/vibe-relay/blob/main/docs/configuration.md");
    Ok(())
}

/// Whether the configuration uses the copies.
fn names_copies(file: &Path) -> bool {
    settings::config(Some(file)).is_ok_and(|config| config.prompts_path == Some(file.with_file_name(PROMPTS_FOLDER)))
}

/// Tells what an existing configuration lacks.
fn existing_configuration(file: &Path) -> String {
    format!(
        "The copies are not used yet. Add \"prompts_path\": \"{PROMPTS_FOLDER}\" to {}, and \"{PROMPTS_FOLDER}/**\" to its \"protected_paths\", so \
         that agents cannot change their own instructions unseen.",
        file.display()
    )
}

/// Copies every text that agents read.
fn write_prompts(root: &Path) -> Result<Vec<InitFile>, CliError> {
    let mut files = Vec::new();
    for prompt in Prompt::ALL {
        let path = root.join(PROMPTS_FOLDER).join(prompt.file());
        let folder = path.parent().unwrap_or(root);
        std::fs::create_dir_all(folder).map_err(CliError::io(format!("create the folder {}", folder.display())))?;
        files.push(write(path, prompt.built_in())?);
    }
    output::hint(
        "Prompts that you copied stay as they are when vibe-relay is upgraded. Delete those that you do not change, so that they follow upgrades.",
    );
    Ok(files)
}

/// A file of the repository, and whether it is new.
#[derive(Debug, Serialize)]
struct InitFile {
    path: PathBuf,
    written: bool,
}

fn write(path: PathBuf, text: &str) -> Result<InitFile, CliError> {
    let written = !path.exists();
    if written {
        std::fs::write(&path, text).map_err(CliError::io(format!("write {}", path.display())))?;
    }
    Ok(InitFile { path, written })
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
        let error = run(None, &inner, false).unwrap_err().to_string();
        assert!(error.contains("is inside the repository") && error.contains("run `vibe-relay init "), "{error}");
        let missing = run(None, &sample.top().join("missing"), false).unwrap_err();
        assert!(missing.to_string().starts_with("could not find"), "{missing}");
        let outside = tempfile::tempdir().unwrap();
        assert!(run(None, outside.path(), false).unwrap_err().to_string().contains("is not inside a git repository"));
        let named = run(Some(Path::new("my.json")), sample.top(), false).unwrap_err().to_string();
        assert!(named.contains("my.json") && named.ends_with("omit --config"), "{named}");
        assert!(!sample.top().join(CONFIG_FILE).exists() && !sample.top().join("missing").exists() && !inner.join(CONFIG_FILE).exists());
    }

    #[test]
    fn existing_files_stay_and_prompts_are_copied_only_on_request() {
        let sample = TestRepository::new();
        run(None, sample.top(), false).unwrap();
        let written = std::fs::read_to_string(sample.top().join(CONFIG_FILE)).unwrap();
        assert_eq!(written, "{\n  \"repo_path\": \".\"\n}\n");
        assert!(!sample.top().join("agents").exists());
        run(None, sample.top(), true).unwrap();
        assert_eq!(std::fs::read_to_string(sample.top().join(CONFIG_FILE)).unwrap(), written, "it is not overwritten");
        assert!(!names_copies(&sample.top().join(CONFIG_FILE)));
        let hint = existing_configuration(&sample.top().join(CONFIG_FILE));
        assert!(hint.contains("\"prompts_path\": \"agents\"") && hint.contains("\"agents/**\" to its \"protected_paths\""), "{hint}");
        for prompt in Prompt::ALL {
            assert_eq!(std::fs::read_to_string(sample.top().join("agents").join(prompt.file())).unwrap(), prompt.built_in());
        }
        let other = TestRepository::new();
        run(None, other.top(), true).unwrap();
        assert!(names_copies(&other.top().join(CONFIG_FILE)), "nothing more is to be said");
        let config = settings::with_files(Some(&other.top().join(CONFIG_FILE))).unwrap();
        assert_eq!(config.prompts.replaced().count(), Prompt::ALL.len(), "the configuration names the folder");
        assert!(config.protected_paths.contains(&"agents/**".to_owned()) && config.protected_paths.contains(&"CLAUDE.md".to_owned()));
    }
}
