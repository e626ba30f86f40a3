//! Hooks: what Claude Code asks and tells this program about helpers that an agent starts with the tool `Agent`. Checked against version
//! 2.1.330.
//!
//! Pure: it builds the settings, reads what a hook is given and writes what it answers. Whether a helper may start is the board's to say.

use std::path::{Path, PathBuf};

use domain::team::minion::MinionStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::MCP_SERVER;

/// The command of this program that the hooks start, with the path of the run's [`super::mcp_config`] as its argument.
pub const COMMAND: &str = "hook";
/// The tool that starts a helper.
const TOOL: &str = "Agent";
/// How long a hook may take, in seconds: more than the board is waited for. The agent waits for its hooks, also for those of an end.
const TIMEOUT: u32 = 15;

/// The settings of one run. Every start of a helper goes past the board, and so does its end.
///
/// Program and arguments are given apart, so no shell reads them. A hook that fails blocks what it was asked about, and a person's own
/// settings do not switch it off.
pub fn settings(program: &Path, mcp_config_file: &Path) -> Value {
    let command = json!({
        "type": "command",
        "command": program.to_string_lossy(),
        "args": [COMMAND, mcp_config_file.to_string_lossy()],
        "timeout": TIMEOUT,
    });
    let mut asking = command.clone();
    asking["onFailure"] = "block".into();
    let of_helpers = |hook: Value| json!([{ "matcher": TOOL, "hooks": [hook] }]);
    json!({
        "disableAllHooks": false,
        "hooks": {
            "PreToolUse": of_helpers(asking),
            "PostToolUse": of_helpers(command.clone()),
            "PostToolUseFailure": of_helpers(command),
        },
    })
}

/// How the agent of a run reaches the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub database: PathBuf,
    pub token: String,
}

impl Access {
    /// Reads it from the text of a run's [`super::mcp_config`].
    ///
    /// # Errors
    /// When the text is something else.
    pub fn read(mcp_config: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Variables {
            #[serde(rename = "VIBE_RELAY_DB")]
            database: PathBuf,
            #[serde(rename = "VIBE_RELAY_TOKEN")]
            token: String,
        }
        let mut config: Value = serde_json::from_str(mcp_config)?;
        let Variables { database, token } = serde_json::from_value(config["mcpServers"][MCP_SERVER]["env"].take())?;
        Ok(Self { database, token })
    }
}

/// What a hook is given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Occasion {
    hook_event_name: Moment,
    tool_name: String,
    tool_use_id: String,
    #[serde(default)]
    tool_input: Value,
    /// Of a helper that could not do its work.
    #[serde(default)]
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Moment {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
}

/// What the board is told about a helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub status: MinionStatus,
    pub task_description: String,
    pub result: Option<String>,
    /// Which use of the tool this is about: the same at the start and at the end.
    pub tool_use_id: String,
    /// The same each time that the same thing is told.
    pub call_id: String,
}

impl Occasion {
    /// # Errors
    /// When the text is nothing that a hook of ours is given.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// What there is to tell; nothing when it is not about a helper.
    pub fn report(&self) -> Option<Report> {
        if self.tool_name != TOOL {
            return None;
        }
        let status = match self.hook_event_name {
            Moment::PreToolUse => MinionStatus::Spawned,
            Moment::PostToolUse => MinionStatus::Completed,
            Moment::PostToolUseFailure => MinionStatus::Failed,
        };
        let said = ["description", "prompt"].into_iter().filter_map(|key| self.tool_input[key].as_str()).find(|text| !text.trim().is_empty());
        let short = |text: &str| domain::text::excerpt(text, 200);
        Some(Report {
            status,
            task_description: short(said.unwrap_or("a helper")),
            result: self.error.as_deref().map(short),
            tool_use_id: self.tool_use_id.clone(),
            call_id: format!("{}/{status}", self.tool_use_id),
        })
    }

    /// What there is to tell when a start is refused because nobody knows whether it was counted: it counts no more.
    pub fn withdrawal(&self) -> Option<Report> {
        let started = self.report().filter(|report| report.status == MinionStatus::Spawned)?;
        let status = MinionStatus::Failed;
        let result = Some("It was not let start: the board gave no answer.".to_owned());
        Some(Report { status, result, call_id: format!("{}/{status}", self.tool_use_id), ..started })
    }

    /// What is printed when the board said no. Only a start can be refused.
    pub fn refusal(&self, reason: &str) -> Option<Value> {
        (self.hook_event_name == Moment::PreToolUse).then(|| {
            json!({
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use domain::id::TaskId;

    use super::*;

    /// As the program gave it, shortened.
    const STARTS: &str = r#"{"session_id":"s","cwd":"/w","permission_mode":"bypassPermissions","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"description":"Look around","prompt":"List the tests.","subagent_type":"general-purpose"},"tool_use_id":"toolu_1"}"#;
    const ENDS: &str = r#"{"hook_event_name":"PostToolUse","tool_name":"Agent","tool_input":{"description":"Look around","prompt":"List the tests."},"tool_response":{"status":"completed","agentId":"a00d"},"tool_use_id":"toolu_1","duration_ms":122}"#;
    const FAILS: &str = r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Agent","tool_input":{"description":"","prompt":"Hm."},"tool_use_id":"toolu_1","error":"Agent type 'nope' not found.","is_interrupt":false}"#;

    #[test]
    fn the_settings_keep_their_format() {
        let settings = settings(Path::new("/opt/it's here/vibe-relay"), Path::new("/runs/RUN 1/mcp.json"));
        insta::assert_snapshot!(settings, @r#"{"disableAllHooks":false,"hooks":{"PostToolUse":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","timeout":15,"type":"command"}],"matcher":"Agent"}],"PostToolUseFailure":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","timeout":15,"type":"command"}],"matcher":"Agent"}],"PreToolUse":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","onFailure":"block","timeout":15,"type":"command"}],"matcher":"Agent"}]}}"#);
    }

    #[test]
    fn the_way_to_the_board_is_in_the_run_s_own_configuration() {
        let config = super::super::mcp_config(Path::new("/bin/x"), &TaskId::new(1), "secret", Path::new("/data/board.db"));
        let access = Access::read(&config.to_string()).unwrap();
        assert_eq!(access, Access { database: PathBuf::from("/data/board.db"), token: "secret".to_owned() });
        assert!(Access::read("{}").is_err() && Access::read("").is_err());
    }

    #[test]
    fn a_helper_is_told_of_when_it_starts_and_when_it_ends() {
        let report = |text: &str| Occasion::read(text).unwrap().report().unwrap();
        let told = [STARTS, ENDS, FAILS].map(report).map(|told| (told.status, told.task_description, told.result, told.call_id));
        let wanted = [
            (MinionStatus::Spawned, "Look around", None, "toolu_1/spawned"),
            (MinionStatus::Completed, "Look around", None, "toolu_1/completed"),
            (MinionStatus::Failed, "Hm.", Some("Agent type 'nope' not found."), "toolu_1/failed"),
        ];
        assert_eq!(told, wanted.map(|(status, what, result, id)| (status, what.to_owned(), result.map(str::to_owned), id.to_owned())));
        assert!([STARTS, ENDS, FAILS].map(report).iter().all(|told| told.tool_use_id == "toolu_1"));
        let bash = STARTS.replace("\"Agent\"", "\"Bash\"");
        assert_eq!(Occasion::read(&bash).unwrap().report(), None);
        assert!(Occasion::read(&STARTS.replace("PreToolUse", "Stop")).is_err());
    }

    #[test]
    fn only_a_start_is_taken_back() {
        let back = |text: &str| Occasion::read(text).unwrap().withdrawal();
        let withdrawal = back(STARTS).unwrap();
        assert_eq!((withdrawal.status, withdrawal.task_description.as_str()), (MinionStatus::Failed, "Look around"));
        assert_eq!((withdrawal.tool_use_id.as_str(), withdrawal.call_id.as_str()), ("toolu_1", "toolu_1/failed"));
        assert_eq!((back(ENDS), back(FAILS)), (None, None));
    }

    #[test]
    fn only_a_start_is_refused() {
        let refusal = |text: &str| Occasion::read(text).unwrap().refusal("No more. Wait for one.");
        insta::assert_snapshot!(refusal(STARTS).unwrap(), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"No more. Wait for one."}}"#);
        assert_eq!((refusal(ENDS), refusal(FAILS)), (None, None));
    }
}
