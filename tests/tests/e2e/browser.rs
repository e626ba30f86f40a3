//! The board in a real browser, served by the product's binary, with scripted agents.

use domain::board::project::{PlanApproval, Project};
use domain::board::status::Status;
use domain::board::task::TaskPatch;
use domain::id::{ProjectId, TaskId};
use domain::wire::{NewProject, TaskView};
use fantoccini::key::Key;
use tests::browser::Browser;
use tests::git::git;
use tests::server::{TestServer, card};

use crate::support::{self, agents_of};

pub(crate) const SCENARIO: &str = include_str!("../../scenarios/board.json");

#[tokio::test]
async fn person_creates_a_project_and_watches_it_complete() {
    let server = support::scripted(SCENARIO).await;
    for file in ["notes.txt", "todo.txt"] {
        std::fs::write(server.repository().join(file), "not committed").unwrap();
    }
    let browser = signed_in(&server).await;

    browser.press("New project").await;
    browser.fill("#project-title", "Letters").await;
    browser.fill("#project-path", "/no/such/folder").await;
    browser.shows("#project-found", "/no/such/folder").await;
    browser.has("#project-path[aria-invalid=true]").await;
    browser.fill("#project-goal", "Write alpha, beta and gamma.").await;
    browser.has("dialog button[type=submit]:disabled").await;
    browser.fill("#project-path", server.repository().to_str().unwrap()).await;
    let head = git(&server.repository(), &["rev-parse", "--short=7", "main"]).unwrap();
    let start = format!("Agents start from main @ {head}. Your 2 uncommitted files stay untouched, and agents do not see them.");
    browser.shows("#project-found", &start).await;
    browser.press("Create").await;

    browser.shows(".bar h1", "Letters").await;
    mark(&browser).await;
    for (task, name) in [("TASK-002", "Write alpha"), ("TASK-003", "Write beta")] {
        support::reached(&server, task).await;
        browser.shows(&format!("[data-status=in_progress] [data-task={task}][data-live]"), name).await;
        browser.has(&format!("[data-task={task}][data-state=working]")).await;
        browser.shows(&format!("[data-task={task}] .last"), "runs touch").await;
    }
    browser.shows("[data-status=backlog] [data-task=TASK-004] .meta", "After TASK-002").await;
    for task in ["TASK-002", "TASK-003", "TASK-004"] {
        support::open(&server, task);
    }
    browser.shows(".goal-line .badge", "Complete").await;
    browser.shows("[data-status=done] .count", "5").await;
    browser.shows(".goal-line", "5 of 5 done").await;

    browser.press("Land 3").await;
    browser.shows(".land-checks", "Every task was reviewed").await;
    browser.shows(".doc-facts", "3\ntasks").await;
    browser.press("Read the full diff").await;
    browser.shows(".diff-lines", "Write gamma").await;
    browser.press("Land on main").await;
    let landed = format!("Landed on main at {}", git(&server.repository(), &["rev-parse", "--short=7", "vibe-relay/PROJ-001"]).unwrap());
    browser.shows(".landed", &landed).await;
    browser.until("the landing has an address", "location.search === '?landing=1'").await;
    browser.press("Back to the board").await;
    browser.press(&landed).await;
    browser.shows("[aria-label=Tasks]", "Write gamma").await;
    assert_eq!(std::fs::read_to_string(server.repository().join("TASK-004.txt")).unwrap(), "Write gamma\n");
    same_page(&browser, &["/api/repository"]).await;
}

#[tokio::test]
async fn two_browsers_show_the_same_board() {
    let mut server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Write beta", "Write gamma"]).await;
    let ada = signed_in(&server).await;
    // A sign-in link works once. A restarted server prints a new link and still accepts the first browser.
    assert!(server.stop().await.unwrap().success());
    server.serve().await.unwrap();
    let bob = signed_in(&server).await;
    for person in [&ada, &bob] {
        open_board(person, &server, &project).await;
    }
    // Another name leads to the board's, where the browser is signed in.
    bob.goto(&format!("{}/projects/{project}", server.url)).await;
    bob.until("the board's own name is used", &format!("location.origin === '{}'", server.board_url())).await;
    open_board(&bob, &server, &project).await;

    // Moves a card with the keyboard.
    let focused = "document.activeElement.closest('[data-task]')?.dataset.task === 'TASK-001'";
    ada.keys("j").await;
    ada.until("a card has the focus", focused).await;
    ada.keys("m").await;
    ada.shows("[role=menu]", "Move TASK-001 to").await;
    ada.keys(&Key::Escape).await;
    ada.until("the focus is back", focused).await;
    ada.keys("m").await;
    ada.until("the first target has the focus", "document.activeElement.innerText.startsWith('In progress')").await;
    ada.keys(&Key::Enter).await;
    for person in [&ada, &bob] {
        person.has("[data-status=in_progress] [data-task=TASK-001][data-live]").await;
    }
    ada.until("the focus stays with the card", focused).await;

    // Moves a card with the pointer. Illegal columns are not offered and reject the drop.
    ada.drag_over("[data-task=TASK-002]", "[data-status=done] .cards").await;
    let offered = "[...document.querySelectorAll('[data-status][data-target]')].map((one) => one.dataset.status).join()";
    ada.until("legal columns are offered", &format!("{offered} === 'in_progress,cancelled'")).await;
    ada.lacks("[data-status=done][data-over]").await;
    ada.drop_here().await;
    ada.lacks(".card-ghost").await;
    ada.drag_over("[data-task=TASK-002]", "[data-status=in_progress] .cards").await;
    ada.has("[data-status=in_progress][data-over]").await;
    bob.has("[data-status=backlog] [data-task=TASK-002]").await;
    ada.drop_here().await;
    for person in [&ada, &bob] {
        person.has("[data-status=in_progress] [data-task=TASK-002]").await;
    }

    // The transition table allows this move, but its evidence is missing.
    support::reached(&server, "TASK-002").await;
    for draft in ["one.txt", "two.txt"] {
        std::fs::write(server.root().join("worktrees/PROJ-001/TASK-002").join(draft), "not committed").unwrap();
    }
    bob.press("Move TASK-002").await;
    bob.press("In review").await;
    bob.shows(".toast", "TASK-002 has 2 uncommitted files: one.txt, two.txt").await;
    bob.shows(".toast", "Commit the files of the task, remove or ignore the others, then move the task again.").await;
    bob.has("[data-status=in_progress] [data-task=TASK-002]").await;

    // A move that requires a reason.
    bob.press("Move TASK-003").await;
    bob.click("[role=menu] [role=menuitem]:nth-last-child(2)").await;
    bob.shows("dialog", "Move TASK-003 to Cancelled").await;
    bob.press("Move to Cancelled").await;
    ada.press("Show Cancelled").await;
    ada.shows("[data-status=cancelled] [data-task=TASK-003] .meta", "Abandoned").await;
    for task in ["TASK-001", "TASK-002"] {
        support::open(&server, task);
    }
    ada.shows("[data-status=done] .count", "2").await;
    same_page(&ada, &["/parts.js", "net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET"]).await;
    same_page(&bob, &["/api/tasks/TASK-002"]).await;
}

#[tokio::test]
async fn board_reconnects_after_server_crash() {
    let mut server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &["Write alpha", "Write beta"]).await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.shows(".connection", "Live").await;

    server.kill().await.unwrap();
    browser.shows(".connection", "Reconnecting").await;
    browser.shows(".banner[role=alert]", "The server has not answered since").await;

    // The board changes while the browser is disconnected.
    let port = server.port();
    server.serve_on(0).await.unwrap();
    cancel(&server, "TASK-001").await;
    add(&server, &project, "Write gamma").await;
    assert!(server.stop().await.unwrap().success());
    browser.shows(".connection", "Reconnecting").await;
    browser.has("[data-status=backlog] [data-task=TASK-001]").await;

    server.serve_on(port).await.unwrap();
    browser.shows(".connection", "Live").await;
    browser.has("[data-status=cancelled] [data-task=TASK-001]").await;
    browser.shows("[data-status=backlog] [data-task=TASK-003]", "Write gamma").await;
    cancel(&server, "TASK-002").await;
    browser.has("[data-status=cancelled] [data-task=TASK-002]").await;
    // Requests made right after loading may also fail while the server goes down or is down.
    same_page(&browser, &["/api/ws", "/api/server", "/parts.js", "net::ERR_CONNECTION_REFUSED", "net::ERR_CONNECTION_RESET"]).await;
}

#[tokio::test]
async fn plan_is_edited_before_approval() {
    let server = support::scripted(SCENARIO).await;
    let browser = signed_in(&server).await;
    browser.press("New project").await;
    browser.fill("#project-title", "Letters").await;
    browser.fill("#project-goal", "Write alpha, beta and gamma.").await;
    browser.click("dialog input[type=checkbox]:not(details input)").await;
    // The button is disabled while the server checks the repository.
    browser.has("dialog button[type=submit]:enabled").await;
    browser.press("Create").await;
    browser.shows(".bar h1", "Letters").await;
    mark(&browser).await;
    browser.shows(".banner", "3 tasks. Nothing starts until you approve it.").await;
    browser.press("Review the plan").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-003 Write beta", "TASK-004 Write gamma"]).await;
    browser.shows(".plan li:last-child .after", "After TASK-002").await;

    browser.press("Add a task").await;
    browser.fill("#task-title", "Write delta").await;
    browser.press("Add to the plan").await;
    browser.lacks("dialog").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-003 Write beta", "TASK-004 Write gamma", "TASK-005 Write delta"]).await;
    browser.press("Move up TASK-005").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-003 Write beta", "TASK-005 Write delta", "TASK-004 Write gamma"]).await;
    browser.press("Remove TASK-003").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-005 Write delta", "TASK-004 Write gamma"]).await;
    browser.press("Undo").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-003 Write beta", "TASK-005 Write delta", "TASK-004 Write gamma"]).await;
    browser.press("Remove TASK-003").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-005 Write delta", "TASK-004 Write gamma"]).await;
    browser.press("Edit TASK-005").await;
    browser.fill("#task-title", "Write omega").await;
    browser.press("Save").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-005 Write omega", "TASK-004 Write gamma"]).await;
    assert!(agents_of(&server).is_empty(), "nothing starts before the person says so: {:?}", agents_of(&server));

    browser.drag_over("[data-task=TASK-004] .grip", "[data-task=TASK-002] summary").await;
    browser.has("[data-task=TASK-002][data-insert=before]").await;
    browser.drop_here().await;
    plan_is(&browser, &["TASK-004 Write gamma", "TASK-002 Write alpha", "TASK-005 Write omega"]).await;
    browser.shows(".graph.narrow", "TASK-004").await;
    browser.press("Start 3 tasks").await;
    for task in ["TASK-002", "TASK-005"] {
        support::reached(&server, task).await;
        browser.has(&format!("[data-status=in_progress] [data-task={task}][data-live]")).await;
    }
    browser.has("[data-status=cancelled] [data-task=TASK-003]").await;
    for task in ["TASK-002", "TASK-004", "TASK-005"] {
        support::open(&server, task);
    }
    browser.shows(".goal-line .badge", "Complete").await;
    let board = server.board(&"PROJ-001".parse().unwrap()).await.unwrap();
    assert_eq!(card(&board, "beta").runs, 0);
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn person_answers_stops_and_messages_an_agent() {
    let server = support::scripted(SCENARIO).await;
    let project = empty_board(&server, &[]).await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.keys("n").await;
    browser.fill("#task-title", "Choose the colour").await;
    browser.press("Add and start").await;

    browser.has("[data-task=TASK-001][data-state=question]").await;
    browser.shows("[data-task=TASK-001] .say", "Which colour should it be?").await;
    browser.shows("[data-task=TASK-001] .card-actions", "Violet").await;
    browser.press("Choose the colour").await;
    browser.shows(".question", "Which colour should it be?").await;
    browser.evaluate("document.activeElement.blur()").await;
    browser.keys("2").await;
    browser.lacks(".question").await;
    support::reached(&server, "TASK-001").await;
    browser.shows(".sheet .badge", "Working").await;
    browser.press("Stop").await;
    browser.shows(".sheet .badge", "Stopped").await;
    assert!(agents_of(&server).is_empty(), "{:?}", agents_of(&server));
    std::fs::remove_file(server.root().join("TASK-001.reached")).unwrap();
    browser.press("Start").await;
    support::reached(&server, "TASK-001").await;
    browser.shows(".sheet .badge", "Working").await;

    browser.fill(".composer textarea", "Mind the **contrast**. <img src=x onerror=alert(1)>").await;
    browser.click(".composer [type=submit]").await;
    browser.shows(".comment .prose strong", "contrast").await;
    browser.lacks(".comment img").await;

    browser.click("#tab-Attempts").await;
    browser.shows(".attempt .log .prose", "I wait.").await;
    browser.press("To the agent").await;
    browser.fill(".composer textarea", "In capital letters, please.").await;
    browser.press("Send").await;
    browser.shows(".toast", "Sent to the agent.").await;
    support::open(&server, "TASK-001");
    browser.has("[data-status=done] [data-task=TASK-001]").await;
    for (place, end) in [(1, "Finished"), (2, "Finished"), (3, "Stopped"), (4, "Asked you")] {
        browser.shows(&format!(".attempt:nth-child({place}) .badge"), end).await;
    }
    browser.click(".attempt:nth-child(3) summary").await;
    browser.shows(".attempt:nth-child(3) .log .prose", "Violet it is.").await;
    // An attempt is redrawn when it ends, so the test opens it again.
    browser.evaluate("document.querySelector('.attempt:nth-child(2)').open = true").await;
    browser.shows(".attempt:nth-child(2) .log-sent", "In capital letters, please.").await;
    crate::deletion::delete_with_a_checkout(&browser, &server, &project).await;
    same_page(&browser, &["/board"]).await;
}

#[tokio::test]
async fn controls_are_labelled_and_pages_fit_a_phone() {
    let server = support::scripted(SCENARIO).await;
    let project =
        empty_board(&server, &["Write alpha", "A title that goes on for longer than a phone is wide, with averyveryverylongwordwithoutanyspace"])
            .await;
    let goal = NewProject {
        title: "Planned".to_owned(),
        description: Some("Write alpha, beta and gamma.".to_owned()),
        plan_approval: Some(PlanApproval::Ask),
        ..NewProject::default()
    };
    let planned: Project = server.post("/api/projects", &goal).await.unwrap();
    server.until(&planned.id, "the plan waits", |board| board.plan().len() == 3).await;
    cancel(&server, "TASK-002").await;
    let started = add(&server, &project, "Choose the colour").await;
    server.post::<TaskView>(&format!("/api/tasks/{started}/start"), &serde_json::json!({})).await.unwrap();

    let browser = signed_in(&server).await;
    browser.resize(390, 844).await;
    assert_fits(&browser, "the list").await;
    browser.press("New project").await;
    browser.shows("#project-found", "Agents start from main").await;
    assert_fits(&browser, "the dialog for a project").await;

    open_board(&browser, &server, &project).await;
    browser.has(&format!("[data-task={started}][data-state=question]")).await;
    assert_fits(&browser, "the board").await;
    browser.click(".column-tabs button:first-child").await;
    browser.press("Move TASK-001").await;
    assert_fits(&browser, "the menu").await;
    browser.keys(&Key::Escape).await;
    browser.press("New task").await;
    assert_fits(&browser, "the dialog for a task").await;
    browser.press("Back").await;
    browser.click(".column-tabs button:nth-child(2)").await;
    browser.press("Choose the colour").await;
    browser.has(".question").await;
    assert_fits(&browser, "the sheet").await;
    browser.click("#tab-Attempts").await;
    browser.has(".attempt .log .prose").await;
    assert_fits(&browser, "the attempts").await;
    browser.click("#tab-Changes").await;
    assert_fits(&browser, "the changes").await;

    open_board(&browser, &server, &planned.id).await;
    browser.press("Review the plan").await;
    browser.has(".plan li").await;
    assert_fits(&browser, "the plan").await;
    same_page(&browser, &[]).await;
}

/// Asserts that the page is not wider than the window and that every control has a name.
pub(crate) async fn assert_fits(browser: &Browser, what: &str) {
    let width = browser.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)").await;
    assert!(width.as_u64() <= Some(390), "{what} is {width} pixels wide");
    // Controls behind a dialog are not reachable.
    let within = if browser.evaluate("!!document.querySelector('dialog')").await == true { "dialog " } else { "" };
    let parts = ["button", "a", "input", "textarea", "select", "summary", "[role=menu]", "[role=region]"];
    let names = browser.names(&parts.map(|part| format!("{within}{part}")).join(", ")).await;
    assert!(names.len() > 3 && names.iter().all(|name| !name.is_empty()), "{what}: {names:?}");
}

/// Opens a signed-in browser at the list of projects.
pub(crate) async fn signed_in(server: &TestServer) -> Browser {
    let browser = Browser::open().await.unwrap();
    browser.goto(&server.sign_in_link).await;
    browser.until("the page is there", "document.body?.innerText.trim()").await;
    let words = browser.evaluate("document.body.innerText").await;
    assert!(!words.as_str().unwrap().contains("has no board"), "{words}");
    browser.shows("h1", "Projects").await;
    browser
}

pub(crate) async fn open_board(browser: &Browser, server: &TestServer, project: &ProjectId) {
    browser.goto(&format!("{}/projects/{project}", server.board_url())).await;
    browser.shows(".connection", "Live").await;
    mark(browser).await;
}

/// Marks the page, to detect a reload.
async fn mark(browser: &Browser) {
    browser.evaluate("window.marked = true").await;
}

/// Asserts that the page was not reloaded and that the console has no errors except those of the `refused` requests.
pub(crate) async fn same_page(browser: &Browser, refused: &[&str]) {
    assert_eq!(browser.evaluate("window.marked").await, true, "the page was reloaded");
    let errors = browser.console_errors().await.into_iter().filter(|error| !refused.iter().any(|path| error.contains(path)));
    assert_eq!(errors.collect::<Vec<_>>(), Vec::<String>::new());
}

async fn plan_is(browser: &Browser, tasks: &[&str]) {
    let shown = "[...document.querySelectorAll('.plan > li')].map((one) => `${one.dataset.task} ${one.querySelector('h3').innerText}`)";
    browser.until(&format!("the plan is {tasks:?}"), &format!("{shown}.join() === '{}'", tasks.join(","))).await;
}

/// Creates a project without a goal, with tasks that are held.
pub(crate) async fn empty_board(server: &TestServer, titles: &[&str]) -> ProjectId {
    let new = NewProject { title: "Letters".to_owned(), plan: Some(false), plan_approval: Some(PlanApproval::Auto), ..NewProject::default() };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    for title in titles {
        add(server, &project.id, title).await;
    }
    project.id
}

pub(crate) async fn add(server: &TestServer, project: &ProjectId, title: &str) -> TaskId {
    let task: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &serde_json::json!({ "title": title })).await.unwrap();
    task.task.card.id
}

async fn cancel(server: &TestServer, task: &str) {
    let patch = TaskPatch { status: Some(Status::Cancelled), reason: Some("obsolete".to_owned()), ..TaskPatch::default() };
    server.patch::<TaskView>(&format!("/api/tasks/{task}"), &patch).await.unwrap();
}
