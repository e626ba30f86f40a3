//! The real Claude Code under the shim, without a network: checks its command line, its output and its messages.
//!
//! `CLAUDE_BIN` names the program; without it these tests print so and pass. They reach no model: its address is a closed port.

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::FailureClass;
use runner::backend::claude::{ClaudeSpec, ENVIRONMENT, Evidence, RunEnd, Session, argv, end, hook, user_line};
use runner::backend::stream::{RunLine, parse};
use runner::run_dir::{ExitRecord, RunSpec};
use uuid::Uuid;

use super::run::Run;

/// A port without a listener.
const CLOSED: &str = "http://127.0.0.1:9";

fn program() -> Option<String> {
    let program = std::env::var("CLAUDE_BIN").ok();
    if program.is_none() {
        not_tested("CLAUDE_BIN does not name a Claude Code to test with");
    }
    program
}

#[expect(clippy::print_stdout, reason = "a test that did not run must say so")]
fn not_tested(why: &str) {
    println!("NOT TESTED: {why}");
}

/// The folder where the program keeps its sessions.
struct Home {
    folder: tempfile::TempDir,
    program: String,
}

impl Home {
    fn new(program: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("system.md"), "You test.").unwrap();
        fs::write(folder.path().join("mcp.json"), r#"{"mcpServers":{}}"#).unwrap();
        let settings = hook::settings(Path::new("/nonexistent/vibe-relay"), &folder.path().join("mcp.json"));
        fs::write(folder.path().join("settings.json"), settings.to_string()).unwrap();
        Self { folder, program }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, session: Session, variables: &[(&str, &str)]) -> Run {
        Run::with(|spec: &mut RunSpec| {
            // The same folder each time, because session ids are unique per folder.
            spec.cwd = self.folder.path().to_owned();
            spec.argv = argv(&ClaudeSpec {
                command: std::slice::from_ref(&self.program),
                phase: AgentKind::Coder,
                session,
                model: None,
                system_prompt_file: &self.path("system.md"),
                mcp_config_file: &self.path("mcp.json"),
                settings_file: &self.path("settings.json"),
                checkout: self.folder.path(),
            });
            let base = [("CLAUDE_CODE_MAX_RETRIES", "1"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")];
            let all = ENVIRONMENT.iter().chain(&base).chain(variables);
            spec.env.extend(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            spec.env.insert("CLAUDE_CONFIG_DIR".to_owned(), self.path("config").to_string_lossy().into_owned());
        })
    }

    /// Starts a run, sends one line, and returns how it ended.
    async fn end(&self, session: Session, variables: &[(&str, &str)]) -> (RunEnd, Vec<RunLine>) {
        let run = self.run(session, variables);
        // The program ignores a line whose id its session already has.
        let line = Uuid::new_v4();
        run.start();
        // The program may refuse and exit before the line arrives.
        if let Ok(control) = runner::shim::control::Control::connect(&run.dir).await {
            let _ = control.send_line(&user_line("<issue>\nTitle: test\n</issue>", line)).await;
            let _ = control.close_stdin().await;
        }
        let exit = run.ended().await;
        let items: Vec<RunLine> = run.output().lines().flat_map(parse).collect();
        let echoes = items.iter().filter_map(|item| if let RunLine::UserReplay { uuid, .. } = item { Some(uuid) } else { None });
        assert!(echoes.into_iter().all(|uuid| *uuid == Some(line.to_string())), "{items:?}");
        (judge(&exit, &items, &run.dir.stderr_tail(4096).unwrap()), items)
    }
}

fn judge(exit: &ExitRecord, items: &[RunLine], stderr: &str) -> RunEnd {
    let result = items.iter().find_map(|item| if let RunLine::Result(result) = item { Some(&**result) } else { None });
    let api_error = items.iter().find_map(|item| if let RunLine::ApiError { error, .. } = item { Some(error.as_str()) } else { None });
    end(&Evidence { exit, result, api_error, servers: None, limited_until: None, stderr, stopped: false })
}

const JAILED: (&str, &str) = ("IS_SANDBOX", "1");
const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "none");
const ADDRESS: (&str, &str) = ("ANTHROPIC_BASE_URL", CLOSED);

#[tokio::test]
async fn unreachable_model_is_an_api_error_and_keeps_the_session() {
    let Some(program) = program() else { return };
    let home = Home::new(program);
    let id = Uuid::new_v4();
    let (end, items) = home.end(Session::New(id), &[JAILED, KEY, ADDRESS]).await;
    assert!(matches!(end, RunEnd::ApiError { status: None, .. }), "{end:?} {items:?}");
    let RunLine::Init(init) = items.iter().find(|item| matches!(item, RunLine::Init(_))).unwrap() else { unreachable!() };
    assert_eq!(init.session_id, id.to_string());
    let place = |which: &dyn Fn(&RunLine) -> bool| items.iter().position(which).unwrap();
    let [begins, takes_up, ends] = [
        place(&|item| matches!(item, RunLine::Init(_))),
        place(&|item| matches!(item, RunLine::UserReplay { .. })),
        place(&|item| matches!(item, RunLine::Result(_))),
    ];
    assert!(begins < takes_up && takes_up < ends, "{items:?}");
    assert!(items.iter().any(|item| matches!(item, RunLine::ApiRetry { error_status: None, .. })));

    let (end, _) = home.end(Session::New(id), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(end, RunEnd::SessionInUse);
    let (end, _) = home.end(Session::Resume(id), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(end.failure(), Some(FailureClass::ServiceUnreachable));
    let (end, _) = home.end(Session::Resume(Uuid::new_v4()), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(end, RunEnd::NoConversation);
}

#[tokio::test]
async fn missing_sign_in_is_reported() {
    let Some(program) = program() else { return };
    let (end, items) = Home::new(program).end(Session::New(Uuid::new_v4()), &[JAILED]).await;
    assert_eq!(end, RunEnd::SignedOut, "{items:?}");
}

#[tokio::test]
async fn root_is_refused() {
    let Some(program) = program() else { return };
    if !nix::unistd::Uid::effective().is_root() || std::env::var_os("IS_SANDBOX").is_some() {
        not_tested("this needs root without IS_SANDBOX");
        return;
    }
    let (end, _) = Home::new(program).end(Session::New(Uuid::new_v4()), &[KEY, ADDRESS]).await;
    assert_eq!(end, RunEnd::RootRefused);
}
