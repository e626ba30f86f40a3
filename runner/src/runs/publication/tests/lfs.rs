//! Pushes of a repository with Git LFS, with the real `git-lfs`.

use repo::testing::TestRepository;

use super::*;
use crate::fixture::{git, use_git};

/// A published board whose person and coder each committed a picture.
async fn with_pictures() -> Published {
    use_git();
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.psd filter=lfs\n");
    sample.write("old.psd", "of the person\n");
    commit(sample.top()).await;
    let published = Published::on(TestBoard::on(sample).await);
    let url = format!("file://{}", published.remote.display());
    published.board.sample.configure("remote.origin.url", &url);
    let task = published.board.task("Draw").await;
    let (plan, reserved, coder) = published.board.agent(&task, domain::runs::agent_kind::AgentKind::Coder).await;
    assert_eq!(fs::read_to_string(plan.path.join("old.psd")).unwrap(), "of the person\n");
    repo::testing::write_in(&plan.path, "new.psd", "of the coder\n");
    commit(&plan.path).await;
    published.board.move_to(&coder, &task, domain::board::status::Status::InReview, None).await;
    published.board.end(&reserved).await;
    published.board.approve(&task).await;
    merge(&published.board.context(), &task).await.unwrap();
    published
}

async fn commit(folder: &Path) {
    git(folder, &["add", "-A"]).await;
    git(folder, &["commit", "-q", "-m", "a picture"]).await;
}

fn has_lfs() -> bool {
    let is_installed = process::find_program("git-lfs", &std::env::var_os("PATH").unwrap()).is_some();
    if !is_installed {
        eprintln!("skipped: git-lfs is not installed");
    }
    is_installed
}

#[tokio::test]
async fn files_of_lfs_reach_the_remote_before_the_branch() {
    if !has_lfs() {
        return;
    }
    let published = with_pictures().await;
    let tip = published.board.tip("vibe-relay/PROJ-001").unwrap();
    let stored = published.board.repository().file_at(&tip, "new.psd").unwrap().unwrap();
    assert!(stored.starts_with(b"version https://git-lfs"), "git has the pointer: {}", String::from_utf8_lossy(&stored));

    // A file that is nowhere stops the push.
    let folder = published.board.sample.git_dir().join("lfs");
    let away = folder.with_extension("away");
    fs::rename(&folder, &away).unwrap();
    let refused = published.refused(false).await;
    assert!(refused.starts_with("lfs-not-uploaded: origin rejected the files of Git LFS"), "{refused}");
    assert_eq!(published.pushed(), None);

    fs::remove_dir_all(&folder).ok();
    fs::rename(&away, &folder).unwrap();
    published.publish(false).await.unwrap();
    assert_eq!(published.pushed(), Some(tip));
    // A clone of the remote gets both files from there.
    let clone = published.board.sample.beside("clone");
    let url = format!("file://{}", published.remote.display());
    git(published.board.sample.root(), &["clone", "-q", "--branch", "vibe-relay/PROJ-001", &url, clone.to_str().unwrap()]).await;
    let read = |name| fs::read_to_string(clone.join(name)).unwrap();
    assert_eq!([read("old.psd"), read("new.psd")], ["of the person\n", "of the coder\n"]);
}
