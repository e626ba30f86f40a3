//! Jails with real processes: what an agent in one cannot do, and how it ends.

mod machine;

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use domain::runs::sandbox::SandboxTier;
use nix::sys::signal::Signal;
use runner::shim::control::{Control, SignalName};

use crate::run::wait_for;
use machine::{Inside, Machine, ended, output, printed};

const ATTACK: &str = include_str!("jail/attack.sh");
/// Starts processes that survive in every way that a process can, and says so.
const STUBBORN: &str = "trap '' TERM INT HUP
    (trap '' TERM; while :; do sleep 1; done) &
    setsid sh -c 'while :; do sleep 1; done' &
    (env -i setsid /bin/sh -c 'trap \"\" TERM; while :; do /bin/sleep 1; done' &)
    (nohup sh -c 'cd /; exec sleep 1000' >/dev/null 2>&1 &)
    (setsid sh -c '(env -i /bin/sleep 1000 &) &' &)
    echo ready; while :; do sleep 1; done";

/// How often the trials are repeated; `JAIL_TRIALS` sets another number.
fn trials() -> u32 {
    std::env::var("JAIL_TRIALS").ok().and_then(|number| number.parse().ok()).unwrap_or(3)
}

fn jails() -> impl Iterator<Item = SandboxTier> {
    SandboxTier::ALL.iter().copied().filter(|tier| *tier != SandboxTier::None)
}

#[tokio::test]
async fn no_attack_succeeds_in_any_jail() {
    for tier in jails() {
        let machine = Machine::new().await;
        let _agent = UnixListener::bind(machine.path("home/agent.sock")).unwrap();
        runner::jail::prepare::prepare(&machine.request(tier, 1)).unwrap();
        let before = machine.protected();
        let run = machine.start(tier, 1, ATTACK);
        ended(&run).await;
        assert_eq!(output(&run), "end\n", "{tier}");
        assert_eq!(machine.protected(), before, "{tier}");
    }
}

/// The same script succeeds without a jail, so its silence in one proves something. Here it stays in the test's folder.
#[tokio::test]
async fn attacks_succeed_without_a_jail() {
    let machine = Machine::new().await;
    let _agent = UnixListener::bind(machine.path("home/agent.sock")).unwrap();
    let run = machine.start(SandboxTier::None, 1, ATTACK);
    ended(&run).await;
    let succeeded = output(&run);
    for success in ["appended to", "replaced", "deleted", "read", "signalled a process outside", "sees the socket"] {
        assert!(succeeded.contains(success), "{success}: {succeeded}");
    }
    assert!(succeeded.lines().count() > 70, "{succeeded}");
}

/// Git asks for a repository on a port of the machine, which counts connections.
#[tokio::test]
async fn only_the_tier_with_a_network_reaches_the_machine() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    std::thread::spawn({
        let connections = connections.clone();
        move || {
            for _ in listener.incoming() {
                connections.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    let machine = Machine::new().await;
    for (tier, run, reaches) in [(SandboxTier::JailNet, 1, false), (SandboxTier::Jail, 3, true)] {
        let run = machine.start(tier, run, &format!("git ls-remote http://127.0.0.1:{port}/x; echo end"));
        ended(&run).await;
        assert_eq!(output(&run), "end\n");
        assert_eq!(connections.load(Ordering::SeqCst) > 0, reaches, "{tier}");
    }
}

#[tokio::test]
async fn git_works_on_the_own_branch_only() {
    let machine = Machine::new().await;
    let script = "echo two > new.txt && git add . && git commit -qm two && git commit -q --amend -m three && echo committed
        git checkout -q -b vr/TASK-001/other && git rebase -q main && git merge -q vr/TASK-001/work && git switch -q vr/TASK-001/work && echo switched
        git update-ref refs/heads/main HEAD 2>/dev/null && echo moved main
        git update-ref refs/heads/vr/TASK-002/work HEAD 2>/dev/null && echo moved other
        git config alias.x y 2>/dev/null && echo configured
        git tag x 2>/dev/null && echo tagged
        git status --short; echo end";
    let run = machine.start(SandboxTier::Jail, 1, script);
    ended(&run).await;
    assert_eq!(output(&run), "committed\nswitched\nend\n", "{}", fs::read_to_string(run.file("stderr")).unwrap());
    assert_eq!(machine.git("git -C repo log -1 --format=%s vr/TASK-001/work").await, "three\n");
    assert_eq!(machine.git("git -C repo log -1 --format=%s main").await, "one\n");
}

#[tokio::test]
async fn agent_commits_while_references_are_packed() {
    let machine = Machine::new().await;
    let script = "for i in 1 2 3 4 5 6 7 8; do
            echo $i > $i.txt; git add . && git commit -qm $i || exit 1
            echo commit $i; while [ ! -e go$i ]; do :; done; rm go$i
        done 2>&1; echo end";
    let run = machine.start(SandboxTier::Jail, 1, script);
    for number in 1..=8 {
        printed(&run, &format!("commit {number}")).await;
        machine.git("git -C repo pack-refs --all --prune && git -C repo gc -q").await;
        fs::write(machine.path(&format!("worktrees/TASK-001/go{number}")), "").unwrap();
    }
    assert_eq!(ended(&run).await.code, Some(0), "{}", output(&run));
    assert_eq!(machine.git("git -C repo log -1 --format=%s vr/TASK-001/work").await, "8\n");
    machine.git("git -C repo fsck --strict").await;
}

#[tokio::test]
async fn signals_reach_the_agent_program() {
    for (name, number, code) in [(SignalName::Terminate, "TERM", 143), (SignalName::Interrupt, "INT", 0)] {
        let machine = Machine::new().await;
        let script = format!("trap 'echo got {number}; exit {code}' {number}; echo ready; while :; do sleep 0.1; done");
        let run = machine.start(SandboxTier::Jail, 1, &script);
        printed(&run, "ready").await;
        Control::connect(&run).await.unwrap().signal(name).await.unwrap();
        let exit = ended(&run).await;
        assert_eq!((exit.code, exit.signal), (Some(code), None), "{number}");
        assert_eq!(output(&run), format!("ready\ngot {number}\n"));
    }
}

#[tokio::test]
async fn killed_program_is_recorded_as_killed() {
    let machine = Machine::new().await;
    let run = machine.start(SandboxTier::Jail, 1, "kill -KILL $$");
    let exit = ended(&run).await;
    assert_eq!((exit.code, exit.signal), (None, Some(Signal::SIGKILL as i32)));
}

#[tokio::test]
async fn nothing_survives_a_stop_or_a_killed_supervisor() {
    let machine = Machine::new().await;
    for trial in 0..trials() {
        for kind in 0..3 {
            let run = machine.start(SandboxTier::Jail, 10 + trial * 3 + kind, STUBBORN);
            printed(&run, "ready").await;
            let inside = Inside::of(&run);
            assert!(inside.count() > 5, "the agent started processes");
            match kind {
                0 => Control::connect(&run).await.unwrap().signal(SignalName::Kill).await.unwrap(),
                1 => Control::connect(&run).await.unwrap().signal(SignalName::Terminate).await.unwrap(),
                _ => crate::kill(supervisor(&run)),
            }
            wait_for("no process is left in the jail", || inside.count() == 0).await;
        }
    }
}

/// The shim, which has the run's folder in its arguments.
fn supervisor(run: &runner::run_dir::RunDir) -> i32 {
    let name = run.path().display().to_string();
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<i32>().ok());
    let named = |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("shim\0") && line.contains(&name));
    pids.into_iter().find(named).unwrap()
}

#[tokio::test]
async fn home_is_sealed_and_temporary_files_are_removed() {
    let machine = Machine::new().await;
    let script = "mkdir $HOME/x 2>&1; echo kept > /tmp/kept && echo private > $HOME/.claude/x && echo cache > $HOME/.cache/x && echo written";
    let run = machine.start(SandboxTier::Jail, 1, script);
    ended(&run).await;
    let printed = output(&run);
    assert!(printed.contains("Read-only file system") && printed.ends_with("written\n"), "{printed}");
    wait_for("the temporary folder is removed", || !run.file("tmp").exists()).await;
    assert!(!machine.path("home/.claude/x").exists() && !machine.path("home/.cache/x").exists());
}
