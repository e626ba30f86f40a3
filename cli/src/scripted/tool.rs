//! The built-in tools of an agent, which really work in its folder: Bash, Write, Edit and Read. Must not know the stream or the session.

use std::path::Path;
use std::time::Duration;

use runner::process;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The time limit of a Bash command, as in Claude Code.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

/// A built-in tool call with its checked input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum BuiltIn {
    Bash(Bash),
    Write(Write),
    Edit(Edit),
    Read(Read),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bash {
    command: String,
    /// Claude Code shows it to people; it has no effect here.
    #[serde(default, rename = "description")]
    _description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    file_path: String,
    content: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    file_path: String,
    old_string: String,
    new_string: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    file_path: String,
}

/// The result of a tool call: the text for the model, and the structured form that only the stream carries.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Outcome {
    pub(super) text: String,
    pub(super) is_error: bool,
    pub(super) structured: Value,
}

impl Outcome {
    pub(super) fn error(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { structured: Value::String(format!("Error: {text}")), text, is_error: true }
    }

    fn ok(text: String, structured: Value) -> Self {
        Self { text, is_error: false, structured }
    }
}

impl BuiltIn {
    /// The names that [`BuiltIn::parse`] knows.
    pub(super) const NAMES: [&'static str; 4] = ["Bash", "Edit", "Read", "Write"];

    /// Returns `None` if no built-in tool has this name.
    pub(super) fn parse(tool: &str, input: &Map<String, Value>) -> Option<Result<Self, serde_json::Error>> {
        let input = Value::Object(input.clone());
        Some(match tool {
            "Bash" => serde_json::from_value(input).map(Self::Bash),
            "Write" => serde_json::from_value(input).map(Self::Write),
            "Edit" => serde_json::from_value(input).map(Self::Edit),
            "Read" => serde_json::from_value(input).map(Self::Read),
            _ => return None,
        })
    }

    /// Runs the tool in `folder`. A failure is an outcome for the model, not an error of the agent.
    pub(super) async fn run(&self, folder: &Path) -> Outcome {
        match self {
            Self::Bash(bash) => run_command(&bash.command, folder).await,
            Self::Write(write) => write_file(write, folder),
            Self::Edit(edit) => edit_file(edit, folder),
            Self::Read(read) => read_file(read, folder),
        }
    }
}

async fn run_command(command: &str, folder: &Path) -> Outcome {
    let output = match process::shell(command, folder, COMMAND_TIMEOUT).await {
        Ok(output) => output,
        Err(error) => return Outcome::error(error.to_string()),
    };
    let (stdout, stderr) = (output.stdout.trim_end(), output.stderr.trim_end());
    // A command without a code was killed by a signal, which Claude Code reports as 137.
    let failed = (output.code != Some(0)).then(|| format!("Exit code {}", output.code.unwrap_or(137)));
    let parts = [failed.as_deref().unwrap_or_default(), stdout, stderr];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    if failed.is_some() {
        return Outcome::error(text);
    }
    Outcome::ok(text, json!({"stdout": stdout, "stderr": stderr, "interrupted": false, "isImage": false, "noOutputExpected": false}))
}

fn write_file(write: &Write, folder: &Path) -> Outcome {
    let path = folder.join(&write.file_path);
    let written = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, &write.content));
    match written {
        Ok(()) => Outcome::ok(
            format!("File created successfully at: {}", path.display()),
            json!({"type": "create", "filePath": path, "content": write.content}),
        ),
        Err(error) => Outcome::error(format!("{} could not be written: {error}", path.display())),
    }
}

fn edit_file(edit: &Edit, folder: &Path) -> Outcome {
    let path = folder.join(&edit.file_path);
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return Outcome::error(format!("{} could not be read: {error}", path.display())),
    };
    match before.matches(&edit.old_string).count() {
        1 => {}
        0 => return Outcome::error(format!("String to replace not found in file.\nString: {}", edit.old_string)),
        count => return Outcome::error(format!("Found {count} matches of the string to replace: give more context.")),
    }
    match std::fs::write(&path, before.replacen(&edit.old_string, &edit.new_string, 1)) {
        Ok(()) => Outcome::ok(
            format!("The file {} has been updated successfully.", path.display()),
            json!({"filePath": path, "oldString": edit.old_string, "newString": edit.new_string}),
        ),
        Err(error) => Outcome::error(format!("{} could not be written: {error}", path.display())),
    }
}

fn read_file(read: &Read, folder: &Path) -> Outcome {
    let path = folder.join(&read.file_path);
    match std::fs::read_to_string(&path) {
        Ok(content) => {
            let lines = content.lines().enumerate().map(|(index, line)| format!("{}\t{line}", index + 1));
            Outcome::ok(lines.collect::<Vec<_>>().join("\n"), json!({"type": "text", "file": {"filePath": path, "content": content}}))
        }
        Err(error) => Outcome::error(format!("{} could not be read: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(folder: &Path, tool: &str, input: Value) -> (bool, String) {
        let input = input.as_object().unwrap().clone();
        let outcome = BuiltIn::parse(tool, &input).unwrap().unwrap().run(folder).await;
        (outcome.is_error, outcome.text.replace(&folder.display().to_string(), "FOLDER"))
    }

    #[tokio::test]
    async fn tools_work_in_the_given_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let wrote = run(at, "Write", json!({"file_path": "a/b.txt", "content": "one\ntwo\none\n"})).await;
        assert_eq!(wrote, (false, "File created successfully at: FOLDER/a/b.txt".to_owned()));
        let edited = run(at, "Edit", json!({"file_path": "a/b.txt", "old_string": "two", "new_string": "2"})).await;
        assert_eq!(edited, (false, "The file FOLDER/a/b.txt has been updated successfully.".to_owned()));
        let twice = run(at, "Edit", json!({"file_path": "a/b.txt", "old_string": "one", "new_string": "1"})).await;
        assert_eq!(twice, (true, "Found 2 matches of the string to replace: give more context.".to_owned()));
        assert_eq!(run(at, "Read", json!({"file_path": "a/b.txt"})).await, (false, "1\tone\n2\t2\n3\tone".to_owned()));
        assert_eq!(run(at, "Bash", json!({"command": "cat a/b.txt | head -1; echo warn >&2"})).await, (false, "one\nwarn".to_owned()));
        assert_eq!(run(at, "Bash", json!({"command": "echo out; exit 3"})).await, (true, "Exit code 3\nout".to_owned()));
    }
}
