//! Every page with hostile content, wide and on a phone, light and dark: nothing is cut off, and axe-core finds no violation. The pictures
//! are in `target/screenshots`.

use std::path::{Path, PathBuf};

use domain::board::project::{PlanApproval, Project};
use domain::id::{ProjectId, TaskId};
use domain::wire::{NewProject, TaskView};
use fantoccini::key::Key;
use serde_json::json;
use tests::accessibility::{axe, clipped, violations};
use tests::browser::Browser;
use tests::mcp;
use tests::server::TestServer;

use crate::agents::{text, token};
use crate::browser::{SCENARIO, signed_in};
use crate::support;

const WORD: &str = "averyveryverylongwordwithoutanyspacethatnobreakcanhelpunlessthepageallowsonewithinaword";
/// A heading, a long line of code, a wide table, a long address, a list of things to do, Hebrew and an attempt to run a script.
const TEXT: &str = "# Mind **this**\n\n```rust\nlet a_long_line_of_code = std::iter::repeat(\"0123456789\").take(4096).collect::<String>().len() + 0123456789;\n```\n\n\
    | one | two | three | four | five | six | seven | eight | nine |\n|---|---|---|---|---|---|---|---|---|\n\
    | aaaaaaaaaaaa | bbbbbbbbbbbb | cccccccccccc | dddddddddddd | eeeeeeeeeeee | ffffffffffff | gggggggggggg | hhhhhhhhhhhh | iiiiiiiiiiii |\n\n\
    https://example.org/a/path/that/is/much/longer/than/any/phone/is/wide?and=a&query=that&goes=on&and=on&and=on\n\n\
    - [x] done\n- [ ] see TASK-001\n\nשלום עולם, זה טקסט מימין לשמאל.\n\n<script>alert(1)</script><img src=x onerror=alert(1)>";

/// The page in all sizes and themes.
struct Gallery<'a> {
    browser: &'a Browser,
    axe: String,
    folder: PathBuf,
    faults: Vec<String>,
}

impl Gallery<'_> {
    async fn check(&mut self, name: &str) {
        self.check_at(name, &[(1440, 900), (390, 844)]).await;
    }

    async fn check_at(&mut self, name: &str, sizes: &[(u32, u32)]) {
        for &(width, height) in sizes {
            self.browser.resize(width, height).await;
            for theme in ["light", "dark"] {
                self.browser.prefer_color_scheme(theme).await;
                let view = format!("{name}-{width}-{theme}");
                std::fs::write(self.folder.join(format!("{view}.png")), self.browser.screenshot().await).unwrap();
                // The colours differ with the theme, the rest with the width.
                if width == 1440 || theme == "light" {
                    let found = violations(self.browser, &self.axe).await;
                    self.faults.extend(found.into_iter().map(|fault| format!("{view}: {fault}")));
                }
            }
            let overflow = self.browser.evaluate("document.documentElement.scrollWidth - window.innerWidth").await;
            if overflow.as_i64() > Some(0) {
                self.faults.push(format!("{name}-{width}: the page is {overflow} pixels wider than the window"));
            }
            let below =
                self.browser.evaluate("document.querySelector('.app') ? document.documentElement.scrollHeight - window.innerHeight : 0").await;
            if below.as_i64() > Some(0) {
                self.faults.push(format!("{name}-{width}: the frame is {below} pixels higher than the window"));
            }
            self.faults.extend(clipped(self.browser).await.into_iter().map(|fault| format!("{name}-{width}: {fault}")));
        }
        self.browser.resize(1440, 900).await;
    }
}

/// A board with every kind of card, long texts, messages and a goal; and a project whose plan waits.
async fn crowded(server: &TestServer) -> (ProjectId, TaskId, ProjectId) {
    let new = NewProject { title: format!("Letters {WORD}"), description: Some(TEXT.to_owned()), plan: Some(false), ..NewProject::default() };
    let project: Project = server.post("/api/projects", &new).await.unwrap();
    let tasks = format!("/api/projects/{}/tasks", project.id);
    let task = json!({ "title": format!("Write alpha {WORD}"), "description": TEXT });
    let held: TaskView = server.post(&tasks, &task).await.unwrap();
    let held = held.task.card.id;
    let _comment: serde_json::Value = server.post(&format!("/api/tasks/{held}/comments"), &json!({ "content": TEXT })).await.unwrap();
    let asking: TaskView = server.post(&tasks, &json!({ "title": "Choose the colour", "start": true })).await.unwrap();
    let _waiting: TaskView = server.post(&tasks, &json!({ "title": "שלום עולם", "depends_on": [held], "start": true })).await.unwrap();
    let _goal: serde_json::Value =
        server.post(&format!("/api/projects/{}/goals", project.id), &json!({ "title": WORD, "description": TEXT })).await.unwrap();
    let ben = token(server, &project.id, "ben", &["builder"]).await;
    text(server, &ben, "send", json!({ "to_agent": "human", "message": TEXT })).await;
    text(server, &ben, "add_message", json!({ "content": TEXT })).await;
    text(server, &ben, "set_memory", json!({ "key": WORD, "value": TEXT })).await;
    let war_room = format!("/api/projects/{}", project.id);
    for (scope, zone) in [("project", None), ("zone", Some("a-zone-with-a-name-of-sixty-characters-that-does-not-wrap"))] {
        let plan = json!({ "plan": format!("{TEXT}\n\n{TEXT}"), "scope": scope, "zone": zone });
        let _plan: serde_json::Value = server.post(&format!("{war_room}/battle-plans"), &plan).await.unwrap();
    }
    for priority in ["low", "normal", "high", "critical"] {
        text(server, &ben, "log_raid", json!({ "entry": format!("{priority} {TEXT}"), "priority": priority })).await;
    }
    let paths: Vec<String> = (0..6).map(|place| format!("src/{place}/{WORD}/{WORD}/*.rs")).collect();
    let zone = json!({ "name": &WORD[..60], "paths": paths, "owner": "human", "oracle": "ben" });
    let _zone: serde_json::Value = server.put(&format!("{war_room}/zones"), &zone).await.unwrap();
    for (kind, paths) in [("intel", Vec::new()), ("trap", paths)] {
        let item = json!({ "kind": kind, "topic": &WORD[..60], "body": TEXT, "evidence": format!("$ {WORD}{WORD}\n{TEXT}"), "paths": paths });
        let _item: serde_json::Value = server.post(&format!("{war_room}/knowledge"), &item).await.unwrap();
    }
    let path = format!("src/{WORD}/{WORD}/*.rs");
    text(server, &ben, "claim_file", json!({ "file_path": path })).await;
    let eve = token(server, &project.id, &WORD[..40], &["builder"]).await;
    let waits = mcp::call(server, &eve, "claim_file", json!({ "file_path": path })).await.unwrap();
    assert!(waits.is_error && waits.text.contains("first in line"), "{}", waits.text);

    let old = NewProject { title: format!("Archived {WORD}"), plan: Some(false), ..NewProject::default() };
    let old: Project = server.post("/api/projects", &old).await.unwrap();
    let _archived: Project = server.post(&format!("/api/projects/{}/archive", old.id), &json!({})).await.unwrap();

    let planned = NewProject {
        title: "Planned".to_owned(),
        description: Some("Write alpha, beta and gamma.".to_owned()),
        plan_approval: Some(PlanApproval::Ask),
        ..NewProject::default()
    };
    let planned: Project = server.post("/api/projects", &planned).await.unwrap();
    server.until(&planned.id, "the plan waits", |board| board.plan().len() == 3).await;
    let asking = asking.task.card.id;
    server
        .until(&project.id, "the question is open", |board| {
            board.cards.iter().any(|card| card.id == asking && card.attention.is_some() && card.run.is_none())
        })
        .await;
    (project.id, asking, planned.id)
}

#[tokio::test]
async fn nothing_is_clipped_and_axe_finds_no_violation_on_any_page() {
    let server = support::scripted(SCENARIO).await;
    let (project, asking, planned) = crowded(&server).await;
    let browser = signed_in(&server).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    let mut gallery = Gallery { browser: &browser, axe: axe().unwrap(), folder, faults: Vec::new() };
    let url = server.board_url();
    let board = format!("{url}/projects/{project}");

    let pages = [
        ("projects", url.clone(), ".projects li"),
        ("needs-you", format!("{url}/needs-you"), ".needs-group"),
        ("settings", format!("{url}/settings"), "main h2"),
        ("settings-access", format!("{url}/settings/access"), ".setting"),
        ("settings-limits", format!("{url}/settings/limits"), ".setting"),
        ("settings-roles", format!("{url}/settings/roles"), ".setting"),
        ("settings-prompts", format!("{url}/settings/prompts"), ".prompt"),
        ("settings-repositories", format!("{url}/settings/repositories"), ".setting"),
        ("settings-sandbox", format!("{url}/settings/sandbox"), ".setting"),
        ("settings-audit", format!("{url}/settings/audit"), ".audit-rows td"),
        ("board", board.clone(), "[data-state=question] .card-actions"),
        ("board-filtered", format!("{board}?show=needs-you"), "[data-state=question]"),
        ("board-grouped", format!("{board}?filter=write&group=plan"), ".group-heading"),
        ("all-tasks", format!("{url}/board"), "[data-task] .project"),
        ("panel", format!("{board}/tasks/TASK-001"), ".comment .prose"),
        ("panel-question", format!("{board}/tasks/{asking}"), ".question"),
        ("panel-attempts", format!("{board}/tasks/{asking}?tab=attempts"), ".log .prose"),
        ("panel-changes", format!("{board}/tasks/{asking}?tab=changes"), ".sheet-body > *"),
        ("panel-history", format!("{board}/tasks/{asking}?tab=history"), ".history li"),
        ("task", format!("{board}/tasks/{asking}/page"), ".task-page .log .prose"),
        ("team", format!("{board}/team"), "main li"),
        ("messages", format!("{board}/messages"), ".message"),
        ("context", format!("{board}/context"), ".context-thread .prose"),
        ("war-room", format!("{board}/war-room"), ".warroom:has(.claim-next):has(.knowledge .prose):has(.heat-map)"),
        ("goals", format!("{board}/goals"), ".entry"),
        ("activity", format!("{board}/activity?actor=runner"), ".activity-day li"),
        ("charts", format!("{board}/charts"), ".chart svg"),
        ("replay", format!("{board}/replay"), ".past-card"),
        ("plan", format!("{url}/projects/{planned}/plan"), ".plan li"),
        ("graph", format!("{board}/graph"), "svg path"),
        ("land", format!("{board}/land"), "main h2"),
        ("review", format!("{board}/tasks/{asking}/review"), "main"),
        ("missing", format!("{url}/projects/PROJ-099"), ".empty h2"),
    ];
    for (name, address, shown) in pages {
        browser.goto(&address).await;
        browser.has(shown).await;
        browser.until("the page is live", "!document.querySelector('.connection')?.innerText.includes('Connecting')").await;
        gallery.check(name).await;
        // A window of 1440 pixels whose page is enlarged to twice its size.
        if ["board", "panel", "all-tasks"].contains(&name) {
            gallery.check_at(&format!("{name}-zoomed"), &[(720, 450)]).await;
        }
    }
    for (name, button) in [("new-task", "New task"), ("new-project", "New project")] {
        browser.goto(&board).await;
        browser.press(button).await;
        browser.has("dialog[open]").await;
        gallery.check(name).await;
    }
    for (name, button) in [("war-room-zone", "Edit the zone"), ("war-room-trap", "Edit"), ("war-room-resolve", "Resolve")] {
        browser.goto(&format!("{board}/war-room")).await;
        browser.press(&format!("{button} {}", &WORD[..60])).await;
        browser.has("dialog[open]").await;
        gallery.check(name).await;
    }
    browser.goto(&format!("{url}/settings/access")).await;
    browser.press("Pair a phone").await;
    browser.has("dialog[open]").await;
    gallery.check("pair-no-host").await;
    browser.keys(&Key::Escape).await;
    browser.goto(&board).await;
    browser.press("New task").await;
    browser.click("#task-dependencies").await;
    browser.has(".task-picker [role=option]").await;
    gallery.check("task-picker").await;
    browser.goto(&format!("{board}?group=goal")).await;
    browser.shows(".connection", "Live").await;
    browser.has("[data-task]").await;
    browser.keys("j").await;
    browser.until("a card has the focus", "document.activeElement.closest('[data-task]')").await;
    browser.keys("x").await;
    browser.has(".selection-bar").await;
    gallery.check("selection").await;
    browser.press("Groups and saved views").await;
    browser.press("Save this view…").await;
    browser.has("dialog[open]").await;
    gallery.check("save-view").await;
    browser.goto(&board).await;
    browser.has("[data-task]").await;
    browser.keys("?").await;
    browser.has("dialog[open]").await;
    gallery.check("help").await;
    browser.keys(&Key::Escape).await;
    browser.lacks("dialog[open]").await;
    browser.keys(&format!("{}k", Key::Control)).await;
    browser.has("[role=option]").await;
    gallery.check("palette").await;

    let stranger = Browser::open().await.unwrap();
    stranger.goto(&url).await;
    stranger.shows("h1", "Sign in").await;
    let mut faults = std::mem::take(&mut gallery.faults);
    let mut gallery = Gallery { browser: &stranger, ..gallery };
    gallery.check("sign-in").await;
    stranger.goto(&format!("{url}/sign-in?code=used")).await;
    stranger.shows("h1", "This link has expired").await;
    gallery.check("expired-link").await;
    faults.append(&mut gallery.faults);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
