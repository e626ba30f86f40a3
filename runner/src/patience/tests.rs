//! What is tried again, how often, and what becomes of it.

use std::cell::Cell;
use std::io;

use domain::runs::parking::ParkReason;

use super::*;
use crate::fixture::Board;

const SHORT: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(2)];

fn io_error(code: i32) -> CheckoutError {
    RepoError::Io { attempted: "write the index".to_owned(), reason: io::Error::from_raw_os_error(code) }.into()
}

fn locked() -> CheckoutError {
    RepoError::Locked { name: "main".to_owned(), lock: "/site/.git/index.lock".into(), seconds: 5 }.into()
}

/// How often it was tried, and how it ended, when the first `failing` tries fail.
async fn tried(failing: u32, error: fn() -> CheckoutError) -> (u32, bool) {
    let tries = Cell::new(0);
    let work = || {
        tries.set(tries.get() + 1);
        std::future::ready(if tries.get() <= failing { Err(error()) } else { Ok(()) })
    };
    let done = patiently(SHORT, work).await;
    (tries.get(), done.is_ok())
}

#[tokio::test]
async fn what_may_pass_is_tried_three_times() {
    for error in [locked, || io_error(nix::libc::EBUSY), || CheckoutError::BrokenOff] {
        assert_eq!(tried(0, error).await, (1, true));
        assert_eq!(tried(1, error).await, (2, true));
        assert_eq!(tried(2, error).await, (3, true));
        assert_eq!(tried(9, error).await, (3, false));
    }
}

#[tokio::test]
async fn what_somebody_must_settle_is_not_tried_again() {
    let gone = || CheckoutError::BranchGone { branch: "vr/TASK-001/work".to_owned() };
    let open = || RepoError::CheckedOut { branch: "main".to_owned(), path: "/site".into() }.into();
    for error in [gone, open, || io_error(nix::libc::ENOSPC)] {
        assert_eq!(tried(9, error).await, (1, false));
    }
}

#[test]
fn the_pauses_grow() {
    assert!(PAUSES.is_sorted() && PAUSES[0] > Duration::ZERO && PAUSES[0] < PAUSES[1]);
}

#[tokio::test]
async fn a_full_disk_parks_and_asks_nobody() {
    let board = Board::new().await;
    let task = board.task("One").await;
    let told = settle(&board.db, &task, Err(io_error(nix::libc::ENOSPC)), |_| unreachable!()).await;
    assert!(told.unwrap_err().contains("No space left"), "it is to be done again");
    let parked: Vec<ParkReason> = board.db.parkings().await.unwrap().iter().map(|parking| parking.reason).collect();
    assert_eq!((parked, board.read(&task).await.card.attention), (vec![ParkReason::DiskFull], None));

    settle(&board.db, &task, Err(locked()), |error| format!("Not merged: {error}")).await.unwrap();
    let attention = board.read(&task).await.card.attention.unwrap();
    assert!(attention.detail.starts_with("Not merged: main stayed locked"), "{}", attention.detail);
}
