//! A small version of the bench `large_repository`: five tasks land while a person has uncommitted changes and another clone pushes.

use std::path::Path;
use std::time::Duration;

use tests::large_repository::{self, Destination, Size};

use crate::support::PROGRAM;

async fn check(destination: Destination, has_lfs: bool) {
    let size = Size { files: 300, history: 2, suite: Duration::from_secs(2), has_lfs };
    let report = large_repository::run(Path::new(PROGRAM), size, destination).await.unwrap();
    assert_eq!(report.violations, [""; 0], "{:#?}", report.figures);
}

#[tokio::test]
async fn five_tasks_land_beside_changes_of_the_person() {
    check(Destination::Local, false).await;
}

#[tokio::test]
async fn five_tasks_land_where_git_lfs_keeps_files() {
    check(Destination::Local, true).await;
}

#[tokio::test]
async fn five_tasks_land_by_a_pull_request() {
    check(Destination::PullRequest, false).await;
}

#[tokio::test]
async fn five_tasks_land_by_a_pull_request_where_git_lfs_keeps_files() {
    check(Destination::PullRequest, true).await;
}
