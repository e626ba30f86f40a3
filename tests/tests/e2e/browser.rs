//! What a person sees and does in a real browser: the board in the binary, a server, and scripted agents behind it.

use domain::board::project::{PlanApproval, Project};
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::wire::{NewProject, TaskPatch, TaskView};
use fantoccini::key::Key;
use tests::browser::Browser;
use tests::git::git;
use tests::relay::{Relay, card};

use crate::scene::{self, agents_of};

const SCENARIO: &str = include_str!("../../scenarios/board.json");

#[tokio::test]
async fn a_person_makes_a_project_and_watches_it_to_its_end() {
    let relay = scene::scripted(SCENARIO).await;
    for file in ["notes.txt", "todo.txt"] {
        std::fs::write(relay.repository().join(file), "not committed").unwrap();
    }
    let browser = signed_in(&relay).await;

    browser.press("New project").await;
    browser.fill("#project-title", "Letters").await;
    browser.fill("#project-path", "/no/such/folder").await;
    browser.shows("#project-found", "/no/such/folder").await;
    browser.has("#project-path[aria-invalid=true]").await;
    browser.fill("#project-goal", "Write alpha, beta and gamma.").await;
    browser.has("dialog button[type=submit]:disabled").await;
    browser.fill("#project-path", relay.repository().to_str().unwrap()).await;
    let head = git(&relay.repository(), &["rev-parse", "--short=7", "main"]).unwrap();
    let start = format!("Agents start from main @ {head}. Your 2 uncommitted files stay untouched, and agents do not see them.");
    browser.shows("#project-found", &start).await;
    browser.press("Create").await;

    browser.shows(".crumb", "Letters").await;
    mark(&browser).await;
    for (task, name) in [("TASK-002", "Write alpha"), ("TASK-003", "Write beta")] {
        scene::reached(&relay, task).await;
        browser.shows(&format!("[data-status=in_progress] [data-task={task}][data-live]"), name).await;
        browser.shows(&format!("[data-task={task}] .badge"), "Working").await;
        browser.shows(&format!("[data-task={task}] .last"), "runs touch").await;
    }
    browser.shows("[data-status=backlog] [data-task=TASK-004] .why", "Blocked by TASK-002").await;
    for task in ["TASK-002", "TASK-003", "TASK-004"] {
        scene::open(&relay, task);
    }
    browser.shows(".project-header .badge", "Complete").await;
    browser.shows("[data-status=done] .count", "5").await;
    browser.shows(".project-header", "5 of 5 done").await;

    browser.press("Land").await;
    browser.press("Land on main").await;
    browser.shows("dialog dl", &git(&relay.repository(), &["rev-parse", "vibe-relay/PROJ-001"]).unwrap()).await;
    browser.press("Done").await;
    browser.lacks("dialog").await;
    assert_eq!(std::fs::read_to_string(relay.repository().join("TASK-004.txt")).unwrap(), "Write gamma\n");
    same_page(&browser, &["/api/repository"]).await;
}

#[tokio::test]
async fn two_people_see_one_board() {
    let mut relay = scene::scripted(SCENARIO).await;
    let project = empty_board(&relay, &["Write alpha", "Write beta", "Write gamma"]).await;
    let ada = signed_in(&relay).await;
    // A link signs one browser in; the next start of the server has another, and knows the first browser still.
    assert!(relay.end().await.unwrap().success());
    relay.serve().await.unwrap();
    let bob = signed_in(&relay).await;
    for person in [&ada, &bob] {
        open_board(person, &relay, &project).await;
    }

    // The keyboard alone.
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

    // The pointer. What may not be is not offered and does not happen.
    ada.carry("[data-task=TASK-002]", "[data-status=done] .cards").await;
    let offered = "[...document.querySelectorAll('[data-target]')].map((one) => one.dataset.status).join()";
    ada.until("legal columns are offered", &format!("{offered} === 'in_progress,cancelled'")).await;
    ada.lacks("[data-status=done][data-over]").await;
    ada.drop_here().await;
    ada.lacks(".card-ghost").await;
    ada.carry("[data-task=TASK-002]", "[data-status=in_progress] .cards").await;
    ada.has("[data-status=in_progress][data-over]").await;
    bob.has("[data-status=backlog] [data-task=TASK-002]").await;
    ada.drop_here().await;
    for person in [&ada, &bob] {
        person.has("[data-status=in_progress] [data-task=TASK-002]").await;
    }

    // What the table allows and the facts do not.
    scene::reached(&relay, "TASK-002").await;
    for draft in ["one.txt", "two.txt"] {
        std::fs::write(relay.place().join("worktrees/PROJ-001/TASK-002").join(draft), "not committed").unwrap();
    }
    bob.press("Move TASK-002").await;
    bob.press("In review").await;
    bob.shows(".toast", "TASK-002 has 2 files that are not committed: one.txt, two.txt").await;
    bob.shows(".toast", "Commit what belongs to the task, remove or ignore the rest, then move the task again.").await;
    bob.has("[data-status=in_progress] [data-task=TASK-002]").await;

    // A move that asks for a reason.
    bob.press("Move TASK-003").await;
    bob.click("[role=menuitem]:last-child").await;
    bob.shows("dialog", "Move TASK-003 to Cancelled").await;
    bob.press("Move to Cancelled").await;
    ada.shows("[data-status=cancelled] [data-task=TASK-003] .badge", "Abandoned").await;
    for task in ["TASK-001", "TASK-002"] {
        scene::open(&relay, task);
    }
    ada.shows("[data-status=done] .count", "2").await;
    same_page(&ada, &[]).await;
    same_page(&bob, &["/api/tasks/TASK-002"]).await;
}

#[tokio::test]
async fn a_board_heals_after_its_server_died() {
    let mut relay = scene::scripted(SCENARIO).await;
    let project = empty_board(&relay, &["Write alpha", "Write beta"]).await;
    let browser = signed_in(&relay).await;
    open_board(&browser, &relay, &project).await;
    browser.shows(".connection", "Live").await;

    relay.kill().await.unwrap();
    browser.shows(".connection", "Connection lost, reconnecting").await;

    // Things happen where the browser does not look.
    let port = relay.port();
    relay.serve_on(0).await.unwrap();
    cancel(&relay, "TASK-001").await;
    add(&relay, &project, "Write gamma").await;
    assert!(relay.end().await.unwrap().success());
    browser.shows(".connection", "Connection lost").await;
    browser.has("[data-status=backlog] [data-task=TASK-001]").await;

    relay.serve_on(port).await.unwrap();
    browser.shows(".connection", "Live").await;
    browser.has("[data-status=cancelled] [data-task=TASK-001]").await;
    browser.shows("[data-status=backlog] [data-task=TASK-003]", "Write gamma").await;
    cancel(&relay, "TASK-002").await;
    browser.has("[data-status=cancelled] [data-task=TASK-002]").await;
    // What the page asks for once it is there may meet the dead server too.
    same_page(&browser, &["/api/ws", "/api/server", "net::ERR_CONNECTION_REFUSED"]).await;
}

#[tokio::test]
async fn a_plan_waits_for_its_person() {
    let relay = scene::scripted(SCENARIO).await;
    let browser = signed_in(&relay).await;
    browser.press("New project").await;
    browser.fill("#project-title", "Letters").await;
    browser.fill("#project-goal", "Write alpha, beta and gamma.").await;
    browser.click("dialog input[type=checkbox]").await;
    // Nothing is created while the repository is looked at.
    browser.has("dialog button[type=submit]:enabled").await;
    browser.press("Create").await;
    browser.shows(".crumb", "Letters").await;
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
    browser.press("Edit TASK-005").await;
    browser.fill("#task-title", "Write omega").await;
    browser.press("Save").await;
    plan_is(&browser, &["TASK-002 Write alpha", "TASK-005 Write omega", "TASK-004 Write gamma"]).await;
    assert!(agents_of(&relay).is_empty(), "nothing starts before the person says so: {:?}", agents_of(&relay));

    browser.press("Start the plan").await;
    for task in ["TASK-002", "TASK-005"] {
        scene::reached(&relay, task).await;
        browser.has(&format!("[data-status=in_progress] [data-task={task}][data-live]")).await;
    }
    browser.has("[data-status=cancelled] [data-task=TASK-003]").await;
    for task in ["TASK-002", "TASK-004", "TASK-005"] {
        scene::open(&relay, task);
    }
    browser.shows(".project-header .badge", "Complete").await;
    let board = relay.board(&"PROJ-001".parse().unwrap()).await.unwrap();
    assert_eq!(card(&board, "beta").runs, 0);
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn a_person_talks_to_an_agent() {
    let relay = scene::scripted(SCENARIO).await;
    let project = empty_board(&relay, &[]).await;
    let browser = signed_in(&relay).await;
    open_board(&browser, &relay, &project).await;
    browser.keys("n").await;
    browser.fill("#task-title", "Choose the colour").await;
    browser.press("Add and start").await;

    browser.shows("[data-task=TASK-001] .badge", "Needs you: question").await;
    browser.shows("[data-task=TASK-001] .why", "Which colour should it be?").await;
    browser.press("Choose the colour").await;
    browser.shows(".question", "Which colour should it be?").await;
    browser.press("Violet").await;
    browser.lacks(".question").await;
    scene::reached(&relay, "TASK-001").await;
    browser.shows(".sheet .badge", "Working").await;

    browser.press("Stop").await;
    browser.shows(".sheet .badge", "Stopped").await;
    assert!(agents_of(&relay).is_empty(), "{:?}", agents_of(&relay));
    std::fs::remove_file(relay.place().join("TASK-001.reached")).unwrap();
    browser.press("Start").await;
    scene::reached(&relay, "TASK-001").await;
    browser.shows(".sheet .badge", "Working").await;

    browser.fill(".composer textarea", "Mind the **contrast**. <img src=x onerror=alert(1)>").await;
    browser.click(".composer [type=submit]").await;
    browser.shows(".comment .prose strong", "contrast").await;
    browser.lacks(".comment img").await;

    browser.click("#tab-Attempts").await;
    browser.shows(".attempt .log .say", "I wait.").await;
    browser.press("To the agent").await;
    browser.fill(".composer textarea", "In capital letters, please.").await;
    browser.press("Send").await;
    browser.shows(".toast", "Sent to the agent.").await;
    scene::open(&relay, "TASK-001");
    browser.has("[data-status=done] [data-task=TASK-001]").await;
    for (place, end) in [(1, "Finished"), (2, "Finished"), (3, "Stopped"), (4, "Asked you")] {
        browser.shows(&format!(".attempt:nth-child({place}) .badge"), end).await;
    }
    browser.click(".attempt:nth-child(3) summary").await;
    browser.shows(".attempt:nth-child(3) .say", "Violet it is.").await;
    // Open or not: an attempt is drawn anew when it ends.
    browser.read("document.querySelector('.attempt:nth-child(2)').open = true").await;
    browser.shows(".attempt:nth-child(2) .said-to", "In capital letters, please.").await;
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn everything_has_a_name_and_fits_a_phone() {
    let relay = scene::scripted(SCENARIO).await;
    let project =
        empty_board(&relay, &["Write alpha", "A title that goes on for longer than a phone is wide, with averyveryverylongwordwithoutanyspace"])
            .await;
    let goal = NewProject {
        title: "Planned".to_owned(),
        description: Some("Write alpha, beta and gamma.".to_owned()),
        plan_approval: Some(PlanApproval::Ask),
        ..NewProject::default()
    };
    let planned: Project = relay.post("/api/projects", &goal).await.unwrap();
    relay.until(&planned.id, "the plan waits", |board| board.plan().len() == 3).await;
    cancel(&relay, "TASK-002").await;
    let started = add(&relay, &project, "Choose the colour").await;
    relay.post::<TaskView>(&format!("/api/tasks/{started}/start"), &serde_json::json!({})).await.unwrap();

    let browser = signed_in(&relay).await;
    browser.resize(390, 844).await;
    fits(&browser, "the list").await;
    browser.press("New project").await;
    browser.shows("#project-found", "Agents start from main").await;
    fits(&browser, "the dialog for a project").await;

    open_board(&browser, &relay, &project).await;
    browser.shows(&format!("[data-task={started}] .badge"), "Needs you: question").await;
    fits(&browser, "the board").await;
    browser.press("Move TASK-001").await;
    fits(&browser, "the menu").await;
    browser.keys(&Key::Escape).await;
    browser.press("New task").await;
    fits(&browser, "the dialog for a task").await;
    browser.press("Back").await;
    browser.press("Choose the colour").await;
    browser.has(".question").await;
    fits(&browser, "the sheet").await;
    browser.click("#tab-Attempts").await;
    browser.has(".attempt .log .say").await;
    fits(&browser, "the attempts").await;
    browser.click("#tab-Changes").await;
    fits(&browser, "the changes").await;

    open_board(&browser, &relay, &planned.id).await;
    browser.press("Review the plan").await;
    browser.has(".plan li").await;
    fits(&browser, "the plan").await;
    same_page(&browser, &[]).await;
}

/// No page is wider than the window, and whatever can be operated says what it is.
pub(crate) async fn fits(browser: &Browser, what: &str) {
    let width = browser.read("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)").await;
    assert!(width.as_u64() <= Some(390), "{what} is {width} pixels wide");
    // What lies behind a dialog cannot be operated.
    let within = if browser.read("!!document.querySelector('dialog')").await == true { "dialog " } else { "" };
    let parts = ["button", "a", "input", "textarea", "select", "summary", "[role=menu]", "[role=region]"];
    let names = browser.names(&parts.map(|part| format!("{within}{part}")).join(", ")).await;
    assert!(names.len() > 3 && names.iter().all(|name| !name.is_empty()), "{what}: {names:?}");
}

/// A browser that the server knows, at its list of projects.
pub(crate) async fn signed_in(relay: &Relay) -> Browser {
    let browser = Browser::open().await.unwrap();
    browser.goto(&relay.sign_in).await;
    browser.until("the page is there", "document.body?.innerText.trim()").await;
    let words = browser.read("document.body.innerText").await;
    assert!(!words.as_str().unwrap().contains("has no board"), "{words}");
    browser.shows("h1", "Projects").await;
    browser
}

pub(crate) async fn open_board(browser: &Browser, relay: &Relay, project: &ProjectId) {
    browser.goto(&format!("{}/projects/{project}", relay.url)).await;
    browser.shows(".connection", "Live").await;
    mark(browser).await;
}

/// Remembers this page, to tell it from a reloaded one.
async fn mark(browser: &Browser) {
    browser.read("window.marked = true").await;
}

/// The page was never reloaded, and the console reports no error but those of requests that had to fail.
pub(crate) async fn same_page(browser: &Browser, refused: &[&str]) {
    assert_eq!(browser.read("window.marked").await, true, "the page was reloaded");
    let errors = browser.console_errors().await.into_iter().filter(|error| !refused.iter().any(|path| error.contains(path)));
    assert_eq!(errors.collect::<Vec<_>>(), Vec::<String>::new());
}

async fn plan_is(browser: &Browser, tasks: &[&str]) {
    let shown = "[...document.querySelectorAll('.plan li > div:first-child')].map((one) => one.innerText)";
    browser.until(&format!("the plan is {tasks:?}"), &format!("{shown}.join() === '{}'", tasks.join(","))).await;
}

/// A project without a goal, and tasks that a person holds.
async fn empty_board(relay: &Relay, titles: &[&str]) -> ProjectId {
    let new = NewProject { title: "Letters".to_owned(), plan: Some(false), plan_approval: Some(PlanApproval::Auto), ..NewProject::default() };
    let project: Project = relay.post("/api/projects", &new).await.unwrap();
    for title in titles {
        add(relay, &project.id, title).await;
    }
    project.id
}

async fn add(relay: &Relay, project: &ProjectId, title: &str) -> TaskId {
    let new = serde_json::json!({ "title": title });
    let task: TaskView = relay.post(&format!("/api/projects/{project}/tasks"), &new).await.unwrap();
    task.task.card.id
}

async fn cancel(relay: &Relay, task: &str) {
    let patch = TaskPatch { status: Some(Status::Cancelled), reason: Some("obsolete".to_owned()), ..TaskPatch::default() };
    relay.patch::<TaskView>(&format!("/api/tasks/{task}"), &patch).await.unwrap();
}
