//! Agents in jails, with the real program: what they can do, what the card says about it, and what their model reads.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::board::card::Card;
use domain::board::project::Project;
use domain::id::ProjectId;
use domain::runs::parking::ParkReason;
use domain::runs::run::Run;
use domain::runs::sandbox::{Access, AccessKind, SandboxTier};
use domain::wire::{ServerInfo, TaskView};
use serde_json::{Value, json};
use tests::git::git;
use tests::model::ScriptedModel;
use tests::server::{ServerOptions, TestServer};

use crate::browser;
use crate::support::{self, add, agents_of, done};

const SCENARIO: &str = r#"{"parts": [
    {"phase": "coder", "attempt": 1, "turns": [
        {"calls": [
            {"tool": "Bash", "input": {"command": "echo one > page.txt; echo evil >> ~/.bashrc; cat ~/.netrc; env | grep IS_SANDBOX"}},
            {"tool": "Write", "input": {"file_path": "{{worktree}}/new.txt", "content": "42"}},
            {"tool": "Bash", "input": {"command": "git add . && git commit -qm 'Add the page' && curl -sS -m 10 https://evil.example 2>&1; true"}}
        ]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]},
        {"text": "Submitted."}
    ]},
    {"phase": "coder", "attempt": 2, "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "echo two >> page.txt && git commit -qam 'Add a line'"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]},
        {"text": "Submitted again."}
    ]},
    {"phase": "reviewer", "sees": "One line is missing", "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "cat page.txt; git log --oneline"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}}]},
        {"text": "Approved."}
    ]},
    {"phase": "reviewer", "turns": [
        {"calls": [{"tool": "mcp__vibe-relay__add_comment", "input": {"task_id": "{{task_id}}", "content": "One line is missing.", "author_role": "reviewer"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_progress"}}]},
        {"text": "Sent back."}
    ]}
]}"#;

/// Puts the agents of a server into jails.
pub(crate) fn jail(options: &mut ServerOptions, tier: SandboxTier) {
    options.config.sandbox = Some(tier);
    // The jail sets the one, and the other would be the home.
    options.environment.retain(|(name, _)| name != "IS_SANDBOX" && name != "CLAUDE_CONFIG_DIR");
}

async fn jailed(tier: SandboxTier) -> (TestServer, ScriptedModel, Project) {
    let started = support::real_with(SCENARIO, |options, root| {
        jail(options, tier);
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::write(root.join("home/.netrc"), "machine secret\n").unwrap();
    });
    let (server, model) = started.await;
    let project = server.project("Jailed", None).await.unwrap();
    (server, model, project)
}

async fn worked(server: &TestServer, project: &ProjectId, tier: SandboxTier) -> Vec<Run> {
    let task = add(server, project, "Add a page").await;
    done(server, project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert!(runs.iter().all(|run| run.sandbox == tier), "{runs:#?}");
    assert_eq!(runs.len(), 4, "coder, reviewer, coder with its session, reviewer");
    assert_eq!(git(&server.repository(), &["show", &format!("vibe-relay/{project}:page.txt")]).unwrap(), "one\ntwo");
    assert!(!server.root().join("home/.bashrc").exists());
    assert_eq!(agents_of(server), [""; 0]);
    runs
}

#[tokio::test]
async fn jailed_agents_do_their_work_and_the_card_names_the_refusals() {
    let (server, model, project) = jailed(SandboxTier::Jail).await;
    let runs = worked(&server, &project.id, SandboxTier::Jail).await;
    let refused = [Access::new(AccessKind::Read, "~/.netrc"), Access::new(AccessKind::Write, "~/.bashrc")];
    assert_eq!(runs[0].refusals, refused);
    assert_eq!((&runs[0].session_id, runs[2].attempt), (&runs[2].session_id, 2), "the session was resumed in a new jail");

    let requests = model.requests_of("coder");
    let text = requests.last().unwrap().text();
    assert!(text.contains("IS_SANDBOX=1") && !text.contains("machine secret"), "{text}");
    assert!(text.contains("One line is missing.") && text.contains("Submitted."), "the resumed session knows its past: {text}");
}

#[tokio::test]
async fn agent_without_network_reaches_model_and_board_and_nothing_else() {
    let (server, model, project) = jailed(SandboxTier::JailNet).await;
    let allowed = json!({"kind": "read", "target": "~/.netrc"});
    server.post::<Project>(&format!("/api/projects/{}/access", project.id), &allowed).await.unwrap();
    let runs = worked(&server, &project.id, SandboxTier::JailNet).await;
    let refused = [Access::new(AccessKind::Write, "~/.bashrc"), Access::new(AccessKind::Host, "evil.example")];
    assert_eq!(runs[0].refusals, refused, "and the file that was allowed is not among them");
    assert!(model.requests_of("coder").last().unwrap().text().contains("machine secret"), "an allowed file can be read");
}

/// The board's socket is replaced while the agent works.
#[tokio::test]
async fn jailed_agent_reaches_the_restarted_server() {
    let scenario = r#"{"parts": [
        {"phase": "coder", "turns": [
            {"calls": [{"tool": "Bash", "input": {"command": "echo one > page.txt; while [ ! -e .git-go ]; do sleep 0.1; done; rm .git-go; git add . && git commit -qm 'Add the page'"}}]},
            {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]},
            {"text": "Submitted."}
        ]},
        {"phase": "reviewer", "turns": [
            {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}}]},
            {"text": "Approved."}
        ]}
    ]}"#;
    let (mut server, _model) = support::real_with(scenario, |options, _| jail(options, SandboxTier::Jail)).await;
    let project = server.project("Jailed", None).await.unwrap().id;
    let task = add(&server, &project, "Add a page").await;
    let checkout = checkout(&server, &project, task.as_str());
    tests::wait_for("the agent waits", || checkout.join("page.txt").exists()).await;
    server.kill().await.unwrap();
    server.serve().await.unwrap();
    std::fs::write(checkout.join(".git-go"), "").unwrap();
    done(&server, &project, &task).await;
    assert_eq!(server.runs(&task).await.unwrap().len(), 2, "the same agent went on");
}

/// The agent starts processes that leave its session, ignore TERM and clear their environment.
#[tokio::test]
async fn stop_and_cancel_leave_no_process_of_a_jailed_agent() {
    let scenario = r#"{"parts": [{"phase": "coder", "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "(env -i setsid /bin/sh -c 'trap \"\" TERM INT HUP; while :; do /bin/sleep 1; done' >/dev/null 2>&1 &) ; (setsid sh -c '(env -i /bin/sleep 1000 &) &' >/dev/null 2>&1 &) ; (cd /; nohup sleep 1000 >/dev/null 2>&1 &) ; echo > started; sleep 600"}}]}
    ]}]}"#;
    let (server, _model) = support::real_with(scenario, |options, _| jail(options, SandboxTier::Jail)).await;
    let project = server.project("Jailed", None).await.unwrap().id;
    for (action, body) in [("stop", json!({})), ("cancel", json!({"reason": "obsolete"}))] {
        let task = add(&server, &project, "Start daemons").await;
        let checkout = checkout(&server, &project, task.as_str());
        tests::wait_for("the daemons run", || checkout.join("started").exists()).await;
        let jails: BTreeSet<PathBuf> = namespaces(|process| works_in(process, &checkout)).collect();
        assert_eq!(jails.len(), 1, "the agent is in one jail");
        let inside = || namespaces(|_| true).filter(|namespace| jails.contains(namespace)).count();
        assert!(inside() > 6, "{} processes", inside());
        let _: TaskView = server.post(&format!("/api/tasks/{task}/{action}"), &body).await.unwrap();
        let stopped = |card: &Card| card.run.is_none();
        server.until(&project, "the agent is gone", |board| board.card(&task).is_none_or(stopped)).await;
        assert_eq!(inside(), 0, "after {action}");
    }
    assert_eq!(agents_of(&server), [""; 0]);
}

/// A coder that needs a hidden file, and a reviewer.
const CURIOUS: &str = r#"{"parts": [
    {"phase": "coder", "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "echo $(cat ~/.netrc) >> {{task_id}}.txt; git add . && git commit -qm 'Add a page'"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]}
    ]},
    {"phase": "reviewer", "turns": [
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}}]}
    ]}
]}"#;

/// Nothing is configured, and the agent program is not signed in by its environment.
async fn undecided() -> TestServer {
    let server = support::scripted_with(CURIOUS, |options| options.config.sandbox = None).await;
    std::fs::write(server.root().join("home/.netrc"), "machine secret\n").unwrap();
    server
}

#[tokio::test]
async fn agents_wait_until_the_owner_chose_a_sandbox() {
    let server = undecided().await;
    let project = server.project("Undecided", None).await.unwrap().id;
    let task = add(&server, &project, "Add a page").await;
    let parked = |card: &Card| card.wait_reason.as_ref().is_some_and(|reason| reason.sentence().contains("sandbox of agents is not chosen yet"));
    server.until(&project, "the card says why it waits", |board| board.card(&task).is_some_and(parked)).await;
    let info: ServerInfo = server.get("/api/server").await.unwrap();
    assert_eq!(info.runner.parked[0].reason, ParkReason::Sandbox);
    let sandbox = info.sandbox.unwrap();
    assert_eq!((sandbox.tier, sandbox.choices.len()), (None, 3), "{sandbox:?}");
    let undecided = doctor(&server, None).await;
    assert!(
        undecided.contains("fix   sandbox    This machine offers a jail") && undecided.contains("fix: Choose whether agents run in a jail"),
        "{undecided}"
    );
    assert_eq!(undecided.matches("This machine offers a jail").count(), 1, "the board does not repeat it: {undecided}");

    let settled: Value = server.post("/api/sandbox", &json!({"tier": "jail"})).await.unwrap();
    assert_eq!(settled, json!({"tier": "jail"}));
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!((runs.len(), runs[0].sandbox), (2, SandboxTier::Jail));
    assert_eq!(runs[0].refusals, [Access::new(AccessKind::Read, "~/.netrc")]);
    assert!(doctor(&server, None).await.contains("ok    sandbox    jail: agents see only"));
    let without = doctor(&server, Some("/nowhere")).await;
    assert!(without.contains("fix   sandbox    The sandbox \"jail\" does not work here: bubblewrap is not installed\n"), "{without}");
    assert!(without.contains("                 fix: Install it with `apt install bubblewrap`"), "{without}");
}

#[tokio::test]
async fn owner_chooses_the_sandbox_and_allows_a_file_on_the_board() {
    let server = undecided().await;
    let browser = browser::signed_in(&server).await;
    browser.press("New project").await;
    browser.fill("#project-title", "Pages").await;
    browser.fill("#project-path", server.repository().to_str().unwrap()).await;
    browser.shows("#project-found", "Agents start from main").await;
    browser.click("[aria-label=Start] label:last-child input").await;
    browser.shows("dialog .hint", "Choose whether agents run in a jail").await;
    browser.has("dialog button[type=submit]:disabled").await;
    browser.click("[aria-label='Sandbox of agents'] label:nth-child(2) input").await;
    browser.shows("[aria-label='Sandbox of agents'] label:nth-child(2)", "In a jail").await;
    browser.press("Create").await;
    browser.shows(".bar h1", "Pages").await;

    let project: ProjectId = "PROJ-001".parse().unwrap();
    let task = add(&server, &project, "Add a page").await;
    done(&server, &project, &task).await;
    browser.click(&format!("[data-task={task}]")).await;
    browser.click("#tab-Attempts").await;
    browser.click(".attempt:last-of-type summary").await;
    browser.shows(".attempt", "sandbox: jail").await;
    browser.shows(".refusals", "~/.netrc is hidden by the jail").await;
    browser.press("Allow for this repository").await;
    browser.shows(".refusals", "allowed for later attempts").await;

    let next = add(&server, &project, "Add another page").await;
    done(&server, &project, &next).await;
    let page = |task: &str| git(&server.repository(), &["show", &format!("vibe-relay/{project}:{task}.txt")]).unwrap();
    assert_eq!((page(task.as_str()).trim(), page(next.as_str()).trim()), ("", "machine secret"));
    assert_eq!(server.runs(&next).await.unwrap()[0].refusals, []);
    browser.goto(&server.board_url()).await;
    browser.press("New project").await;
    browser.shows("dialog .hint", "Sandbox jail: agents see only allowed parts of your home").await;
}

/// What `vibe-relay doctor` prints, with another PATH if one is given.
async fn doctor(server: &TestServer, path: Option<&str>) -> String {
    let mut command = server.command(&["doctor"]);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    String::from_utf8(command.output().await.unwrap().stdout).unwrap()
}

fn checkout(server: &TestServer, project: &ProjectId, task: &str) -> PathBuf {
    server.root().join("worktrees").join(project.as_str()).join(task)
}

/// The process namespaces of the processes of this machine that are wanted, except that of this test.
fn namespaces(is_wanted: impl Fn(&Path) -> bool) -> impl Iterator<Item = PathBuf> {
    let of = |process: &Path| std::fs::read_link(process.join("ns/pid")).ok();
    let own = of(Path::new("/proc/self"));
    // A process that ended and was not reaped has no program.
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(|process| process.join("exe").exists());
    processes.filter(move |process| is_wanted(process)).filter_map(move |process| of(&process)).filter(move |found| Some(found) != own.as_ref())
}

fn works_in(process: &Path, folder: &Path) -> bool {
    std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
}
