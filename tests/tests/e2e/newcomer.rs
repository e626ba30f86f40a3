//! The path of a newcomer in a real browser: a project on a repository of thousands of files, its plan, a review with comments on lines, a
//! question, the landing. Once with the pointer, which leaves pictures in `target/screenshots`, and once with the keyboard alone.

use std::path::{Path, PathBuf};

use domain::id::TaskId;
use fantoccini::key::Key;
use serde_json::json;
use tests::browser::Browser;
use tests::git::git;
use tests::server::TestServer;

use crate::browser::{same_page, signed_in};
use crate::support;

const SCENARIO: &str = include_str!("../../scenarios/newcomer.json");

const GREET: &str = "//! Greets people.\n\npub fn greet(name: &str) -> String {\n    format!(\"Hello, {name}!\")\n}\n";
const GOAL: &str = "People choose the language in which the program greets them: English or German.";
/// More files than anyone reads, as in a real repository.
const OTHER_FILES: usize = 3_000;

/// The longest way by Tab from one control of a page to another.
const MAX_TABS: usize = 150;

/// How the newcomer uses the browser.
enum Input {
    Pointer { pictures: PathBuf },
    Keyboard,
}

struct Newcomer<'a> {
    browser: &'a Browser,
    input: Input,
    taken: usize,
}

impl Newcomer<'_> {
    /// Presses the button or link with this name.
    async fn press(&self, name: &str) {
        match self.input {
            Input::Pointer { .. } => self.browser.press(name).await,
            Input::Keyboard => {
                self.reach(name).await;
                self.browser.keys(&Key::Enter).await;
            }
        }
    }

    /// Types into the field with this label.
    async fn write(&self, label: &str, text: &str) {
        match self.input {
            Input::Pointer { .. } => {
                let field = format!("[...document.querySelectorAll('input, textarea')].find((one) => ({NAME})(one).startsWith({}))", json!(label));
                self.browser.until(&format!("the field {label:?} has the focus"), &format!("({field})?.focus() ?? {field}")).await;
            }
            Input::Keyboard => self.reach(label).await,
        }
        self.browser.keys(&format!("{}a{}{text}", Key::Control, Key::Null)).await;
    }

    /// Sets the checkbox whose label starts so.
    async fn tick(&self, label: &str) {
        match self.input {
            Input::Pointer { .. } => self.browser.click("dialog input[type=checkbox]:not(details input)").await,
            Input::Keyboard => {
                self.reach(label).await;
                self.browser.keys(" ").await;
            }
        }
        self.browser.has("dialog input[type=checkbox]:not(details input):checked").await;
    }

    /// Comments on a line of the review.
    async fn comment(&self, line: &str, text: &str) {
        match self.input {
            Input::Pointer { .. } => self.browser.click(&format!("[data-line='{line}']")).await,
            Input::Keyboard => {
                let on_line = format!("document.activeElement.dataset.line === '{line}'");
                for _ in 0..MAX_TABS {
                    if self.browser.evaluate(&on_line).await == true {
                        break;
                    }
                    self.browser.keys(&Key::Down).await;
                }
                self.browser.until(&format!("the focus is on {line}"), &on_line).await;
                self.browser.keys("c").await;
            }
        }
        self.browser.until("the comment has the focus", "document.activeElement.matches('.line-note.editing textarea')").await;
        self.browser.keys(&format!("{text}{}{}{}", Key::Control, Key::Enter, Key::Null)).await;
        self.browser.lacks(".line-note.editing").await;
    }

    /// Moves the focus by Tab to the control with this name.
    async fn reach(&self, name: &str) {
        let has_focus = format!("({NAME})(document.activeElement).startsWith({})", json!(name));
        let exists = format!(
            "[...document.querySelectorAll('a, button, input, textarea, [tabindex]')].some((one) => ({NAME})(one).startsWith({}))",
            json!(name)
        );
        self.browser.until(&format!("{name:?} exists"), &exists).await;
        let mut passed = Vec::new();
        for _ in 0..MAX_TABS {
            if self.browser.evaluate(&has_focus).await == true {
                return;
            }
            passed.push(self.browser.evaluate(&format!("({NAME})(document.activeElement)")).await);
            self.browser.keys(&Key::Tab).await;
        }
        panic!("Tab does not reach {name:?}: {passed:?}");
    }

    /// Takes a picture of the page.
    async fn picture(&mut self, name: &str) {
        if let Input::Pointer { pictures } = &self.input {
            self.taken += 1;
            for theme in ["dark", "light"] {
                self.browser.prefer_color_scheme(theme).await;
                let picture = pictures.join(format!("newcomer-{:02}-{name}-{theme}.png", self.taken));
                std::fs::write(picture, self.browser.screenshot().await).unwrap();
            }
        }
    }
}

/// The name of a control, as a person reads it.
const NAME: &str = "(one) => (one.getAttribute('aria-label') || one.labels?.[0]?.innerText || one.innerText || '').trim()";

/// The server of a person who has a repository, and agents that play the scenario.
async fn server_of_newcomer() -> TestServer {
    let server = support::scripted(SCENARIO).await;
    let repository = server.repository();
    let others = repository.join("data");
    std::fs::create_dir_all(repository.join("src")).unwrap();
    std::fs::create_dir_all(&others).unwrap();
    std::fs::write(repository.join("src/greet.rs"), GREET).unwrap();
    for number in 0..OTHER_FILES {
        std::fs::write(others.join(format!("{number:04}.txt")), format!("{number}\n")).unwrap();
    }
    git(&repository, &["add", "-A"]).unwrap();
    git(&repository, &["commit", "-q", "-m", "Greet people"]).unwrap();
    server
}

/// From an empty list of projects to the landed work, without a reload.
async fn walk(server: &TestServer, newcomer: &mut Newcomer<'_>) {
    let browser = newcomer.browser;
    let repository = server.repository();
    let tip = |branch: &str| git(&repository, &["rev-parse", "--short=7", branch]).unwrap();
    newcomer.picture("empty").await;

    newcomer.press("New project").await;
    newcomer.write("Title", "Greet in German").await;
    newcomer.write("Repository", repository.to_str().unwrap()).await;
    browser.shows("#project-found", &format!("Agents start from main @ {}", tip("main"))).await;
    newcomer.write("Goal", GOAL).await;
    newcomer.tick("Approve the plan before it starts").await;
    newcomer.picture("create").await;
    newcomer.press("Create").await;

    browser.shows(".banner", "2 tasks. Nothing starts until you approve it.").await;
    newcomer.press("Review the plan").await;
    browser.shows(".plan", "an unknown language is an error").await;
    newcomer.picture("plan").await;
    newcomer.press("Start 2 tasks").await;

    browser.has("[data-task=TASK-002][data-live]").await;
    newcomer.picture("watch").await;
    browser.has("[data-status=in_review] [data-task=TASK-002]").await;
    newcomer.press("Greet in the chosen language").await;
    newcomer.press("Review changes").await;
    browser.shows(".code-lines", "panic!()").await;
    let branch = server.task(&TaskId::new(2)).await.unwrap().task.branch.unwrap();
    let first = tip(&branch);
    newcomer.comment("New 3 src/language.rs", "Take &str.").await;
    newcomer.comment("New 5 src/language.rs", "Name the languages.").await;
    newcomer.picture("review").await;
    newcomer.press("Send back with 2 comments").await;
    newcomer.write("General comment", "Nearly there.").await;
    newcomer.picture("send-back").await;
    newcomer.press("Send back").await;

    // The coder's part of the scenario needs both comments, each with its line.
    browser.shows(".sheet", "the error names the supported languages").await;
    browser.has("[data-status=in_review] [data-task=TASK-002]").await;
    newcomer.picture("sent-back").await;
    newcomer.press("Review changes").await;
    browser.shows(".code-lines", "use en or de").await;
    let second = tip(&branch);
    assert_ne!(first, second);
    newcomer.picture("second-review").await;
    newcomer.press(&format!("Approve {second}")).await;
    browser.has("[data-status=done] [data-task=TASK-002]").await;

    browser.has("[data-task=TASK-003][data-state=question]").await;
    match newcomer.input {
        Input::Pointer { .. } => newcomer.press("Needs you").await,
        Input::Keyboard => {
            browser.keys("g").await;
            browser.keys("i").await;
        }
    }
    browser.shows(".needs-group", "Which language should the program use").await;
    newcomer.picture("question").await;
    newcomer.press("English (suggested)").await;
    browser.shows(".needs-group", "Ready to land on main").await;
    newcomer.picture("ready").await;
    newcomer.press("Review and land").await;

    browser.shows(".land-checks", "Every task was reviewed").await;
    newcomer.picture("land").await;
    newcomer.press("Land on main").await;
    browser.shows(".landed", &format!("Landed on main at {}", tip("vibe-relay/PROJ-001"))).await;
    newcomer.picture("landed").await;
    newcomer.press("Back to the board").await;
    browser.shows("[data-status=done] .count", "4").await;
    newcomer.picture("board").await;
    let written = std::fs::read_to_string(repository.join("src/language.rs")).unwrap();
    assert!(written.contains("use en or de"), "{written}");
    assert_eq!(server.task(&TaskId::new(3)).await.unwrap().task.card.runs, 3, "a question, its answer, a review");
}

#[tokio::test]
async fn newcomer_lands_work_without_a_reload_or_a_terminal() {
    let server = server_of_newcomer().await;
    let browser = signed_in(&server).await;
    browser.evaluate("window.marked = true").await;
    browser.resize(1440, 900).await;
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
    std::fs::create_dir_all(&pictures).unwrap();
    walk(&server, &mut Newcomer { browser: &browser, input: Input::Pointer { pictures }, taken: 0 }).await;
    same_page(&browser, &["/api/repository"]).await;
}

#[tokio::test]
async fn newcomer_lands_work_with_the_keyboard_alone() {
    let server = server_of_newcomer().await;
    let browser = signed_in(&server).await;
    browser.evaluate("window.marked = true").await;
    walk(&server, &mut Newcomer { browser: &browser, input: Input::Keyboard, taken: 0 }).await;
    same_page(&browser, &["/api/repository"]).await;
}
