//! How the supervisor handles runs that were interrupted, that cannot be reached, or that never started.

use std::fs;

use db::{Caller, NewRun};
use domain::board::status::Status;
use domain::id::RunId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::sandbox::SandboxTier;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use runner::run_dir::RunDir;

use super::run::{is_gone, wait_for};
use super::supervise::Bench;

/// The machine shuts down: every process gets TERM, and the next server starts later.
#[tokio::test]
async fn run_interrupted_by_a_shutdown_is_resumed_without_an_attempt() {
    let bench = Bench::new().await;
    let (server, task, _) = bench.at_work().await;
    let session = bench.db.run(&RunId::new(1)).await.unwrap().session_id;
    server.stop().await;
    let agent = bench.lines("pids")[0].clone();
    for pid in [parent(&agent), agent.clone()] {
        // The first signal may have ended the other process already.
        let _ = kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGTERM);
    }
    wait_for("the agent's end", || is_gone(&agent)).await;
    let server = bench.serve();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.failure), (Some(EndClass::Parked), None));
    assert!(run.error.unwrap().contains("interrupted when the machine or the session shut down"));
    wait_for("the next run's agent", || bench.lines("told").len() == 2).await;
    let (card, next) = (bench.card(&task).await, bench.db.run(&RunId::new(2)).await.unwrap());
    assert_eq!(card.attention, None, "one attempt is allowed, and none was used");
    assert_eq!(next.session_id, session, "it continues the same conversation");
    server.stop().await;
}

/// The parent of a process.
fn parent(pid: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap().trim().to_owned()
}

/// An agent whose output cannot be followed works on, its card says so, and a person can stop it.
#[tokio::test]
async fn run_that_cannot_be_reached_stays_live() {
    let bench = Bench::new().await;
    let (server, task, _) = bench.at_work().await;
    server.stop().await;
    let transcript = bench.run_folder().join("transcript.jsonl");
    // It exists only if the agent has said something.
    let _ = fs::remove_file(&transcript);
    fs::create_dir(&transcript).unwrap();
    let server = bench.serve();
    bench.run_when("unreachable", |run| run.condition.is_some()).await;
    bench.card_says(&task, "RUN-001 cannot be reached: could not open the transcript").await;
    assert!(!is_gone(&bench.lines("pids")[0]), "the agent works on");
    bench.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Stopped));
    assert!(is_gone(&bench.lines("pids")[0]));
    server.stop().await;
}

/// The folder of a run is removed while its agent works: with a server, and before the next one.
#[tokio::test]
async fn removed_folder_starts_no_second_agent() {
    for restarted in [false, true] {
        let bench = Bench::new().await;
        let (server, task, _) = bench.at_work().await;
        let server = if restarted {
            server.stop().await;
            fs::remove_dir_all(bench.run_folder()).unwrap();
            bench.serve()
        } else {
            fs::remove_dir_all(bench.run_folder()).unwrap();
            server
        };
        let run = bench.run_when("unreachable", |run| run.condition.is_some()).await;
        assert!(run.is_live());
        assert_eq!(bench.lines("pids").len(), 1, "no second agent was started");
        bench.db.stop_task(&Caller::owner(), &task).await.unwrap();
        assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Stopped));
        assert!(is_gone(&bench.lines("pids")[0]));
        server.stop().await;
    }
}

/// The server was killed after it reserved the run, or right before it started the shim.
#[tokio::test]
async fn reserved_run_that_never_started_uses_no_attempt() {
    for ready in [false, true] {
        let bench = Bench::new().await;
        let wish = NewRun {
            task: bench.task("Add a").await,
            phase: AgentKind::Coder,
            status: Status::Backlog,
            sha: None,
            worktree_path: None,
            runs_root: bench.sample.beside("store/runs"),
            port: None,
            sandbox: SandboxTier::None,
        };
        let reserved = bench.db.reserve_run(wish).await.unwrap();
        if ready {
            let spec = super::run::Run::new("exit 1").spec;
            bench.db.record_launch(&reserved.run.id, &spec.marker, None, None).await.unwrap();
            RunDir::create(&reserved.run_dir, &spec).unwrap();
        }
        let server = bench.serve();
        let run = bench.end_of_the_run().await;
        assert_eq!((run.end_class, run.failure), (Some(EndClass::Parked), None), "ready: {ready}");
        wait_for("the next run's agent", || bench.lines("told").len() == 1).await;
        server.stop().await;
    }
}
