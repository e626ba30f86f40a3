//! An agent whose memory runs out, beside another at work: the agent moves itself into a control group with little memory, and the kernel
//! kills it there. Needs root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::run::Run;
use domain::runs::sandbox::SandboxTier;
use domain::wire::TaskView;
use nix::unistd::Uid;
use serde_json::json;

use super::{Outcome, scripted, submitting};

const LIMIT: u64 = 64 << 20;

/// # Errors
/// The server cannot be started or refuses a request.
pub async fn run(program: &Path) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    if !Uid::effective().is_root() {
        outcome.figures.push("not measured: a control group needs root".to_owned());
        return Ok(outcome);
    }
    let group = match Group::new() {
        Ok(group) => group,
        // A container may have no control group of its own.
        Err(error) => {
            outcome.figures.push(format!("not measured: no control group for memory could be created ({error})"));
            return Ok(outcome);
        }
    };
    // The agent is the shell's parent. The kernel kills it first, because of its score.
    let exhaust = format!(
        "echo half > {{{{task_id}}}}.txt; touch ../../../{{{{task_id}}}}.reached; echo $PPID > {0}; echo $$ > {0}; echo 1000 > \
         /proc/$PPID/oom_score_adj; echo 0 > /proc/$$/oom_score_adj; tail /dev/zero; sleep 600",
        group.path.join("cgroup.procs").display()
    );
    let command = format!(
        "if [ {{{{task_id}}}} = TASK-001 ] && [ ! -e ../../../{{{{task_id}}}}.reached ]; then {exhaust}; fi; [ {{{{task_id}}}} != TASK-001 ] || grep -q half \
         {{{{task_id}}}}.txt && echo whole > {{{{task_id}}}}.txt && git add -A && git commit -qm '{{{{title}}}}'"
    );
    let scenario = submitting(&[], &command);
    let server = scripted(program, &scenario, |options| {
        // One attempt is allowed, so a used one would stop the task.
        options.config.max_attempts = 1;
        options.config.sandbox = Some(SandboxTier::None);
    });
    let server = server.await?;
    let project = server.project("Work", None).await?.id;
    let mut tasks: Vec<TaskId> = Vec::new();
    for title in ["Exhaust the memory", "Work"] {
        let view: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": title, "start": true})).await?;
        tasks.push(view.task.card.id);
    }
    let is_done = |board: &Board, task: &TaskId| board.card(task).is_some_and(|card| card.status == Status::Done && card.run.is_none());
    server.until(&project, "all work is done", |board: &Board| tasks.iter().all(|task| is_done(board, task))).await;
    let runs = server.runs(&tasks[0]).await?;
    let coders: Vec<&Run> = runs.iter().filter(|run| run.phase == AgentKind::Coder).collect();
    let ends: Vec<_> = coders.iter().map(|run| (run.end_class, run.failure)).collect();
    let expected = [(Some(EndClass::Parked), Some(FailureClass::SystemLimit)), (Some(EndClass::Finished), None)];
    outcome.expect(ends == expected && coders[0].session_id == coders[1].session_id, || format!("the agent was not continued: {coders:?}"));
    outcome.figures.push(format!(
        "1 agent killed by the kernel for its memory: continued in its session and files after {} ms, 0 attempts used",
        coders.get(1).zip(coders[0].completed_at).map_or(0, |(next, ended)| next.started_at.since(ended).as_millis())
    ));
    Ok(outcome)
}

/// A control group with little memory. Dropping it removes it.
#[derive(Debug)]
struct Group {
    path: PathBuf,
}

impl Group {
    fn new() -> io::Result<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let (parent, limit) =
            if root.join("cgroup.controllers").exists() { (root.to_owned(), "memory.max") } else { (root.join("memory"), "memory.limit_in_bytes") };
        let group = Self { path: parent.join(format!("vibe-relay-chaos-{}", std::process::id())) };
        fs::create_dir(&group.path)?;
        fs::write(group.path.join(limit), LIMIT.to_string())?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It is empty: all its processes have ended.
        let _left = fs::remove_dir(&self.path);
    }
}
