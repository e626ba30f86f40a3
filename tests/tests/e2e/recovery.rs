//! The server dies and comes back while agents work: they go on without it, are taken over, and nothing is lost, doubled or started twice.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::output::{OutputKind, OutputLine};
use domain::runs::run::Run;
use tests::git::{git, repository};
use tests::relay::{Relay, card};
use tests::socket::Socket;
use uuid::Uuid;

use crate::pipeline;
use crate::scene::{self, FILES, agents_of, complete, nothing_left};

const SCENARIO: &str = include_str!("../../scenarios/recovery.json");

/// What a coder of the scenario says, in order.
const WORDS: [&str; 7] = ["I wait.", "Line 1.", "Line 2.", "Line 3.", "I commit.", "I hand in.", "The work is in review."];

#[tokio::test]
async fn a_killed_server_finds_both_scripted_agents_at_work() {
    killed_while_both_work(scene::scripted(SCENARIO).await).await;
}

#[tokio::test]
async fn a_killed_server_finds_both_real_agents_at_work() {
    let (relay, _model) = scene::real(SCENARIO).await;
    killed_while_both_work(relay).await;
}

async fn killed_while_both_work(mut relay: Relay) {
    let work = BothAtWork::begin(&relay).await;
    relay.kill().await.unwrap();
    work.go_on_alone(&relay).await;
    relay.serve().await.unwrap();
    work.ends_as_it_would_have(&relay).await;
}

#[tokio::test]
async fn sigterm_ends_the_server_at_once_and_agents_go_on() {
    let mut relay = scene::scripted(SCENARIO).await;
    let work = BothAtWork::begin(&relay).await;
    let mut browser = Socket::open(&relay, &work.project, None).await.unwrap();
    let agents = |relay: &Relay| agents_of(relay).into_iter().filter(|command| command.contains("scripted-agent")).collect::<Vec<_>>();
    let before = agents(&relay);
    assert_eq!(before.len(), 2);
    let asked = Instant::now();
    assert!(relay.end().await.unwrap().success());
    assert!(asked.elapsed() < Duration::from_secs(2), "it took {:?}", asked.elapsed());
    while browser.event().await.unwrap().is_some() {}
    assert!(!relay.place().join("data/server.json").exists(), "a bridge would look for a server that is not there");
    assert_eq!(agents(&relay), before, "agents go on");

    work.go_on_alone(&relay).await;
    relay.serve().await.unwrap();
    work.ends_as_it_would_have(&relay).await;
}

/// A project with two coders in the middle of their work.
struct BothAtWork {
    project: ProjectId,
    /// The runs that are at work.
    runs: BTreeMap<TaskId, RunId>,
}

impl BothAtWork {
    async fn begin(relay: &Relay) -> Self {
        let project = relay.project("Letters", Some("Write alpha and beta.")).await.unwrap().id;
        let [alpha, beta] = ["TASK-002", "TASK-003"];
        scene::reached(relay, alpha).await;
        scene::reached(relay, beta).await;
        let board = relay.board(&project).await.unwrap();
        let runs = [alpha, beta].map(|id| id.parse().unwrap()).map(|id: TaskId| (id.clone(), board.card(&id).unwrap().run.clone().unwrap().id));
        Self { project, runs: runs.into() }
    }

    /// Both work while there is no server, up to where they need it.
    async fn go_on_alone(&self, relay: &Relay) {
        for task in self.runs.keys() {
            scene::open(relay, task.as_str());
        }
        for task in self.runs.keys() {
            let file = relay.place().join(format!("{task}.committed"));
            tests::wait_for(&format!("{task} is committed"), || file.exists()).await;
        }
    }

    async fn ends_as_it_would_have(&self, relay: &Relay) {
        let board = relay.until(&self.project, "the project is complete", complete).await;
        assert_eq!(board.cards.len(), 4, "the plan, two tasks and a look at the whole");
        for (task, run) in &self.runs {
            let runs = relay.runs(task).await.unwrap();
            let told: Vec<(AgentKind, Option<EndClass>)> = runs.iter().map(|run| (run.phase, run.end_class)).collect();
            assert_eq!(told, [(AgentKind::Coder, Some(EndClass::Finished)), (AgentKind::Reviewer, Some(EndClass::Finished))]);
            assert_eq!(runs[0].id, *run, "the run that was at work was taken over");
            let output = relay.output(run).await.unwrap();
            assert!(output.complete);
            assert_eq!(said(&output.lines), WORDS, "every line once and in order");
            let count = |kind| output.lines.iter().filter(|line| line.kind == kind).count();
            assert_eq!((count(OutputKind::ToolUse), count(OutputKind::ToolResult), count(OutputKind::ToolError)), (6, 6, 0));
        }
        relay.until(&self.project, "nothing is left", |_| nothing_left(relay)).await;
    }
}

fn said(lines: &[OutputLine]) -> Vec<&str> {
    lines.iter().filter(|line| line.kind == OutputKind::Text).map(|line| line.text.as_str()).collect()
}

/// As often the server is killed in one pipeline, each time at another event of its log.
const KILLS: usize = 6;
/// The pipeline writes more events than this.
const EVENTS: u128 = 70;

/// What a kill leaves that comes while the project branch is being moved: too short a moment to be met by chance.
fn leave_a_lock(relay: &Relay) {
    let lock = relay.repository().join(".git/refs/heads/vibe-relay/PROJ-001.lock");
    // There is no such folder before the first run.
    if lock.parent().unwrap().is_dir() {
        std::fs::write(lock, "").unwrap();
    }
}

#[tokio::test]
async fn a_pipeline_survives_kills_at_any_moment() {
    let mut relay = scene::scripted(pipeline::SCENARIO).await;
    let project = relay.project("Letters", Some("Write alpha, beta, gamma and whatever else is missing.")).await.unwrap().id;
    let random = Uuid::new_v4().as_u128();
    let moments: BTreeSet<i64> = (0..KILLS).map(|kill| i64::try_from((random >> (16 * kill)) % EVENTS).unwrap() + 3).collect();
    for moment in &moments {
        let mut log = Socket::open(&relay, &project, Some((0, &relay.board(&project).await.unwrap().epoch))).await.unwrap();
        while log.event().await.unwrap().unwrap().seq < *moment {}
        relay.kill().await.unwrap();
        leave_a_lock(&relay);
        relay.serve().await.unwrap();
    }
    let board = relay.until(&project, "the project is complete", complete).await;
    assert!(board.seq > i64::try_from(EVENTS).unwrap() + 3, "{} events are too few for the kills", board.seq);

    let mut finished: BTreeMap<String, Vec<AgentKind>> = BTreeMap::new();
    for card in &board.cards {
        let runs = relay.runs(&card.id).await.unwrap();
        let (done, rest): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.end_class == Some(EndClass::Finished));
        // A run that was only on paper when the server died costs nothing and is begun again.
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
    let log = git(&relay.repository(), &["log", "--no-merges", "--format=%s", &format!("main..{branch}")]).unwrap();
    let commits: BTreeSet<&str> = log.lines().collect();
    assert_eq!(commits, ["Mend beta", "Write alpha", "Write beta", "Write delta", "Write gamma"].into(), "killed at {moments:?}");
    assert_eq!(log.lines().count(), commits.len(), "every commit once:\n{log}");
    let wanted = tempfile::tempdir().unwrap();
    let written = [("alpha.txt", "alpha\n"), ("beta.txt", "beta, mended\n"), ("gamma.txt", "gamma\n"), ("delta.txt", "delta\n")];
    repository(wanted.path(), &[FILES, &written].concat()).unwrap();
    let tree = |folder: &std::path::Path, commit: &str| git(folder, &["rev-parse", &format!("{commit}^{{tree}}")]).unwrap();
    assert_eq!(tree(&relay.repository(), branch), tree(wanted.path(), "main"), "the same files as without kills");
    assert_eq!(card(&board, "Write beta").comments, 2);
    relay.until(&project, "nothing is left", |_| nothing_left(&relay)).await;
}
