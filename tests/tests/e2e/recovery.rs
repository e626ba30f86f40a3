//! The server crashes and restarts while agents work. They continue without it, the new server adopts them, and nothing is lost or duplicated.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use domain::board::card::Card;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::condition::RunCondition;
use domain::runs::failure::EndClass;
use domain::runs::output::{OutputKind, OutputLine};
use domain::runs::run::Run;
use tests::git::{git, repository};
use tests::server::{TestServer, card};
use tests::socket::Socket;
use uuid::Uuid;

use crate::pipeline;
use crate::support::{self, FILES, agents_of, complete, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/recovery.json");

/// The text of a coder of the scenario, in order.
const WORDS: [&str; 7] = ["I wait.", "Line 1.", "Line 2.", "Line 3.", "I commit.", "I submit.", "The work is in review."];

#[tokio::test]
async fn restarted_server_adopts_scripted_agents() {
    killed_while_both_work(support::scripted(SCENARIO).await).await;
}

#[tokio::test]
async fn restarted_server_adopts_real_agents() {
    let (server, _model) = support::real(SCENARIO).await;
    killed_while_both_work(server).await;
}

async fn killed_while_both_work(mut server: TestServer) {
    let work = BothAtWork::begin(&server).await;
    server.kill().await.unwrap();
    work.go_on_alone(&server).await;
    server.serve().await.unwrap();
    work.ends_as_it_would_have(&server).await;
}

#[tokio::test]
async fn sigterm_stops_the_server_but_not_its_agents() {
    let mut server = support::scripted(SCENARIO).await;
    let work = BothAtWork::begin(&server).await;
    let mut browser = Socket::open(&server, &work.project, None).await.unwrap();
    let agents = |server: &TestServer| agents_of(server).into_iter().filter(|command| command.contains("scripted-agent")).collect::<Vec<_>>();
    let before = agents(&server);
    assert_eq!(before.len(), 2);
    let asked = Instant::now();
    assert!(server.stop().await.unwrap().success());
    assert!(asked.elapsed() < Duration::from_secs(2), "it took {:?}", asked.elapsed());
    while browser.event().await.unwrap().is_some() {}
    for file in ["data/server.json", "data/sockets/vibe-relay.sock"] {
        assert!(!server.root().join(file).exists(), "a bridge would look for a server that is not there");
    }
    assert_eq!(agents(&server), before, "agents go on");

    work.go_on_alone(&server).await;
    server.serve().await.unwrap();
    work.ends_as_it_would_have(&server).await;
}

/// The folders of the runs vanish and the server runs out of file descriptors while two agents work. No second agent is started in a checkout,
/// the cards say what is wrong, and the work ends when the agents do.
#[tokio::test]
async fn unreachable_agents_are_never_replaced() {
    let server = support::scripted(SCENARIO).await;
    let work = BothAtWork::begin(&server).await;
    let limit = |soft: &str| {
        let pid = server.server_id().unwrap().to_string();
        #[expect(clippy::disallowed_methods, reason = "a test changes the limits of the program under test")]
        let mut command = std::process::Command::new("prlimit");
        let status = command.args(["--pid", &pid, &format!("--nofile={soft}:")]).status().unwrap();
        assert!(status.success(), "prlimit failed");
    };
    limit("8");
    for folder in std::fs::read_dir(server.root().join("data/runs")).unwrap() {
        std::fs::remove_dir_all(folder.unwrap().path()).unwrap();
    }
    limit("1024");
    let is_unreachable = |card: &Card| matches!(&card.wait_reason, Some(WaitReason::Impaired { condition: RunCondition::Unreachable { .. }, .. }));
    let board = server
        .until(&work.project, "both agents cannot be reached", |board| board.cards.iter().filter(|card| is_unreachable(card)).count() == 2)
        .await;
    for (task, run) in &work.runs {
        assert_eq!(board.card(task).unwrap().run.as_ref().map(|live| &live.id), Some(run), "the run stays live");
    }
    let agents = |server: &TestServer| agents_of(server).into_iter().filter(|command| command.contains("scripted-agent")).count();
    assert_eq!(agents(&server), 2);
    work.go_on_alone(&server).await;
    let board = server.until(&work.project, "the project is complete", complete).await;
    assert_eq!(board.cards.len(), 4);
    for task in work.runs.keys() {
        let runs = server.runs(task).await.unwrap();
        let told: Vec<(AgentKind, Option<EndClass>)> = runs.iter().map(|run| (run.phase, run.end_class)).collect();
        assert_eq!(told, [(AgentKind::Coder, Some(EndClass::Finished)), (AgentKind::Reviewer, Some(EndClass::Finished))]);
    }
}

/// A project with two working coders.
struct BothAtWork {
    project: ProjectId,
    /// The current runs.
    runs: BTreeMap<TaskId, RunId>,
}

impl BothAtWork {
    async fn begin(server: &TestServer) -> Self {
        let project = server.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
        let [alpha, beta] = ["TASK-002", "TASK-003"];
        support::reached(server, alpha).await;
        support::reached(server, beta).await;
        let board = server.board(&project).await.unwrap();
        let runs = [alpha, beta].map(|id| id.parse().unwrap()).map(|id: TaskId| (id.clone(), board.card(&id).unwrap().run.clone().unwrap().id));
        Self { project, runs: runs.into() }
    }

    /// Lets both agents work without a server until they need it.
    async fn go_on_alone(&self, server: &TestServer) {
        for task in self.runs.keys() {
            support::open(server, task.as_str());
        }
        for task in self.runs.keys() {
            let file = server.root().join(format!("{task}.committed"));
            tests::wait_for(&format!("{task} is committed"), || file.exists()).await;
        }
    }

    async fn ends_as_it_would_have(&self, server: &TestServer) {
        let board = server.until(&self.project, "the project is complete", complete).await;
        assert_eq!(board.cards.len(), 4, "the plan, two tasks and a check of the result");
        for (task, run) in &self.runs {
            let runs = server.runs(task).await.unwrap();
            let told: Vec<(AgentKind, Option<EndClass>)> = runs.iter().map(|run| (run.phase, run.end_class)).collect();
            assert_eq!(told, [(AgentKind::Coder, Some(EndClass::Finished)), (AgentKind::Reviewer, Some(EndClass::Finished))]);
            assert_eq!(runs[0].id, *run, "the run that was at work was taken over");
            let output = server.output(run).await.unwrap();
            assert!(output.complete);
            assert_eq!(said(&output.lines), WORDS, "every line once and in order");
            let count = |kind| output.lines.iter().filter(|line| line.kind == kind).count();
            assert_eq!((count(OutputKind::ToolUse), count(OutputKind::ToolResult), count(OutputKind::ToolError)), (6, 6, 0));
        }
        server.until(&self.project, "nothing is left", |_| nothing_left(server)).await;
    }
}

fn said(lines: &[OutputLine]) -> Vec<&str> {
    lines.iter().filter(|line| line.kind == OutputKind::Text).map(|line| line.text.as_str()).collect()
}

/// How often the server is killed in one pipeline, each time at a different event.
const KILLS: usize = 6;
/// A lower bound for the number of events in the pipeline.
const EVENTS: u128 = 70;

/// Creates the lock file that a kill leaves while the project branch moves. The moment is too short to hit by chance.
fn leave_a_lock(server: &TestServer) {
    let lock = server.repository().join(".git/refs/heads/vibe-relay/PROJ-001.lock");
    // The folder does not exist before the first run.
    if lock.parent().unwrap().is_dir() {
        std::fs::write(lock, "").unwrap();
    }
}

#[tokio::test]
async fn pipeline_survives_server_kills_at_random_events() {
    let mut server = support::scripted(pipeline::SCENARIO).await;
    let project = server.project("Letters", Some("Write alpha, beta, gamma and whatever else is missing.")).await.unwrap().id;
    let random = Uuid::new_v4().as_u128();
    let moments: BTreeSet<i64> = (0..KILLS).map(|kill| i64::try_from((random >> (16 * kill)) % EVENTS).unwrap() + 3).collect();
    for moment in &moments {
        let mut log = Socket::open(&server, &project, Some((0, &server.board(&project).await.unwrap().epoch))).await.unwrap();
        while log.event().await.unwrap().unwrap().seq < *moment {}
        server.kill().await.unwrap();
        leave_a_lock(&server);
        server.serve().await.unwrap();
    }
    let board = server.until(&project, "the project is complete", complete).await;
    assert!(board.seq > i64::try_from(EVENTS).unwrap() + 3, "{} events are too few for the kills", board.seq);

    let mut finished: BTreeMap<String, Vec<AgentKind>> = BTreeMap::new();
    for card in &board.cards {
        let runs = server.runs(&card.id).await.unwrap();
        let (done, rest): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.end_class == Some(EndClass::Finished));
        // A run that was only reserved when the server died uses no attempt and is started again.
        assert!(rest.iter().all(|run| run.end_class == Some(EndClass::Parked) && run.turns == 0), "killed at {moments:?}: {rest:#?}");
        finished.insert(card.title.clone(), done.iter().map(|run| run.phase).collect());
    }
    let (coder, reviewer) = (AgentKind::Coder, AgentKind::Reviewer);
    for (title, phases) in [
        ("Write alpha", vec![coder, reviewer]),
        ("Write beta", vec![coder, reviewer, coder, reviewer]),
        ("Write gamma", vec![coder, reviewer]),
        ("Write delta", vec![coder, reviewer]),
    ] {
        assert_eq!(finished[title], phases, "runs of {title}, killed at {moments:?}");
    }

    let branch = &board.project.integration_branch;
    let log = git(&server.repository(), &["log", "--no-merges", "--format=%s", &format!("main..{branch}")]).unwrap();
    let commits: BTreeSet<&str> = log.lines().collect();
    assert_eq!(commits, ["Mend beta", "Write alpha", "Write beta", "Write delta", "Write gamma"].into(), "killed at {moments:?}");
    assert_eq!(log.lines().count(), commits.len(), "every commit once:\n{log}");
    let wanted = tempfile::tempdir().unwrap();
    let written = [("alpha.txt", "alpha\n"), ("beta.txt", "beta, mended\n"), ("gamma.txt", "gamma\n"), ("delta.txt", "delta\n")];
    repository(wanted.path(), &[FILES, &written].concat()).unwrap();
    let tree = |folder: &std::path::Path, commit: &str| git(folder, &["rev-parse", &format!("{commit}^{{tree}}")]).unwrap();
    assert_eq!(tree(&server.repository(), branch), tree(wanted.path(), "main"), "the same files as without kills");
    let beta = card(&board, "Write beta");
    let said: Vec<String> = server.comments(&beta.id).await.unwrap().into_iter().map(|view| view.comment.content).collect();
    assert_eq!(beta.comments, 2, "killed at {moments:?}: {said:?}");
    server.until(&project, "nothing is left", |_| nothing_left(&server)).await;
}
