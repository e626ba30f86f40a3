//! Faults that a person found on the board, each by name: a dead server beside an open panel, toasts in the way, an address and a title that
//! do not tell what is shown, a list of projects that is not live, counts that are no links, and times in another zone.

use domain::board::project::{PlanApproval, Project};
use domain::wire::NewProject;
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
    browser.shows(".banner[role=alert]", "The server has not answered since").await;
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

#[tokio::test]
async fn list_of_projects_is_live_and_a_waiting_plan_needs_the_person() {
    let server = support::scripted(SCENARIO).await;
    let browser = signed_in(&server).await;
    browser.evaluate("window.marked = true").await;
    let goal = Some("Write alpha, beta and gamma.".to_owned());
    let new = NewProject { title: "Letters".to_owned(), description: goal, plan_approval: Some(PlanApproval::Ask), ..NewProject::default() };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    browser.shows(".project-row", "Letters").await;
    browser.shows(".project-row .state", "1 needs you").await;
    browser.shows(".project-row", "1 of 4 done").await;
    let _started: Project = server.post(&format!("/api/projects/{}/plan/approve", project.id), &serde_json::json!({})).await.unwrap();
    browser.shows(".project-row", "2 at work").await;
    browser.until("nothing needs the person", "!document.querySelector('.project-row .state .badge')").await;
    for task in ["TASK-002", "TASK-003", "TASK-004"] {
        support::reached(&server, task).await;
        support::open(&server, task);
    }
    browser.shows(".project-row", "5 of 5 done").await;
    browser.shows(".project-row .last-event", "TASK-005 finished").await;
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn waiting_project_links_to_what_needs_the_person() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &[]).await;
    support::add(&server, &project, "Choose the colour").await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.press("Everything waits for you").await;
    browser.shows("h1", "Needs you").await;
    browser.press("Violet").await;
    support::reached(&server, "TASK-001").await;
    open_board(&browser, &server, &project).await;
    // The last line of the agent is there after a reload, too.
    browser.shows("[data-task=TASK-001] .last", "runs touch").await;
    support::open(&server, "TASK-001");
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn times_are_in_the_zone_of_the_browser() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha"]).await;
    let browser = signed_in(&server).await;
    browser.set_timezone("Pacific/Kiritimati").await;
    browser.goto(&format!("{}/projects/{project}/tasks/TASK-001?tab=history", server.board_url())).await;
    browser.has(".history time").await;
    // Fourteen hours ahead of UTC's clock, all year.
    let shifted = "new Date(Date.parse(document.querySelector('.history time').dateTime) + 14 * 3600000).toISOString().slice(11, 16)";
    browser.until("the time is the browser's", &format!("document.querySelector('.history time').innerText.endsWith({shifted})")).await;
}
