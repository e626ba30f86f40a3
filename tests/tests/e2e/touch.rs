//! A phone in a real browser: a finger drags a card to another column, and a quick one scrolls.

use std::time::Duration;

use crate::browser::{SCENARIO, empty_board, open_board, same_page, signed_in};
use crate::support;

#[tokio::test]
async fn finger_drags_a_card_to_the_tab_of_a_column() {
    let server = support::scripted(SCENARIO).await;
    let titles: Vec<String> = (1..=30).map(|number| format!("Write letter {number}")).collect();
    let project = empty_board(&server, &titles.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let browser = signed_in(&server).await;
    browser.resize(390, 844).await;
    open_board(&browser, &server, &project).await;
    browser.click(".column-tabs button:first-child").await;
    browser.has("[data-task=TASK-004]").await;

    // A finger that does not rest scrolls.
    let scrolled = "document.querySelector('[data-status=backlog] .cards').scrollTop";
    browser.drag_by_finger("[data-task=TASK-008]", Duration::ZERO, "[data-task=TASK-003]").await;
    browser.until("the column is scrolled", &format!("{scrolled} > 50")).await;
    browser.run(&format!("{scrolled} = 0")).await;
    let order = "[...document.querySelectorAll('[data-status=backlog] [data-task]')].slice(0, 5).map((card) => card.dataset.task.slice(-1)).join('')";
    assert_eq!(browser.evaluate(order).await, "12345");

    // A finger that rests moves the card within its column, or to another one.
    browser.drag_by_finger("[data-task=TASK-004]", Duration::from_millis(700), "[data-task=TASK-001]").await;
    browser.until("the card has its new place", &format!("{order} === '14235' || {order} === '41235'")).await;
    browser.drag_by_finger("[data-task=TASK-002]", Duration::from_millis(700), ".column-tabs button:nth-child(2)").await;
    server.until(&project, "the task was moved", |board| board.cards[1].status.as_str() == "in_progress").await;
    browser.lacks(".card-ghost").await;
    browser.lacks("[data-dragged]").await;
    browser.until("nothing is wider than the phone", "document.documentElement.scrollWidth === innerWidth").await;
    same_page(&browser, &[]).await;
}
