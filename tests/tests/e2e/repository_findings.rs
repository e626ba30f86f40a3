//! The dialog of a new project names what is unusual about a repository, and offers where the project begins. Leaves pictures in
//! `target/screenshots`.

use std::path::Path;

use tests::git::git;

use crate::browser::signed_in;
use crate::support;

const ONE_FILE: &str = include_str!("../../scenarios/one_file.json");

#[tokio::test]
async fn dialog_names_findings_and_offers_where_to_begin() {
    let server = support::scripted(ONE_FILE).await;
    let repository = server.repository();
    let run = |arguments: &[&str]| git(&repository, arguments).unwrap();
    let start = run(&["rev-parse", "main"]);
    run(&["commit", "-q", "--allow-empty", "-m", "newer"]);
    run(&["update-ref", "refs/remotes/origin/main", "main"]);
    run(&["update-ref", "refs/remotes/origin/next", "main"]);
    run(&["reset", "-q", "--hard", &start]);
    for (name, value) in [
        ("remote.origin.url", "."),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("branch.main.remote", "origin"),
        ("branch.main.merge", "refs/heads/main"),
        ("commit.gpgsign", "true"),
    ] {
        run(&["config", name, value]);
    }
    std::fs::write(repository.join("notes.txt"), "not committed\n").unwrap();

    let browser = signed_in(&server).await;
    browser.press("New project").await;
    browser.fill("#project-title", "Letters").await;
    browser.fill("#project-path", repository.to_str().unwrap()).await;
    browser.shows("[data-finding=behind-upstream]", "lacks 1 commit of origin/main").await;
    browser.shows("[data-finding=signed-commits]", "Agents in a jail commit without a signature").await;
    browser.shows("#project-branch", "origin/next (makes a local branch)").await;
    browser.shows("[aria-label='Starting point']", "At the upstream").await;
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
    std::fs::create_dir_all(&pictures).unwrap();
    browser.resize(1440, 900).await;
    for theme in ["dark", "light"] {
        browser.prefer_color_scheme(theme).await;
        browser.run("document.querySelector('[data-finding]').scrollIntoView({block: 'start'})").await;
        std::fs::write(pictures.join(format!("repository-findings-{theme}.png")), browser.screenshot().await).unwrap();
    }
}
