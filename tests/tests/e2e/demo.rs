//! The demonstration as a person starts it: it plays to its end in time, survives its pulled plug, and leaves nothing behind.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use domain::comment::AuthorRole;
use domain::event::{Envelope, Event};
use domain::id::ProjectId;
use domain::task::Phase;
use reqwest::{Method, StatusCode};
use serde_json::json;
use tempfile::TempDir;
use tests::client::Client;
use tests::socket::Socket;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::scene::{PROGRAM, processes_of};

/// What a whole demonstration may take on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(180);

/// A started demonstration; dropping it kills it.
struct Demo {
    child: Child,
    output: Lines<BufReader<ChildStdout>>,
    /// Stands in for the folder of temporary files.
    folder: TempDir,
    client: Client,
    project: ProjectId,
}

impl Demo {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test starts the product as a person does")]
        let mut command = Command::new(PROGRAM);
        command.args(["demo", "--no-open", "--exit"]).stdout(Stdio::piped()).kill_on_drop(true).env_clear();
        command.env("PATH", std::env::var("PATH").unwrap()).env("HOME", folder.path()).env("TMPDIR", folder.path());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut link = None;
        while link.is_none() {
            let line = output.next_line().await.unwrap().expect("the demonstration says where it is");
            link = line.split_once("/sign-in").map(|(url, _)| url.to_owned());
        }
        let stage: Vec<PathBuf> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let token = std::fs::read_to_string(stage[0].join("token")).unwrap();
        let client = Client::new(&link.unwrap(), &token);
        Self { child, output, folder, client, project: "PROJ-001".parse().unwrap() }
    }

    /// Everything that happens in the project until it is complete.
    async fn watch(&self) -> Vec<Envelope> {
        let project = &self.project;
        tests::wait_for_answer("the project is made", || async { self.client.board(project).await.ok() }).await;
        let epoch = self.client.board(project).await.unwrap().epoch;
        let mut log = Socket::open(&self.client, project, Some((0, &epoch))).await.unwrap();
        let mut events = Vec::new();
        while events.last().is_none_or(|last: &Envelope| last.event != Event::ProjectCompleted {}) {
            events.push(log.event().await.unwrap().unwrap());
        }
        events
    }

    /// Waits for its end, and says how it ended and what it said from now on.
    async fn end(mut self) -> (ExitStatus, Vec<String>) {
        let mut said = Vec::new();
        let ending = async {
            while let Some(line) = self.output.next_line().await.unwrap() {
                said.push(line);
            }
            self.child.wait().await.unwrap()
        };
        let status = tokio::time::timeout(PATIENCE, ending).await.unwrap();
        let left: Vec<_> = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new(), "no file is left");
        assert_eq!(processes_of(self.folder.path()), Vec::<String>::new(), "no process is left");
        (status, said)
    }
}

fn moment(events: &[Envelope], what: impl Fn(&Envelope) -> bool) -> Duration {
    let found = events.iter().find(|envelope| what(envelope)).unwrap();
    found.at.since(events.iter().find(|envelope| envelope.event == Event::ProjectCreated {}).unwrap().at)
}

/// When two coders were at work at once for the first time.
fn two_coders(events: &[Envelope]) -> Duration {
    let mut working = BTreeSet::new();
    let place = events.iter().position(|envelope| {
        match envelope.event {
            Event::RunStarted { phase: Phase::Coder, .. } => drop(working.insert(envelope.run_id.clone())),
            Event::RunEnded { .. } => drop(working.remove(&envelope.run_id)),
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
async fn the_demonstration_plays_to_its_end_and_leaves_nothing() {
    let demo = Demo::start().await;
    let watch = async {
        let events = demo.watch().await;
        let card = moment(&events, |envelope| envelope.event == Event::TaskCreated {} && envelope.actor != domain::actor::Actor::Human);
        let coders = two_coders(&events);
        let complete = moment(&events, |envelope| envelope.event == Event::ProjectCompleted {});
        eprintln!("first planned card after {card:?}, two coders at once after {coders:?}, complete after {complete:?}");
        // A person's machine has 3 s, 8 s and 75 s; this one runs other tests meanwhile.
        assert!(card < Duration::from_secs(6) && coders < Duration::from_secs(16) && complete < Duration::from_secs(150));
        let asked = events.iter().any(|envelope| matches!(envelope.event, Event::QuestionAsked { .. }));
        assert!(asked && moment(&events, |envelope| matches!(envelope.event, Event::QuestionAnswered { .. })) < complete);
        let sent_back = events.iter().find(|envelope| matches!(envelope.event, Event::CommentAdded { author_role: AuthorRole::Reviewer, .. }));
        sent_back.unwrap().task_id.clone().unwrap()
    };
    let task = watch.await;
    let comments = demo.client.comments(&task).await;
    let (status, said) = demo.end().await;
    assert!(status.success(), "{said:?}");
    eprintln!("{}", summary(&said));
    // The server may have ended before it was asked: then the site's own test has said which line it is.
    if let Ok(comments) = comments {
        let review = comments.iter().find(|view| view.comment.author_role == AuthorRole::Reviewer).unwrap();
        let line = review.comment.content.strip_prefix("index.html:").and_then(|rest| rest.split(':').next()).unwrap();
        assert!(line.parse::<u32>().is_ok(), "{}", review.comment.content);
    }
}

#[tokio::test]
async fn the_demonstration_survives_its_pulled_plug() {
    let demo = Demo::start().await;
    let project = demo.project.clone();
    let working = |board: &domain::board::Board| board.cards.iter().filter(|card| card.run.is_some()).count() == 2;
    demo.client.until(&project, "two agents work", working).await;
    let pulled = demo.client.request(Method::POST, "/api/demo/pull-the-plug").send().await.unwrap();
    assert_eq!(pulled.status(), StatusCode::ACCEPTED);
    // On the same address, with the same token and the same project.
    let (url, token) = (demo.client.url.clone(), demo.client.token.clone());
    let (status, said) = demo.end().await;
    assert!(status.success(), "{said:?}");
    assert_eq!(said[0], "The plug was pulled. Starting again.");
    summary(&said);
    let _ = (url, token, json!({}));
}
