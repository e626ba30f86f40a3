//! The supervisor with a store, a repository and real processes: what it starts, takes over and ends.
//!
//! The agent is a script that waits for files; what an agent does through its tools is done here in its name.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use db::{Caller, Db, MoveRequest, RunCaller};
use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::config::{Config, Durability};
use domain::event::Event;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::output::{OutputKind, OutputLine};
use domain::runs::parking::{ParkReason, Parking};
use domain::runs::run::Run;
use domain::wire::NewProject;
use repo::testing::{TestRepository, commit_all_in, write_in};
use runner::run_dir::RunDir;
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::run::{is_gone, this_program};

/// Ends a turn each time that a file `turn` comes up, and itself when its input ends or it finds its script gone. What it is told it
/// writes down, unless a file `deaf` keeps it from listening.
const AGENT: &str = r#"
cd "$(dirname "$0")"
init='{"type":"system","subtype":"init","session_id":"s","model":"scripted","mcp_servers":[{"name":"vibe-relay","status":"connected"}]}'
result='{"type":"result","subtype":"success","is_error":false,"num_turns":1,"modelUsage":{"scripted":{"inputTokens":1,"outputTokens":1,"costUSD":0.5}}}'
after='{"type":"command_lifecycle","state":"completed"}'
echo $$ >> pids
echo $PORT >> ports
while read -r line; do
  printf '%s\n' "$line" >> told
  echo "$init"
  printf '%s\n' "$line" | sed 's/^{/{"isReplay":true,/'
  while [ ! -e turn ]; do [ -e script.sh ] || exit 9; sleep 0.02; done
  rm turn
  echo "$result"
  echo "$after"
  while [ -e deaf ]; do sleep 0.02; done
done
"#;

pub(crate) struct Bench {
    sample: TestRepository,
    config: Config,
    pub(crate) db: Db,
}

impl Drop for Bench {
    /// Agents outlive their servers, also those of a test that failed.
    fn drop(&mut self) {
        for pid in self.lines("pids").iter().filter_map(|pid| pid.parse().ok()) {
            // Most are gone.
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// A supervisor at work; ended by `stop`, as a server that is shut down.
pub(crate) struct Server {
    shutdown: CancellationToken,
    task: JoinHandle<db::Result<()>>,
}

impl Server {
    pub(crate) async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.unwrap().unwrap();
    }
}

impl Bench {
    /// A standing board whose reviews wait for ever.
    pub(crate) async fn new() -> Self {
        let sample = TestRepository::new();
        write_in(&sample.beside("agent"), "script.sh", AGENT);
        let script = sample.beside("agent/script.sh").to_string_lossy().into_owned();
        let config = Config {
            db_path: sample.beside("store/board.db"),
            worktrees_path: sample.beside("worktrees"),
            durability: Durability::Normal,
            agent_command: vec!["/bin/sh".to_owned(), script],
            max_parallel_reviewers: 0,
            max_attempts: 1,
            ..Config::default()
        };
        let db = Db::open(&config).await.unwrap();
        let probe = repo::probe(sample.top(), None).unwrap();
        db.create_project(&Caller::Human, NewProject { title: "Board".to_owned(), ..NewProject::default() }, probe).await.unwrap();
        Self { sample, config, db }
    }

    pub(crate) fn serve(&self) -> Server {
        let (shutdown, activity) = (CancellationToken::new(), broadcast::channel(16).0);
        let work = runner::supervise(self.db.clone(), Arc::new(self.config.clone()), this_program(), activity, shutdown.clone());
        Server { shutdown, task: tokio::spawn(work) }
    }

    async fn task(&self, title: &str) -> TaskId {
        let new = NewTask {
            title: title.to_owned(),
            description: None,
            phase: None,
            parent_task_id: None,
            depends_on: Vec::new(),
            priority: None,
            model: None,
            start: true,
            assigned_to: None,
            role_hat: None,
            goal_id: None,
        };
        let project = self.db.projects().await.unwrap().remove(0).id;
        self.db.create_task(&Caller::Human, &project, new).await.unwrap().card.id
    }

    pub(crate) fn agent_file(&self, name: &str) -> PathBuf {
        self.sample.beside("agent").join(name)
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.agent_file(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) async fn card(&self, task: &TaskId) -> Card {
        self.db.card(task).await.unwrap()
    }

    /// Waits until the store says so.
    async fn run_when(&self, what: &str, holds: impl Fn(&Run) -> bool) -> Run {
        let mut news = self.db.subscribe();
        let waiting = async {
            loop {
                news.borrow_and_update();
                match self.db.run(&RunId::new(1)).await {
                    Ok(run) if holds(&run) => return run,
                    _ => news.changed().await.unwrap(),
                }
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.unwrap_or_else(|_| panic!("waited too long for {what}"))
    }

    pub(crate) async fn end_of_the_run(&self) -> Run {
        self.run_when("the end of the run", |run| run.completed_at.is_some()).await
    }

    /// Starts the first run and waits until its agent has its first message.
    pub(crate) async fn at_work(&self) -> (Server, TaskId, Caller) {
        let task = self.task("Add a").await;
        let server = self.serve();
        super::run::wait_for("the agent", || self.lines("told").len() == 1).await;
        let project_id = self.card(&task).await.project_id;
        let run = self.db.run(&RunId::new(1)).await.unwrap();
        let agent = RunCaller { run_id: run.id, task_id: task.clone(), project_id, phase: run.phase, call_id: None };
        (server, task, Caller::Run(agent))
    }

    /// What the agent does with its tools to finish.
    pub(crate) async fn hand_in(&self, task: &TaskId, agent: &Caller) {
        let checkout = self.db.task(task).await.unwrap().worktree_path.unwrap();
        write_in(checkout.as_ref(), "a", "a");
        commit_all_in(checkout.as_ref(), "work");
        let look = self.db.required_evidence(agent, task, Status::InReview).await.unwrap();
        let found = repo::collect_evidence(&look).unwrap();
        self.db.move_task(agent, task, MoveRequest::to(Status::InReview), found).await.unwrap();
    }

    pub(crate) fn end_turn(&self) {
        fs::write(self.agent_file("turn"), "").unwrap();
    }

    /// Waits until it is on record that the agent ended its first turn, whoever watches.
    pub(crate) async fn turn_is_over(&self) {
        let output = self.run_folder().join("stdout");
        super::run::wait_for("the end of its turn", || fs::read_to_string(&output).unwrap().contains("command_lifecycle")).await;
    }

    /// The folder of the first run.
    pub(crate) fn run_folder(&self) -> PathBuf {
        let mut folders = fs::read_dir(self.sample.beside("store/runs")).unwrap().map(|entry| entry.unwrap().path());
        folders.find(|folder| folder.file_name().unwrap().to_string_lossy().starts_with("RUN-001-")).unwrap()
    }

    pub(crate) fn transcript(&self) -> Vec<OutputLine> {
        let path = self.run_folder().join("transcript.jsonl");
        fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[tokio::test]
async fn an_agent_that_handed_in_is_let_go_when_its_turn_ends() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    assert!(bench.lines("told")[0].contains("<issue>\\nTitle: Add a\\n"));
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure, run.exit_code), (Some(EndClass::Finished), None, Some(0)));
    assert_eq!((run.cost_micro_usd, run.turns), (500_000, 1));
    assert_eq!(bench.lines("told").len(), 1, "it was not reminded");
    assert_eq!(bench.card(&task).await.status, Status::InReview);
    server.stop().await;
}

/// It came to the end of its turn, so the service answers; it did so without a failure, so there is room.
#[tokio::test]
async fn who_gets_on_lifts_what_only_trying_can_lift() {
    let bench = Bench::new().await;
    let over = bench.db.project(&ProjectId::new(1)).await.unwrap().created_at;
    for reason in [ParkReason::ServiceUnreachable, ParkReason::DiskFull] {
        bench.db.park(Parking { reason, until: over, detail: "x".to_owned() }).await.unwrap();
    }
    let (server, task, agent) = bench.at_work().await;
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    bench.end_of_the_run().await;
    let events = bench.db.events_after(0, None, 100).await.unwrap();
    let lifted = events.iter().filter_map(|event| if let Event::AgentsResumed { reason } = event.event { Some(reason) } else { None });
    assert_eq!(lifted.collect::<Vec<_>>(), [ParkReason::ServiceUnreachable, ParkReason::DiskFull]);
    assert_eq!(bench.db.parkings().await.unwrap(), []);
    server.stop().await;
}

#[tokio::test]
async fn an_agent_outlives_its_server_and_the_next_one_takes_it_over() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    server.stop().await;
    assert_eq!(bench.db.live_runs().await.unwrap().len(), 1);
    // What it does while nobody watches is not lost either.
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    let server = bench.serve();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.cost_micro_usd), (Some(EndClass::Finished), 500_000));
    assert_eq!(bench.card(&task).await.runs, 1);
    let kinds: Vec<OutputKind> = bench.transcript().iter().map(|line| line.kind).collect();
    assert_eq!(kinds, [OutputKind::Start, OutputKind::Message, OutputKind::Result]);
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_moves_nothing_is_reminded_once_and_then_needs_the_person() {
    let bench = Bench::new().await;
    let (server, task, _) = bench.at_work().await;
    bench.end_turn();
    super::run::wait_for("the reminder", || bench.lines("told").len() == 2).await;
    assert!(bench.lines("told")[1].contains("<reminder>"));
    bench.end_turn();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure, run.error), (Some(EndClass::Failed), Some(FailureClass::NoOutcome), None));
    assert_eq!(run.cost_micro_usd, 1_000_000);
    let attention = bench.card(&task).await.attention.unwrap();
    assert_eq!(attention.detail, "1 attempts failed; the last: the agent ended without moving its card. Press Retry when it is mended.");
    server.stop().await;
}

/// The answer comes while the agent's turn is not over yet.
#[tokio::test]
async fn a_question_that_was_answered_at_once_is_no_failure() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    bench.db.ask(&agent, "A or B?", Vec::new(), None).await.unwrap();
    bench.db.answer(&Caller::Human, &task, "A").await.unwrap();
    bench.end_turn();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure), (Some(EndClass::AwaitingAnswer), None));
    super::run::wait_for("the next run", || bench.lines("told").len() == 2).await;
    let next = bench.lines("told").remove(1);
    assert!(next.contains("A or B?"), "the next run knows it: {next}");
    server.stop().await;
}

#[tokio::test]
async fn words_of_the_person_reach_the_agent_in_the_next_turn() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    bench.db.message_run(&Caller::Human, &RunId::new(1), "use B").await.unwrap();
    // Taken up when its turn ends: it is neither reminded nor let go before.
    bench.end_turn();
    super::run::wait_for("the message", || bench.lines("told").len() == 2).await;
    assert!(bench.lines("told")[1].contains("use B"));
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(bench.lines("told").len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn a_person_s_stop_reaches_an_agent_that_was_taken_over() {
    let bench = Bench::new().await;
    let (server, task, _) = bench.at_work().await;
    server.stop().await;
    bench.db.stop_task(&Caller::Human, &task).await.unwrap();
    let server = bench.serve();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Stopped));
    assert!(is_gone(&bench.lines("pids")[0]));
    server.stop().await;
}

/// Whatever is wrong with what is known about a run: its processes are gone before its end is recorded.
#[tokio::test]
async fn an_agent_that_cannot_be_watched_is_ended() {
    let bench = Bench::new().await;
    let (server, _, _) = bench.at_work().await;
    server.stop().await;
    let transcript = bench.run_folder().join("transcript.jsonl");
    fs::remove_file(&transcript).unwrap();
    fs::create_dir(&transcript).unwrap();
    let server = bench.serve();
    let run = bench.end_of_the_run().await;
    assert!(is_gone(&bench.lines("pids")[0]));
    assert_eq!((run.end_class, run.failure), (Some(EndClass::Failed), Some(FailureClass::Lost)));
    server.stop().await;
}

/// The server was killed after it reserved the run, or when all was ready and only the shim was missing.
#[tokio::test]
async fn a_run_that_was_reserved_and_not_started_costs_nothing() {
    for ready in [false, true] {
        let bench = Bench::new().await;
        let wish = db::NewRun {
            task: bench.task("Add a").await,
            phase: domain::runs::agent_kind::AgentKind::Coder,
            status: Status::Backlog,
            sha: None,
            worktree_path: None,
            runs_root: bench.sample.beside("store/runs"),
            port: None,
        };
        let reserved = bench.db.reserve_run(wish).await.unwrap();
        if ready {
            RunDir::create(&reserved.run_dir, &super::run::Run::new("exit 1").spec).unwrap();
        }
        let server = bench.serve();
        let run = bench.end_of_the_run().await;
        assert_eq!((run.end_class, run.failure), (Some(EndClass::Parked), None), "ready: {ready}");
        super::run::wait_for("the next run's agent", || bench.lines("told").len() == 1).await;
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_start_at_once_get_a_port_each() {
    let bench = Bench::new().await;
    for title in ["One", "Two", "Three"] {
        bench.task(title).await;
    }
    let server = bench.serve();
    super::run::wait_for("three agents", || bench.lines("ports").len() == 3).await;
    let mut ports = bench.lines("ports");
    ports.sort();
    ports.dedup();
    assert_eq!(ports.len(), 3, "{ports:?}");
    server.stop().await;
}
