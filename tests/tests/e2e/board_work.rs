//! Work on the board itself in a real browser: several cards at once and the way back, new cards and comments in view, saved views, and the
//! board of all projects.

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::wire::NewProject;
use fantoccini::key::Key;
use serde_json::json;
use tests::browser::Browser;
use tests::server::TestServer;

use crate::agents::{text, token};
use crate::browser::{SCENARIO, add, empty_board, open_board, same_page, signed_in};
use crate::support::{self, agents_of};

#[tokio::test]
async fn several_cards_are_changed_at_once_and_every_change_is_undone() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Write beta", "Write gamma", "Write delta"]).await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    let click = async |task: &str, key: &str| {
        let event = format!("new MouseEvent('click', {{ bubbles: true, cancelable: true, {key}: true }})");
        browser.run(&format!("document.querySelector('[data-task={task}] .card-open').dispatchEvent({event})")).await;
    };

    // By keyboard, as a range, and one more or less.
    browser.has("[data-task=TASK-004]").await;
    browser.keys("jx").await;
    browser.shows(".selection-bar", "1 task selected").await;
    browser.keys(&format!("{}{}{}", Key::Shift, Key::Down, Key::Null)).await;
    browser.shows(".selection-bar", "2 tasks selected").await;
    click("TASK-004", "shiftKey").await;
    browser.shows(".selection-bar", "4 tasks selected").await;
    click("TASK-004", "ctrlKey").await;
    browser.shows(".selection-bar", "3 tasks selected").await;
    browser.has("[data-task=TASK-003][data-selected]").await;

    let priorities = async |expected: &[i64]| {
        let what = format!("the priorities are {expected:?}");
        server.until(&project, &what, |board| board.cards.iter().map(|card| card.priority).collect::<Vec<_>>() == expected).await;
    };
    browser.press("Priority").await;
    browser.press("High").await;
    browser.shows(".toast", "3 tasks given high priority").await;
    priorities(&[1, 1, 1, 0]).await;
    browser.press("Undo").await;
    priorities(&[0, 0, 0, 0]).await;

    browser.press("Cancel tasks").await;
    browser.press("Move to Cancelled").await;
    browser.shows(".toast", "3 tasks moved to Cancelled").await;
    browser.shows("[data-status=cancelled] .count", "3").await;
    browser.press("Undo").await;
    browser.shows("[data-status=backlog] .count", "4").await;
    browser.has("[data-status=backlog] [data-task=TASK-002][data-selected]").await;
    browser.keys(&Key::Escape).await;
    browser.lacks(".selection-bar").await;

    // A card gets another place, and its old one again.
    let order = "[...document.querySelectorAll('[data-status=backlog] [data-task]')].map((card) => card.dataset.task.slice(-1)).join('')";
    browser.press("Move TASK-001").await;
    browser.press("Down").await;
    browser.shows(".toast", "TASK-001 moved after TASK-002").await;
    browser.until("the card has its new place", &format!("{order} === '2134'")).await;
    browser.press("Undo").await;
    browser.until("the card has its old place", &format!("{order} === '1234'")).await;

    new_tasks_come_into_view(&browser, &server, &project).await;
    comments_come_into_view(&browser, &server, &project).await;
    same_page(&browser, &[]).await;
    views_are_saved(&browser, &server, &project).await;
    all_projects_are_on_one_board(&browser, &server).await;
}

/// Holds the code that is loaded after the first cards are drawn until `window.release()`.
const HOLD_LATER_CODE: &str = "const load = window.fetch; \
    const released = new Promise((resolve) => { window.release = resolve; }); \
    window.fetch = async (resource, options) => { \
        const path = new URL(resource.url ?? resource, location).pathname; \
        if (path.endsWith('.wasm') && !path.endsWith('/board.wasm')) await released; \
        return load(resource, options); \
    };";

#[tokio::test]
async fn keys_pressed_before_they_are_followed_are_not_lost() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Write beta"]).await;
    let browser = signed_in(&server).await;
    browser.prepare(HOLD_LATER_CODE).await;
    browser.goto(&format!("{}/projects/{project}", server.board_url())).await;
    browser.run("window.marked = true").await;
    browser.has("[data-task=TASK-002]").await;
    browser.keys("jxj").await;
    browser.until("nothing follows the keys", "document.activeElement === document.body && !document.querySelector('.sections')").await;
    browser.run("window.release()").await;
    browser.shows(".selection-bar", "1 task selected").await;
    browser.has("[data-task=TASK-001][data-selected]").await;
    browser.until("the second card has the focus", "document.activeElement.closest('[data-task]')?.dataset.task === 'TASK-002'").await;
    same_page(&browser, &[]).await;
}

/// A line and Enter add a held task. The dialog keeps the line and finds the tasks that it depends on.
async fn new_tasks_come_into_view(browser: &Browser, server: &TestServer, project: &ProjectId) {
    browser.fill(".quick-add input", "Write epsilon").await;
    browser.keys(&Key::Enter).await;
    browser.has("[data-status=backlog] [data-task=TASK-005][data-state=held]").await;
    assert!(agents_of(server).is_empty(), "Enter starts no agent: {:?}", agents_of(server));
    browser.fill(".quick-add input", "Write zeta").await;
    browser.press("More fields").await;
    browser.until("the dialog has the line", "document.querySelector('#task-title')?.value === 'Write zeta'").await;
    browser.fill("#task-dependencies", "alhpa").await;
    let option = "document.querySelector('.task-picker [role=option][aria-selected=true]')";
    browser.until("a typing error is forgiven", &format!("{option}?.innerText.includes('Write alpha')")).await;
    let active = "document.querySelector('#task-dependencies').getAttribute('aria-activedescendant')";
    browser.until("the field names the option", &format!("{active} === {option}.id")).await;
    browser.keys(&Key::Enter).await;
    browser.shows(".task-picker li", "TASK-001").await;
    browser.press("Add").await;
    browser.lacks("dialog").await;
    let focused = |task: &str| format!("document.activeElement.closest('[data-task]')?.dataset.task === '{task}'");
    browser.until("the new card has the focus", &focused("TASK-006")).await;
    let depends_on = server.board(project).await.unwrap().cards[5].depends_on.clone();
    assert_eq!(depends_on, ["TASK-001".parse().unwrap()]);

    // Cards of others below the fold are announced, and own ones come into view even if the column draws only its first cards.
    for number in 7..=56 {
        add(server, project, &format!("Part {number}")).await;
    }
    browser.shows(".new-below", "new below").await;
    browser.click(".new-below").await;
    browser.lacks(".new-below").await;
    browser.fill(".quick-add input", "Write omega").await;
    browser.keys(&Key::Enter).await;
    let inside = |item: &str, list: &str| {
        let bounds = |selector: &str| format!("document.querySelector('{selector}')?.getBoundingClientRect()");
        let (item, list) = (bounds(item), bounds(list));
        format!("({item}?.bottom <= {list}?.bottom && {item}?.top >= {list}?.top)")
    };
    browser.until("the new card is visible", &inside("[data-task=TASK-057]", "[data-status=backlog] .cards")).await;
    browser.has("[data-task=TASK-057][data-fresh]").await;
}

/// A comment of the reader comes into view, and one of an agent is announced.
async fn comments_come_into_view(browser: &Browser, server: &TestServer, project: &ProjectId) {
    let long = "A long comment.\n\n".repeat(12);
    for _ in 0..4 {
        let _comment: serde_json::Value = server.post("/api/tasks/TASK-001/comments", &json!({ "content": long })).await.unwrap();
    }
    browser.goto(&format!("{}/projects/{project}/tasks/TASK-001", server.board_url())).await;
    browser.run("window.marked = true").await;
    browser.has(".comment:nth-child(4)").await;
    let ben = token(server, project, "ben", &["builder"]).await;
    let comment = json!({ "task_id": "TASK-001", "content": "The **last** word" });
    text(server, &ben, "add_comment", comment).await;
    browser.shows(".new-below", "1 new below").await;
    browser.click(".sheet-body > .new-below").await;
    let visible = "(() => { const all = document.querySelectorAll('.comment'); const bounds = all[all.length - 1].getBoundingClientRect(); \
        return bounds.bottom <= document.querySelector('.sheet-body').getBoundingClientRect().bottom + 1; })()";
    browser.until("the comment of the agent is visible", visible).await;
    browser.run("document.querySelector('.sheet-body').scrollTop = 0").await;
    browser.fill(".composer textarea", "Mine").await;
    browser.click(".composer [type=submit]").await;
    browser.shows(".comment:last-child", "Mine").await;
    browser.until("the own comment is visible", visible).await;
}

/// The parts of a filter are removed one by one, and a filter with groups is saved under a name.
async fn views_are_saved(browser: &Browser, server: &TestServer, project: &ProjectId) {
    browser.goto(&format!("{}/projects/{project}?filter=write+alpha&group=plan", server.board_url())).await;
    browser.shows(".group-heading", "No plan").await;
    browser.shows("[data-status=backlog] .count", "1 of 57").await;
    // A folded group stays folded when the page is opened again.
    browser.click(".group-heading button[aria-expanded=true]").await;
    browser.lacks("[data-task=TASK-001]").await;
    browser.goto(&format!("{}/projects/{project}?filter=write+alpha&group=plan", server.board_url())).await;
    browser.shows(".group-heading button[aria-expanded=false]", "No plan").await;
    browser.lacks("[data-task=TASK-001]").await;
    browser.click(".group-heading button[aria-expanded=false]").await;
    browser.has("[data-task=TASK-001]").await;
    browser.press("Remove alpha").await;
    browser.shows("[data-status=backlog] .count", "7 of 57").await;
    browser.until("the address has the rest", "location.search === '?filter=write&group=plan'").await;
    browser.press("Groups and saved views").await;
    browser.press("Save this view…").await;
    browser.fill("#view-name", "Writing").await;
    browser.press("Save").await;
    browser.lacks("dialog").await;
    browser.press("Clear").await;
    browser.lacks(".group-heading").await;
    browser.until("the address is plain", "location.search === ''").await;
    browser.press("Groups and saved views").await;
    browser.press("Writing").await;
    browser.has(".group-heading").await;
    browser.until("the view is back", "location.search === '?filter=write&group=plan'").await;
}

/// Cards of two projects with their names, live, and with their actions.
async fn all_projects_are_on_one_board(browser: &Browser, server: &TestServer) {
    let new = NewProject { title: "Numbers".to_owned(), plan: Some(false), ..NewProject::default() };
    let other: Project = server.post("/api/projects", &new).await.unwrap();
    browser.press("All tasks").await;
    browser.shows("[data-task=TASK-001] .project", "Letters").await;
    let added = add(server, &other.id, "Write one").await;
    browser.fill(".filter", "numbers").await;
    browser.lacks("[data-task]").await;
    browser.fill(".filter", added.as_str()).await;
    browser.shows(&format!("[data-task={added}] .project"), "Numbers").await;
    browser.press("Start").await;
    browser.has(&format!("[data-status=in_progress] [data-task={added}]")).await;
    browser.keys(&Key::Escape).await;
    browser.press("Write one").await;
    browser.shows(".sheet", "Write one").await;
    browser.until("the board of its project is open", &format!("location.pathname === '/projects/{}/tasks/{added}'", other.id)).await;
}
