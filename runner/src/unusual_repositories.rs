//! Repositories as people have them: each ends merged and landed, or with a typed reason, and nothing of the person or the agent is lost.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use db::Caller;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::profile::Profile;
use domain::wire::{NewProject, ProjectPatch};
use repo::LandOutcome;
use repo::testing::{TestRepository, commit_all_in, write_in};

use crate::fixture::{TestBoard, git, use_git};
use crate::runs::merge::merge;

mod steps;

use steps::{add_failing_hooks, add_submodule, commit_in_submodule, hold_submodule, make_shallow, sign_with_key, use_filter_of_repository};

/// One step that makes a repository unusual.
#[derive(Clone, Copy)]
enum Step {
    Git(&'static [&'static str]),
    Write(&'static str, &'static str),
    /// Does something with the folder of the checkout.
    Do(fn(&Path)),
}
use Step::{Do, Git, Write};

/// The expected end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// No project can be created, for this reason.
    Refused(&'static str),
    Landed,
    /// The work is merged into the project branch, and landing says why it changed nothing.
    Merged(&'static str),
    /// The work goes back to its coder, who is told this.
    SentBack(&'static str),
}
use End::{Landed, Merged, Refused, SentBack};

struct Fixture {
    name: &'static str,
    /// In the person's checkout, before the project is created.
    before: &'static [Step],
    /// In the agent's checkout. Everything that is not committed is committed afterwards.
    work: &'static [Step],
    /// In the person's checkout, after the work was approved.
    then: &'static [Step],
    end: End,
}

const USUAL: Fixture = Fixture { name: "usual", before: &[], work: &[Write("work.txt", "done\n")], then: &[], end: Landed };

const ADD: Step = Git(&["add", "-A"]);
const COMMIT: Step = Git(&["commit", "-q", "-m", "files"]);

const FILTER: Fixture = Fixture {
    name: "filter",
    before: &[Write(".gitattributes", "*.key filter=rot13\n"), Write("a.key", "attack\n"), ADD, COMMIT],
    work: &[Write("a.key", "retreat\n"), Write("src/new.key", "new\n"), ADD, COMMIT],
    ..USUAL
};

const FIXTURES: &[Fixture] = &[
    USUAL,
    Fixture { name: "dirty index", then: &[Write("a.txt", "mine\n"), Git(&["add", "a.txt"])], ..USUAL },
    Fixture {
        name: "dirty index in the way",
        work: &[Write("a.txt", "changed\n")],
        then: &[Write("a.txt", "mine\n"), Git(&["add", "a.txt"])],
        end: Merged("checkout-dirty"),
        ..USUAL
    },
    Fixture { name: "staged rename", then: &[Git(&["mv", "a.txt", "b.txt"])], ..USUAL },
    Fixture {
        name: "delete and modify",
        work: &[Write("a.txt", "changed\n")],
        then: &[Git(&["rm", "-q", "a.txt"]), Git(&["commit", "-q", "-m", "delete"])],
        end: SentBack("a.txt"),
        ..USUAL
    },
    Fixture { name: "binary", work: &[Write("image.png", "\0\u{1}\0\0\r\n\0")], ..USUAL },
    Fixture { name: "sparse", then: &[Git(&["sparse-checkout", "set", "--cone", "src"])], ..USUAL },
    Fixture { name: "split index", then: &[Git(&["update-index", "--split-index"])], ..USUAL },
    Fixture { name: "shallow", before: &[Do(make_shallow)], ..USUAL },
    Fixture { name: "detached", before: &[Git(&["checkout", "-q", "--detach"])], end: Refused("detached-head"), ..USUAL },
    Fixture { name: "detached later", then: &[Git(&["checkout", "-q", "--detach"])], ..USUAL },
    Fixture {
        name: "base in a worktree",
        then: &[Git(&["switch", "-q", "-c", "mine"]), Git(&["worktree", "add", "-q", "../elsewhere", "main"])],
        end: Merged("branch-checked-out"),
        ..USUAL
    },
    Fixture { name: "branch deleted", then: &[Git(&["update-ref", "-d", "refs/heads/vr/TASK-001/work"])], ..USUAL },
    Fixture { name: "worktree deleted", then: &[Do(|top| fs::remove_dir_all(top.with_file_name("worktrees")).unwrap())], ..USUAL },
    Fixture {
        name: "stale index.lock",
        then: &[Do(|top| fs::write(top.join(".git/index.lock"), "").unwrap())],
        end: Merged("branch-locked"),
        ..USUAL
    },
    Fixture { name: "packed refs", then: &[Git(&["pack-refs", "--all"])], ..USUAL },
    Fixture { name: "name collision", before: &[Git(&["branch", "vibe-relay"])], end: Refused("name-blocked"), ..USUAL },
    Fixture { name: "name taken", before: &[Git(&["branch", "vibe-relay/PROJ-001"])], ..USUAL },
    Fixture {
        name: "submodule ahead",
        before: &[Do(add_submodule), Git(&["add", "-A"]), Git(&["commit", "-q", "-m", "submodule"]), Do(commit_in_submodule)],
        ..USUAL
    },
    Fixture {
        name: "submodule filled by the setup",
        before: &[Do(add_submodule), Git(&["add", "-A"]), Git(&["commit", "-q", "-m", "submodule"])],
        work: &[Git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]), Write("work.txt", "done\n")],
        ..USUAL
    },
    Fixture {
        name: "submodule filled by the profile",
        before: &[Do(add_submodule), Git(&["add", "-A"]), Git(&["commit", "-q", "-m", "submodule"]), Do(hold_submodule)],
        work: &[Do(|checkout| assert_eq!(fs::read_to_string(checkout.join("inner/a")).unwrap(), "a")), Write("work.txt", "done\n")],
        ..USUAL
    },
    Fixture {
        name: "LFS",
        before: &[Write(".gitattributes", "*.psd filter=lfs\n"), Write("art.psd", "a picture\n"), ADD, COMMIT],
        work: &[Write("art.psd", "a better picture\n"), Write("src/new.psd", "another\n"), ADD, COMMIT],
        ..USUAL
    },
    FILTER,
    Fixture { name: "filter, changed file in the way", then: &[Write("a.key", "mine\n")], end: Merged("checkout-dirty"), ..FILTER },
    Fixture { name: "filter of the repository alone", before: &[Do(use_filter_of_repository), ADD, COMMIT], end: Refused("filters"), ..USUAL },
    Fixture {
        name: "another encoding",
        before: &[Write(".gitattributes", "a.rc working-tree-encoding=UTF-16LE\n"), Write("a.rc", "a\0"), ADD, COMMIT],
        work: &[Write("a.rc", "b\0"), ADD, COMMIT],
        ..USUAL
    },
    Fixture {
        name: "CRLF",
        before: &[
            Write(".gitattributes", "*.txt text eol=crlf\n"),
            Do(|top| drop(commit_all_in(top, "attributes"))),
            Git(&["checkout", "-q", "-f", "HEAD"]),
        ],
        work: &[Write("a.txt", "changed\r\n"), Write("work.txt", "done\r\n")],
        ..USUAL
    },
    Fixture { name: "symlinks", work: &[Do(|checkout| symlink("/etc/passwd", checkout.join("link")).unwrap())], ..USUAL },
    Fixture {
        name: "names that are not UTF-8",
        work: &[Do(|checkout| fs::write(checkout.join(OsStr::from_bytes(b"caf\xe9")), "x").unwrap())],
        ..USUAL
    },
    Fixture {
        name: "empty commits",
        work: &[
            Git(&["commit", "-q", "--allow-empty", "-m", "nothing"]),
            Write("work.txt", "done\n"),
            Do(|checkout| drop(commit_all_in(checkout, "work"))),
            Git(&["commit", "-q", "--allow-empty", "-m", "nothing"]),
        ],
        ..USUAL
    },
    Fixture {
        name: "merge commit in the task",
        work: &[
            Git(&["switch", "-q", "-c", "side"]),
            Write("side", "x"),
            Do(|checkout| drop(commit_all_in(checkout, "side"))),
            Git(&["switch", "-q", "vr/TASK-001/work"]),
            Git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]),
        ],
        ..USUAL
    },
    Fixture {
        name: "octopus",
        work: &[
            Git(&["switch", "-q", "-c", "one"]),
            Write("one", "x"),
            Do(|checkout| drop(commit_all_in(checkout, "one"))),
            Git(&["switch", "-q", "-c", "two", "main"]),
            Write("two", "x"),
            Do(|checkout| drop(commit_all_in(checkout, "two"))),
            Git(&["switch", "-q", "vr/TASK-001/work"]),
            Git(&["merge", "-q", "--no-ff", "-m", "octopus", "one", "two"]),
        ],
        ..USUAL
    },
    Fixture { name: "gc in between", then: &[Git(&["gc", "-q", "--prune=now"])], ..USUAL },
    Fixture { name: "failing hooks", before: &[Do(add_failing_hooks)], ..USUAL },
    Fixture {
        name: "required signing",
        before: &[Git(&["-c", "alias.key=!ssh-keygen -q -t ed25519 -N '' -f ../key", "key"]), Do(sign_with_key)],
        ..USUAL
    },
    Fixture { name: "partial clone", before: &[Git(&["config", "remote.origin.promisor", "true"])], end: Refused("partial-clone"), ..USUAL },
    Fixture {
        name: "operation in progress",
        then: &[Do(|top| fs::write(top.join(".git/MERGE_HEAD"), fs::read(top.join(".git/refs/heads/main")).unwrap()).unwrap())],
        end: Merged("operation-under-way"),
        ..USUAL
    },
    Fixture {
        name: "ignored file in the way",
        then: &[Write(".git/info/exclude", "work.txt\n"), Write("work.txt", "mine\n")],
        end: Merged("checkout-dirty"),
        ..USUAL
    },
    Fixture {
        name: "read-only folder",
        then: &[Do(|top| fs::set_permissions(top.join("src"), fs::Permissions::from_mode(0o555)).unwrap())],
        ..USUAL
    },
];

async fn take(folder: &Path, steps: &[Step]) {
    for step in steps {
        match step {
            Git(arguments) => _ = git(folder, arguments).await,
            Write(path, content) => write_in(folder, path, content),
            Do(act) => act(folder),
        }
    }
}

/// The files of a checkout except those of git.
fn files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![top.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_symlink() || path.is_file() {
                let content = fs::read_link(&path).map_or_else(|_| fs::read(&path).unwrap(), |link| link.into_os_string().into_encoded_bytes());
                found.insert(path.strip_prefix(top).unwrap().to_path_buf(), content);
            } else if path.file_name().unwrap() != ".git" {
                folders.push(path);
            }
        }
    }
    found
}

fn sample() -> TestRepository {
    let sample = TestRepository::new();
    sample.write("a.txt", "old\n");
    sample.write("src/b.txt", "old\n");
    sample.commit_all("files");
    sample
}

/// The end of a repository, from the creation of a project to its landing.
async fn run(fixture: &Fixture) -> End {
    let sample = sample();
    use_git();
    take(sample.top(), fixture.before).await;
    if let Err(refusal) = repo::probe(sample.top(), None) {
        assert!(!refusal.hint().is_empty(), "{}", fixture.name);
        return Refused(refusal.code());
    }
    let board = TestBoard::on(sample).await;
    let profile = Profile { submodules: fixture.name == "submodule filled by the profile", ..Profile::default() };
    let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
    board.db.edit_project(&Caller::owner(), &board.project.id, patch, None).await.unwrap();
    let top = board.sample.top();
    let task = board.task("Work").await;
    let (plan, reserved, coder) = board.agent(&task, AgentKind::Coder).await;
    take(&plan.path, fixture.work).await;
    if !git(&plan.path, &["status", "--porcelain"]).await.is_empty() {
        commit_all_in(&plan.path, "work");
    }
    let work = git(&plan.path, &["rev-parse", "HEAD"]).await.trim().to_owned();
    let written: Vec<u8> = git(&plan.path, &["diff", "--name-only", "-z", "main", "HEAD"]).await.into_bytes();
    board.move_to(&coder, &task, Status::InReview, None).await;
    board.end(&reserved).await;
    board.approve(&task).await;
    take(top, fixture.then).await;
    let status = git(top, &["status", "--porcelain"]).await;
    let (before, kept) = (files(top), git(top, &["for-each-ref", "--format=%(objectname)", "refs/heads", "refs/tags"]).await);

    merge(&board.context(), &task).await.unwrap();
    let end = if board.read(&task).await.card.status == Status::InProgress {
        let comments = board.db.comments(&task).await.unwrap();
        let SentBack(why) = fixture.end else { panic!("{}: {comments:?}", fixture.name) };
        assert!(comments.last().is_some_and(|comment| comment.content.contains(why)), "{}: {comments:?}", fixture.name);
        fixture.end
    } else {
        end_of_landing(fixture, &board, &task).await
    };

    for commit in kept.lines().chain([work.as_str()]) {
        assert_ne!(git(top, &["for-each-ref", "--contains", commit]).await, "", "{}: {commit} is lost", fixture.name);
    }
    let after = files(top);
    let is_work = |path: &Path| written.split(|byte| *byte == 0).any(|name| String::from_utf8_lossy(name) == path.to_string_lossy());
    for (path, content) in before {
        let is_kept = after.get(&path) == Some(&content) || (end == Landed && is_work(&path));
        assert!(is_kept, "{}: {} changed", fixture.name, path.display());
    }
    if end == Landed {
        assert_eq!(git(top, &["merge-base", "--is-ancestor", &work, "main"]).await, "", "{}", fixture.name);
        let mine = ["submodule ahead", "detached later"].contains(&fixture.name);
        assert!(
            mine || git(top, &["status", "--porcelain"]).await == status,
            "{}: the checkout is not what landed beside what was there",
            fixture.name
        );
    }
    end
}

async fn end_of_landing(fixture: &Fixture, board: &TestBoard, task: &TaskId) -> End {
    let card = board.read(task).await.card;
    assert_eq!(card.status, Status::Done, "{}: {:?}", fixture.name, card.attention);
    board.clean(task).await;
    match board.land().await {
        Ok(LandOutcome::Landed { .. } | LandOutcome::NeedsGit { .. }) => Landed,
        Ok(LandOutcome::Dirty { .. }) => Merged("checkout-dirty"),
        Ok(LandOutcome::Conflict { .. }) => Merged("land-conflict"),
        Ok(LandOutcome::CheckedOutElsewhere { .. }) => Merged("branch-checked-out"),
        Ok(other) => panic!("{}: {other:?}", fixture.name),
        Err(db::Error::Refused(refusal)) => Merged(refusal.code()),
        Err(other) => panic!("{}: {other}", fixture.name),
    }
}

#[tokio::test]
async fn each_ends_merged_or_with_a_reason_and_nothing_is_lost() {
    let mut wrong = Vec::new();
    for fixture in FIXTURES {
        let end = run(fixture).await;
        if end != fixture.end {
            wrong.push(format!("{}: {end:?}", fixture.name));
        }
    }
    assert!(FIXTURES.len() >= 30 && wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn two_projects_of_one_repository_land_one_after_the_other() {
    let mut board = TestBoard::on(sample()).await;
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let second = board.db.create_project(&Caller::owner(), NewProject { title: "Second".to_owned(), ..NewProject::default() }, probe).await.unwrap();
    for (project, file) in [(board.project.clone(), "one"), (second, "two")] {
        board.project = project;
        let task = board.task(file).await;
        board.work(&task, &[(file, "x")]).await;
        board.approve(&task).await;
        merge(&board.context(), &task).await.unwrap();
        assert!(matches!(board.land().await.unwrap(), LandOutcome::Landed { .. }));
        assert_eq!(board.sample.read(file).as_deref(), Some("x"));
    }
    assert_eq!((board.sample.read("one").as_deref(), git(board.sample.top(), &["status", "--porcelain"]).await.as_str()), (Some("x"), ""));
}
