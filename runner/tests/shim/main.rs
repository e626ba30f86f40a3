//! The shim with real processes: starting, forwarding, surviving and killing leftovers.
//!
//! `sh` plays the agents. The shim is this test program, started again: see `run_as_shim`.

#![expect(clippy::unwrap_used, reason = "a test")]

mod check;
mod claude;
mod inbox;
mod jail;
mod leftover;
mod liveness;
mod run;
mod setup;
mod supervise;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use db::RunProcess;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use runner::liveness::{Liveness, inspect};
use runner::process::{ProcessError, Programs, find_program, start_shim};
use runner::run_dir::{ExitErrorKind, RunDir, RunState};
use runner::shim::control::{Control, ControlError, SignalName};
use runner::tail::{Tail, TailLine};

use run::{Run, is_gone, this_program, wait_for};

/// `start_shim` starts this program with the arguments `shim RUN_DIR`, which the test harness takes for names of tests: this one. No
/// other test may have "shim" in its name.
#[test]
fn run_as_shim() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, command, run_dir] = arguments.as_slice()
        && command == "shim"
    {
        let code = runner::shim::main(Path::new(run_dir));
        std::process::exit(if code == ExitCode::SUCCESS { 0 } else { 1 });
    }
}

/// A supervisor would run every test that its arguments name, beside its own work.
#[tokio::test]
async fn supervisor_runs_no_other_test() {
    let listed = runner::process::probe(&this_program(), &["--list", "shim"], Duration::from_secs(30)).await.unwrap();
    let tests: Vec<&str> = listed.stdout.lines().filter(|line| line.ends_with(": test")).collect();
    assert_eq!(tests, ["run_as_shim: test"]);
}

fn send(pid: i32, signal: Signal) -> nix::Result<()> {
    nix::sys::signal::kill(Pid::from_raw(pid), signal)
}

fn kill(pid: i32) {
    send(pid, Signal::SIGKILL).unwrap();
}

#[tokio::test]
async fn agent_gets_folder_and_environment_and_records_its_end() {
    let run = Run::started("echo $GREETING $PORT; pwd; echo bad >&2; env | grep -c ^CARGO_PKG; exit 7");
    let exit = run.ended().await;
    assert_eq!((exit.code, exit.signal, exit.killed_leftovers, exit.error), (Some(7), None, 0, None));
    let folder = run.folder.path().canonicalize().unwrap();
    assert_eq!(run.output(), format!("hello 4001\n{}\n0\n", folder.display()));
    // The harness of this program, which is the shim here, may add that nobody reads its own output.
    let stderr = fs::read_to_string(run.dir.file("stderr")).unwrap();
    assert!(stderr.starts_with("bad\n"), "{stderr}");
    assert!(!run.dir.file("sock").exists());
}

#[tokio::test]
async fn agent_yields_to_other_programs() {
    let run = Run::started("cat /proc/self/oom_score_adj; nice; echo > ready; sleep 600");
    run.file("ready").await;
    let nice = |stat: &str| stat.rsplit_once(')').unwrap().1.split_whitespace().nth(16).unwrap().parse::<i32>().unwrap();
    let own = nice(&fs::read_to_string("/proc/self/stat").unwrap());
    assert_eq!(run.output(), format!("500\n{}\n", (own + 5).min(19)));
    let shim = fs::read_to_string(format!("/proc/{}/oom_score_adj", run.shim_pid())).unwrap();
    assert_ne!(shim.trim(), "500", "the shim records the end of its agent");
    send(run.shim_pid(), Signal::SIGKILL).unwrap();
}

#[tokio::test]
async fn lines_arrive_in_order_until_stdin_is_closed() {
    let run = Run::started("while read -r line; do printf 'got %s\n' \"$line\"; done; echo end");
    let mut tail = Tail::open(&run.dir, 0).await.unwrap();
    let control = run.control().await;
    for line in ["one", "{\"two\": \"\\n\"}"] {
        control.send_line(line).await.unwrap();
        let Some(TailLine::Text { text, .. }) = tail.next().await.unwrap() else { panic!("no answer") };
        assert_eq!(text, format!("got {line}"));
    }
    let refused = control.send_line("a\nb").await.unwrap_err();
    insta::assert_snapshot!(refused, @"the shim refused: a line must not contain a newline");
    control.close_stdin().await.unwrap();
    assert_eq!(run.ended().await.code, Some(0));
    let Some(TailLine::Text { text, .. }) = tail.next().await.unwrap() else { panic!("no end") };
    assert_eq!(text, "end");
    assert_eq!(tail.next().await.unwrap(), None);
    assert!(matches!(control.send_line("late").await.unwrap_err(), ControlError::Gone));
    assert!(matches!(Control::connect(&run.dir).await.unwrap_err(), ControlError::Gone));
}

#[tokio::test]
async fn line_longer_than_a_pipe_arrives_whole() {
    let run = Run::started("read -r line; echo ${#line}");
    let control = run.control().await;
    control.send_line(&"x".repeat(1 << 20)).await.unwrap();
    run.ended().await;
    assert_eq!(run.output(), "1048576\n");
}

#[tokio::test]
async fn stdin_stays_open_without_writers() {
    let run = Run::started("echo ready > ready; read -r line; echo $?");
    run.file("ready").await;
    assert_eq!(run.dir.state().unwrap(), RunState::Alive);
    let control = run.control().await;
    drop(control);
    run.control().await.send_line("x").await.unwrap();
    run.ended().await;
    assert_eq!(run.output(), "0\n");
}

#[tokio::test]
async fn daemons_are_killed_in_any_session_and_environment() {
    if find_program("setsid", &std::env::var_os("PATH").unwrap()).is_none() {
        panic!("this test needs setsid(1)");
    }
    let run = Run::started(
        "sleep 1000 & echo $! >> pids
         setsid sleep 1000 & echo $! >> pids
         (setsid sh -c 'sleep 1000 & echo $! >> pids' &)
         (env -i setsid /bin/sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do /bin/sleep 1; done' &)
         while [ $(wc -l < pids) -lt 4 ]; do :; done; echo done > done",
    );
    run.file("done").await;
    let exit = run.ended().await;
    assert_eq!(exit.code, Some(0));
    assert!(exit.killed_leftovers >= 4, "{exit:?}");
    let pids = run.file("pids").await;
    assert_eq!(pids.lines().count(), 4);
    let left: Vec<&str> = pids.lines().filter(|pid| !is_gone(pid)).collect();
    assert_eq!(left, [""; 0]);
}

#[tokio::test]
async fn agent_that_handles_term_is_not_killed() {
    let run = Run::started("trap 'echo bye; exit 3' TERM; echo ready > ready; while :; do sleep 0.05; done");
    run.file("ready").await;
    run.control().await.signal(SignalName::Terminate).await.unwrap();
    let exit = run.ended().await;
    assert_eq!((exit.code, exit.error), (Some(3), None));
    assert_eq!(run.output(), "bye\n");
}

/// A shutdown signals the agent and its shim one after another, in any order.
#[tokio::test]
async fn shutdown_is_told_from_a_crash_and_from_a_command() {
    for agent_first in [true, false] {
        let run = Run::started("echo $$ > ready; while :; do sleep 0.05; done");
        let agent = run.file("ready").await.trim().parse().unwrap();
        let mut pids = [agent, run.shim_pid()];
        if !agent_first {
            pids.reverse();
        }
        for pid in pids {
            // The first one may have ended the other.
            let _ = send(pid, Signal::SIGTERM);
        }
        let exit = run.ended().await;
        assert_eq!(exit.signal, Some(15));
        let error = exit.error.unwrap();
        assert_eq!(error.kind, ExitErrorKind::Interrupted, "agent first: {agent_first}");
        assert!(error.detail.contains("(SIGTERM)"), "{}", error.detail);
    }
    let run = Run::started("echo $$ > ready; while :; do sleep 0.05; done");
    send(run.file("ready").await.trim().parse().unwrap(), Signal::SIGTERM).unwrap();
    let exit = run.ended().await;
    assert_eq!((exit.signal, exit.error), (Some(15), None), "a signal to the agent alone is its end");

    let run = Run::started("trap '' TERM; echo ready > ready; while :; do sleep 0.05; done");
    run.file("ready").await;
    run.control().await.signal(SignalName::Terminate).await.unwrap();
    send(run.shim_pid(), Signal::SIGTERM).unwrap();
    let exit = run.ended().await;
    assert_eq!((exit.signal, exit.error), (Some(9), None), "the server asked first");
}

#[tokio::test]
async fn agent_that_ignores_term_is_killed_later() {
    let run = Run::started("trap '' TERM; echo ready > ready; while :; do sleep 0.05; done");
    run.file("ready").await;
    let begun = Instant::now();
    // To the shim itself, as at a machine's shutdown.
    send(run.shim_pid(), Signal::SIGTERM).unwrap();
    let exit = run.ended().await;
    assert_eq!((exit.code, exit.signal), (None, Some(9)));
    assert_eq!(exit.error.unwrap().kind, ExitErrorKind::Interrupted);
    assert!((5..12).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn kill_and_interrupt_reach_the_process_group() {
    let run = Run::started("sleep 1000 & echo $! > child; trap 'exit 4' INT; echo ready > ready; wait");
    run.file("ready").await;
    run.control().await.signal(SignalName::Interrupt).await.unwrap();
    assert_eq!(run.ended().await.code, Some(4));

    let run = Run::started("sleep 1000 & echo $! > child; wait");
    let child = run.file("child").await;
    run.control().await.signal(SignalName::Kill).await.unwrap();
    assert_eq!(run.ended().await.signal, Some(9));
    assert!(is_gone(&child));
}

/// The starter is another process, killed with its whole group while the agent works.
#[tokio::test]
async fn agent_and_supervisor_outlive_the_starter() {
    let run = Run::new("echo $$ > agent; while read -r line; do echo \"got $line\"; done");
    let starter = runner::process::pipe_child(
        &this_program(),
        &["--exact".to_owned(), "start_and_hang".to_owned()],
        Path::new("/"),
        &[("START_RUN".to_owned(), run.dir.path().to_str().unwrap().to_owned())],
    );
    let mut starter = starter.unwrap();
    let agent = run.file("agent").await;
    let group = Pid::from_raw(i32::try_from(starter.id().unwrap()).unwrap());
    nix::sys::signal::killpg(group, Signal::SIGKILL).unwrap();
    starter.wait().await.unwrap();

    assert!(!is_gone(&agent));
    assert_eq!(run.dir.state().unwrap(), RunState::Alive);
    let control = run.control().await;
    control.send_line("later").await.unwrap();
    control.close_stdin().await.unwrap();
    assert_eq!(run.ended().await.code, Some(0));
    assert_eq!(run.output(), "got later\n");
}

/// Not a test of its own, but the starter of `agent_and_supervisor_outlive_the_starter`.
#[tokio::test]
async fn start_and_hang() {
    if let Some(path) = std::env::var_os("START_RUN") {
        start_shim(&this_program(), &RunDir::open(Path::new(&path)).unwrap(), &[]).unwrap();
        std::future::pending::<()>().await;
    }
}

/// An upgrade replaced the file of a running server, or deleted it: its shims are still of the version that runs.
#[tokio::test]
async fn supervisor_is_of_the_running_version_when_its_file_is_gone() {
    for replaced in [false, true] {
        let run = Run::new("echo ready > ready; read -r line");
        let program = run.folder.path().join("upgraded");
        fs::copy(this_program(), &program).unwrap();
        let starter = runner::process::pipe_child(
            &program,
            &["--exact".to_owned(), "start_from_a_lost_file".to_owned()],
            Path::new("/"),
            &[("START_LOST".to_owned(), run.dir.path().to_str().unwrap().to_owned()), ("REPLACE".to_owned(), replaced.to_string())],
        );
        let _starter = starter.unwrap();
        run.file("ready").await;
        run.control().await.close_stdin().await.unwrap();
        assert_eq!(run.ended().await.error, None);
    }
}

/// Not a test of its own, but the starter of `supervisor_is_of_the_running_version_when_its_file_is_gone`.
#[tokio::test]
async fn start_from_a_lost_file() {
    if let Some(path) = std::env::var_os("START_LOST") {
        let file = this_program();
        fs::remove_file(&file).unwrap();
        if std::env::var("REPLACE").unwrap() == "true" {
            fs::write(&file, "another version").unwrap();
        }
        let programs = Programs::of_this_process().unwrap();
        assert_eq!(programs.installed, file);
        start_shim(&programs.running, &RunDir::open(Path::new(&path)).unwrap(), &[]).unwrap();
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn run_is_never_started_twice() {
    let run = Run::started("echo x >> starts; read -r line");
    assert!(matches!(start_shim(&this_program(), &run.dir, &[]).unwrap_err(), ProcessError::AlreadyRunning { .. }));
    run.control().await.close_stdin().await.unwrap();
    let exit = run.ended().await;
    run.start();
    wait_for("the second one's refusal", || fs::read_to_string(run.dir.file("stderr")).unwrap().contains("has already ended")).await;
    wait_for("its end", || !run.dir.is_alive().unwrap()).await;
    assert_eq!(run.dir.exit().unwrap(), Some(exit));
    assert_eq!(run.file("starts").await, "x\n");
}

#[tokio::test]
async fn lost_run_is_reaped_with_all_its_processes() {
    let run = Run::started("setsid sleep 1000 & echo $! >> pids; echo $$ >> pids; echo ready > ready; wait");
    run.file("ready").await;
    let process = run.process();
    assert_eq!(inspect(run.dir.path(), &process), Liveness::Alive);
    kill(run.shim_pid());
    wait_for("the lock", || run.dir.state().unwrap() == RunState::Lost).await;
    let Liveness::Gone(exit) = inspect(run.dir.path(), &process) else { panic!("its shim is gone") };
    assert_eq!(exit.error.as_ref().map(|error| error.kind), Some(ExitErrorKind::Lost));
    assert_eq!(exit.killed_leftovers, 2);
    for pid in run.file("pids").await.lines() {
        assert!(is_gone(pid), "{pid} lives");
    }
    assert_eq!(run.dir.state().unwrap(), RunState::Ended(exit));
}

/// The server was killed after it started the shim and before it recorded the process.
#[tokio::test]
async fn unrecorded_supervisor_is_found_by_its_lock_and_by_its_marker() {
    let run = Run::started("echo $$ >> pids; echo ready > ready; sleep 1000");
    run.file("ready").await;
    let process = RunProcess { shim: None, ..run.process() };
    assert_eq!(inspect(run.dir.path(), &process), Liveness::Alive);
    let moved = run.dir.path().with_extension("moved");
    fs::rename(run.dir.path(), &moved).unwrap();
    assert!(matches!(inspect(run.dir.path(), &process), Liveness::Unreachable { .. }));
    fs::rename(&moved, run.dir.path()).unwrap();
    assert_eq!(inspect(run.dir.path(), &process), Liveness::Alive);
    kill(run.shim_pid());
    wait_for("the lock", || run.dir.state().unwrap() == RunState::Lost).await;
    assert!(matches!(inspect(run.dir.path(), &process), Liveness::Gone(_)));
    assert!(is_gone(run.file("pids").await.trim()));
}

#[tokio::test]
async fn failed_start_is_recorded_with_its_reason() {
    let run = Run::with(|spec| spec.argv = vec!["/nonexistent/claude".to_owned()]);
    run.start();
    let error = run.ended().await.error.unwrap();
    assert_eq!(error.kind, ExitErrorKind::MissingProgram);
    assert_eq!(error.detail, "/nonexistent/claude does not exist");

    let run = Run::with(|spec| spec.argv = vec!["/etc/passwd".to_owned()]);
    run.start();
    let error = run.ended().await.error.unwrap();
    assert_eq!(error.kind, ExitErrorKind::StartFailed);
    assert_eq!(error.detail, "could not start /etc/passwd: Permission denied (os error 13)");

    let run = Run::with(|spec| {
        spec.argv = vec!["/bin/true".to_owned()];
        spec.cwd = "/nonexistent".into();
    });
    run.start();
    let error = run.ended().await.error.unwrap();
    assert_eq!(error.kind, ExitErrorKind::StartFailed);
    assert_eq!(error.detail, "the agent's folder /nonexistent does not exist");
}

#[tokio::test]
async fn agent_above_the_output_limit_is_ended() {
    let run = Run::with(|spec| {
        spec.argv = ["/bin/sh", "-c", "while :; do echo flood; done"].map(str::to_owned).into();
        spec.output_limit = 1000;
    });
    run.start();
    let exit = run.ended().await;
    assert_eq!(exit.signal, Some(15));
    assert_eq!(exit.error.unwrap().kind, ExitErrorKind::OutputLimit);
}

#[tokio::test]
async fn flood_of_errors_is_bounded_and_ends_no_agent() {
    let run = Run::started("head -c 50000000 /dev/zero >&2; until [ $(stat -Lc %s /proc/$$/fd/2) -lt 1000000 ]; do sleep 0.05; done; echo end >&2");
    let exit = run.ended().await;
    assert_eq!((exit.code, exit.error), (Some(0), None));
    assert_eq!(run.dir.stderr_tail(100).unwrap(), "end\n");
}

#[tokio::test]
async fn inherited_environment_is_not_written_to_disk() {
    let run = Run::started("true");
    run.ended().await;
    assert_eq!(run.spec.env.keys().collect::<Vec<_>>(), ["COMPOSE_PROJECT_NAME", "GREETING", "PORT", "VIBE_RELAY_RUN_ID"]);
    assert_eq!(run.dir.spec().unwrap(), run.spec);
}

/// The server was killed while it created the folder.
#[tokio::test]
async fn incomplete_run_is_gone() {
    let run = Run::new("true");
    fs::remove_file(run.dir.file("spec.json")).unwrap();
    fs::remove_file(run.dir.file("lock")).unwrap();
    let process = RunProcess { marker: run.spec.marker.clone(), boot_id: None, shim: None };
    let Liveness::Gone(exit) = inspect(run.dir.path(), &process) else { panic!("nothing was started") };
    assert_eq!((exit.killed_leftovers, exit.error.map(|error| error.kind)), (0, Some(ExitErrorKind::NeverStarted)));
}
