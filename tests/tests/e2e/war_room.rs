//! The page *War room* in two browsers: a person sets a zone, maps the code, limits the coders, asks an expert, and writes down and resolves a trap.
//! Both browsers show it at once.

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::warroom::knowledge::Knowledge;
use domain::warroom::zone::Zone;
use domain::wire::List;
use serde_json::{Value, json};
use tests::browser::Browser;
use tests::git::git;
use tests::server::TestServer;

use crate::agents::{text, token};
use crate::browser::{same_page, signed_in};
use crate::support;

/// The runner starts no agent.
const NO_AGENTS: &str = r#"{"parts": []}"#;
const ZONES: &str = "[aria-labelledby=war-room-zones]";
const MAP: &str = "[aria-labelledby=war-room-map]";
const CODE_MAP: &str = "[aria-labelledby=war-room-code-map]";
const FORMATION: &str = "[aria-labelledby=war-room-formation]";
const QUESTIONS: &str = "[aria-labelledby=war-room-questions]";
const KNOWLEDGE: &str = "[aria-labelledby=war-room-knowledge]";

/// A server with a project, and two browsers that show its war room.
async fn two_browsers() -> (TestServer, ProjectId, Browser, Browser) {
    let mut server = support::scripted(NO_AGENTS).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let ada = signed_in(&server).await;
    // A sign-in link works once. A restarted server prints a new one, and still accepts the first browser.
    assert!(server.stop().await.unwrap().success());
    server.serve().await.unwrap();
    let bob = signed_in(&server).await;
    for person in [&ada, &bob] {
        person.goto(&format!("{}/projects/{project}/war-room", server.board_url())).await;
        person.shows(".connection", "Live").await;
        person.evaluate("window.marked = true").await;
        // Requests fail while the server restarts.
        person.console_errors().await;
    }
    (server, project, ada, bob)
}

#[tokio::test]
async fn person_sets_edits_and_removes_a_zone() {
    let (server, project, ada, bob) = two_browsers().await;
    ada.shows(ZONES, "No zones yet").await;
    ada.press("Set a zone").await;
    ada.has("dialog button[type=submit]:disabled").await;
    ada.fill("#zone-name", "audio").await;
    ada.fill("#zone-paths", "src/audio/\nassets/*.ogg").await;
    ada.click("#zone-owner option[value=human]").await;
    ada.press("Set the zone").await;
    for person in [&ada, &bob] {
        person.shows(ZONES, "src/audio/").await;
        person.shows(ZONES, "Owner: you. Expert: nobody.").await;
        person.has(".sections a[href$='/war-room']").await;
        person.shows(&format!("{MAP} th"), "audio").await;
        person.shows(MAP, "2 files are in no zone: files in no folder.").await;
    }
    ada.has(&format!("{MAP} svg rect[data-heat='0']")).await;
    let zones = format!("/api/projects/{project}/zones");
    let stored: List<Zone> = server.get(&zones).await.unwrap();
    assert_eq!((stored.items.len(), stored.items[0].owner.as_deref()), (1, Some("human")));

    // A path of the whole repository is refused, and what was typed stays.
    ada.press("Edit the zone audio").await;
    ada.lacks("#zone-name").await;
    ada.fill("#zone-paths", "**").await;
    ada.press("Set the zone").await;
    ada.shows(".toast", "whole repository").await;
    ada.fill("#zone-paths", "src/audio/").await;
    ada.press("Set the zone").await;
    ada.lacks("dialog").await;
    bob.until("one path is left", &format!("!document.querySelector({ZONES:?}).innerText.includes('ogg')")).await;

    bob.press("Edit the zone audio").await;
    bob.press("Remove the zone").await;
    for person in [&ada, &bob] {
        person.shows(ZONES, "No zones yet").await;
    }
    bob.press("Undo").await;
    ada.shows(ZONES, "src/audio/").await;
    same_page(&ada, &["/zones"]).await;
    same_page(&bob, &[]).await;
}

#[tokio::test]
async fn person_sets_the_zones_that_codeowners_proposes() {
    let (server, _project, ada, bob) = two_browsers().await;
    ada.press("Propose zones").await;
    ada.shows("dialog .notice", "has no file CODEOWNERS.").await;
    ada.has("dialog button[type=submit]:disabled").await;
    ada.press("Back").await;
    let repository = server.repository();
    std::fs::write(repository.join("CODEOWNERS"), "docs/ @human\nassets/ @ada\n").unwrap();
    git(&repository, &["add", "CODEOWNERS"]).unwrap();
    git(&repository, &["commit", "--quiet", "--message", "Name owners"]).unwrap();
    ada.press("Propose zones").await;
    ada.shows("dialog", "From CODEOWNERS.").await;
    ada.shows(".proposals", "assets").await;
    ada.click(".proposals li:nth-child(2) input").await;
    ada.press("Set these zones").await;
    for person in [&ada, &bob] {
        person.shows(ZONES, "docs/").await;
        person.until("the other is not set", &format!("!document.querySelector({ZONES:?}).innerText.includes('assets')")).await;
    }
    same_page(&ada, &["/zones/proposals"]).await;
}

#[tokio::test]
async fn person_maps_the_code_and_sets_zones_from_the_map() {
    let (server, _project, ada, bob) = two_browsers().await;
    ada.shows(CODE_MAP, "No map yet").await;
    let repository = server.repository();
    std::fs::create_dir(repository.join("src")).unwrap();
    std::fs::write(repository.join("src/lib.rs"), "pub fn run() {}\n".repeat(300)).unwrap();
    git(&repository, &["add", "src"]).unwrap();
    git(&repository, &["commit", "--quiet", "--message", "Add code"]).unwrap();
    ada.press("Map the code").await;
    ada.shows(CODE_MAP, "300 lines of code in 1 file and 1 folder.").await;
    ada.shows(&format!("{CODE_MAP} th"), "Rust").await;
    ada.press("Map the code").await;
    ada.shows(".toast", "No file has changed since the last map.").await;
    ada.press("Propose zones from the code map").await;
    ada.shows(".proposals", "src").await;
    ada.press("Set these zones").await;
    for person in [&ada, &bob] {
        person.shows(ZONES, "src/").await;
        person.shows(CODE_MAP, "300 lines of code").await;
    }
    same_page(&ada, &[]).await;
}

#[tokio::test]
async fn person_limits_the_coders_to_those_of_the_formation() {
    let (server, project, ada, bob) = two_browsers().await;
    ada.shows(FORMATION, "Small repository: ").await;
    ada.shows(FORMATION, "Now: no limit of its own.").await;
    ada.press("Use 1 coder at most").await;
    ada.shows("dialog", "The runner starts no coder of this project while 1 is at work.").await;
    ada.click("dialog button[type=submit]").await;
    for person in [&ada, &bob] {
        person.shows(FORMATION, "Now: 1 coder at most.").await;
    }
    let most = async || server.get::<Project>(&format!("/api/projects/{project}")).await.unwrap().max_coders;
    assert_eq!(most().await, Some(1));
    bob.press("Use 1 coder at most").await;
    bob.press("Remove the limit").await;
    ada.shows(FORMATION, "Now: no limit of its own.").await;
    assert_eq!(most().await, None);
    same_page(&ada, &[]).await;
}

#[tokio::test]
async fn person_asks_the_expert_of_a_zone_and_reads_the_answer() {
    let (server, project, ada, bob) = two_browsers().await;
    let mara = token(&server, &project, "mara", &["builder"]).await;
    text(&server, &mara, "who", json!({})).await;
    ada.shows(QUESTIONS, "No questions yet").await;
    ada.press("Ask a question").await;
    ada.shows("dialog .notice", "No zone has an expert you can ask.").await;
    ada.press("Back").await;
    ada.press("Set a zone").await;
    ada.fill("#zone-name", "audio").await;
    ada.fill("#zone-paths", "src/audio/").await;
    ada.click("#zone-expert option[value=mara]").await;
    ada.press("Set the zone").await;
    ada.shows(ZONES, "Expert: mara.").await;
    ada.press("Ask a question").await;
    ada.click("dialog input[type=checkbox]:not(details input)").await;
    ada.fill("#dialog-text", "Who frees the buffer?").await;
    ada.press("Ask").await;
    for person in [&ada, &bob] {
        person.shows(QUESTIONS, "1 waits for its answer").await;
        person.shows(QUESTIONS, "you asked mara").await;
    }
    let said: Vec<Value> = serde_json::from_str(&text(&server, &mara, "check_inbox", json!({})).await).unwrap();
    let answer = json!({"to_agent": "human", "message": "The **mixer**.", "reply_to": said[0]["id"]});
    text(&server, &mara, "send", answer).await;
    for person in [&ada, &bob] {
        person.shows(&format!("{QUESTIONS} .prose strong"), "mixer").await;
        person.shows(QUESTIONS, "1 question, 1 answered").await;
    }
    same_page(&ada, &[]).await;
}

#[tokio::test]
async fn person_writes_down_a_trap_and_resolves_it() {
    let (server, project, ada, bob) = two_browsers().await;
    ada.shows(KNOWLEDGE, "Nothing written down yet").await;
    ada.press("Write down").await;
    ada.fill("#knowledge-topic", "two-clocks").await;
    ada.fill("#knowledge-body", "The **server's** clock is not that of the tests.").await;
    ada.fill("#knowledge-evidence", "I saw it.").await;
    ada.fill("#knowledge-paths", "src/clock/").await;
    ada.press("Write it down").await;
    ada.shows(".toast", "evidence").await;
    ada.fill("#knowledge-evidence", "src/clock/mod.rs:12").await;
    ada.press("Write it down").await;
    for person in [&ada, &bob] {
        person.shows(KNOWLEDGE, "two-clocks").await;
        person.shows(KNOWLEDGE, "src/clock/").await;
        person.shows(&format!("{KNOWLEDGE} .prose strong"), "server's").await;
    }
    bob.click(&format!("{KNOWLEDGE} summary")).await;
    bob.shows(".evidence", "src/clock/mod.rs:12").await;

    bob.press("Resolve two-clocks").await;
    bob.fill("#closing-reason", "Both read the same clock now.").await;
    bob.fill("#closing-evidence", "$ grep -c now src/clock/mod.rs\n1").await;
    bob.press("Resolve").await;
    for person in [&ada, &bob] {
        person.shows(KNOWLEDGE, "Nothing written down yet").await;
    }
    ada.click(&format!("{KNOWLEDGE} option[value=closed]")).await;
    ada.shows(KNOWLEDGE, "You resolved it").await;
    ada.shows(".evidence", "Both read the same clock now.").await;
    let closed: List<Knowledge> = server.get(&format!("/api/projects/{project}/knowledge?state=closed")).await.unwrap();
    assert_eq!(closed.items[0].closed_by.as_deref(), Some("human"));
    same_page(&ada, &["/knowledge"]).await;
    same_page(&bob, &[]).await;
}

#[tokio::test]
async fn browser_can_have_the_words_of_a_raid() {
    let (server, project, ada, bob) = two_browsers().await;
    let url = server.board_url();
    for title in ["Agents", "Plan", "Log", "Knowledge"] {
        ada.shows(".warroom h2", title).await;
    }
    ada.goto(&format!("{url}/settings")).await;
    ada.click("input[name=words]:not(:checked)").await;
    for browser in [&ada, &bob] {
        browser.goto(&format!("{url}/projects/{project}/war-room")).await;
    }
    for title in ["Party", "Battle plan", "Raid log", "Loot"] {
        ada.shows(".warroom h2", title).await;
    }
    bob.shows(".warroom h2", "Agents").await;
}
