//! Settings of the person and of their organization that Claude Code applies to agents too, each with its consequence.
//!
//! It only reads. Must not know how a run is started.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use domain::config::{AgentSettings, Config};
use serde_json::Value;

use super::environment::CONFIG_VARIABLE;
use super::home::private_folder;

/// The settings of an organization, which nobody can switch off.
const MANAGED: [&str; 2] = ["/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"];

/// Returns the settings that change how agents work, each as a sentence.
pub fn settings_for_agents(config: &Config, home: &Path) -> Vec<String> {
    let private = std::env::var_os(CONFIG_VARIABLE).map_or_else(|| private_folder(home), PathBuf::from);
    let applies = config.agents.each().iter().any(|agent| agent.settings == AgentSettings::User);
    let mut found = if applies { of_person(&private, home) } else { Vec::new() };
    found.extend(MANAGED.iter().flat_map(|path| of_organization(Path::new(path))));
    found
}

fn of_person(private: &Path, home: &Path) -> Vec<String> {
    let file = private.join("settings.json");
    let mut found = match read(&file) {
        Ok(settings) => consequences(&settings).into_iter().map(|consequence| format!("{}: {consequence}", file.display())).collect(),
        Err(None) => Vec::new(),
        Err(Some(problem)) => vec![problem],
    };
    let instructions = private.join("CLAUDE.md");
    if instructions.exists() {
        found.push(format!("{} is read by every agent", instructions.display()));
    }
    // The program keeps the servers of a person beside its folder, or within it.
    let servers = [private.join(".claude.json"), home.join(".claude.json")].into_iter().find_map(|file| read(&file).ok());
    if let Some(names) = servers.map(|servers| keys(&servers["mcpServers"])).filter(|names| !names.is_empty()) {
        found.push(format!("agents do not use the MCP servers {names}; they have only the one of the board"));
    }
    found
}

fn of_organization(file: &Path) -> Vec<String> {
    match read(file) {
        Ok(settings) => vec![format!(
            "{} applies to every agent, also where \"settings\" is \"none\": {}",
            file.display(),
            Some(keys(&settings)).filter(|keys| !keys.is_empty()).unwrap_or_else(|| "it is empty".to_owned()),
        )],
        Err(None) => Vec::new(),
        Err(Some(problem)) => vec![problem],
    }
}

/// The consequences of a person's settings for agents.
fn consequences(settings: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |key: &str, names: String, sentence: &dyn Fn(&str) -> String| {
        if !names.is_empty() {
            found.push(format!("\"{key}\" {}", sentence(&names)));
        }
    };
    add("hooks", keys(&settings["hooks"]), &|names| format!("run in every agent as for you ({names}); one that waits for input stops its agent"));
    add("permissions.deny", joined(&settings["permissions"]["deny"]), &|names| format!("forbids {names} to every agent"));
    add("permissions.ask", joined(&settings["permissions"]["ask"]), &|names| {
        format!("asks you before an agent uses {names}, where \"permission_mode\" is \"ask\"")
    });
    add("permissions.allow", joined(&settings["permissions"]["allow"]), &|names| {
        format!("lets agents use {names} without a question, where \"permission_mode\" is \"ask\"")
    });
    add("env", keys(&settings["env"]), &|names| format!("sets {names} in every agent"));
    add("model", text(&settings["model"]), &|name| format!("is {name}, for agents without \"agents.PHASE.model\""));
    add("apiKeyHelper", text(&settings["apiKeyHelper"]), &|_| "signs every agent in".to_owned());
    add("enabledPlugins", keys(&settings["enabledPlugins"]), &|names| format!("load in every agent: {names}"));
    found
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn joined(value: &Value) -> String {
    value.as_array().map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

fn keys(value: &Value) -> String {
    value.as_object().map(|object| object.keys().map(String::as_str).collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

/// Reads a file of settings.
///
/// # Errors
/// Nothing if it does not exist, or else why it cannot be read.
fn read(file: &Path) -> Result<Value, Option<String>> {
    let text = std::fs::read_to_string(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => None,
        _ => Some(format!("{} cannot be read: {error}", file.display())),
    })?;
    serde_json::from_str(&text).map_err(|error| Some(format!("{} is not valid JSON ({error}), so it does not apply; fix it", file.display())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_setting_is_named_with_its_consequence() {
        for (settings, expected) in [
            (json!({}), ""),
            (json!({"theme": "dark", "hooks": {}}), ""),
            (json!({"hooks": {"Stop": [], "PreToolUse": []}}), "\"hooks\" run in every agent as for you (PreToolUse, Stop)"),
            (json!({"permissions": {"deny": ["WebFetch", "Bash(rm *)"]}}), "\"permissions.deny\" forbids WebFetch, Bash(rm *) to every agent"),
            (json!({"permissions": {"allow": ["Read"]}}), "\"permissions.allow\" lets agents use Read without a question"),
            (json!({"permissions": {"ask": ["Bash"]}}), "\"permissions.ask\" asks you before an agent uses Bash"),
            (json!({"env": {"HTTP_PROXY": "secret"}}), "\"env\" sets HTTP_PROXY in every agent"),
            (json!({"model": "opus"}), "\"model\" is opus, for agents without"),
            (json!({"apiKeyHelper": "/bin/key"}), "\"apiKeyHelper\" signs every agent in"),
            (json!({"enabledPlugins": {"lint@market": true}}), "\"enabledPlugins\" load in every agent: lint@market"),
        ] {
            let found = consequences(&settings).join("; ");
            assert!(if expected.is_empty() { found.is_empty() } else { found.starts_with(expected) }, "{settings}: {found}");
            assert!(!found.contains("secret"));
        }
    }

    #[test]
    fn files_of_person_and_organization_are_read() {
        let home = tempfile::tempdir().unwrap();
        let private = home.path().join(".claude");
        assert_eq!(of_person(&private, home.path()), [""; 0]);
        std::fs::create_dir(&private).unwrap();
        std::fs::write(private.join("settings.json"), r#"{"model": "opus"}"#).unwrap();
        std::fs::write(private.join("CLAUDE.md"), "Be brief.").unwrap();
        std::fs::write(home.path().join(".claude.json"), r#"{"mcpServers": {"github": {}}}"#).unwrap();
        let found = of_person(&private, home.path());
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].ends_with("agents without \"agents.PHASE.model\"") && found[1].ends_with("is read by every agent"), "{found:?}");
        assert!(found[2].starts_with("agents do not use the MCP servers github;"), "{found:?}");
        std::fs::write(private.join("settings.json"), "{").unwrap();
        assert!(of_person(&private, home.path())[0].contains("is not valid JSON"));
        let managed = home.path().join("managed-settings.json");
        assert_eq!(of_organization(&managed), [""; 0]);
        std::fs::write(&managed, r#"{"permissions": {}, "env": {}}"#).unwrap();
        assert!(of_organization(&managed)[0].ends_with("also where \"settings\" is \"none\": env, permissions"), "{:?}", of_organization(&managed));
    }
}
