//! The command line of the scripted agent: the flags that a runner passes to `claude`. Flags without an effect here are accepted, so the
//! runner needs only one list. Must not know what the flags do.

use std::path::PathBuf;

use uuid::Uuid;

/// The flags that affect the scripted agent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arguments {
    pub(super) scenario: PathBuf,
    pub(super) session: Session,
    pub(super) model: String,
    /// A file name, or the JSON itself.
    pub(super) mcp_config: Option<String>,
    /// The built-in tools of the role; `None` means all.
    pub(super) tools: Option<Vec<String>>,
    pub(super) system_prompt_file: Option<PathBuf>,
    /// Whether user messages are echoed when they are read.
    pub(super) replay: bool,
}

/// The session to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Session {
    New(Uuid),
    Resume(Uuid),
}

/// The reason why the command line is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    #[error("--scenario is missing: name the scenario file")]
    NoScenario,
    #[error("{0} needs a value")]
    NoValue(String),
    #[error("Invalid session ID {0:?}. Must be a valid UUID.")]
    SessionId(String),
    #[error("--session-id and --resume exclude each other: pass one")]
    TwoSessions,
    #[error("--{0} must be stream-json: the scripted agent supports no other format")]
    Format(&'static str),
    #[error("--output-format stream-json requires --verbose")]
    NotVerbose,
}

impl Arguments {
    /// Parses the arguments after the command name.
    ///
    /// # Errors
    /// A required flag is missing or has an invalid value.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, ArgumentError> {
        let mut flags = Flags::split(arguments);
        let scenario = flags.value("--scenario")?.map(PathBuf::from).ok_or(ArgumentError::NoScenario)?;
        if flags.value("--input-format")?.as_deref() != Some("stream-json") {
            return Err(ArgumentError::Format("input-format"));
        }
        if flags.value("--output-format")?.as_deref() != Some("stream-json") {
            return Err(ArgumentError::Format("output-format"));
        }
        if !flags.has("--verbose") {
            return Err(ArgumentError::NotVerbose);
        }
        let uuid = |text: String| Uuid::parse_str(&text).map_err(|_| ArgumentError::SessionId(text));
        let session = match (flags.value("--session-id")?, flags.value("--resume")?) {
            (Some(_), Some(_)) => return Err(ArgumentError::TwoSessions),
            (Some(new), None) => Session::New(uuid(new)?),
            (None, Some(old)) => Session::Resume(uuid(old)?),
            (None, None) => Session::New(Uuid::new_v4()),
        };
        let tools = flags.value("--tools")?;
        Ok(Self {
            scenario,
            session,
            model: flags.value("--model")?.unwrap_or_else(|| "scripted".to_owned()),
            mcp_config: flags.value("--mcp-config")?,
            tools: tools.map(|names| names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()),
            system_prompt_file: flags.value("--append-system-prompt-file")?.map(PathBuf::from),
            replay: flags.has("--replay-user-messages"),
        })
    }
}

/// Flags with the values that follow them. A value is anything that does not start with `-`.
struct Flags(Vec<(String, Option<String>)>);

impl Flags {
    fn split(arguments: &[String]) -> Self {
        let mut flags: Vec<(String, Option<String>)> = Vec::new();
        for argument in arguments.iter().take_while(|argument| *argument != "--") {
            if let Some((flag, value)) = argument.split_once('=').filter(|_| argument.starts_with("--")) {
                flags.push((flag.to_owned(), Some(value.to_owned())));
            } else if argument.starts_with('-') {
                flags.push((argument.clone(), None));
            } else if let Some((_, value @ None)) = flags.last_mut() {
                *value = Some(argument.clone());
            }
        }
        Self(flags)
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(flag, _)| flag == name)
    }

    fn value(&mut self, name: &str) -> Result<Option<String>, ArgumentError> {
        match self.0.iter_mut().find(|(flag, _)| flag == name) {
            None => Ok(None),
            Some((_, Some(value))) => Ok(Some(std::mem::take(value))),
            Some((_, None)) => Err(ArgumentError::NoValue(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3db98857-ff74-4721-ba77-62fa861005f9";

    fn parse(line: &str) -> Result<Arguments, ArgumentError> {
        Arguments::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn complete_command_line_is_parsed() {
        let line = format!(
            "--scenario s.json -p --output-format stream-json --input-format stream-json --verbose --replay-user-messages --session-id {ID} \
             --append-system-prompt-file role.md --model m1 --mcp-config mcp.json --strict-mcp-config --setting-sources user \
             --tools Bash,Read --add-dir /w --dangerously-skip-permissions --settings {{}} --new-flag --other=1"
        );
        let id = Uuid::parse_str(ID).unwrap();
        let wanted = Arguments {
            scenario: "s.json".into(),
            session: Session::New(id),
            model: "m1".to_owned(),
            mcp_config: Some("mcp.json".to_owned()),
            tools: Some(vec!["Bash".to_owned(), "Read".to_owned()]),
            system_prompt_file: Some("role.md".into()),
            replay: true,
        };
        assert_eq!(parse(&line).unwrap(), wanted);
    }

    #[test]
    fn missing_required_flags_are_rejected() {
        let base = "--input-format stream-json --output-format stream-json --verbose";
        assert_eq!(parse(base), Err(ArgumentError::NoScenario));
        assert_eq!(parse("--scenario s --output-format stream-json --verbose"), Err(ArgumentError::Format("input-format")));
        assert_eq!(parse("--scenario s --input-format stream-json --output-format stream-json"), Err(ArgumentError::NotVerbose));
        assert_eq!(parse(&format!("{base} --scenario s --resume x")), Err(ArgumentError::SessionId("x".to_owned())));
        assert_eq!(parse(&format!("{base} --scenario s --resume {ID} --session-id {ID}")), Err(ArgumentError::TwoSessions));
        assert_eq!(parse(&format!("{base} --scenario --verbose")), Err(ArgumentError::NoValue("--scenario".to_owned())));
    }
}
