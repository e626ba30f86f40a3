//! Faults that a person found on the board, each by name: a dead server beside an open panel, toasts in the way, and an address and a title
//! that do not tell what is shown.

use fantoccini::key::Key;
use tests::browser::Browser;

use crate::browser::{SCENARIO, empty_board, open_board, same_page, signed_in};
use crate::support;

/// Whether the centre of the element is drawn and can be clicked.
async fn is_on_top(browser: &Browser, selector: &str) {
    let script = format!(
        "(() => {{ const one = document.querySelector('{selector}'); if (!one) return false; const box = one.getBoundingClientRect(); \
         const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2); return one.contains(top); }})()"
    );
    browser.until(&format!("nothing covers {selector}"), &script).await;
}

#[tokio::test]
async fn dead_server_is_visible_beside_an_open_panel_and_its_text_is_kept() {
    let mut server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha"]).await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.press("Write alpha").await;
    browser.fill(".composer textarea", "Mind the order").await;
    browser.has(".sheet button.primary:enabled").await;

    server.kill().await.unwrap();
    browser.shows(".banner[role=alert]", "The server does not answer since").await;
    is_on_top(&browser, ".banner[role=alert]").await;
    browser.resize(390, 844).await;
    is_on_top(&browser, ".sheet .banner[role=alert]").await;
    browser.resize(1280, 900).await;
    browser.has(".sheet header button.primary:disabled").await;
    browser.click(".composer textarea").await;
    browser.keys(&format!("{}{}{}", Key::Control, Key::Enter, Key::Null)).await;
    browser.shows(".toast", "Nothing was changed, and your text is kept.").await;
    let words = browser.evaluate("document.querySelector('.toast').innerText").await;
    assert!(!words.as_str().unwrap().contains("TypeError"), "{words}");
    browser.until("the text is kept", "document.querySelector('.composer textarea').value === 'Mind the order'").await;
}

#[tokio::test]
async fn toast_covers_no_control_and_leaves_with_its_page() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &[]).await;
    let task = support::add(&server, &project, "Choose the colour").await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.press("Choose the colour").await;
    browser.has(".sheet .question").await;
    browser.fill(".composer textarea", "Mind the contrast").await;
    browser.press("Violet").await;
    browser.shows(".toast", "Answered. The agent continues.").await;
    is_on_top(&browser, ".composer [type=submit]").await;
    browser.press("Team").await;
    browser.lacks(".toast").await;
    support::open(&server, task.as_str());
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn address_and_title_of_the_tab_tell_what_is_shown() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Write beta"]).await;
    let asking = support::add(&server, &project, "Choose the colour").await;
    let browser = signed_in(&server).await;
    browser.until("the title counts what waits", "document.title.startsWith('(1) ')").await;
    browser.shows(".project-row", "1 needs you").await;
    open_board(&browser, &server, &project).await;
    browser.until("the title names the project", "document.title === '(1) Letters · vibe-relay'").await;
    browser.keys("f").await;
    browser.keys("alpha").await;
    browser.lacks("[data-task=TASK-002]").await;
    browser.press("Write alpha").await;
    browser.press("History").await;
    browser.until("the address names the tab and the filter", "/TASK-001\\?.*/.test(location.href) && /tab=history/.test(location.search)").await;
    let address = browser.evaluate("location.href").await;
    browser.goto(address.as_str().unwrap()).await;
    browser.has(".history li").await;
    browser.shows("[role=tab][aria-selected=true]", "History").await;
    browser.lacks("[data-task=TASK-002]").await;
    let answer = serde_json::json!({ "content": "Violet" });
    let _answered: serde_json::Value = server.post(&format!("/api/tasks/{asking}/answer"), &answer).await.unwrap();
    browser.until("the title counts no longer", "document.title === 'Letters · vibe-relay'").await;
    support::open(&server, asking.as_str());
}
