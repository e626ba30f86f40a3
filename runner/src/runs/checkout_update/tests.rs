//! Landing into checkouts that libgit2 does not serve, with the real `git`.

use std::os::unix::fs::PermissionsExt;

use repo::LandOutcome;
use repo::testing::TestRepository;

use super::*;
use crate::fixture::{TestBoard, git};
use crate::runs::merge::merge;

const BRANCH: &str = "vibe-relay/PROJ-001";

/// A board with merged work that changes `src/a`, removes `gone`, and adds `src/new` and `docs/new`.
async fn merged() -> TestBoard {
    let sample = TestRepository::new();
    for name in ["src/a", "src/b", "docs/a", "gone"] {
        sample.write(name, "old\n");
    }
    sample.commit_all("files");
    let board = TestBoard::on(sample).await;
    let task = board.task("Change files").await;
    let (plan, reserved, coder) = board.agent(&task, domain::runs::agent_kind::AgentKind::Coder).await;
    for name in ["src/a", "src/new", "docs/new"] {
        repo::testing::write_in(&plan.path, name, "new\n");
    }
    fs::remove_file(plan.path.join("gone")).unwrap();
    repo::testing::commit_all_in(&plan.path, "work");
    board.move_to(&coder, &task, domain::board::status::Status::InReview, None).await;
    board.end(&reserved).await;
    board.approve(&task).await;
    merge(&board.context(), &task).await.unwrap();
    board
}

#[tokio::test]
async fn sparse_checkouts_and_split_indexes_get_the_landed_files() {
    let sparse: &[&[&str]] = &[&["sparse-checkout", "set", "--cone", "src"]];
    let sparse_index: &[&[&str]] = &[&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]];
    let patterns: &[&[&str]] = &[&["sparse-checkout", "set", "--no-cone", "/src/", "/gone"]];
    let split: &[&[&str]] = &[&["update-index", "--split-index"]];
    let configured: &[&[&str]] = &[&["config", "core.splitIndex", "true"], &["update-index", "--split-index"]];
    for (name, setup, docs) in [
        ("sparse", sparse, false),
        ("sparse index", sparse_index, false),
        ("patterns", patterns, false),
        ("split", split, true),
        ("configured split", configured, true),
    ] {
        let board = merged().await;
        for arguments in setup {
            git(board.sample.top(), arguments).await;
        }
        board.sample.write("src/mine", "untracked\n");
        let outcome = board.land().await.unwrap();
        assert!(matches!(outcome, LandOutcome::NeedsGit { fast_forward: true, .. }), "{name}: {outcome:?}");
        assert_eq!(board.tip("main"), board.tip(BRANCH), "{name}");
        assert_eq!(git(board.sample.top(), &["status", "--porcelain"]).await, "?? src/mine\n", "{name}");
        let read = |path| board.sample.read(path);
        assert_eq!((read("src/a").as_deref(), read("src/new").as_deref(), read("gone")), (Some("new\n"), Some("new\n"), None), "{name}");
        assert_eq!(read("docs/new").is_some(), docs, "{name}: files outside of the sparse checkout are not written");
        git(board.sample.top(), &["fsck"]).await;
        assert!(!board.db.folder().join(FOLDER).join("PROJ-001.git").exists());
    }
}

#[tokio::test]
async fn changed_files_are_kept_and_nothing_is_changed() {
    for (path, content) in [("src/a", "mine\n"), ("src/new", "mine\n")] {
        let board = merged().await;
        git(board.sample.top(), &["sparse-checkout", "set", "--cone", "src"]).await;
        board.sample.write(path, content);
        let before = (board.tip("main"), git(board.sample.top(), &["status", "--porcelain"]).await);
        match board.land().await {
            Err(db::Error::Refused(refusal)) => {
                assert!(refusal.to_string().contains(path), "{refusal}");
                assert_eq!(refusal.code(), "checkout-dirty");
            }
            Ok(LandOutcome::Dirty { files }) => assert_eq!(files.paths().collect::<Vec<_>>(), [path]),
            other => panic!("{path}: {other:?}"),
        }
        assert_eq!((board.tip("main"), git(board.sample.top(), &["status", "--porcelain"]).await), before);
        assert_eq!(board.sample.read(path).as_deref(), Some(content));
    }
}

#[tokio::test]
async fn nothing_that_the_repository_configures_runs() {
    let board = merged().await;
    git(board.sample.top(), &["sparse-checkout", "set", "--cone", "src"]).await;
    let (marker, program) = (board.sample.beside("ran"), board.sample.beside("evil"));
    fs::write(&program, format!("#!/bin/sh\necho $0 >> {}\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let hooks = board.sample.git_dir().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["post-index-change", "post-checkout", "reference-transaction"] {
        fs::copy(&program, hooks.join(hook)).unwrap();
    }
    fs::create_dir_all(board.sample.git_dir().join("info")).unwrap();
    fs::write(board.sample.git_dir().join("info/attributes"), "* filter=evil\n").unwrap();
    for key in ["core.fsmonitor", "filter.evil.smudge", "filter.evil.clean"] {
        board.sample.configure(key, program.to_str().unwrap());
    }
    board.land().await.unwrap();
    assert!(!marker.exists(), "{}", fs::read_to_string(&marker).unwrap_or_default());
    assert_eq!(board.sample.read("src/new").as_deref(), Some("new\n"));
    // The same programs run for git in the repository itself: this test can fail.
    git(board.sample.top(), &["-c", "core.fsmonitor=false", "checkout", "-q", "-f", "HEAD~1"]).await;
    assert!(marker.exists());
}

#[tokio::test]
async fn missing_git_is_named() {
    let board = merged().await;
    git(board.sample.top(), &["update-index", "--split-index"]).await;
    let (repository, project) = (board.repository(), board.project().await);
    let update = GitUpdate {
        workdir: board.sample.top().to_path_buf(),
        admin: repository.git_dir().to_path_buf(),
        from: board.tip("main").unwrap(),
        to: board.tip(BRANCH).unwrap(),
        settings: Vec::new(),
    };
    let refused = update_checkout(&board.db, OsStr::new(""), &project, update).await.unwrap_err();
    assert!(refused.to_string().contains("it is not installed"), "{refused}");
}
