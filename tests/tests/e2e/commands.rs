//! Every command of the reference: its help, a success, a refusal, and its `--json` against a schema.
//!
//! A new command has to be added to [`COMMANDS`] with all four, or the story fails.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Output, Stdio};
use std::time::Duration;

use api::testing::ResponseValidator;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::wire::{BOARD_HOST, SignInLink};
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tests::git::git;
use tests::server::TestServer;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::{service, support};

/// How long a command may take until it prints a line, or ends.
const DEADLINE: Duration = Duration::from_secs(60);

/// A command with what proves it.
struct Row {
    name: &'static str,
    success: Success,
    /// A line that is refused. It begins with `--config` if only a missing configuration makes the command fail.
    refusal: &'static str,
    json: Json,
}

enum Success {
    /// A line that succeeds.
    Line(&'static str),
    /// A line that runs until it is ended, the input that it gets, and words of the first line that it prints.
    Running { line: &'static str, input: &'static str, prints: &'static str },
    /// The story whose file shows the success, by words in it.
    Story(&'static str, &'static str),
}

/// What `--json` prints.
#[derive(Clone, Copy)]
enum Json {
    /// A value of a schema of the HTTP interface, and an array or lines of them.
    One(&'static str),
    List(&'static str),
    Lines,
    /// An object, or an array of objects, of this program with these keys.
    Keys(&'static [&'static str]),
    Items(&'static [&'static str]),
    Text,
    /// A protocol, a script, or the lines of a server.
    NoData,
}

use Json::{Items, Keys, Lines, List, NoData, One, Text};

const OUTCOME: Json = Keys(&["outcome"]);

const fn row(name: &'static str, success: &'static str, refusal: &'static str, json: Json) -> Row {
    Row { name, success: Success::Line(success), refusal, json }
}

const fn running(name: &'static str, (line, input, prints): (&'static str, &'static str, &'static str), refusal: &'static str, json: Json) -> Row {
    Row { name, success: Success::Running { line, input, prints }, refusal, json }
}

const fn elsewhere(name: &'static str, (file, words): (&'static str, &'static str), refusal: &'static str, json: Json) -> Row {
    Row { name, success: Success::Story(file, words), refusal, json }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// In the order in which they run on one board. `{port}` is that of the board; `{token}`, `{session}`, `{rescue}` and `{sha}` stand for what the board made.
const COMMANDS: &[Row] = &[
    row("version", "version", "version extra", Keys(&["version", "commit", "date"])),
    row("completions", "completions bash", "completions cmd", NoData),
    row("man", "man pages", "man /dev/null/pages", OUTCOME),
    elsewhere("init", ("configuration.rs", "\"init\""), "init nowhere", Items(&["path", "written"])),
    row("config check", "config check", "--config nowhere.json config check", Keys(&["max_parallel_agents", "limits", "prompts_path"])),
    row("doctor", "doctor", "--config nowhere.json doctor", Items(&["name", "result", "detail", "fix"])),
    row("uninstall", "uninstall", "--config nowhere.json uninstall", Items(&["what", "place", "remove"])),
    row("open", "open --print", "--config nowhere.json open --print", One("SignInLink")),
    row("pair", "pair --name Phone", "pair --host elsewhere.example", One("Pairing")),
    row("attach", "attach --print", "--config nowhere.json attach --print", Keys(&["command"])),
    row("project new", "project new Letters --goal Letters --repo repo --ask", "project new Letters --repo nowhere", One("Project")),
    row("project list", "project list", "--config nowhere.json project list", List("Project")),
    row("project show", "project show 1", "project show 9", One("BoardView")),
    row("project edit", "project edit 1 --title Alphabet", "project edit 1 --base-branch nowhere", One("Project")),
    row("project budget", "project budget 1 50", "project budget 9 50", One("Project")),
    row("project approve", "project approve 1", "project approve 9", One("Project")),
    row("task add", "task add 1 colour --start", "task add 9 Nowhere", One("TaskView")),
    row("task list", "task list 1 --all", "task list 9", List("Card")),
    row("task show", "task show 2", "task show 99", Keys(&["task", "comments", "runs"])),
    row("task edit", "task edit 4 --priority 2", "task edit 4 --depends-on 99", One("TaskView")),
    row("task comment", "task comment 2 Hello", "task comment 99 Hello", One("CommentView")),
    row("task log", "task log 2", "task log 99", Lines),
    row("task diff", "task diff 2", "task diff 99", One("Diff")),
    row("task message", "task message 2 Hello", "task message 1 Hello", One("Run")),
    row("task answer", "task answer 5 Violet", "task answer 99 Violet", One("TaskView")),
    row("task stop", "task stop 3", "task stop 99", One("TaskView")),
    row("task start", "task start 3", "task start 99", One("TaskView")),
    row("interrupt", "interrupt 3 --message Continue.", "interrupt 1", One("Run")),
    row("takeover", "takeover 3", "takeover 99", One("Takeover")),
    row("task move", "task move 4 cancelled --reason obsolete", "task move 1 nowhere", One("TaskView")),
    row("task delete", "task delete 6", "task delete 99", One("TaskView")),
    row("task retry", "task retry 5", "task retry 1", One("TaskView")),
    row("task raise", "task raise 3", "task raise 99", One("TaskView")),
    row("project raise", "project raise 1", "project raise 9", One("ProjectUsage")),
    // It takes an agent of which the settings demand that it asks.
    elsewhere("permission", ("permissions.rs", "/permission"), "permission 1", One("PermissionRequest")),
    row("pause", "pause", "pause --project 9", One("PauseStatus")),
    row("resume", "resume", "resume --project 9", One("PauseStatus")),
    row("project pause", "project pause 1", "project pause 9", One("Project")),
    row("project resume", "project resume 1", "project resume 9", One("Project")),
    row("report", "report --since 1d", "report --since never", One("Report")),
    row("person add", "person add ann", "person add", One("Person")),
    row("person list", "person list", "--config nowhere.json person list", List("Person")),
    row("person role", "person role ann viewer", "person role nobody viewer", One("Person")),
    row("person remove", "person remove ann", "person remove nobody", OUTCOME),
    row("token new", "token new --agent mara --role builder --project 1", "token new --agent mara --role builder --project 9", One("CreatedToken")),
    row("token invite", "token invite --project 1", "token invite --project 9", One("CreatedToken")),
    row("token list", "token list", "--config nowhere.json token list", List("Token")),
    row("token change", "token change {token} --permission read", "token change 000000000000 --permission read", One("Token")),
    row("token revoke", "token revoke {token}", "token revoke 000000000000", OUTCOME),
    row("session list", "session list", "--config nowhere.json session list", List("BrowserSession")),
    row("session revoke", "session revoke {session}", "session revoke 99", OUTCOME),
    row("inbox", "inbox", "--config nowhere.json inbox", Items(&[])),
    running("mcp", ("mcp", INITIALIZE, "\"serverInfo\""), "--config nowhere.json mcp", NoData),
    row("profile show", "profile show 1", "profile show 9", One("Profile")),
    row("profile edit", "profile edit 1 --copy .env", "profile edit 9 --copy .env", One("Profile")),
    row("rescue list", "rescue list 1", "rescue list 9", List("Rescue")),
    row("rescue show", "rescue show 1 {rescue}", "rescue show 1 refs/heads/main", One("Diff")),
    row("rescue restore", "rescue restore 1 {rescue} found", "rescue restore 1 refs/heads/main found", OUTCOME),
    row("rescue drop", "rescue drop 1 {rescue} {sha}", "rescue drop 1 refs/heads/main {sha}", OUTCOME),
    row("import", "import dead-drop messages.db --project 1 --yes", "import dead-drop nowhere.db --project 1", One("ImportReport")),
    row("land", "land 1", "land 9", One("LandingResult")),
    row("preview", "preview PROJ-001", "preview PROJ-009", Text),
    row("publish", "publish 1", "publish 9", One("Publication")),
    row("audit list", "audit list", "audit list --kind nothing", List("AuditRow")),
    row("audit verify", "audit verify", "audit verify --file nowhere.db", One("AuditCheck")),
    row("clean", "clean --yes", "--config nowhere.json clean", Items(&["what", "place", "removed"])),
    row("backup", "backup copy.db", "backup config.json", OUTCOME),
    running("tail", ("tail --json", "", "hello"), "tail 9", One("Frame")),
    row("project relocate", "project relocate 1 moved", "project relocate 1 nowhere", One("Project")),
    row("project archive", "project archive 1", "project archive 9", One("Project")),
    row("project restore", "project restore 1", "project restore 9", One("Project")),
    row("project delete", "project delete 1 --title Alphabet", "project delete 1 --title Letters", One("Project")),
    row("token rotate", "token rotate", "--config nowhere.json token rotate", OUTCOME),
    running(
        "serve",
        ("--config second.json serve --no-open --port 0", "", "listening on http://127.0.0.1:"),
        "--config second.json serve --no-open --port {port}",
        NoData,
    ),
    running("demo", ("demo --no-open", "", "Scripted agents: no model"), "demo --nothing", NoData),
    row("stop", "stop", "--config second.json stop", OUTCOME),
    row("restore", "restore copy.db", "restore config.json", OUTCOME),
    row("service install", "service install", "service install --port none", OUTCOME),
    row("service status", "service status", "service status now", Keys(&["installed", "unit", "at_login", "now"])),
    row("service remove", "service remove", "service remove now", OUTCOME),
];

/// The commands that `--help` lists below a command.
async fn listed(server: &TestServer, path: &[&str]) -> Vec<String> {
    let text = help(server, path).await;
    let Some((_, list)) = text.split_once("Commands:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

async fn help(server: &TestServer, path: &[&str]) -> String {
    let output = server.command(&[path, &["--help"]].concat()).output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("\nUsage: vibe") && !text.starts_with("Usage"), "{path:?} --help: {text}");
    text
}

/// Names for the lines that the board made, and the token of an agent.
#[derive(Default)]
struct Made {
    names: BTreeMap<&'static str, String>,
    agent_token: String,
}

impl Made {
    fn fill(&self, line: &str) -> String {
        self.names.iter().fold(line.to_owned(), |line, (name, value)| line.replace(&format!("{{{name}}}"), value))
    }

    async fn run(&self, server: &TestServer, line: &str, more: &[&str]) -> Output {
        self.command(server, line, more).output().await.unwrap()
    }

    /// Runs a line until it has printed one, and ends it. Returns what it printed, if it then ends in order.
    async fn first_line(&self, server: &TestServer, line: &str, input: &str) -> Result<String, String> {
        let mut command = self.command(server, line, &[]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = process.stdin.take().unwrap();
        stdin.write_all(format!("{input}\n").as_bytes()).await.unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let printed = timeout(DEADLINE, lines.next_line()).await.map_err(|_| format!("{line} prints nothing"))?.unwrap().unwrap_or_default();
        match process.id() {
            Some(id) if input.is_empty() => tests::terminate(id).unwrap(),
            // Its client closes the input.
            _ => drop(stdin),
        }
        let ended = timeout(DEADLINE, process.wait()).await.map_err(|_| format!("{line} does not end"))?.unwrap();
        if ended.success() { Ok(printed) } else { Err(format!("{line} ends with {ended} after: {printed}")) }
    }

    fn command(&self, server: &TestServer, line: &str, more: &[&str]) -> Command {
        let line = self.fill(line);
        let words: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        let mut command = match words.as_slice() {
            // The name of a file must come once.
            ["--config", file, rest @ ..] => server.command_with_config(file, rest),
            words => server.command(words),
        };
        command.env("VIBE_RELAY_TOKEN", if matches!(words.first(), Some(&("inbox" | "mcp"))) { self.agent_token.as_str() } else { "" });
        command
    }

    /// Waits for, or makes, what a command needs.
    async fn prepare(&mut self, server: &mut TestServer, name: &str) {
        let project = ProjectId::new(1);
        let array = async |made: &Self, server: &TestServer, line: &str| -> Vec<Value> {
            serde_json::from_slice(&made.run(server, line, &["--json"]).await.stdout).unwrap()
        };
        match name {
            "project approve" => {
                let planned = |board: &Board| board.cards.len() == 4 && board.cards[0].status == Status::Done;
                server.until(&project, "the plan is made", planned).await;
            }
            "task log" => {
                for task in ["TASK-002", "TASK-003"] {
                    support::reached(server, task).await;
                }
            }
            "task answer" => {
                let asks = |board: &Board| board.cards.iter().any(|card| card.id == TaskId::new(5) && card.attention.is_some());
                server.until(&project, "the agent asks", asks).await;
            }
            "task delete" => assert!(self.run(server, "task add 1 Surplus", &[]).await.status.success()),
            "interrupt" => {
                let works =
                    |board: &Board| board.cards.iter().any(|card| card.id == TaskId::new(3) && card.run.as_ref().is_some_and(|run| !run.stopping));
                server.until(&project, "the agent works again", works).await;
            }
            "token change" => {
                let tokens = array(self, server, "token list").await;
                let mara = tokens.iter().find(|token| token["holder"] == "mara").unwrap();
                self.names.insert("token", mara["name"].as_str().unwrap().to_owned());
            }
            "session list" => {
                // Some machines do not resolve names below `localhost`.
                let address = ([127, 0, 0, 1], server.port()).into();
                let browser = reqwest::Client::builder().resolve(BOARD_HOST, address).build().unwrap();
                let link: SignInLink = serde_json::from_slice(&self.run(server, "open --print", &["--json"]).await.stdout).unwrap();
                assert!(browser.get(link.sign_in_link).send().await.unwrap().status().is_success());
                let sessions = array(self, server, "session list").await;
                self.names.insert("session", sessions[0]["id"].to_string());
            }
            "inbox" => {
                let made = self.run(server, "token new --agent ole --role tester --project 1", &["--json"]).await;
                let made: Value = serde_json::from_slice(&made.stdout).unwrap();
                self.agent_token = made["token"].as_str().unwrap().to_owned();
            }
            "preview" => {
                let app = ["profile", "edit", "1", "--preview", "python3 -m http.server --bind 127.0.0.1 {port}"];
                assert!(server.command(&app).output().await.unwrap().status.success());
            }
            "rescue list" => {
                let repository = server.repository();
                let kept = "refs/vibe-relay/rescue/TASK-004/work";
                let tree = git(&repository, &["rev-parse", "HEAD^{tree}"]).unwrap();
                let sha = git(&repository, &["commit-tree", tree.trim(), "-p", "HEAD", "-m", "Kept"]).unwrap();
                git(&repository, &["update-ref", kept, sha.trim()]).unwrap();
                self.names.extend([("rescue", kept.to_owned()), ("sha", sha.trim().to_owned())]);
            }
            "land" => {
                support::open(server, "TASK-002");
                let merged = |board: &Board| board.cards.iter().any(|card| card.id == TaskId::new(2) && card.status == Status::Done);
                server.until(&project, "the work is merged", merged).await;
            }
            "publish" => {
                let remote = server.root().join("remote.git");
                git(&server.root(), &["init", "--quiet", "--bare", "remote.git"]).unwrap();
                git(&server.repository(), &["remote", "add", "origin", &remote.display().to_string()]).unwrap();
            }
            "project relocate" => {
                for line in ["pause", "takeover 3 --give-back", "task stop 5"] {
                    assert!(self.run(server, line, &[]).await.status.success(), "{line}");
                }
                server.until(&project, "no agent works", |board: &Board| board.cards.iter().all(|card| card.run.is_none())).await;
                std::fs::rename(server.repository(), server.root().join("moved")).unwrap();
            }
            "import" => {
                let database = SqliteConnectOptions::new().filename(server.root().join("messages.db")).create_if_missing(true);
                let mut database = database.connect().await.unwrap();
                sqlx::raw_sql(include_str!("../../../db/src/tests/context/import/dead_drop.sql")).execute(&mut database).await.unwrap();
                database.close().await.unwrap();
            }
            "serve" => {
                let mut second: Value = serde_json::from_slice(&std::fs::read(server.root().join("config.json")).unwrap()).unwrap();
                second["repo_path"] = server.root().join("moved").display().to_string().into();
                second["db_path"] = server.root().join("second/board.db").display().to_string().into();
                std::fs::write(server.root().join("second.json"), second.to_string()).unwrap();
                self.names.insert("port", server.port().to_string());
            }
            _ => {}
        }
    }
}

/// Compares what a command printed with its row.
fn check(validator: &ResponseValidator, row: &Row, text: &str) -> Result<(), String> {
    let parsed = || serde_json::from_str::<Value>(text).map_err(|error| format!("{error}: {text}"));
    let items = || parsed()?.as_array().cloned().ok_or_else(|| format!("not a list: {text}"));
    let fits = |schema: &str, value: &Value| validator.check_component(schema, value.to_string().as_bytes());
    let has = |keys: &[&str], value: &Value| match keys.iter().find(|key| value.get(**key).is_none()) {
        Some(key) => Err(format!("{key} is missing: {value}")),
        None => Ok(()),
    };
    if !matches!(row.json, Lines | NoData) && text.lines().count() != 1 {
        return Err(format!("it prints more or less than one line: {text}"));
    }
    match row.json {
        One(schema) => fits(schema, &parsed()?),
        List(schema) => {
            let items = items()?;
            if items.is_empty() { Err("an empty list shows no schema".to_owned()) } else { items.iter().try_for_each(|item| fits(schema, item)) }
        }
        Lines => text.lines().try_for_each(|line| serde_json::from_str::<Value>(line).map(drop).map_err(|error| format!("{error}: {line}"))),
        Keys(keys) => has(keys, &parsed()?),
        Items(keys) => items()?.iter().try_for_each(|item| has(keys, item)),
        Text => parsed()?.is_string().then_some(()).ok_or_else(|| format!("not a text: {text}")),
        NoData => Ok(()),
    }
}

#[tokio::test]
async fn every_command_has_help_success_refusal_and_json() {
    let scenario = include_str!("../../scenarios/board.json");
    let server = support::scripted_in(scenario, |options, root| {
        options.config.allowed_hosts = vec!["desk.example".to_owned()];
        service::imitate_systemd(options, root);
    });
    let mut server = server.await;
    let mut leaves = BTreeSet::new();
    for command in listed(&server, &[]).await {
        let below = listed(&server, &[&command]).await;
        leaves.extend(if below.is_empty() { vec![command] } else { below.iter().map(|name| format!("{command} {name}")).collect() });
    }
    assert_eq!(COMMANDS.iter().map(|row| row.name.to_owned()).collect::<BTreeSet<_>>(), leaves, "every command has a row, once");
    assert_eq!(COMMANDS.len(), leaves.len());
    let validator = ResponseValidator::new(server.get("/api/openapi.json").await.unwrap());

    let (mut made, mut problems) = (Made::default(), Vec::new());
    for row in COMMANDS {
        help(&server, &row.name.split(' ').collect::<Vec<_>>()).await;
        made.prepare(&mut server, row.name).await;
        let refused = made.run(&server, row.refusal, &[]).await;
        let (code, reason) = (refused.status.code(), String::from_utf8_lossy(&refused.stderr).into_owned());
        if !matches!(code, Some(1..=4)) || reason.trim().is_empty() {
            problems.push(format!("{} is not refused: {code:?} {reason}", row.refusal));
        }
        match &row.success {
            Success::Line(line) => {
                let more: &[&str] = if matches!(row.json, NoData) { &[] } else { &["--json"] };
                let output = made.run(&server, line, more).await;
                let text = String::from_utf8(output.stdout).unwrap();
                if !output.status.success() {
                    problems.push(format!("{line} fails: {text}{}", String::from_utf8_lossy(&output.stderr)));
                } else if let Err(problem) = check(&validator, row, text.trim_end()) {
                    problems.push(format!("{line} --json: {problem}"));
                }
            }
            Success::Running { line, input, prints } => match made.first_line(&server, line, input).await {
                Ok(text) if !text.contains(prints) => problems.push(format!("{line} does not print {prints}: {text}")),
                Ok(text) => problems.extend(check(&validator, row, &text).err().map(|problem| format!("{line}: {problem}"))),
                Err(problem) => problems.push(problem),
            },
            Success::Story(file, words) => {
                let story = std::fs::read_to_string(format!("{}/tests/e2e/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
                assert!(story.contains(words), "{file} shows the success of {}", row.name);
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
