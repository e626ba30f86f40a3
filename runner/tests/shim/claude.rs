//! The real Claude Code through the shim, without a network: its command line, its output and its error texts.
//!
//! `CLAUDE_BIN` names the program; without it these tests say so and pass. No model is called, because its address is a closed port.

use std::fs;
use std::path::{Path, PathBuf};

use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::FailureClass;
use domain::runs::run_event::{ErrorClass, RunEvent, StopReason};
use runner::backend::outcome::{ExitEvidence, RunOutcome, classify_end};
use runner::backend::{Launch, LaunchRequest, Session, decode, encode, launch};
use runner::run_dir::{ExitRecord, RunSpec};
use uuid::Uuid;

use super::run::Run;

/// A port that nothing listens on.
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

/// A folder in which the program keeps its sessions.
struct Home {
    folder: tempfile::TempDir,
    program: String,
}

impl Home {
    fn new(program: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, program }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, session: Session, variables: &[(&str, &str)]) -> Run {
        Run::with(|spec: &mut RunSpec| {
            // The same each time: an id is taken per folder.
            spec.cwd = self.folder.path().to_owned();
            let Launch { argv, environment, files } = launch(&LaunchRequest {
                command: std::slice::from_ref(&self.program),
                phase: AgentKind::Coder,
                session,
                model: None,
                role: "You test.",
                summary: "Keep the next step.",
                settings: domain::config::AgentSettings::User,
                permissions: domain::runs::permission::PermissionMode::Auto,
                rules: self.folder.path(),
                run_dir: self.folder.path(),
                relay: Path::new("/nonexistent/vibe-relay"),
                task: &TaskId::new(1),
                token: "none",
                database: Path::new("/nonexistent/board.db"),
            });
            for (name, content) in files {
                // Without a server, because the program would wait for one that does not start.
                let content = if name == "mcp.json" { r#"{"mcpServers":{}}"#.to_owned() } else { content };
                fs::write(self.path(name), content).unwrap();
            }
            spec.argv = argv;
            let base = [("CLAUDE_CODE_MAX_RETRIES", "1"), ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"), ("DISABLE_AUTOUPDATER", "1")];
            let all = environment.iter().chain(&base).chain(variables);
            spec.env.extend(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
            spec.env.insert("CLAUDE_CONFIG_DIR".to_owned(), self.path("config").to_string_lossy().into_owned());
        })
    }

    /// Starts a run, says one thing, and returns how it ended.
    async fn end(&self, session: Session, variables: &[(&str, &str)]) -> (RunOutcome, Vec<RunEvent>) {
        let run = self.run(session, variables);
        // The program passes over a line of an id that its session has already.
        let line = Uuid::new_v4();
        run.start();
        // The program may refuse and be gone before it is spoken to.
        if let Ok(control) = runner::shim::control::Control::connect(&run.dir).await {
            let _ = control.send_line(&encode("<issue>\nTitle: test\n</issue>", line)).await;
            let _ = control.close_stdin().await;
        }
        let exit = run.ended().await;
        let items: Vec<RunEvent> = run.output().lines().flat_map(decode).collect();
        let echoes = items.iter().filter_map(|item| if let RunEvent::MessageAccepted { id, .. } = item { Some(id) } else { None });
        assert!(echoes.into_iter().all(|id| *id == Some(line.to_string())), "{items:?}");
        (judge(&exit, &items, &run.dir.stderr_tail(4096).unwrap()), items)
    }
}

/// The outcome of a run with one turn, in which the first error is the cause.
fn judge(exit: &ExitRecord, items: &[RunEvent], stderr: &str) -> RunOutcome {
    let turn = items.iter().find_map(|item| if let RunEvent::TurnEnded { reason } = item { Some(*reason) } else { None });
    let error = items.iter().find_map(|item| if let RunEvent::Failed(error) = item { Some(error) } else { None });
    classify_end(&ExitEvidence { exit, turn, error, tool_servers: None, stderr, stopped: false })
}

fn class(outcome: &RunOutcome) -> Option<ErrorClass> {
    if let RunOutcome::Failed { error } = outcome { Some(error.class) } else { None }
}

const JAILED: (&str, &str) = ("IS_SANDBOX", "1");
const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "none");
const ADDRESS: (&str, &str) = ("ANTHROPIC_BASE_URL", CLOSED);

#[tokio::test]
async fn unreachable_model_is_reported_and_takes_the_session() {
    let Some(program) = program() else { return };
    let home = Home::new(program);
    let id = Uuid::new_v4();
    let (end, items) = home.end(Session::New(id), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(end.failure(), Some(FailureClass::ServiceUnreachable), "{end:?} {items:?}");
    let session = items.iter().find_map(|item| if let RunEvent::SessionStarted(session) = item { Some(session) } else { None });
    assert_eq!(session.unwrap().id, id.to_string());
    let place = |which: &dyn Fn(&RunEvent) -> bool| items.iter().position(which).unwrap();
    let [begins, takes_up, ends] = [
        place(&|item| matches!(item, RunEvent::TurnStarted {})),
        place(&|item| matches!(item, RunEvent::MessageAccepted { .. })),
        place(&|item| matches!(item, RunEvent::TurnEnded { reason: StopReason::Failed })),
    ];
    assert!(begins < takes_up && takes_up < ends, "{items:?}");
    assert!(items.iter().any(|item| matches!(item, RunEvent::Retrying { status: None, .. })));

    let (end, _) = home.end(Session::New(id), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(class(&end), Some(ErrorClass::SessionUnavailable));
    let (end, _) = home.end(Session::Resume(id), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(end.failure(), Some(FailureClass::ServiceUnreachable));
    let (end, _) = home.end(Session::Resume(Uuid::new_v4()), &[JAILED, KEY, ADDRESS]).await;
    assert_eq!(class(&end), Some(ErrorClass::SessionUnavailable));
}

#[tokio::test]
async fn missing_sign_in_is_reported() {
    let Some(program) = program() else { return };
    let (end, items) = Home::new(program).end(Session::New(Uuid::new_v4()), &[JAILED]).await;
    assert_eq!(class(&end), Some(ErrorClass::Auth), "{items:?}");
}

#[tokio::test]
async fn root_is_refused() {
    let Some(program) = program() else { return };
    if !nix::unistd::Uid::effective().is_root() || std::env::var_os("IS_SANDBOX").is_some() {
        not_tested("this needs root without IS_SANDBOX");
        return;
    }
    let (end, _) = Home::new(program).end(Session::New(Uuid::new_v4()), &[KEY, ADDRESS]).await;
    assert_eq!(class(&end), Some(ErrorClass::RootRefused));
}
