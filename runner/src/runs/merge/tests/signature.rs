//! Merges where the configuration asks for signatures.

use domain::board::attention::AttentionKind;
use repo::testing::TestRepository;

use super::*;
use crate::fixture::git;
use crate::retry;

#[tokio::test]
async fn merge_waits_for_the_key_and_is_then_signed() {
    let sample = TestRepository::new();
    git(sample.top(), &["-c", "alias.key=!ssh-keygen -q -t ed25519 -N '' -f ../key", "key"]).await;
    let (key, away) = (sample.beside("key"), sample.beside("away"));
    for (name, value) in [("commit.gpgSign", "true"), ("gpg.format", "ssh"), ("user.signingKey", key.to_str().unwrap())] {
        sample.configure(name, value);
    }
    let board = TestBoard::on(sample).await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;

    std::fs::rename(&key, &away).unwrap();
    let before = board.tip(PROJECT_BRANCH);
    retry::merge(&board.context(), &task, &[]).await.unwrap();
    let waiting = board.read(&task).await.card;
    let attention = waiting.attention.clone().unwrap();
    assert_eq!((attention.kind, waiting.is_approved(), board.tip(PROJECT_BRANCH)), (AttentionKind::Repository, true, before));
    assert!(attention.detail.contains("was not signed") && attention.detail.contains("user.signingKey"), "{}", attention.detail);

    std::fs::rename(&away, &key).unwrap();
    retry::merge(&board.context(), &task, &[]).await.unwrap();
    assert_eq!(status(&board, &task).await, Status::Done);
    let trusted = board.sample.beside("trusted");
    std::fs::write(&trusted, format!("sam@example.org {}", std::fs::read_to_string(key.with_extension("pub")).unwrap())).unwrap();
    let setting = format!("gpg.ssh.allowedSignersFile={}", trusted.display());
    git(board.sample.top(), &["-c", &setting, "verify-commit", PROJECT_BRANCH]).await;
}
