//! The supervisor with a store, a repository and real processes: starting, adopting and ending runs.
//!
//! The agent is a script that waits for files. The tests make its tool calls themselves.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use db::{Caller, Db, MoveRequest, RunCaller};
use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::NewTask;
use domain::config::live::LiveConfig;
use domain::config::{Config, Durability};
use domain::event::Event;
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::output::{OutputKind, OutputLine};
use domain::runs::parking::{ParkReason, ParkingEvent};
use domain::runs::run::Run;
use domain::runs::sandbox::SandboxTier;
use domain::runs::tick::Ticks;
use domain::wire::NewProject;
use repo::testing::{TestRepository, commit_all_in, write_in};
use runner::RunContext;
use runner::process::Programs;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::run::{is_gone, this_program};

/// Ends a turn each time a file `turn` appears, and exits when its input ends or its script is gone. It records its input, unless a file
/// `deaf` exists.
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
    pub(crate) sample: TestRepository,
    config: Config,
    pub(crate) db: Db,
}

impl Drop for Bench {
    /// Agents outlive their servers, including those of a failed test.
    fn drop(&mut self) {
        for pid in self.lines("pids").iter().filter_map(|pid| pid.parse().ok()) {
            // Most have already exited.
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// A running supervisor; `stop` shuts it down as a server does.
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
    /// A board without a plan that starts no reviewer.
    pub(crate) async fn new() -> Self {
        let sample = TestRepository::new();
        write_in(&sample.beside("agent"), "script.sh", AGENT);
        let script = sample.beside("agent/script.sh").to_string_lossy().into_owned();
        let config = Config {
            db_path: sample.beside("store/board.db"),
            worktrees_path: sample.beside("worktrees"),
            durability: Durability::Normal,
            agent_command: vec!["/bin/sh".to_owned(), script],
            max_attempts: 1,
            sandbox: Some(SandboxTier::None),
            ..Config::default()
        };
        let db = Db::open(&config).await.unwrap();
        let probe = repo::probe(sample.top(), None).unwrap();
        db.create_project(&Caller::owner(), NewProject { title: "Board".to_owned(), ..NewProject::default() }, probe).await.unwrap();
        Self { sample, config, db }
    }

    pub(crate) fn serve(&self) -> Server {
        let (shutdown, activity, ticks) = (CancellationToken::new(), watch::Sender::default(), watch::Sender::new(Ticks::new(db::now())));
        let config = watch::Sender::new(LiveConfig { config: self.config.clone(), notice: None }).subscribe();
        let (db, programs, sandbox) = (self.db.clone(), Programs::at(this_program()), watch::Sender::new(None));
        let work = runner::supervise(RunContext { db, config, programs, activity, sandbox }, ticks, shutdown.clone());
        Server { shutdown, task: tokio::spawn(work) }
    }

    pub(crate) async fn task(&self, title: &str) -> TaskId {
        let new = NewTask {
            title: title.to_owned(),
            description: None,
            phase: None,
            parent_task_id: None,
            depends_on: Vec::new(),
            priority: None,
            files: Vec::new(),
            model: None,
            start: true,
            assigned_to: None,
            role_hat: None,
            goal_id: None,
            from_branch: None,
        };
        let project = self.db.projects().await.unwrap().remove(0).id;
        self.db.create_task(&Caller::owner(), &project, new).await.unwrap().card.id
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

    /// Waits until a run in the store satisfies `holds`.
    pub(crate) async fn run_when(&self, what: &str, holds: impl Fn(&Run) -> bool) -> Run {
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

    pub(crate) async fn card_says(&self, task: &TaskId, start: &str) {
        let mut news = self.db.subscribe();
        let waiting = async {
            loop {
                news.borrow_and_update();
                let reason = self.card(task).await.wait_reason;
                if reason.is_some_and(|reason| reason.sentence().starts_with(start)) {
                    return;
                }
                news.changed().await.unwrap();
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.unwrap_or_else(|_| panic!("the card does not say {start}"));
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

    /// Submits the task, as the agent does with its tools.
    pub(crate) async fn submit(&self, task: &TaskId, agent: &Caller) {
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

    /// Waits until the end of the agent's first turn is recorded.
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
async fn agent_is_ended_after_the_turn_of_its_submission() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    assert!(bench.lines("told")[0].contains("<issue>\\nTitle: Add a\\n"));
    bench.submit(&task, &agent).await;
    bench.end_turn();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure, run.exit_code), (Some(EndClass::Finished), None, Some(0)));
    assert_eq!((run.cost_micro_usd, run.turns), (500_000, 1));
    assert_eq!(bench.lines("told").len(), 1, "it was not reminded");
    assert_eq!(bench.card(&task).await.status, Status::InReview);
    server.stop().await;
}

/// The end of a turn proves that the service responds, and an end without failure that the disk has space.
#[tokio::test]
async fn successful_probe_lifts_parking() {
    let bench = Bench::new().await;
    let over = bench.db.project(&ProjectId::new(1)).await.unwrap().created_at;
    for reason in ParkReason::ALL.iter().copied() {
        bench.db.park_after_run(reason, "x".to_owned(), None).await.unwrap();
        bench.db.park_after_check(reason, "x".to_owned(), over).await.unwrap();
    }
    let (server, task, agent) = bench.at_work().await;
    bench.submit(&task, &agent).await;
    bench.end_turn();
    bench.end_of_the_run().await;
    let events = bench.db.events_after(0, None, 100).await.unwrap();
    let lifted =
        events.iter().filter_map(|event| if let Event::Parking(ParkingEvent::Resumed { reason }) = event.event { Some(reason) } else { None });
    let last = ParkReason::DiskFull;
    let others = ParkReason::ALL.iter().copied().filter(|reason| *reason != last).collect::<BTreeSet<_>>();
    let lifted: Vec<ParkReason> = lifted.collect();
    assert_eq!((lifted[..others.len()].iter().copied().collect(), &lifted[others.len()..]), (others, &[last][..]));
    assert_eq!(bench.db.parkings().await.unwrap(), []);
    server.stop().await;
}

#[tokio::test]
async fn next_server_adopts_a_running_agent() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    server.stop().await;
    assert_eq!(bench.db.live_runs().await.unwrap().len(), 1);
    // Output without a watcher is not lost either.
    bench.submit(&task, &agent).await;
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
async fn agent_without_outcome_is_reminded_once_then_flagged() {
    let bench = Bench::new().await;
    let (server, task, _) = bench.at_work().await;
    bench.end_turn();
    super::run::wait_for("the reminder", || bench.lines("told").len() == 2).await;
    assert!(bench.lines("told")[1].contains("<reminder>"));
    bench.end_turn();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure), (Some(EndClass::Failed), Some(FailureClass::NoOutcome)));
    assert_eq!(run.error.as_deref(), Some("Nothing is committed on vr/TASK-001/work"));
    assert_eq!(run.cost_micro_usd, 1_000_000);
    let attention = bench.card(&task).await.attention.unwrap();
    assert_eq!(
        attention.detail,
        "1 attempts failed; the last: the agent ended without moving its card (Nothing is committed on vr/TASK-001/work). Reply to its last message in a comment, then press Retry."
    );
    server.stop().await;
}

/// The answer arrives before the end of the agent's turn.
#[tokio::test]
async fn question_answered_at_once_is_not_a_failure() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    bench.db.ask_question(&agent, "A or B?", Vec::new(), None).await.unwrap();
    bench.db.answer(&Caller::owner(), &task, "A").await.unwrap();
    bench.end_turn();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure), (Some(EndClass::AwaitingAnswer), None));
    super::run::wait_for("the next run", || bench.lines("told").len() == 2).await;
    let next = bench.lines("told").remove(1);
    assert!(next.contains("A or B?"), "the next run knows it: {next}");
    server.stop().await;
}

#[tokio::test]
async fn human_message_reaches_the_agent_in_its_next_turn() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    bench.db.message_run(&Caller::owner(), &RunId::new(1), "use B").await.unwrap();
    // The agent echoes the message when its turn ends; until then it is neither reminded nor ended.
    bench.end_turn();
    super::run::wait_for("the message", || bench.lines("told").len() == 2).await;
    assert!(bench.lines("told")[1].contains("use B"));
    bench.submit(&task, &agent).await;
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(bench.lines("told").len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn stop_reaches_an_adopted_agent() {
    let bench = Bench::new().await;
    let (server, task, _) = bench.at_work().await;
    server.stop().await;
    bench.db.stop_task(&Caller::owner(), &task).await.unwrap();
    let server = bench.serve();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Stopped));
    assert!(is_gone(&bench.lines("pids")[0]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_start_together_get_different_ports() {
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
