//! Writes the hooks of the inbox into a folder's own settings of Claude Code. Must not know what a hook prints.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::error::CliError;

/// The settings that Claude Code reads beside those of the repository. They are a person's own, and are not committed.
const FILE: &str = ".claude/settings.local.json";
const COMMAND: &str = "vibe-relay inbox --hook";
const EVENTS: [&str; 2] = ["UserPromptSubmit", "Stop"];

/// Adds the hooks, the token and the database to the settings in `folder`, and keeps everything else. Returns the file.
///
/// # Errors
/// The file is not a JSON object of settings, or cannot be written.
pub(super) fn write(folder: &Path, token: &str, database: &Path) -> Result<PathBuf, CliError> {
    let file = folder.join(FILE);
    let known = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => "{}".to_owned(),
        Err(source) => return Err(CliError::io(format!("read {}", file.display()))(source)),
    };
    let invalid = || CliError::InvalidSettings { path: file.clone() };
    let Ok(Value::Object(mut settings)) = serde_json::from_str(&known) else { return Err(invalid()) };
    add(&mut settings, token, database).ok_or_else(invalid)?;
    let attempted = || CliError::io(format!("write {}", file.display()));
    let parent = file.parent().unwrap_or(folder);
    fs::create_dir_all(parent).map_err(attempted())?;
    // Replaced at once, and readable for nobody else, because it holds the token.
    let new = file.with_extension("json.new");
    let mut written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(attempted())?;
    written.write_all(format!("{:#}\n", Value::Object(settings)).as_bytes()).map_err(attempted())?;
    fs::rename(&new, &file).map_err(attempted())?;
    Ok(file)
}

/// Adds to settings; none if they have another form than settings.
fn add(settings: &mut Map<String, Value>, token: &str, database: &Path) -> Option<()> {
    let variables = settings.entry("env").or_insert_with(|| json!({})).as_object_mut()?;
    variables.insert("VIBE_RELAY_TOKEN".to_owned(), token.into());
    variables.insert("VIBE_RELAY_DB".to_owned(), database.display().to_string().into());
    let hooks = settings.entry("hooks").or_insert_with(|| json!({})).as_object_mut()?;
    for event in EVENTS {
        let known = hooks.entry(event).or_insert_with(|| json!([])).as_array_mut()?;
        let is_there = known.iter().any(|group| group["hooks"].as_array().is_some_and(|all| all.iter().any(|hook| hook["command"] == COMMAND)));
        if !is_there {
            known.push(json!({"hooks": [{"type": "command", "command": COMMAND, "timeout": 5}]}));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn read(file: &Path) -> Value {
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }

    #[test]
    fn hooks_are_added_once_and_other_settings_stay() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".claude")).unwrap();
        let own = json!({"model": "opus", "env": {"A": "b"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}});
        fs::write(folder.path().join(FILE), own.to_string()).unwrap();
        for token in ["first", "second"] {
            let file = write(folder.path(), token, Path::new("/b/board.db")).unwrap();
            assert_eq!(file, folder.path().join(FILE));
            let settings = read(&file);
            assert_eq!(
                (&settings["model"], &settings["env"]),
                (&json!("opus"), &json!({"A": "b", "VIBE_RELAY_TOKEN": token, "VIBE_RELAY_DB": "/b/board.db"}))
            );
            let commands = |event: &str| {
                settings["hooks"][event].as_array().unwrap().iter().map(|group| group["hooks"][0]["command"].clone()).collect::<Vec<_>>()
            };
            assert_eq!((commands("Stop"), commands("UserPromptSubmit")), (vec![json!("mine"), json!(COMMAND)], vec![json!(COMMAND)]));
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn settings_of_another_form_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = write(folder.path(), "t", Path::new("board.db")).unwrap();
        for bad in ["", "[]", "{", r#"{"env": 1}"#, r#"{"hooks": []}"#, r#"{"hooks": {"Stop": {}}}"#] {
            fs::write(&file, bad).unwrap();
            let error = write(folder.path(), "t", Path::new("board.db")).unwrap_err().to_string();
            assert!(error.contains("settings.local.json") && fs::read_to_string(&file).unwrap() == bad, "{error}");
        }
    }
}
