//! Agents that start processes which leave their session, ignore signals and clear their environment, and are then stopped, or lose their
//! supervisor. In a jail nothing of them may be left. Without one, what is left is counted.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use domain::board::reducer::Board;
use domain::id::{ProjectId, TaskId};
use domain::runs::sandbox::SandboxTier;
use domain::wire::TaskView;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::{Outcome, scripted, within};
use crate::server::TestServer;

/// The long sleeps have the test's folder as an argument's comment, so that they are found after they cleared everything else.
const SCENARIO: &str = r#"{"parts": [{"phase": "coder", "turns": [
    {"calls": [{"tool": "Bash", "input": {"command": "root=$(cd ../../..; pwd); (env -i setsid /bin/sh -c \"trap '' TERM INT HUP; while :; do /bin/sleep 1; done # $root\" >/dev/null 2>&1 &) ; (setsid sh -c \"(env -i /bin/sh -c '/bin/sleep 1000; : $root' &) &\" >/dev/null 2>&1 &) ; (cd /; nohup sh -c \"sleep 1000; : $root\" >/dev/null 2>&1 &) ; echo > started; sleep 600"}}]}
]}]}"#;

/// How an agent is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stop,
    /// Its supervisor is killed.
    KillShim,
}

/// # Errors
/// The server cannot be started or refuses a request.
pub async fn run(program: &Path, stops: u32, kills: u32) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    for (tier, name) in [(SandboxTier::Jail, "in the jail"), (SandboxTier::None, "without a jail")] {
        for (end, count, what) in [(End::Stop, stops, "stops"), (End::KillShim, kills, "kills of the supervisor")] {
            // Where the result is only counted, a tenth tells enough.
            let count = if tier == SandboxTier::None { count.div_ceil(10) } else { count };
            let survivors = ends(program, tier, end, count).await?;
            outcome.expect(tier == SandboxTier::None || survivors == 0, || format!("{survivors} processes survived {count} {what} {name}"));
            outcome.figures.push(format!("{count} {what} {name}: {survivors} of {} processes survived", count * 3));
        }
    }
    Ok(outcome)
}

async fn ends(program: &Path, tier: SandboxTier, end: End, count: u32) -> io::Result<usize> {
    let server = scripted(program, SCENARIO, |options| {
        options.config.sandbox = Some(tier);
        options.config.max_attempts = 1;
    });
    let server = server.await?;
    let project = server.project("Daemons", None).await?.id;
    let mut survivors = 0;
    for _ in 0..count {
        let body = json!({"title": "Start daemons", "start": true});
        let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &body).await?;
        let task = view.task.card.id;
        let checkout = server.root().join("worktrees").join(project.as_str()).join(task.as_str());
        crate::wait_for("the daemons run", || checkout.join("started").exists() && daemons(&server.root()).len() >= 3).await;
        end_agent(&server, &project, &task, end).await?;
        // Signals take a moment to arrive.
        within(Duration::from_secs(5), async || daemons(&server.root()).is_empty()).await;
        let left = daemons(&server.root());
        survivors += left.len();
        for process in left {
            let _ended_meanwhile = kill(process, Signal::SIGKILL);
        }
    }
    Ok(survivors)
}

async fn end_agent(server: &TestServer, project: &ProjectId, task: &TaskId, end: End) -> io::Result<()> {
    match end {
        End::Stop => drop(server.post::<TaskView>(&format!("/api/tasks/{task}/stop"), &json!({})).await?),
        End::KillShim => {
            for shim in processes(|command| command.contains(" shim ") && command.contains(&server.root().display().to_string())) {
                let _ended_meanwhile = kill(shim, Signal::SIGKILL);
            }
        }
    }
    server.until(project, "the agent is gone", |board: &Board| board.card(task).is_none_or(|card| card.run.is_none())).await;
    let _: TaskView = server.post(&format!("/api/tasks/{task}/cancel"), &json!({"reason": "obsolete"})).await?;
    Ok(())
}

/// The processes that the agent left in the background.
fn daemons(root: &Path) -> BTreeSet<Pid> {
    let root = root.display().to_string();
    // The tool that started them names them too.
    processes(|command| {
        (command.contains("/bin/sleep 1") || command.contains("sleep 1000")) && command.contains(&root) && !command.contains("echo > started")
    })
}

fn processes(is_wanted: impl Fn(&str) -> bool) -> BTreeSet<Pid> {
    let id = |folder: &Path| folder.file_name()?.to_str()?.parse().ok().map(Pid::from_raw);
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|folder| command_line(folder).is_some_and(|command| is_wanted(&command))).filter_map(|folder| id(&folder)).collect()
}

/// `None` for a process that has ended.
fn command_line(folder: &Path) -> Option<String> {
    let bytes = std::fs::read(folder.join("cmdline")).ok().filter(|bytes| !bytes.is_empty())?;
    Some(String::from_utf8_lossy(&bytes).replace('\0', " "))
}
