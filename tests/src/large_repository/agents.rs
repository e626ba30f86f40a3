//! The scripted agents of the run, and the commands of its profile. It must not know how work lands.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::ServerOptions;

/// The tasks of the plan. The last one waits for the first.
pub(super) const TASKS: usize = 5;

/// Stands for `pnpm install`: fills an ignored folder from the lock file.
pub(super) const SETUP: &str = "mkdir -p node_modules/left-pad && cp pnpm-lock.yaml node_modules/left-pad/lock";

/// The file of the repository that counts the runs of the suite.
const RUNS: &str = "suite-runs";

/// A suite that needs the copied file and the installed packages, and takes as long as it should.
pub(super) fn suite(root: &Path, takes: Duration) -> String {
    let runs = root.join(RUNS);
    let needs = "grep -q KEY .env && test -f node_modules/left-pad/lock && test -f packages/app1/package.json && test -f crates/part1/Cargo.toml";
    format!("echo run >> {}; {needs} && sleep {}", runs.display(), takes.as_secs_f64())
}

pub(super) fn suite_runs(root: &Path) -> usize {
    std::fs::read_to_string(root.join(RUNS)).map_or(0, |runs| runs.lines().count())
}

/// The file that a task changes besides one of Rust.
pub(super) fn changed_file(task: usize) -> String {
    format!("packages/app{task}/src/index.ts")
}

/// The line that a task adds to it.
pub(super) fn line(task: usize) -> String {
    format!("export const part{task} = true;")
}

/// Lets the server's agents play the run, with the stand-in for `gh` on their path.
pub(super) fn prepare(program: &Path, root: &Path, options: &mut ServerOptions) -> io::Result<()> {
    let file = root.join("scenario.json");
    std::fs::write(&file, scenario().to_string())?;
    options.config.agent_command =
        vec![program.display().to_string(), "scripted-agent".to_owned(), "--scenario".to_owned(), file.display().to_string()];
    for (name, value) in &mut options.environment {
        if name == "PATH" {
            *value = format!("{}:{value}", root.join("bin").display());
        }
    }
    Ok(())
}

fn scenario() -> Value {
    let call = |tool: &str, input: Value| json!({"calls": [{"tool": tool, "input": input}]});
    let task = |number: usize| {
        let needs: &[usize] = if number == TASKS { &[0] } else { &[] };
        json!({"title": format!("Part {number}"), "description": "Add a line in both languages.", "phase": "coder", "depends_on": needs})
    };
    let plan = json!({"parent_task_id": "{{task_id}}", "tasks": (1..=TASKS).map(task).collect::<Vec<_>>()});
    let complete = json!({"task_id": "{{task_id}}", "reason": "everything is there"});
    let moved = |status: &str| call("mcp__vibe-relay__update_task_status", json!({"task_id": "{{task_id}}", "status": status}));
    let work = "set -- {{title}}; grep -q KEY .env && test -f node_modules/left-pad/lock && \
                echo \"export const part$2 = true;\" >> packages/app$2/src/index.ts && echo \"pub const PART: u32 = $2;\" >> crates/part$2/src/lib.rs && \
                git add -A && git commit -qm '{{title}}'";
    let last = json!({"text": "Done."});
    json!({"parts": [
        {"phase": "planner", "turns": [call("mcp__vibe-relay__create_subtasks", plan), call("mcp__vibe-relay__complete_task", json!({"task_id": "{{task_id}}"})), last]},
        {"phase": "coder", "turns": [call("Bash", json!({"command": work})), moved("in_review"), last]},
        {"phase": "reviewer", "turns": [moved("done"), last]},
        {"phase": "orchestrator", "turns": [call("mcp__vibe-relay__complete_task", complete), last]},
    ]})
}
