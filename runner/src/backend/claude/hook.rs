//! Hooks: Claude Code asks this program before an agent starts a helper, edits a file, runs a shell command or shortens its conversation, and
//! reports the helper's end.
//!
//! Pure: it builds the settings, reads the input of a hook and writes its output. The board decides what is allowed.

use std::path::{Path, PathBuf};

use domain::runs::agent_kind::AgentKind;
use domain::team::minion::MinionStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tool::{EDIT_TOOLS, HELPER_TOOL, SHELL_TOOL};
use crate::backend::BOARD_SERVER;
use crate::shell_writes::written_files;

/// The command of this program that the hooks start. Its argument is the path of the run's MCP configuration.
const COMMAND: &str = "hook";
/// How long a hook may take, in seconds. It is longer than the hook waits for the board, and the agent waits for its hooks.
const TIMEOUT_SECONDS: u32 = 15;
pub(super) const SUMMARY_FILE: &str = "summary.md";

/// The settings of one run. The board is asked before every start of a helper, every edit and every shell command that writes files, and told
/// about the end of each helper. Before a conversation is shortened, the hook prints what its summary has to keep.
///
/// Program and arguments are separate, so no shell parses them. A hook that fails blocks what it was asked about, and the user's own settings
/// cannot disable it. Only a coder's edits are kept, so that only they need a claim.
pub fn settings(program: &Path, mcp_config_file: &Path, phase: AgentKind) -> Value {
    let command = json!({
        "type": "command",
        "command": program.to_string_lossy(),
        "args": [COMMAND, mcp_config_file.to_string_lossy()],
        "timeout": TIMEOUT_SECONDS,
    });
    let mut blocking = command.clone();
    blocking["onFailure"] = "block".into();
    let matching = |tools: &str, hook: &Value| json!({ "matcher": tools, "hooks": [hook] });
    let mut before = vec![matching(HELPER_TOOL, &blocking)];
    if phase == AgentKind::Coder {
        before.push(matching(&[&EDIT_TOOLS[..], &[SHELL_TOOL]].concat().join("|"), &blocking));
    }
    json!({
        "disableAllHooks": false,
        "hooks": {
            "PreToolUse": before,
            "PostToolUse": [matching(HELPER_TOOL, &command)],
            "PostToolUseFailure": [matching(HELPER_TOOL, &command)],
            "PreCompact": [{ "hooks": [command] }],
        },
    })
}

/// How the agent of a run reaches the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardAccess {
    pub database: PathBuf,
    pub token: String,
}

impl BoardAccess {
    /// Reads it from the text of a run's MCP configuration.
    ///
    /// # Errors
    /// When the text is anything else.
    pub fn read(mcp_config: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Variables {
            #[serde(rename = "VIBE_RELAY_DB")]
            database: PathBuf,
            #[serde(rename = "VIBE_RELAY_TOKEN")]
            token: String,
        }
        let mut config: Value = serde_json::from_str(mcp_config)?;
        let Variables { database, token } = serde_json::from_value(config["mcpServers"][BOARD_SERVER]["env"].take())?;
        Ok(Self { database, token })
    }
}

/// Whether the input of a hook announces a summary of the conversation, for which the hook prints the instructions.
pub fn announces_summary(input: &str) -> bool {
    serde_json::from_str(input).is_ok_and(|input: Value| input["hook_event_name"] == "PreCompact")
}

/// The file with the instructions for the summary, beside the MCP configuration of the run.
pub fn summary_file(mcp_config: &Path) -> PathBuf {
    mcp_config.with_file_name(SUMMARY_FILE)
}

/// The input of a hook about a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct HookInput {
    hook_event_name: HookEvent,
    tool_name: String,
    tool_use_id: String,
    #[serde(default)]
    tool_input: Value,
    /// The folder where a shell command runs.
    #[serde(default)]
    cwd: String,
    /// Present when the helper failed.
    #[serde(default)]
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum HookEvent {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
}

/// A report to the board about a helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub status: MinionStatus,
    pub task_description: String,
    pub result: Option<String>,
    /// The use of the tool: the same at the start and at the end.
    pub tool_use_id: String,
    /// The idempotency key of the report.
    pub call_id: String,
}

impl HookInput {
    /// # Errors
    /// When the text is not the input of one of our hooks.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The files that the agent is about to change, each with the idempotency key of its claim; `None` when this is about something else.
    /// `is_folder` tells whether a path is one.
    pub fn edits(&self, is_folder: &dyn Fn(&str) -> bool) -> Option<Vec<(String, String)>> {
        if self.hook_event_name != HookEvent::PreToolUse {
            return None;
        }
        if self.tool_name == SHELL_TOOL {
            let files = written_files(self.tool_input["command"].as_str().unwrap_or_default(), &self.cwd, is_folder);
            return Some(files.into_iter().enumerate().map(|(at, path)| (path, format!("{}/edit/{at}", self.tool_use_id))).collect());
        }
        let path = ["file_path", "notebook_path"].into_iter().find_map(|key| self.tool_input[key].as_str()).unwrap_or_default();
        EDIT_TOOLS.contains(&self.tool_name.as_str()).then(|| vec![(path.to_owned(), format!("{}/edit", self.tool_use_id))])
    }

    /// Whether this is about a shell command.
    pub fn is_command(&self) -> bool {
        self.tool_name == SHELL_TOOL
    }

    /// The output that lets a tool run and tells the agent something.
    pub fn note(&self, text: &str) -> Value {
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": text } })
    }

    /// The report for the board; `None` when this is not about a helper.
    pub fn report(&self) -> Option<Report> {
        if self.tool_name != HELPER_TOOL {
            return None;
        }
        let status = match self.hook_event_name {
            HookEvent::PreToolUse => MinionStatus::Spawned,
            HookEvent::PostToolUse => MinionStatus::Completed,
            HookEvent::PostToolUseFailure => MinionStatus::Failed,
        };
        let description = ["description", "prompt"].into_iter().filter_map(|key| self.tool_input[key].as_str()).find(|text| !text.trim().is_empty());
        let short = |text: &str| domain::text::excerpt(text, 200);
        Some(Report {
            status,
            task_description: short(description.unwrap_or("a helper")),
            result: self.error.as_deref().map(short),
            tool_use_id: self.tool_use_id.clone(),
            call_id: format!("{}/{status}", self.tool_use_id),
        })
    }

    /// Cancels a start that was refused because the board did not answer. The board may have counted it.
    pub fn cancel_report(&self) -> Option<Report> {
        let started = self.report().filter(|report| report.status == MinionStatus::Spawned)?;
        let status = MinionStatus::Failed;
        let result = Some("The helper was not started because the board did not answer.".to_owned());
        Some(Report { status, result, call_id: format!("{}/{status}", self.tool_use_id), ..started })
    }

    /// The output that refuses what is about to happen. Reports about the past cannot be refused.
    pub fn refusal(&self, reason: &str) -> Option<Value> {
        (self.hook_event_name == HookEvent::PreToolUse).then(|| {
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
    use super::*;

    /// Recorded from the program and shortened.
    const STARTS: &str = r#"{"session_id":"s","cwd":"/w","permission_mode":"bypassPermissions","hook_event_name":"PreToolUse","tool_name":"Agent","tool_input":{"description":"Look around","prompt":"List the tests.","subagent_type":"general-purpose"},"tool_use_id":"toolu_1"}"#;
    const ENDS: &str = r#"{"hook_event_name":"PostToolUse","tool_name":"Agent","tool_input":{"description":"Look around","prompt":"List the tests."},"tool_response":{"status":"completed","agentId":"a00d"},"tool_use_id":"toolu_1","duration_ms":122}"#;
    const FAILS: &str = r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Agent","tool_input":{"description":"","prompt":"Hm."},"tool_use_id":"toolu_1","error":"Agent type 'nope' not found.","is_interrupt":false}"#;

    #[test]
    fn settings_are_stable() {
        let settings = |phase| settings(Path::new("/opt/it's here/vibe-relay"), Path::new("/runs/RUN 1/mcp.json"), phase);
        insta::assert_snapshot!(settings(AgentKind::Reviewer), @r#"{"disableAllHooks":false,"hooks":{"PostToolUse":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","timeout":15,"type":"command"}],"matcher":"Agent"}],"PostToolUseFailure":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","timeout":15,"type":"command"}],"matcher":"Agent"}],"PreCompact":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","timeout":15,"type":"command"}]}],"PreToolUse":[{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","onFailure":"block","timeout":15,"type":"command"}],"matcher":"Agent"}]}}"#);
        let edits = settings(AgentKind::Coder)["hooks"]["PreToolUse"][1].take();
        insta::assert_snapshot!(edits, @r#"{"hooks":[{"args":["hook","/runs/RUN 1/mcp.json"],"command":"/opt/it's here/vibe-relay","onFailure":"block","timeout":15,"type":"command"}],"matcher":"Edit|Write|MultiEdit|NotebookEdit|Bash"}"#);
    }

    #[test]
    fn summary_of_a_conversation_is_announced_and_its_file_is_known() {
        let announced = r#"{"session_id":"s","hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}"#;
        assert_eq!([announced, STARTS, "{}", ""].map(announces_summary), [true, false, false, false]);
        assert_eq!(summary_file(Path::new("/runs/RUN 1/mcp.json")), Path::new("/runs/RUN 1/summary.md"));
    }

    #[test]
    fn edit_of_a_file_names_its_path() {
        let input = |tool: &str, key: &str| {
            let text = json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": "toolu_2", "tool_input": {key: "/w/a.rs"}});
            HookInput::read(&text.to_string()).unwrap()
        };
        for (tool, key) in [("Edit", "file_path"), ("Write", "file_path"), ("NotebookEdit", "notebook_path")] {
            assert_eq!(input(tool, key).edits(&|_| false), Some(vec![("/w/a.rs".to_owned(), "toolu_2/edit".to_owned())]), "{tool}");
        }
        assert_eq!(input("Read", "file_path").edits(&|_| false), None);
        assert_eq!(HookInput::read(STARTS).unwrap().edits(&|_| false), None);
        assert_eq!(input("Write", "file_path").report(), None);
        insta::assert_snapshot!(input("Edit", "file_path").note("ole edits it."), @r#"{"hookSpecificOutput":{"additionalContext":"ole edits it.","hookEventName":"PreToolUse"}}"#);
    }

    #[test]
    fn shell_command_names_the_files_that_it_writes() {
        let edits = |moment: &str, command: &str| {
            let text =
                json!({"hook_event_name": moment, "tool_name": "Bash", "tool_use_id": "toolu_3", "cwd": "/w", "tool_input": {"command": command}});
            HookInput::read(&text.to_string()).unwrap().edits(&|_| false)
        };
        let named = [("/w/a", "toolu_3/edit/0"), ("/w/b", "toolu_3/edit/1")].map(|(path, id)| (path.to_owned(), id.to_owned()));
        assert_eq!(edits("PreToolUse", "cp x b && echo y > a"), Some(named.to_vec()));
        assert_eq!(edits("PreToolUse", "cargo test"), Some(Vec::new()));
        assert_eq!(edits("PostToolUse", "echo y > a"), None);
    }

    #[test]
    fn anything_but_an_mcp_configuration_is_refused() {
        assert!(BoardAccess::read("{}").is_err() && BoardAccess::read("").is_err());
    }

    #[test]
    fn start_and_end_of_a_helper_are_reported() {
        let report = |text: &str| HookInput::read(text).unwrap().report().unwrap();
        let told = [STARTS, ENDS, FAILS].map(report).map(|told| (told.status, told.task_description, told.result, told.call_id));
        let wanted = [
            (MinionStatus::Spawned, "Look around", None, "toolu_1/spawned"),
            (MinionStatus::Completed, "Look around", None, "toolu_1/completed"),
            (MinionStatus::Failed, "Hm.", Some("Agent type 'nope' not found."), "toolu_1/failed"),
        ];
        assert_eq!(told, wanted.map(|(status, what, result, id)| (status, what.to_owned(), result.map(str::to_owned), id.to_owned())));
        assert!([STARTS, ENDS, FAILS].map(report).iter().all(|told| told.tool_use_id == "toolu_1"));
        let bash = STARTS.replace("\"Agent\"", "\"Bash\"");
        assert_eq!(HookInput::read(&bash).unwrap().report(), None);
        assert!(HookInput::read(&STARTS.replace("PreToolUse", "Stop")).is_err());
    }

    #[test]
    fn only_a_start_is_cancelled() {
        let back = |text: &str| HookInput::read(text).unwrap().cancel_report();
        let cancel_report = back(STARTS).unwrap();
        assert_eq!((cancel_report.status, cancel_report.task_description.as_str()), (MinionStatus::Failed, "Look around"));
        assert_eq!((cancel_report.tool_use_id.as_str(), cancel_report.call_id.as_str()), ("toolu_1", "toolu_1/failed"));
        assert_eq!((back(ENDS), back(FAILS)), (None, None));
    }

    #[test]
    fn only_a_start_is_refused() {
        let refusal = |text: &str| HookInput::read(text).unwrap().refusal("Limit reached. Wait for one.");
        insta::assert_snapshot!(refusal(STARTS).unwrap(), @r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Limit reached. Wait for one."}}"#);
        assert_eq!((refusal(ENDS), refusal(FAILS)), (None, None));
    }
}
