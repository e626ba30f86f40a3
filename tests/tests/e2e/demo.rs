//! The demo as a person starts it: it completes in time, survives a killed server and leaves nothing behind.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use domain::actor::Actor;
use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::comment::{AuthorRole, CommentEvent};
use domain::board::project::{ProjectEvent, ProjectStatus};
use domain::board::question::QuestionEvent;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::task::event::TaskEvent;
use domain::event::{Envelope, Event};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::RunChange;
use domain::team::message::MessageEvent;
use domain::wire::ServerInfo;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use reqwest::{Method, StatusCode, Url};
use serde_json::{Value, json};
use tempfile::TempDir;
use tests::client::Client;
use tests::socket::Socket;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::support::{PROGRAM, processes_of};

/// The time limit for a whole demo on a machine that runs other tests.
const DEMO_TIMEOUT: Duration = Duration::from_secs(180);

/// A running demo. Dropping it kills the process.
struct Demo {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    /// Used as the folder for temporary files.
    folder: TempDir,
    client: Client,
    project: ProjectId,
    /// The address that signs a browser in.
    link: String,
}

impl Demo {
    /// Starts the demo with `--exit`, so that nobody has to watch, or without it.
    async fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test starts the product as a person does")]
        let mut command = Command::new(PROGRAM);
        command.args(["demo", "--no-open"]).args(options).stdout(Stdio::piped()).kill_on_drop(true).env_clear();
        command.env("PATH", std::env::var("PATH").unwrap()).env("HOME", folder.path()).env("TMPDIR", folder.path());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let (url, link) = loop {
            let line = output.next_line().await.unwrap().expect("the demonstration says where it is");
            if let Some((url, _)) = line.split_once("/sign-in") {
                // The name in the link is for browsers.
                break (format!("http://127.0.0.1:{}", url.rsplit(':').next().unwrap()), line);
            }
        };
        let stage: Vec<PathBuf> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let token = std::fs::read_to_string(stage[0].join("token")).unwrap();
        let client = Client::new(&url, &token);
        Self { child, output, folder, client, project: "PROJ-001".parse().unwrap(), link }
    }

    /// Returns all events until the project is complete, and the text of the first review.
    async fn watch(&self) -> (Vec<Envelope>, String) {
        let board = self.client.until(&self.project, "the project is made", |_| true).await;
        let mut log = Socket::open(&self.client, &self.project, Some((0, &board.epoch))).await.unwrap();
        let (mut events, mut review) = (Vec::<Envelope>::new(), String::new());
        while events.last().is_none_or(|last| last.event != ProjectEvent::Completed {}.into()) {
            let envelope = log.event().await.unwrap().unwrap();
            // Read the review immediately, because the demo exits when the project is complete.
            if review.is_empty() && matches!(envelope.event, Event::Comment(CommentEvent::Added { author_role: AuthorRole::Reviewer, .. })) {
                let comments = self.client.comments(envelope.task_id.as_ref().unwrap()).await.unwrap();
                review = comments.into_iter().last().unwrap().comment.content;
            }
            events.push(envelope);
        }
        (events, review)
    }

    /// Waits for the exit and returns the status and the remaining output.
    async fn end(mut self) -> (ExitStatus, Vec<String>) {
        let mut said = Vec::new();
        let ending = async {
            while let Some(line) = self.output.next_line().await.unwrap() {
                said.push(line);
            }
            self.child.wait().await.unwrap()
        };
        let status = tokio::time::timeout(DEMO_TIMEOUT, ending).await.unwrap();
        let left: Vec<_> = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "no file is left");
        assert_eq!(processes_of(self.folder.path()), Vec::<String>::new(), "no process is left");
        (status, said)
    }
}

fn moment(events: &[Envelope], what: impl Fn(&Envelope) -> bool) -> Duration {
    let found = events.iter().find(|envelope| what(envelope)).unwrap();
    found.at.since(events.iter().find(|envelope| envelope.event == ProjectEvent::Created {}.into()).unwrap().at)
}

/// The time until two coders first worked in parallel.
fn two_coders(events: &[Envelope]) -> Duration {
    let mut working = BTreeSet::new();
    let place = events.iter().position(|envelope| {
        match envelope.event {
            Event::Run(RunChange::Started { phase: AgentKind::Coder, .. }) => drop(working.insert(envelope.run_id.clone())),
            Event::Run(RunChange::Ended { .. }) => drop(working.remove(&envelope.run_id)),
            _ => {}
        }
        working.len() == 2
    });
    moment(&events[..=place.unwrap()], |envelope| envelope.seq == events[place.unwrap()].seq)
}

fn summary(said: &[String]) -> &str {
    let line = said.last().unwrap();
    assert!(line.starts_with("4 tasks done in ") && line.contains("commits landed on main at "), "{said:?}");
    line
}

#[tokio::test]
async fn demo_completes_in_time_and_cleans_up() {
    let demo = Demo::start(&["--exit"]).await;
    let (events, review) = demo.watch().await;
    let (status, said) = demo.end().await;
    assert!(status.success(), "{said:?}");
    let card = moment(&events, |envelope| envelope.event == TaskEvent::Created {}.into() && matches!(envelope.actor, Actor::Agent(_)));
    let coders = two_coders(&events);
    let complete = moment(&events, |envelope| envelope.event == ProjectEvent::Completed {}.into());
    eprintln!("first planned card after {card:?}, two coders at once after {coders:?}, complete after {complete:?}; {}", summary(&said));
    // The limits are 3 s, 8 s and 75 s on an idle machine, and twice that here because other tests run at the same time.
    assert!(card < Duration::from_secs(6) && coders < Duration::from_secs(16) && complete < Duration::from_secs(150));
    assert!(
        moment(&events, |envelope| matches!(envelope.event, Event::Question(QuestionEvent::Answered { .. }))) < complete,
        "a question was asked and answered"
    );
    let wrote = |one: &str, other: &str| {
        let sent = |event: &Event| matches!(event, Event::Message(MessageEvent::Sent { from, to, .. }) if from == one && to == other);
        assert!(events.iter().any(|envelope| sent(&envelope.event)), "{one} writes to {other}");
    };
    wrote("coder-TASK-004", "coder-TASK-002");
    wrote("coder-TASK-002", "coder-TASK-004");
    let line = review.strip_prefix("index.html:").and_then(|rest| rest.split(':').next()).unwrap_or_default();
    assert!(line.parse::<u32>().is_ok(), "a review that sends back names the line: {review}");
}

#[tokio::test]
async fn demo_survives_a_killed_server() {
    let demo = Demo::start(&["--exit"]).await;
    let two_work = |board: &Board| board.cards.iter().filter(|card| card.run.is_some()).count() == 2;
    let before = demo.client.until(&demo.project, "two agents work", two_work).await;
    let pulled = demo.client.request(Method::POST, "/api/demo/pull-the-plug").send().await.unwrap();
    assert_eq!(pulled.status(), StatusCode::ACCEPTED);
    // The client uses the same address and token as before.
    let went_on = |board: &Board| board.seq > before.seq + 2 && board.cards.iter().any(|card| card.status == Status::InReview);
    let after = demo.client.until(&demo.project, "the project goes on", went_on).await;
    assert_eq!(after.epoch, before.epoch);
    let (status, said) = demo.end().await;
    assert!(status.success(), "{said:?}");
    assert_eq!(said[0], "The plug was pulled. Restarting.");
    summary(&said);
}

#[tokio::test]
async fn demo_waits_for_the_first_browser_and_for_the_person_at_its_question() {
    let demo = Demo::start(&[]).await;
    let created = demo.client.until(&demo.project, "the project is made", |board| !board.cards.is_empty()).await;
    assert!(created.cards.iter().all(|card| card.runs == 0), "{created:?}");
    let server: ServerInfo = demo.client.get("/api/server").await.unwrap();
    assert!(server.paused_at.is_some(), "{server:?}");
    let link = Url::parse(&demo.link).unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], link.port().unwrap()));
    // Only browsers resolve the name in the link by themselves.
    let browser = reqwest::Client::builder().resolve(link.host_str().unwrap(), address).build().unwrap();
    let signed_in = browser.get(link).send().await.unwrap();
    assert!(signed_in.status().is_success(), "{}", signed_in.status());
    // All other work takes much longer than the demo needs to answer with `--exit`.
    let asks = |board: &Board| {
        board.cards.iter().find(|card| card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::NeedsInput)).cloned()
    };
    // Between two agents of a task, none is running either.
    let is_idle = |card: &Card| card.run.is_none() && (card.attention.is_some() || matches!(card.status, Status::Backlog | Status::Done));
    let has_started = |board: &Board| board.cards.iter().any(|card| card.status == Status::Done && card.phase == AgentKind::Coder);
    let only_the_question_is_left = |board: &Board| asks(board).is_some() && has_started(board) && board.cards.iter().all(is_idle);
    let waiting = demo.client.until(&demo.project, "only the question is left", only_the_question_is_left).await;
    let answer = format!("/api/tasks/{}/answer", asks(&waiting).unwrap().id);
    let _answered: Value = demo.client.post(&answer, &json!({"content": "violet"})).await.unwrap();
    let complete = demo.client.until(&demo.project, "the project is complete", |board| board.project.status == ProjectStatus::Complete).await;
    assert_eq!(complete.project.landed, None, "the person lands it");
    kill(Pid::from_raw(demo.child.id().unwrap().try_into().unwrap()), Signal::SIGTERM).unwrap();
    let (status, said) = demo.end().await;
    assert!(status.success(), "{said:?}");
}
