//! A run on a large repository from its plan to its landing: five tasks, checks of their merges, a person with uncommitted files, and another
//! clone that pushes meanwhile. A bench runs it at full size and a test at a small one. It must reach the product only as a person does.

mod agents;
mod files;
mod person;
mod remote;

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use domain::board::card::Card;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::profile::Profile;
use domain::runs::profile::checks::{CheckList, Checks};
use domain::wire::{LandingResult, NewProject};
use serde_json::json;

use self::agents::TASKS;
use self::person::Person;
use self::remote::Remote;
use crate::git::git;
use crate::server::TestServer;

/// How often the suite may run: on each merge of a task, and on each of two merges of the base.
const MAX_SUITE_RUNS: usize = TASKS + 2;
/// How long the agents may take besides the suite.
const AGENTS_TIMEOUT: Duration = Duration::from_secs(600);
/// Two looks at a pull request are a minute apart.
const FOLLOW_TIMEOUT: Duration = Duration::from_secs(180);
/// The goal for the largest memory of the server, in MB.
const MEMORY_GOAL: u64 = 120;

/// How the work reaches the base branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// On the base branch that the person has checked out.
    Local,
    /// By a pull request that someone merges on its host.
    PullRequest,
}

/// The size of a run.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub files: usize,
    /// Megabytes of earlier versions, which do not compress.
    pub history: usize,
    pub suite: Duration,
    /// Whether Git LFS is installed for the person and keeps files of theirs. Otherwise only its pointers are committed.
    pub has_lfs: bool,
}

/// The figures of a run, one sentence each, and each broken promise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    pub figures: Vec<String>,
    pub violations: Vec<String>,
}

impl Report {
    fn expect(&mut self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(violation());
        }
    }

    fn phase(&mut self, name: &str, began: Instant) {
        self.figures.push(format!("{:>7.1} s  {name}", began.elapsed().as_secs_f64()));
    }
}

/// Runs five tasks to their landing.
///
/// # Errors
/// The repository cannot be made, or the server does not start or refuses a request.
pub async fn run(program: &Path, size: Size, destination: Destination) -> io::Result<Report> {
    let mut report = Report::default();
    let began = Instant::now();
    let mut made = Ok(());
    let server = TestServer::start(program, &[("README.md", "A large repository.\n")], |options, root| {
        made = files::generate(root, size).and_then(|()| agents::prepare(program, root, options));
    });
    let server = server.await?;
    made?;
    let (root, repository) = (server.root(), server.repository());
    let remote = Remote::new(&root)?;
    let person = Person::with_changes(&root.join("home"), &repository)?;
    report.phase("the repository, its remote and another clone were made, and the server started", began);
    report.figures.push(format!("{}; {}", files::describe(&repository)?, person.describe()));

    let began = Instant::now();
    let mut pushed = Vec::new();
    // A shorter suite ends before the upstream is fetched again, so what is pushed then is followed at the next merge only.
    let pushes_twice = size.suite >= Duration::from_secs(60);
    if !pushes_twice {
        pushed.push(remote.push("first")?);
    }
    let new = NewProject {
        title: "Large".to_owned(),
        description: Some(format!("Change {TASKS} parts.")),
        repo_path: Some(repository.display().to_string()),
        profile: Some(profile(&root, size)),
        ..NewProject::default()
    };
    let project: Project = server.post("/api/projects", &new).await?;
    report.phase("the project was created", began);

    let began = Instant::now();
    let coders = |board: &Board| board.cards.iter().filter(|card| card.phase == AgentKind::Coder).cloned().collect::<Vec<Card>>();
    let timeout = AGENTS_TIMEOUT + size.suite * u32::try_from(MAX_SUITE_RUNS).unwrap_or(u32::MAX);
    let until = async |what: &str, holds: &(dyn Fn(&Board) -> bool + Sync)| server.until_within(timeout, &project.id, what, holds).await;
    until("the tasks are planned", &|board| coders(board).len() == TASKS).await;
    report.phase("five tasks were planned", began);
    until("a coder works", &|board| coders(board).iter().any(|card| card.run.is_some())).await;
    report.phase("the first coder was at work", began);
    if pushes_twice {
        pushed.push(remote.push("first")?);
        until("the suite runs", &|_| agents::suite_runs(&root) > 0).await;
        report.phase("the suite ran on the first merge", began);
        pushed.push(remote.push("second")?);
    }
    let is_done = |card: &Card| card.status == Status::Done && card.run.is_none();
    until("five tasks are done", &|board| coders(board).iter().filter(|card| is_done(card)).count() == TASKS).await;
    until("the round is over", &|board| board.cards.iter().all(is_done)).await;
    report.phase("five tasks were merged", began);

    let began = Instant::now();
    let landed_on = match destination {
        Destination::Local => {
            let landed: LandingResult = server.post(&format!("/api/projects/{}/land", project.id), &json!({})).await?;
            report.expect(git(&repository, &["rev-parse", "main"])? == landed.sha, || "the base branch is not at the landed commit".to_owned());
            report.phase("landed on the checked-out base branch", began);
            repository.clone()
        }
        Destination::PullRequest => {
            let published: Project = server.post(&format!("/api/projects/{}/publication", project.id), &json!({"pull_request": true})).await?;
            report.phase("pushed, and a pull request opened", began);
            remote.merge_pull_request(&published.integration_branch)?;
            let began = Instant::now();
            server.until_within(FOLLOW_TIMEOUT, &project.id, "the merge is noticed", |board| board.project.landed.is_some()).await;
            report.phase("the merged pull request was noticed", began);
            let calls = remote.calls()?;
            report.expect(calls.matches("pr create ").count() == 1, || format!("not one pull request was opened: {calls}"));
            remote.path.clone()
        }
    };
    let project: Project = server.board(&project.id).await?.project;
    let tasks = project.landed.as_ref().map_or(0, |landing| landing.tasks);
    report.expect(tasks as usize >= TASKS, || format!("{tasks} tasks are landed"));
    for (number, commit) in pushed.iter().enumerate() {
        let contained = git(&landed_on, &["merge-base", "--is-ancestor", commit, "main"]).is_ok();
        report.expect(contained, || format!("push {} of the other clone is not in what landed", number + 1));
    }
    for number in 1..=TASKS {
        let shown = git(&landed_on, &["show", &format!("main:{}", agents::changed_file(number))]);
        report.expect(shown.is_ok_and(|text| text.contains(&agents::line(number))), || format!("the work of task {number} is not in what landed"));
    }
    if size.has_lfs {
        let shown = git(&landed_on, &["show", &format!("main:{}", files::MEDIA)])?;
        report.expect(files::is_pointer(&shown), || format!("what landed has no pointer of Git LFS: {shown}"));
        let is_uploaded = remote.path.join("lfs/objects").is_dir();
        report.expect(is_uploaded == (destination == Destination::PullRequest), || "files of Git LFS were not uploaded with the branch".to_owned());
    }
    let changes = person.differences()?;
    report.expect(changes.is_empty(), || format!("what the person had changed: {}", changes.join("; ")));
    let runs = agents::suite_runs(&root);
    report.expect(runs <= MAX_SUITE_RUNS, || format!("the suite ran {runs} times"));
    report.figures.push(format!(
        "the suite of {} s ran {runs} times (limit: {MAX_SUITE_RUNS}); {} pushes of the other clone landed too",
        size.suite.as_secs(),
        pushed.len()
    ));
    let memory = server.server_id().map(crate::peak_memory).transpose()?.unwrap_or_default();
    let goal = if memory <= MEMORY_GOAL { "met" } else { "missed" };
    report.figures.push(format!("largest memory of the server: {memory} MB (goal: {MEMORY_GOAL} MB, {goal})"));
    Ok(report)
}

fn profile(root: &Path, size: Size) -> Profile {
    let full = CheckList { commands: vec![agents::suite(root, size.suite)], minutes: 10 };
    Profile {
        setup: vec![agents::SETUP.to_owned()],
        reuse: vec!["node_modules".to_owned()],
        checks: Checks { full, ..Checks::default() },
        ..Profile::default()
    }
}
