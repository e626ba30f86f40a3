//! Processes that outlive a run because another daemon started them.

use std::process::{Child, Command};

use domain::board::comment::AuthorRole;
use domain::runs::failure::EndClass;

use crate::supervise::Bench;

/// Starts a program in `folder` as a tmux server does for its client: neither a child of the agent, nor with its environment.
#[expect(clippy::disallowed_methods, reason = "the test stands for a daemon that was there before")]
fn start_in(folder: &str) -> Child {
    Command::new("sleep").arg("1000").current_dir(folder).spawn().unwrap()
}

#[tokio::test]
async fn process_below_another_daemon_is_named_and_not_ended() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let checkout = bench.db.task(&task).await.unwrap().worktree_path.unwrap();
    let mut left = start_in(&checkout);
    let mut elsewhere = start_in("/");
    bench.submit(&task, &agent).await;
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    let comments = bench.db.comments(&task).await.unwrap();
    let told: Vec<&str> =
        comments.iter().filter(|comment| comment.author_role == AuthorRole::Runner).map(|comment| comment.content.as_str()).collect();
    let [note] = told.as_slice() else { panic!("{comments:?}") };
    let pid = left.id();
    assert!(note.contains(&format!("    {pid} sleep 1000\n")) && note.ends_with(&format!("end them with `kill {pid}`.")), "{note}");
    for child in [&mut left, &mut elsewhere] {
        assert_eq!(child.try_wait().unwrap(), None, "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    server.stop().await;
}
