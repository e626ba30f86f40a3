//! Collaboration in a real browser: the team, messages, goals, contracts, handshakes and the review gates of a task. The test plays the
//! external agents.

use domain::id::{ProjectId, TaskId};
use domain::team::message::Unread;
use fantoccini::key::Key;
use serde_json::{Value, json};
use tests::browser::Browser;
use tests::server::TestServer;

use crate::agents::{text, token};
use crate::browser::{assert_fits, open_board, same_page, signed_in};
use crate::support;

/// The runner starts no agent.
const NO_AGENTS: &str = r#"{"parts": []}"#;

/// Opens a browser at the board of an empty project.
async fn at_board() -> (TestServer, ProjectId, Browser) {
    let server = support::scripted(NO_AGENTS).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    (server, project, browser)
}

/// Registers external agents, each with one call, and returns their tokens.
async fn join<const N: usize>(server: &TestServer, project: &ProjectId, who: [(&str, &str); N]) -> [String; N] {
    let mut tokens = [const { String::new() }; N];
    for (place, (name, role)) in who.into_iter().enumerate() {
        tokens[place] = token(server, project, name, &[role]).await;
        text(server, &tokens[place], "who", json!({})).await;
    }
    tokens
}

/// Waits until the project shows exactly these tabs.
async fn tabs_are(browser: &Browser, tabs: &str) {
    let shown = "[...document.querySelectorAll('.sections a')].map((tab) => tab.firstChild.data).join(' ')";
    browser.until(&format!("the tabs are {tabs}"), &format!("{shown} === '{tabs}'")).await;
}

/// The unread messages of an agent, oldest first.
async fn inbox(server: &TestServer, token: &str) -> Vec<Value> {
    serde_json::from_str(&text(server, token, "check_inbox", json!({})).await).unwrap()
}

/// Lets an external builder submit a task and a lead approve it.
async fn build_and_approve(server: &TestServer, builder: &str, lead: &str, task: &TaskId) {
    text(server, builder, "update_task", json!({"task_id": task, "status": "in_progress"})).await;
    text(server, builder, "submit_for_review", json!({"task_id": task, "summary": "It stands"})).await;
    let content = "# What I tried\nOne post\n# What worked\nTwo posts\n# Next agent\nSee gate.rs:1";
    text(server, builder, "submit_result", json!({"task_id": task, "content": content})).await;
    text(server, lead, "approve_task", json!({"task_id": task})).await;
}

#[tokio::test]
async fn team_page_shows_agents_as_they_join() {
    let (server, project, browser) = at_board().await;
    browser.lacks(".sections").await;
    let [ben] = join(&server, &project, [("ben", "builder")]).await;
    tabs_are(&browser, "Board Team").await;

    browser.press("Team").await;
    browser.shows(".agent", "ben").await;
    browser.press("Add an agent").await;
    browser.fill("#agent-name", "mara").await;
    browser.fill("#agent-team", "platform").await;
    browser.click(".option-box:first-child input").await;
    browser.click("#token-permissions option[value='read write admin']").await;
    browser.click("#token-lifetime option[value='86400']").await;
    browser.press("Create token").await;
    browser.shows("dialog", "it is shown only once").await;
    let shown = browser.evaluate("[...document.querySelectorAll('dialog .copy code')].map((code) => code.innerText)").await;
    let mara = shown[0].as_str().unwrap().to_owned();
    let command = format!("claude mcp add --transport http vibe-relay {}/mcp --header \"Authorization: Bearer {mara}\"", server.url);
    assert_eq!(shown[1], command);
    browser.press("Done").await;
    browser.lacks("dialog").await;
    assert_eq!(browser.evaluate(&format!("document.documentElement.outerHTML.includes('{mara}')")).await, false, "the token is shown once");

    let tokens: Value = server.get("/api/tokens").await.unwrap();
    let terms = tokens["items"].as_array().unwrap().iter().find(|token| token["holder"] == "platform/mara").unwrap();
    assert_eq!(terms["permissions"], json!(["read", "write", "admin"]));
    assert!(terms["expires_at"].is_string(), "{terms}");

    let who: Vec<Value> = serde_json::from_str(&text(&server, &mara, "who", json!({})).await).unwrap();
    assert!(who.iter().any(|agent| agent["name"] == "platform/mara"), "the token is accepted: {who:?}");
    text(&server, &mara, "set_status", json!({"status": "Reading the plan"})).await;
    browser.shows(".agent", "Reading the plan").await;
    let row = "[...document.querySelectorAll('.agent')].find((row) => row.innerText.includes('mara'))";
    for fact in ["platform/mara", "lead", "builder", "healthy", "trusted"] {
        browser.until(&format!("mara's row says {fact}"), &format!("{row}.innerText.includes('{fact}')")).await;
    }

    text(&server, &ben, "send", json!({"to_agent": "mara", "message": "Shall I begin?"})).await;
    tabs_are(&browser, "Board Team Messages").await;
    browser.until("mara has something to read", &format!("{row}.innerText.includes('1 unread')")).await;
    assert_eq!(inbox(&server, &mara).await.len(), 1);
    browser.until("mara has read", &format!("!{row}.innerText.includes('unread')")).await;
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn person_exchanges_messages_with_agents() {
    let (server, project, browser) = at_board().await;
    let [_mara, ben, lea] = join(&server, &project, [("mara", "lead"), ("ben", "builder"), ("lea", "tester")]).await;
    tabs_are(&browser, "Board Team War room").await;
    text(&server, &ben, "send", json!({"to_agent": "human", "message": "Which **colour**? <img src=x onerror=alert(1)>"})).await;
    tabs_are(&browser, "Board Team Messages War room").await;
    browser.shows(".sections .count-badge", "1").await;

    browser.click(".sections a[href$='/messages']").await;
    browser.shows(".message[data-new] .prose strong", "colour").await;
    browser.shows(".message[data-new]", "<img src=x onerror=alert(1)>").await;
    browser.lacks(".message img").await;
    browser.shows(".message", "cc: mara").await;
    let waiting: Unread = server.get(&format!("/api/projects/{project}/inbox")).await.unwrap();
    assert_eq!(waiting.count, 1, "opening the page marks nothing as read");
    browser.press("Mark all as read (1)").await;
    browser.lacks(".sections .count-badge").await;
    let unread: Unread = server.get(&format!("/api/projects/{project}/inbox")).await.unwrap();
    assert_eq!(unread.count, 0);

    // New messages do not clear the text that is being typed.
    browser.fill("#message-text", "Violet, ").await;
    text(&server, &ben, "send", json!({"to_agent": "human", "message": "And which shape?"})).await;
    browser.shows(".message", "And which shape?").await;
    browser.keys("and round.").await;
    assert_eq!(browser.evaluate("document.querySelector('#message-text').value").await, "Violet, and round.");

    browser.click("select[aria-label=To] option[value=ben]").await;
    browser.click("select[aria-label='Add cc'] option[value=lea]").await;
    browser.has("button[aria-label='Remove cc lea']").await;
    browser.press("Send").await;
    browser.shows(".message[data-own]", "Violet, and round.").await;
    browser.shows(".message[data-own]", "cc: lea, mara").await;
    browser.until("the field is empty", "document.querySelector('#message-text').value === ''").await;
    browser.click("select[aria-label=To] option[value=all]").await;
    browser.fill("#message-text", "We begin.").await;
    browser.press("Send").await;
    browser.shows(".message[data-own]", "We begin.").await;

    for (agent, is_cc) in [(&ben, false), (&lea, true)] {
        let said = inbox(&server, agent).await;
        let said: Vec<_> =
            said.iter().map(|message| (message["from_agent"].as_str(), message["content"].as_str(), message["is_cc"] == true)).collect();
        assert_eq!(said, [(Some("human"), Some("Violet, and round."), is_cc), (Some("human"), Some("We begin."), false)]);
    }
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn message_filter_is_in_the_url() {
    let (server, project, browser) = at_board().await;
    let [ben, lea] = join(&server, &project, [("ben", "builder"), ("lea", "tester")]).await;
    text(&server, &ben, "send", json!({"to_agent": "human", "message": "Which colour?"})).await;
    text(&server, &lea, "send", json!({"to_agent": "human", "message": "Which shape?"})).await;
    let chips = |labels: &str| format!("[...document.querySelectorAll('.filter-chips .chip')].map((chip) => chip.innerText).join() === '{labels}'");
    let at = |address: &str| format!("location.pathname + location.search === '/projects/{project}/{address}'");

    browser.press("Team").await;
    browser.click("[aria-label='Write to ben']").await;
    browser.until("ben's messages have an address", &at("messages?agent=ben")).await;
    browser.shows(".message", "Which colour?").await;
    browser.until("the rest is left out", "!document.body.innerText.includes('Which shape?')").await;
    browser.fill(".messages-head .filter", "lea").await;
    browser.shows(".message", "Which shape?").await;
    browser.until("lea is chosen", &chips("lea")).await;
    browser.evaluate("history.back()").await;
    browser.shows(".message", "Which colour?").await;
    browser.until("ben is chosen again", &chips("ben")).await;
    browser.press("Remove ben").await;
    browser.until("nothing is filtered", &at("messages")).await;
    browser.shows(".message", "Which shape?").await;
    same_page(&browser, &[]).await;

    // Opens a shared link.
    browser.goto(&format!("{}/projects/{project}/messages?agent=human&task=TASK-007", server.board_url())).await;
    browser.shows(".empty", "No messages match these filters").await;
    browser.until("the person is chosen", &chips("you,TASK-007")).await;
    browser.press("Show all messages").await;
    browser.until("nothing is filtered", &at("messages")).await;
    browser.shows(".message", "Which shape?").await;
}

#[tokio::test]
async fn open_dialog_captures_shortcuts() {
    let (_relay, _project, browser) = at_board().await;
    browser.keys("4").await;
    browser.shows("h2", "Goals").await;
    browser.press("New goal").await;
    // A click on text moves the focus out of the dialog.
    browser.click("dialog h1").await;
    browser.keys("6").await;
    browser.keys(&Key::Escape).await;
    browser.lacks("dialog").await;
    browser.shows("h2", "Goals").await;
    browser.until("the focus is back", "document.activeElement.innerText.trim() === 'New goal'").await;
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn goal_progress_follows_verified_tasks() {
    let (server, project, browser) = at_board().await;
    let [mara, ben, vera] = join(&server, &project, [("mara", "lead"), ("ben", "builder"), ("vera", "tester")]).await;
    text(&server, &mara, "create_goal", json!({"title": "Everyone can sign in"})).await;
    for title in ["Build the form", "Build the door"] {
        let task = json!({"title": title, "assigned_to": "ben", "role_hat": "builder", "goal_id": "GOAL-001"});
        text(&server, &mara, "create_task", task).await;
    }
    browser.shows(".goal-chip", "Everyone can sign in").await;
    tabs_are(&browser, "Board Team Messages Goals War room").await;
    browser.press("Goals").await;
    browser.shows(".entry", "0 of 2 verified").await;
    browser.shows(".entry", "Build the door").await;

    browser.press("Sign off").await;
    browser.click("dialog [type=submit]").await;
    browser.shows(".toast", "GOAL-001 has unverified tasks: TASK-001, TASK-002.").await;
    browser.press("Back").await;
    browser.lacks("dialog").await;

    let (first, second) = (TaskId::new(1), TaskId::new(2));
    build_and_approve(&server, &ben, &mara, &first).await;
    browser.shows(".entry", "0 of 2 verified, 1 more done").await;
    text(&server, &vera, "verify_task", json!({"task_id": first})).await;
    browser.shows(".entry", "1 of 2 verified").await;
    build_and_approve(&server, &ben, &mara, &second).await;
    text(&server, &vera, "verify_task", json!({"task_id": second})).await;
    browser.shows(".entry", "2 of 2 verified").await;
    browser.shows(".entry > header .badge", "Awaiting sign-off").await;

    browser.press("Sign off").await;
    browser.click("dialog [type=submit]").await;
    browser.shows(".toast", "GOAL-001 is verified.").await;
    browser.shows(".entry > header .badge", "Verified").await;
    browser.shows(".entry", "Signed off by you.").await;
    same_page(&browser, &["/api/goals/GOAL-001/verify"]).await;
}

#[tokio::test]
async fn contracts_show_changes_and_handshakes_show_answers() {
    let (server, project, browser) = at_board().await;
    let [ben, lea] = join(&server, &project, [("ben", "builder"), ("lea", "builder")]).await;
    let save = |spec: &str| json!({"name": "save", "type": "function", "spec": spec});
    text(&server, &ben, "declare_contract", save("fn save(text)\nIt is written at once.\n")).await;
    browser.click(".sections a[href$='/contracts']").await;
    browser.shows("summary", "version 1").await;
    browser.click("details.attempt summary").await;
    browser.shows("details[open] .spec", "fn save(text)").await;
    text(&server, &ben, "declare_contract", save("fn save(text) -> bool\nIt is written at once.\n")).await;
    browser.shows("summary", "version 2").await;
    browser.shows("details[open] h3", "Changes since version 1").await;
    browser.shows("[data-origin='-']", "- fn save(text)").await;
    browser.shows("[data-origin='+']", "+ fn save(text) -> bool").await;
    browser.shows("[data-origin=' ']", "It is written at once.").await;
    browser.press("v1").await;
    browser.lacks("[data-origin]").await;
    browser.shows("details[open] .spec", "fn save(text)").await;

    browser.keys("6").await;
    browser.press("Initiate handshake").await;
    join(&server, &project, [("tom", "tester")]).await;
    browser.has(".option-box:nth-child(3) input").await;
    browser.fill("#handshake-text", "Nobody writes to main.").await;
    for agent in [1, 2] {
        browser.click(&format!(".option-box:nth-child({agent}) input")).await;
    }
    browser.press("Initiate").await;
    browser.shows(".entry", "Nobody writes to main.").await;
    browser.shows(".entry .badge", "Open").await;
    browser.shows(".entry", "Pending\nben and lea").await;
    text(&server, &ben, "ack_handshake", json!({"handshake_id": 1})).await;
    browser.shows(".entry", "Pending\nlea").await;
    browser.shows(".entry", "Acknowledged by\nben").await;
    text(&server, &lea, "ack_handshake", json!({"handshake_id": 1})).await;
    browser.shows(".entry .badge", "Completed").await;
    browser.shows(".entry", "Acknowledged by\nben and lea").await;
    same_page(&browser, &[]).await;
}

#[tokio::test]
async fn task_shows_its_contributors() {
    let (server, project, browser) = at_board().await;
    let [ben, vera] = join(&server, &project, [("ben", "builder"), ("vera", "tester")]).await;
    let task = json!({"title": "Build the gate", "assigned_to": "ben"});
    let _: Value = server.post(&format!("/api/projects/{project}/tasks"), &task).await.unwrap();
    browser.shows("[data-task=TASK-001] .meta", "Assigned to ben").await;
    browser.press("Build the gate").await;
    browser.shows(".sheet dl", "Assigned to\nben").await;
    text(&server, &ben, "update_task", json!({"task_id": "TASK-001", "status": "in_progress"})).await;
    let submission = json!({"task_id": "TASK-001", "summary": "It opens and closes", "test_results": "12 passed"});
    text(&server, &ben, "submit_for_review", submission).await;
    browser.shows(".sheet dl", "Submission\n\nIt opens and closes").await;
    browser.shows(".sheet dl", "Tests\n\n12 passed").await;

    browser.press("Approve").await;
    browser.click("dialog [type=submit]").await;
    browser.lacks("dialog").await;
    browser.shows(".sheet dl", "Built by\nben").await;
    browser.shows(".sheet dl", "Approved by\nyou").await;
    browser.press("Verify").await;
    browser.fill("#gate-text", "I tried it.").await;
    browser.click("dialog [type=submit]").await;
    browser.shows(".toast", "You approved TASK-001, so another participant must verify it.").await;
    assert_eq!(browser.evaluate("document.querySelector('#gate-text').value").await, "I tried it.", "what was written stays");
    browser.press("Back").await;
    browser.lacks("dialog").await;

    text(&server, &vera, "verify_task", json!({"task_id": "TASK-001", "notes": "It turns both ways"})).await;
    browser.shows(".sheet dl", "Verified by\nvera").await;
    browser.click("#tab-Messages").await;
    for notice in ["REVIEW", "APPROVED", "VERIFIED"] {
        browser.shows(".sheet .message[data-notice] .label-chip", notice).await;
    }
    same_page(&browser, &["/api/tasks/TASK-001/verify"]).await;
}

#[tokio::test]
async fn project_sections_are_labelled_and_fit_a_phone() {
    const LONG: &str = "averyveryverylongwordwithoutanyspaceatallthatgoesonforlongerthanaphoneiswide";
    let (server, project, browser) = at_board().await;
    let [mara, ben] = join(&server, &project, [("mara", "lead"), ("ben", "builder")]).await;
    text(&server, &mara, "create_goal", json!({"title": LONG})).await;
    text(&server, &mara, "create_task", json!({"title": LONG, "assigned_to": "ben", "goal_id": "GOAL-001"})).await;
    text(&server, &mara, "declare_contract", json!({"name": LONG, "type": "other", "spec": LONG})).await;
    text(&server, &mara, "initiate_handshake", json!({"message": LONG, "agents": "ben, human"})).await;
    assert!(!inbox(&server, &ben).await.is_empty());
    text(&server, &ben, "send", json!({"to_agent": "human", "message": LONG, "cc": "mara"})).await;
    text(&server, &ben, "set_status", json!({"status": LONG})).await;

    browser.resize(390, 844).await;
    let parts = [
        ("2", ".agent", "Add an agent"),
        ("4", ".entry .linked .task-link", "New goal"),
        ("5", "details.attempt", "Declare contract"),
        ("6", ".entry .button", "Initiate handshake"),
    ];
    for (key, shown, dialog) in parts {
        browser.keys(key).await;
        browser.has(shown).await;
        assert_fits(&browser, &format!("the page behind {key}")).await;
        browser.press(dialog).await;
        browser.has("dialog").await;
        assert_fits(&browser, &format!("the dialog {dialog}")).await;
        browser.press("Back").await;
        browser.lacks("dialog").await;
    }
    browser.keys("3").await;
    browser.shows(".message", LONG).await;
    browser.click("select[aria-label=To] option[value=mara]").await;
    browser.click("select[aria-label='Add cc'] option[value=ben]").await;
    browser.has("button[aria-label='Remove cc ben']").await;
    assert_fits(&browser, "the messages").await;
    same_page(&browser, &[]).await;
}
