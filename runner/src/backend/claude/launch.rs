//! How Claude Code is started and spoken to. Pure: it builds arguments and texts.

use std::path::Path;

use domain::config::AgentSettings;
use domain::runs::agent_kind::AgentKind;
use domain::runs::permission::PermissionMode;
use domain::warroom::class::AgentClass;
use serde_json::{Value, json};
use uuid::Uuid;

use super::environment::ADDED_VARIABLES;
use super::hook::{self, SUMMARY_FILE};
use crate::backend::{BOARD_SERVER, Launch, LaunchRequest, Session};

const ROLE_FILE: &str = "role.md";
const MCP_FILE: &str = "mcp.json";
const SETTINGS_FILE: &str = "settings.json";

/// The files of a launch in the run's folder.
pub const FILES: [&str; 4] = [ROLE_FILE, MCP_FILE, SETTINGS_FILE, SUMMARY_FILE];

pub fn launch(request: &LaunchRequest<'_>) -> Launch {
    let mcp_file = request.run_dir.join(MCP_FILE);
    let files = vec![
        (ROLE_FILE, request.role.to_owned()),
        (MCP_FILE, mcp_config(request).to_string()),
        (SETTINGS_FILE, hook::settings(request.relay, &mcp_file, request.phase).to_string()),
        (SUMMARY_FILE, request.summary.to_owned()),
    ];
    Launch { argv: argv(request), environment: ADDED_VARIABLES, files }
}

/// A message for the agent's stdin, without its newline. `id` returns with the echo that proves that the agent took the message.
///
/// `text` must not begin with a slash, because the program would run it as one of its own commands.
pub fn encode(text: &str, id: Uuid) -> String {
    json!({ "type": "user", "message": { "role": "user", "content": text }, "uuid": id.to_string() }).to_string()
}

fn argv(request: &LaunchRequest<'_>) -> Vec<String> {
    let path = |name: &str| request.run_dir.join(name).to_string_lossy().into_owned();
    let mut argv = request.command.to_vec();
    let mut add = |arguments: &[&str]| argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    add(&["-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--replay-user-messages"]);
    match request.session {
        Session::New(id) => add(&["--session-id", &id.to_string()]),
        Session::Resume(id) => add(&["--resume", &id.to_string()]),
    }
    if let Some(model) = request.model {
        add(&["--model", model]);
    }
    add(&["--append-system-prompt-file", &path(ROLE_FILE)]);
    // The repository may define MCP servers and hooks. None of them runs.
    add(&["--mcp-config", &path(MCP_FILE), "--strict-mcp-config", "--setting-sources", setting_sources(request.settings)]);
    add(&["--settings", &path(SETTINGS_FILE)]);
    // Only the CLAUDE.md of this folder is read, not that of the folder in which the agent works.
    add(&["--add-dir", &request.rules.to_string_lossy()]);
    add(&["--tools", built_in_tools(request.phase)]);
    match request.permissions {
        PermissionMode::Auto => add(&["--dangerously-skip-permissions"]),
        // The user's settings may name another mode. The tools of the board are checked by the board.
        PermissionMode::Ask => {
            add(&["--permission-mode", "default", "--permission-prompt-tool", "stdio", "--allowedTools", &format!("mcp__{BOARD_SERVER}")]);
        }
    }
    argv
}

fn setting_sources(settings: AgentSettings) -> &'static str {
    match settings {
        AgentSettings::User => "user",
        AgentSettings::None => "",
    }
}

/// The built-in tools of an agent kind, which its class allows. Missing tools either bypass the board (scheduled work, other worktrees,
/// messages between agents) or are not part of the class's work. The [`hook`] counts the helpers of a coder.
fn built_in_tools(phase: AgentKind) -> &'static str {
    match AgentClass::of(phase) {
        class if class.edits() => "Bash,Read,Edit,Write,Grep,Glob,Agent",
        class if class.runs_commands() => "Bash,Read,Grep,Glob",
        _ => "Read,Grep,Glob",
    }
}

/// The MCP configuration of a run. The hook reads it too, see [`hook::BoardAccess`].
fn mcp_config(request: &LaunchRequest<'_>) -> Value {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    json!({
        "mcpServers": {
            BOARD_SERVER: {
                "command": text(request.relay),
                "args": ["mcp", "--task-id", request.task.as_str()],
                "env": { "VIBE_RELAY_DB": text(request.database), "VIBE_RELAY_TOKEN": request.token },
                // Without it the model sees only the names of the tools and must search for them first.
                "alwaysLoad": true,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use domain::id::TaskId;

    use super::*;

    fn request<'a>(phase: AgentKind, session: Session, command: &'a [String], task: &'a TaskId) -> LaunchRequest<'a> {
        LaunchRequest {
            command,
            phase,
            session,
            model: None,
            role: "You test.",
            summary: "Keep the next step.",
            settings: AgentSettings::User,
            permissions: PermissionMode::Auto,
            rules: Path::new("/worktrees/TASK-001"),
            run_dir: Path::new("/runs/1"),
            relay: Path::new("/usr/bin/vibe-relay"),
            task,
            token: "secret",
            database: Path::new("/data/board.db"),
        }
    }

    #[test]
    fn command_line_of_first_and_resumed_start_is_stable() {
        let task = TaskId::new(1);
        let command = ["/usr/bin/claude".to_owned()];
        insta::assert_snapshot!(argv(&request(AgentKind::Coder, Session::New(Uuid::nil()), &command, &task)).join(" "), @"/usr/bin/claude -p --output-format stream-json --input-format stream-json --verbose --replay-user-messages --session-id 00000000-0000-0000-0000-000000000000 --append-system-prompt-file /runs/1/role.md --mcp-config /runs/1/mcp.json --strict-mcp-config --setting-sources user --settings /runs/1/settings.json --add-dir /worktrees/TASK-001 --tools Bash,Read,Edit,Write,Grep,Glob,Agent --dangerously-skip-permissions");
        let scripted = ["/usr/bin/vibe-relay".to_owned(), "scripted-agent".to_owned()];
        let resumed = LaunchRequest { model: Some("opus"), ..request(AgentKind::Planner, Session::Resume(Uuid::nil()), &scripted, &task) };
        insta::assert_snapshot!(argv(&resumed).join(" "), @"/usr/bin/vibe-relay scripted-agent -p --output-format stream-json --input-format stream-json --verbose --replay-user-messages --resume 00000000-0000-0000-0000-000000000000 --model opus --append-system-prompt-file /runs/1/role.md --mcp-config /runs/1/mcp.json --strict-mcp-config --setting-sources user --settings /runs/1/settings.json --add-dir /worktrees/TASK-001 --tools Bash,Read,Grep,Glob --dangerously-skip-permissions");
    }

    #[test]
    fn settings_of_the_user_can_be_left_out() {
        let task = TaskId::new(1);
        let argv = argv(&LaunchRequest { settings: AgentSettings::None, ..request(AgentKind::Coder, Session::New(Uuid::nil()), &[], &task) });
        let sources = argv.iter().position(|argument| argument == "--setting-sources").unwrap();
        assert_eq!(argv[sources + 1], "");
    }

    #[test]
    fn agent_that_asks_skips_no_permission_but_those_of_the_board() {
        let task = TaskId::new(1);
        let asking = LaunchRequest { permissions: PermissionMode::Ask, ..request(AgentKind::Coder, Session::New(Uuid::nil()), &[], &task) };
        let argv = argv(&asking).join(" ");
        assert!(!argv.contains("skip-permissions"), "{argv}");
        assert!(argv.ends_with("--permission-mode default --permission-prompt-tool stdio --allowedTools mcp__vibe-relay"), "{argv}");
    }

    #[test]
    fn only_coders_get_tools_that_write() {
        for phase in AgentKind::ALL {
            let tools: Vec<&str> = built_in_tools(*phase).split(',').collect();
            // Planners and reviewers must look at the code themselves, so they have no helpers.
            for tool in ["Edit", "Write", "Agent"] {
                assert_eq!(tools.contains(&tool), *phase == AgentKind::Coder, "{phase}: {tool}");
            }
            assert!(["Read", "Grep", "Glob"].iter().all(|tool| tools.contains(tool)), "{phase}: {tools:?}");
            assert_eq!(tools.contains(&"Bash"), *phase != AgentKind::Oracle, "an oracle runs nothing: {phase}");
        }
    }

    #[test]
    fn files_of_a_launch_are_stable() {
        let task = TaskId::new(1);
        let launch = launch(&request(AgentKind::Coder, Session::New(Uuid::nil()), &[], &task));
        let names: Vec<&str> = launch.files.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["role.md", "mcp.json", "settings.json", "summary.md"]);
        assert_eq!(launch.files[0].1, "You test.");
        insta::assert_snapshot!(launch.files[1].1, @r#"{"mcpServers":{"vibe-relay":{"alwaysLoad":true,"args":["mcp","--task-id","TASK-001"],"command":"/usr/bin/vibe-relay","env":{"VIBE_RELAY_DB":"/data/board.db","VIBE_RELAY_TOKEN":"secret"}}}}"#);
        let access = hook::BoardAccess::read(&launch.files[1].1).unwrap();
        assert_eq!((access.database.as_path(), access.token.as_str()), (Path::new("/data/board.db"), "secret"));
        assert!(launch.files[2].1.contains("/runs/1/mcp.json"), "the hook reads the run's own MCP configuration");
    }

    #[test]
    fn message_is_one_line() {
        insta::assert_snapshot!(encode("<issue>\nü \"x\"\n</issue>", Uuid::nil()), @r#"{"message":{"content":"<issue>\nü \"x\"\n</issue>","role":"user"},"type":"user","uuid":"00000000-0000-0000-0000-000000000000"}"#);
    }
}
