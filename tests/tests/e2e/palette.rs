//! The palette in a real browser, by the keyboard alone: a task by a part of its title, a comment by its words, and an action.

use fantoccini::key::Key;

use crate::browser::{SCENARIO, empty_board, open_board, same_page, signed_in};
use crate::support;

const FIRST: &str = "document.querySelector('.palette [role=option][aria-selected=true]')";

#[tokio::test]
async fn everything_is_found_and_done_by_keyboard() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Rename the passkeys"]).await;
    let comment = serde_json::json!({"content": "The **thermostat** needs a recalibration\n\nbefore anything else."});
    let _comment: serde_json::Value = server.post("/api/tasks/TASK-001/comments", &comment).await.unwrap();
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    let command = format!("{}k{}", Key::Control, Key::Null);
    let selected = async |text: &str| {
        browser.until(&format!("{text:?} is selected"), &format!("{FIRST}?.innerText.includes({})", serde_json::json!(text))).await;
        browser
            .until("the field names the selected row", &format!("document.activeElement.getAttribute('aria-activedescendant') === {FIRST}.id"))
            .await;
    };

    // A task, by a part of its title with a typing error.
    browser.keys(&command).await;
    selected("New task").await;
    browser.keys("paskye").await;
    selected("Rename the passkeys").await;
    browser.keys(&Key::Enter).await;
    browser.lacks(".palette").await;
    browser.shows(".sheet", "Rename the passkeys").await;
    browser.keys(&Key::Escape).await;
    browser.lacks(".sheet").await;

    // A comment, by two of its words.
    browser.keys("/").await;
    browser.has(".palette input").await;
    browser.keys("recalbration thermostat").await;
    selected("thermostat").await;
    let marked = "[...document.querySelectorAll('.palette mark')].map((mark) => mark.innerText).join()";
    browser.until("its words are marked", &format!("{marked} === 'thermostat,recalibration'")).await;
    browser.keys(&Key::Enter).await;
    browser.shows(".sheet", "Write alpha").await;
    browser.shows(".comment", "thermostat").await;
    browser.until("the address is that of the task", "location.pathname.endsWith('/tasks/TASK-001')").await;
    browser.keys(&Key::Escape).await;
    browser.lacks(".sheet").await;

    // An action, which is the first of the last choices afterwards.
    browser.keys(&command).await;
    browser.keys("cards").await;
    selected("Comfortable cards").await;
    browser.keys(&Key::Enter).await;
    browser.until("cards are comfortable", "document.documentElement.dataset.density === 'comfortable'").await;
    browser.keys(&command).await;
    selected("Compact cards").await;
    browser.keys(&Key::Down).await;
    selected("Rename the passkeys").await;
    browser.keys(&Key::Up).await;
    selected("Compact cards").await;
    browser.keys(&Key::Escape).await;
    browser.lacks(".palette").await;

    browser.resize(390, 844).await;
    browser.press("Search").await;
    browser.until("the palette fills the phone", "document.querySelector('.palette').getBoundingClientRect().width === innerWidth").await;
    browser.until("nothing is wider", "document.documentElement.scrollWidth === innerWidth").await;
    browser.keys("zzzz").await;
    browser.shows(".palette [role=status]", "Nothing found").await;
    browser.press("Close").await;
    browser.lacks(".palette").await;
    same_page(&browser, &[]).await;
}
