//! Every command prints text that agents wrote without letting it control the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tests::server::TestServer;
use tokio::io::AsyncReadExt;

use crate::support;

/// Sets the terminal's title, clears it, begins a sequence with one C1 character, overwrites the line, and reverses the text.
const HOSTILE: &str = "\x1b]0;owned\x07\x1b[2Jone\u{9b}31mtwo\rthree\u{202e}four";
/// A title has one line without control characters, but may have marks of direction.
const TITLE: &str = "Letters\u{202e}\u{2066}";

/// The invocation of each command; none for a command whose output holds nothing that an agent wrote, with the reason.
fn invocations() -> BTreeMap<&'static str, Result<Vec<&'static str>, &'static str>> {
    let texts = [
        ("serve", ""),
        ("service install", ""),
        ("service remove", ""),
        ("service status", ""),
        ("init", "init ."),
        ("project list", ""),
        ("project show", "project show PROJ-001"),
        ("project approve", "project approve PROJ-001"),
        ("project pause", "project pause PROJ-001"),
        ("project resume", "project resume PROJ-001"),
        ("task show", "task show TASK-001"),
        ("task list", "task list PROJ-001 --all"),
        ("task diff", "task diff TASK-001"),
        ("task log", "task log TASK-001"),
        ("task message", "task message TASK-001 Hello."),
        ("open", "open --print"),
        ("config check", ""),
        ("version", ""),
        ("uninstall", ""),
        ("clean", ""),
        ("completions", "completions bash"),
        ("man", "man pages"),
        ("task answer", "task answer TASK-001 yes"),
        // The task that `task add` made.
        ("task delete", "task delete TASK-002"),
        ("task start", "task start TASK-001"),
        ("task stop", "task stop TASK-001"),
        ("task retry", "task retry TASK-001"),
        ("task raise", "task raise TASK-001"),
        ("project budget", "project budget PROJ-001 50"),
        ("project edit", "project edit PROJ-001 --base-branch nowhere"),
        ("project relocate", "project relocate PROJ-001 repo"),
        ("profile show", "profile show PROJ-001"),
        ("preview", "preview PROJ-001"),
        ("rescue list", "rescue list PROJ-001"),
        ("rescue show", "rescue show PROJ-001 refs/vibe-relay/rescue/TASK-001/none"),
        ("rescue restore", "rescue restore PROJ-001 refs/vibe-relay/rescue/TASK-001/none found"),
        ("rescue drop", "rescue drop PROJ-001 refs/vibe-relay/rescue/TASK-001/none 0123456789012345678901234567890123456789"),
        ("project raise", "project raise PROJ-001"),
        ("person add", "person add ann"),
        ("person list", ""),
        ("person role", "person role ann viewer"),
        ("person remove", "person remove nobody"),
        ("token new", "token new --agent mara --role builder --project PROJ-001"),
        ("token invite", "token invite --project PROJ-001"),
        ("token list", ""),
        ("attach", "attach --print"),
        ("audit list", ""),
        ("audit verify", ""),
        ("token revoke", "token revoke 000000000000"),
        ("token change", "token change 000000000000 --permission read --expires-in 1d"),
        ("session list", ""),
        ("session revoke", "session revoke 99"),
        ("inbox", ""),
        ("import", "import dead-drop messages.db --project PROJ-001"),
        ("report", "report --since 1d"),
        ("land", "land PROJ-001 --undo"),
        ("publish", "publish PROJ-001"),
        ("pause", "pause --project PROJ-001"),
        ("resume", "resume --project PROJ-001"),
        ("doctor", ""),
        ("backup", "backup copy.db"),
        ("restore", "restore copy.db"),
        ("interrupt", "interrupt TASK-001 --message Stop."),
        ("permission", "permission TASK-001"),
        ("takeover", "takeover TASK-001"),
    ];
    let mut all: BTreeMap<_, _> = texts
        .into_iter()
        .map(|(name, line)| {
            let line = if line.starts_with(name) && !line.is_empty() { line } else { name };
            (name, Ok(line.split(' ').collect()))
        })
        .collect();
    all.insert("task add", Ok(vec!["task", "add", "PROJ-001", TITLE]));
    all.insert("task edit", Ok(vec!["task", "edit", "TASK-001", "--title", TITLE]));
    all.insert("task move", Ok(vec!["task", "move", "TASK-001", "cancelled", "--reason", HOSTILE]));
    all.insert("task comment", Ok(vec!["task", "comment", "TASK-001", HOSTILE]));
    all.insert("project new", Ok(vec!["project", "new", TITLE, "--repo", "repo"]));
    all.insert("profile edit", Ok(vec!["profile", "edit", "PROJ-001", "--copy", HOSTILE]));
    all.insert("tail", Ok(vec!["tail"]));
    all.insert("tail --json", Ok(vec!["tail", "--json"]));
    all.insert("pair", Ok(vec!["pair", "--name", TITLE, "--host", HOSTILE]));
    all.insert("project restore", Ok(vec!["project", "restore", "PROJ-001"]));
    // Refused, so that the other commands find the project.
    all.insert("project archive", Ok(vec!["project", "archive", "PROJ-009"]));
    all.insert("project delete", Ok(vec!["project", "delete", "PROJ-001", "--title", HOSTILE]));
    all.insert("demo", Err("its agents follow a script of this program"));
    all.insert("mcp", Err("its output is a protocol for programs"));
    all.insert("stop", Err("it prints the number of a process"));
    all.insert("token rotate", Err("it prints a path and a number"));
    all
}

/// The commands that `--help` lists below a command.
async fn listed(server: &TestServer, path: &[&str]) -> Vec<String> {
    let output = server.command(&[path, &["--help"]].concat()).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let Some((_, list)) = text.split_once("Commands:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Runs a command and returns what it printed, within a time that suffices for `tail` to print something.
async fn printed(server: &TestServer, arguments: &[&str]) -> String {
    let mut process = server.command(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut stdout, mut stderr) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
    let mut bytes = Vec::new();
    if arguments[0] == "tail" {
        // It prints until it is told to end: add tasks until one arrives.
        let read = async {
            while !String::from_utf8_lossy(&bytes).contains("task_created") {
                drop(tokio::time::timeout(Duration::from_millis(300), stdout.read_buf(&mut bytes)).await);
                let added = server.command(&["task", "add", "PROJ-001", TITLE]).output().await.unwrap();
                assert!(added.status.success());
            }
        };
        tokio::time::timeout(Duration::from_secs(60), read).await.unwrap();
        tests::terminate(process.id().unwrap()).unwrap();
    }
    let read = async {
        tokio::join!(stdout.read_to_end(&mut bytes), async {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).await.unwrap();
            text
        })
    };
    let (_, errors) = tokio::time::timeout(Duration::from_secs(60), read).await.unwrap();
    String::from_utf8([bytes, errors].concat()).unwrap()
}

fn is_obeyed(letter: char) -> bool {
    (letter.is_control() && !matches!(letter, '\n' | '\t')) || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[tokio::test]
async fn commands_print_no_character_that_a_terminal_obeys() {
    let server = support::scripted(include_str!("../../scenarios/board.json")).await;
    let project = server.project(TITLE, None).await.unwrap().id;
    let task = json!({"title": TITLE, "description": HOSTILE});
    let _: domain::wire::TaskView = server.post(&format!("/api/projects/{project}/tasks"), &task).await.unwrap();
    let comment = json!({"content": HOSTILE});
    let _: domain::wire::CommentView = server.post("/api/tasks/TASK-001/comments", &comment).await.unwrap();

    let invocations = invocations();
    let mut leaves = BTreeSet::new();
    for command in listed(&server, &[]).await {
        let below = listed(&server, &[&command]).await;
        if below.is_empty() {
            leaves.insert(command);
        } else {
            leaves.extend(below.into_iter().map(|name| format!("{command} {name}")));
        }
    }
    let known: BTreeSet<String> = invocations.keys().filter(|name| **name != "tail --json").map(|name| (*name).to_owned()).collect();
    assert_eq!(leaves, known, "every command has an invocation here");

    let mut neutralized = BTreeSet::new();
    for (name, arguments) in invocations {
        let Ok(arguments) = arguments else { continue };
        let text = printed(&server, &arguments).await;
        let obeyed: Vec<char> = text.chars().filter(|letter| is_obeyed(*letter)).collect();
        assert!(obeyed.is_empty(), "{name} prints {obeyed:?}: {text:?}");
        if text.contains("\\u202e") {
            neutralized.insert(name);
        }
    }
    for name in ["project list", "project show", "task show", "task add", "task move", "tail", "tail --json"] {
        assert!(neutralized.contains(name), "{name} shows that something was replaced: {neutralized:?}");
    }
}
