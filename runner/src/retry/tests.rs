//! Retries: which errors, how often, and the report of a failure.

use std::cell::Cell;
use std::io;

use db::Caller;
use domain::runs::parking::ParkReason;

use super::*;
use crate::fixture::TestBoard;

const SHORT: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(2)];

fn io_error(code: i32) -> CheckoutError {
    RepoError::Io { attempted: "write the index".to_owned(), reason: io::Error::from_raw_os_error(code) }.into()
}

fn locked() -> CheckoutError {
    RepoError::Locked { name: "main".to_owned(), lock: "/site/.git/index.lock".into(), seconds: 5 }.into()
}

/// Runs work whose first `failing` attempts fail. Returns the number of attempts and whether the last one succeeded.
async fn attempts(failing: u32, error: fn() -> CheckoutError) -> (u32, bool) {
    let attempts = Cell::new(0);
    let work = || {
        attempts.set(attempts.get() + 1);
        std::future::ready(if attempts.get() <= failing { Err(error()) } else { Ok(()) })
    };
    let done = with_retries(SHORT, work).await;
    (attempts.get(), done.is_ok())
}

#[tokio::test]
async fn transient_errors_are_tried_three_times() {
    for error in [locked, || io_error(nix::libc::EBUSY), || CheckoutError::from(RepoError::Interrupted)] {
        assert_eq!(attempts(0, error).await, (1, true));
        assert_eq!(attempts(1, error).await, (2, true));
        assert_eq!(attempts(2, error).await, (3, true));
        assert_eq!(attempts(9, error).await, (3, false));
    }
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    let gone = || CheckoutError::BranchGone { branch: "vr/TASK-001/work".to_owned() };
    let open = || RepoError::CheckedOut { branch: "main".to_owned(), path: "/site".into() }.into();
    for error in [gone, open, || io_error(nix::libc::ENOSPC)] {
        assert_eq!(attempts(9, error).await, (1, false));
    }
}

#[test]
fn delays_grow() {
    assert!(RETRY_DELAYS.is_sorted() && RETRY_DELAYS[0] > Duration::ZERO && RETRY_DELAYS[0] < RETRY_DELAYS[1]);
}

#[tokio::test]
async fn full_disk_parks_and_flags_no_task() {
    let board = TestBoard::new().await;
    let task = board.task("One").await;
    let reported = report_failure(&board.db, &task, Err(io_error(nix::libc::ENOSPC)), |_| unreachable!()).await;
    assert!(reported.unwrap_err().contains("No space left"), "the job is due again");
    let parked: Vec<ParkReason> = board.db.parkings().await.unwrap().iter().map(|parking| parking.reason).collect();
    assert_eq!((parked, board.read(&task).await.card.attention), (vec![ParkReason::DiskFull], None));

    report_failure(&board.db, &task, Err(locked()), |error| format!("Not merged: {error}")).await.unwrap();
    let attention = board.read(&task).await.card.attention.unwrap();
    assert!(attention.detail.starts_with("Not merged: main stayed locked"), "{}", attention.detail);
}

#[tokio::test]
async fn too_much_unmerged_work_stays_and_asks() {
    let board = TestBoard::new().await;
    let task = board.task("One").await;
    let (path, _) = board.work(&task, &[("a", "a")]).await;
    let files: Vec<_> = (0..21).map(|number| path.join(format!("data-{number}"))).collect();
    for file in &files {
        // A sparse file, which takes no space on the disk.
        std::fs::File::create(file).unwrap().set_len(50 << 20).unwrap();
    }
    board.cancel(&task).await;
    clean(&board.context(), &task).await.unwrap();
    let attention = board.read(&task).await.card.attention.unwrap();
    let detail = attention.detail.replace(path.to_str().unwrap(), "CHECKOUT");
    insta::assert_snapshot!(detail, @"Its checkout could not be removed: the work left in CHECKOUT has 1050 MiB, more than the 1024 MiB that are kept. Delete there what nobody needs, or move it elsewhere. Then press Retry.");
    assert!(files.iter().all(|file| file.exists()), "nothing is lost");

    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    board.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    clean(&board.context(), &task).await.unwrap();
    assert!(!path.exists());
}
