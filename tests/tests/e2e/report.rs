//! The report of an absence: on the command line, and first thing on the board.

use tests::server::TestServer;

use crate::browser::{open_board, same_page, signed_in};
use crate::support::{self, add, at_work, done};

const SCENARIO: &str = include_str!("../../scenarios/questions.json");

#[tokio::test]
async fn report_tells_what_happened_and_what_is_pending() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let asks = add(&server, &project, "Choose the paint").await;
    at_work(&server, &asks).await;
    support::open(&server, asks.as_str());
    server.until(&project, "a question is open", |board| board.card(&asks).is_some_and(|card| card.attention.is_some())).await;
    let other = add(&server, &project, "Tidy up").await;
    done(&server, &project, &other).await;

    let printed = report(&server).await;
    for expected in ["Ready to land on main (1 file, +", "TASK-001 Choose the paint: answer the question. Which colour?", "    TASK-002 Tidy up\n"] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }

    let browser = signed_in(&server).await;
    browser.lacks(".absence-report").await;
    browser.evaluate("localStorage.setItem('last-look', new Date(Date.now() - 2 * 3600 * 1000).toISOString())").await;
    open_board(&browser, &server, &project).await;
    for expected in ["Ready to land on main: 1 file", "Needs you: question.", "Which colour?", "TASK-002 Tidy up"] {
        browser.shows(".absence-report", expected).await;
    }
    browser.press("Close").await;
    browser.lacks(".absence-report").await;
    same_page(&browser, &[]).await;
    open_board(&browser, &server, &project).await;
    browser.lacks(".absence-report").await;
}

async fn report(server: &TestServer) -> String {
    let output = server.command(&["report", "--since", "1h"]).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
