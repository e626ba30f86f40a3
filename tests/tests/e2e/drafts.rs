//! Typed text survives in a real browser, until it is sent.

use fantoccini::key::Key;

use crate::browser::{SCENARIO, empty_board, open_board, same_page, signed_in};
use crate::support::{self, agents_of};

#[tokio::test]
async fn typed_text_survives_a_closed_panel_a_closed_dialog_and_a_reload() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Write beta"]).await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.press("Write alpha").await;
    browser.fill(".composer textarea", "Mind the order").await;
    browser.keys(&Key::Escape).await;
    browser.keys(&Key::Escape).await;
    browser.lacks(".sheet").await;
    browser.press("Write beta").await;
    browser.until("another card has no draft", "document.querySelector('.composer textarea')?.value === ''").await;
    open_board(&browser, &server, &project).await;
    browser.press("Write alpha").await;
    let written = "document.querySelector('.composer textarea')?.value";
    browser.until("the draft is back", &format!("{written} === 'Mind the order'")).await;
    browser.click(".composer [type=submit]").await;
    browser.shows(".comment", "Mind the order").await;
    browser.until("a sent draft is gone", &format!("{written} === ''")).await;

    browser.press("New task").await;
    browser.fill("#task-title", "Write gamma").await;
    browser.evaluate("document.querySelector('dialog').dispatchEvent(new MouseEvent('mousedown', { bubbles: true }))").await;
    browser.has("dialog").await;
    browser.press("Back").await;
    browser.lacks("dialog").await;
    browser.press("New task").await;
    let title = "document.querySelector('#task-title')?.value";
    browser.until("the draft is back", &format!("{title} === 'Write gamma'")).await;
    browser.fill("#task-title", "Write gamma").await;
    browser.keys(&Key::Enter).await;
    browser.has("[data-status=backlog] [data-task=TASK-003][data-state=held]").await;
    assert!(agents_of(&server).is_empty(), "Enter starts no agent: {:?}", agents_of(&server));
    browser.press("New task").await;
    browser.until("a saved draft is gone", &format!("{title} === ''")).await;
    same_page(&browser, &[]).await;
}
