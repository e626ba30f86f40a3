//! Follows work from its start to its landing in a repository that configures a program wherever git would start one. No step may run any of them.
//!
//! The tests of `repo` show the same of each of its functions. Here real `git` runs, and `gh` is a stand-in.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::Caller;
use domain::board::status::Status;
use domain::runs::profile::checks::{CheckList, Checks};
use domain::runs::profile::{Profile, PullRequests};
use domain::runs::publication::PublishOptions;
use domain::runs::publication::issue::IssueImport;
use domain::wire::ProjectPatch;
use repo::testing::hostile::{marks, plant};
use repo::testing::{TestRepository, commit_all_in, write_in};
use repo::{LandOutcome, UndoOutcome, UndoRequest};

use crate::fixture::{TestBoard, git};
use crate::process::{self, Programs};
use crate::runs::base;
use crate::runs::merge::{merge, merge_with};
use crate::runs::publication::issue::import_issue;
use crate::runs::publication::{Tools, follow, publish, task};
use crate::runs::run::RunContext;

const BRANCH: &str = "vibe-relay/PROJ-001";
const ADDRESS: &str = "https://github.example/ann/site";

/// The functions that start a program, and why none starts one that a repository names.
const STARTING: [(&str, &str); 21] = [
    ("publish", "below: it fetches, pushes, deletes a branch and asks a host, each in a carrier"),
    ("in_carrier", "below: it lands into a sparse checkout"),
    ("run_git", "below: it signs each merge, in a carrier"),
    ("map_code", "it starts this program, which reads with `repo`"),
    ("start_shim", "below: it starts this program, which runs the commands of a profile and agents"),
    ("start_agent", "the shim starts the agent or a command of the profile, which a person wrote"),
    ("start_jail", "the same in a jail"),
    ("start_forwarder", "it starts this program in a jail"),
    ("start_inbound", "it starts this program in a jail"),
    ("replace_self", "it becomes the command of a jail"),
    ("probe", "it runs in the root folder"),
    ("version", "it runs in the root folder"),
    ("probe_desktop", "it runs in the root folder"),
    ("shell", "it is the tool of the scripted agent"),
    ("pipe_child", "it starts the server of the scripted agent"),
    ("open_browser", "it runs in the root folder"),
    ("start_server", "it starts this program"),
    ("start_detached", "it starts this program"),
    ("inherited_listener", "it starts nothing"),
    ("leave_terminal", "it starts nothing"),
    ("find_program", "it starts nothing"),
];
/// Functions of the same files about processes that exist.
const OTHERS: [&str; 4] = ["of_this_process", "at", "terminate", "crash_self"];

#[test]
fn every_function_that_starts_a_program_is_judged() {
    let sources = [include_str!("process.rs"), include_str!("process/git.rs"), include_str!("process/jail.rs"), include_str!("process/version.rs")];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/process");
    let files = fs::read_dir(folder).unwrap().filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name() != "tests.rs")).count();
    assert_eq!(files, sources.len() - 1, "a new file that starts programs is judged here too");
    let lines = sources.iter().flat_map(|source| source.lines());
    let public = lines.filter_map(|line| line.trim_start().strip_prefix("pub ").or_else(|| line.trim_start().strip_prefix("pub(crate) ")));
    let names = public.filter_map(|line| line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?.split(['(', '<']).next());
    let known: BTreeSet<&str> = STARTING.iter().map(|(name, _)| *name).chain(OTHERS).collect();
    assert_eq!(names.collect::<BTreeSet<_>>(), known);
}

/// A board on a hostile repository whose remote is a bare one, and another clone of that.
struct Hostile {
    board: TestBoard,
    context: RunContext,
    tools: Tools,
    other: PathBuf,
}

impl Hostile {
    async fn new(hooks_elsewhere: bool) -> Self {
        let sample = TestRepository::new();
        let (remote, other) = (sample.beside("remote.git"), sample.beside("other"));
        let paths = [sample.top(), &remote, &other].map(|path| path.display().to_string());
        git(sample.root(), &["clone", "--quiet", "--bare", &paths[0], &paths[1]]).await;
        git(sample.root(), &["clone", "--quiet", &paths[1], &paths[2]]).await;
        plant(&sample, hooks_elsewhere, false);
        // The key of the person is to sign, and the program of the repository is not.
        git(sample.top(), &["-c", "core.fsmonitor=false", "-c", "alias.key=!ssh-keygen -q -t ed25519 -N '' -f ../key", "key"]).await;
        for (name, value) in [("gpg.format", "ssh"), ("gpg.ssh.program", "/bin/false"), ("user.signingKey", sample.beside("key").to_str().unwrap())] {
            sample.configure(name, value);
        }
        sample.configure("remote.origin.url", &paths[1]);
        sample.configure("remote.origin.pushurl", ADDRESS);
        let address = format!("exec git -c url.{}.insteadOf={ADDRESS} \"$@\"", paths[1]);
        let gh = format!(
            "case \"$1 $2\" in\n'pr view'|'issue view') cat {} ;;\n'pr list') ;;\n*) echo {ADDRESS}/pull/7 ;;\nesac",
            sample.beside("answer").display()
        );
        let tools = Tools { git: Some(script(&sample, "git-stand-in", &address)), gh: Some(script(&sample, "gh-stand-in", &gh)), glab: None };
        let board = TestBoard::on(sample).await;
        let context = RunContext { programs: Programs::at(std::env::current_exe().unwrap()), ..board.context() };
        let full = CheckList { commands: vec!["test -f code.txt".to_owned()], ..CheckList::default() };
        let profile = Profile { checks: Checks { full, ..Checks::default() }, setup: vec!["test -f code.txt".to_owned()], ..Profile::default() };
        let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
        board.db.edit_project(&Caller::owner(), &board.project.id, patch, None).await.unwrap();
        // An agent that is not in a jail can write these after the project was created.
        write_in(&board.sample.git_dir(), "info/attributes", "* diff=evil merge=evil\n");
        Self { board, context, tools, other }
    }

    fn answer(&self, text: &str) {
        fs::write(self.board.sample.beside("answer"), text).unwrap();
    }

    async fn merge_work(&self, name: &str) {
        let task = self.board.task(&format!("Add {name}")).await;
        self.board.work(&task, &[(name, "new\n"), ("code.txt", &format!("{name}\ntwo\nthree\n"))]).await;
        self.board.approve(&task).await;
        merge(&self.context, &task).await.unwrap();
        assert!(self.board.read(&task).await.merged_sha.is_some(), "{:?}", self.board.read(&task).await.card);
        self.board.clean(&task).await;
    }

    /// Someone else pushes to the base branch.
    async fn push(&self) -> String {
        write_in(&self.other, "theirs.txt", "theirs\n");
        let sha = commit_all_in(&self.other, "theirs");
        git(&self.other, &["push", "--quiet", "origin", "HEAD:main"]).await;
        sha
    }

    async fn publish_and_follow(&self) {
        let (db, project) = (&self.board.db, self.board.project().await);
        self.answer(&format!(r#"{{"url": "{ADDRESS}/issues/3", "title": "An issue", "body": "", "author": {{"login": "ann"}}, "labels": []}}"#));
        import_issue(db, &self.tools, &Caller::owner(), &project.id, IssueImport { issue: "#3".to_owned(), start: false }).await.unwrap();
        let published = publish(db, &self.tools, &Caller::owner(), &project.id, PublishOptions { pull_request: true }).await.unwrap();
        let tip = published.published.as_ref().unwrap().sha.clone();
        for state in ["OPEN", "MERGED"] {
            self.answer(&format!(r#"{{"state": "{state}", "headRefOid": "{tip}"}}"#));
            follow::follow(db, &self.tools, &self.board.project().await).await.unwrap();
        }
        assert!(self.board.project().await.landed.is_some());
    }

    /// Opens the pull request of one task, which someone merges on the remote, and finishes the task.
    async fn publish_task(&self) {
        let (db, project) = (&self.board.db, self.board.project().await);
        let profile = Profile { pull_requests: PullRequests::Task, ..project.profile };
        let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
        db.edit_project(&Caller::owner(), &project.id, patch, None).await.unwrap();
        let id = self.board.task("Add two.txt").await;
        self.board.work(&id, &[("two.txt", "new\n")]).await;
        self.board.approve(&id).await;
        merge_with(&self.context, &self.tools, &id).await.unwrap();
        let known = self.board.read(&id).await.card.pull_request.unwrap();
        for arguments in [&["fetch", "-q"][..], &["merge", "-q", &format!("origin/{}", known.branch)], &["push", "-q", "origin", "HEAD:main"]] {
            git(&self.other, arguments).await;
        }
        self.answer(&format!(r#"{{"state": "MERGED", "headRefOid": "{}"}}"#, known.sha));
        task::follow(db, &self.tools, &id).await.unwrap();
        merge_with(&self.context, &self.tools, &id).await.unwrap();
        let card = self.board.read(&id).await.card;
        assert_eq!(card.status, Status::Done, "{:?}", card.attention);
        self.board.clean(&id).await;
    }

    /// Lands beside a change of the person, undoes that, and lands again in a sparse checkout.
    async fn land(&self) {
        let sample = &self.board.sample;
        sample.write("a.shown", "mine\n");
        let before = self.board.tip("main").unwrap();
        let landed = self.board.land().await.unwrap();
        assert!(matches!(landed, LandOutcome::Landed { .. }), "{landed:?}");
        let tip = self.board.tip("main").unwrap();
        let undo = UndoRequest { base_branch: "main", project_branch: BRANCH, tip: &tip, landed: &tip, before: &before, workdir: sample.top() };
        assert_eq!(self.board.repository().undo_landing(undo).unwrap(), UndoOutcome::Undone);
        sample.configure("core.sparseCheckout", "true");
        write_in(&sample.git_dir(), "info/sparse-checkout", "/*\n");
        let landed = self.board.land().await.unwrap();
        assert!(matches!(landed, LandOutcome::NeedsGit { .. }), "{landed:?}");
        assert_eq!(self.board.tip("main").unwrap(), tip);
        assert_eq!(sample.read("a.shown").as_deref(), Some("mine\n"));
    }
}

fn script(sample: &TestRepository, name: &str, lines: &str) -> PathBuf {
    let path = sample.beside(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn no_step_runs_a_program_of_the_repository() {
    for hooks_elsewhere in [false, true] {
        let hostile = Hostile::new(hooks_elsewhere).await;
        let pushed = hostile.push().await;
        hostile.merge_work("one.txt").await;
        base::follow_before_landing(&hostile.board.context(), &hostile.board.project.id).await.unwrap();
        let tip = hostile.board.tip(BRANCH).unwrap();
        assert!(hostile.board.repository().is_ancestor(&pushed, &tip).unwrap(), "the upstream was fetched and followed");
        hostile.publish_and_follow().await;
        hostile.publish_task().await;
        hostile.land().await;
        assert_eq!(marks(&hostile.board.sample), BTreeSet::new(), "hooks elsewhere: {hooks_elsewhere}");
        // The same repository runs them for `git`: this test can fail.
        let git = process::find_program("git", &std::env::var_os("PATH").unwrap()).unwrap();
        let top = hostile.board.sample.top().display().to_string();
        process::probe(&git, &["-C", &top, "fetch", "origin"], Duration::from_secs(60)).await.unwrap();
        assert!(marks(&hostile.board.sample).contains("remote.origin.uploadpack"), "{:?}", marks(&hostile.board.sample));
    }
}
