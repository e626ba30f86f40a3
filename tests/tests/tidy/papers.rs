//! The papers say what is so: paths exist, keys are listed, the example is the default. It must not judge their words.

use std::collections::BTreeSet;
use std::path::Path;

use domain::config::table::TABLE;
use domain::config::webhook_keys::WEBHOOK_KEYS;

use crate::source::{files, none, read, root};

const PAPERS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The text between backticks on one line.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The top of the repository: folders and files.
fn top() -> BTreeSet<String> {
    files().iter().map(|file| file.path.split('/').next().unwrap().to_owned()).collect()
}

#[test]
fn every_path_that_a_paper_quotes_exists() {
    let top = top();
    let is_path = |word: &&str| word.contains('/') && !word.contains([' ', '{', '<', '…']) && top.contains(word.split('/').next().unwrap());
    let mut found = Vec::new();
    for paper in PAPERS {
        let text = read(paper);
        found.extend(quoted(&text).filter(is_path).filter(|path| !root().join(path).exists()).map(|path| format!("{paper}: {path}")));
    }
    none("a quoted path exists", found);
}

#[test]
fn the_map_names_every_folder_and_fits_a_page() {
    let map = read("ARCHITECTURE.md");
    assert!(map.lines().count() <= 150, "ARCHITECTURE.md has {} lines, more than a page", map.lines().count());
    let folders = top().into_iter().filter(|name| root().join(name).is_dir() && !name.starts_with('.'));
    none("ARCHITECTURE.md names every folder", folders.filter(|name| !map.contains(&format!("`{name}/`"))).collect());
    let crates = files().into_iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml").map(str::to_owned));
    none("ARCHITECTURE.md names every crate", crates.filter(|name| !map.contains(&format!("`{name}/`"))).collect());
}

#[test]
fn links_between_papers_lead_somewhere() {
    let mut found = Vec::new();
    for file in files().into_iter().filter(|file| file.path.ends_with(".md") && !file.path.contains("/src/")) {
        let folder = Path::new(&file.path).parent().unwrap().to_owned();
        let targets = file.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let local = targets.filter(|target| !target.contains("://") && !target.starts_with('#')).map(|target| target.split('#').next().unwrap());
        // Pictures are not text, so their paths are checked.
        found.extend(local.filter(|target| !root().join(&folder).join(target).exists()).map(|target| format!("{}: {target}", file.path)));
    }
    none("a link leads somewhere", found);
}

#[test]
fn doctor_knows_the_version_that_the_tests_drive() {
    let version = format!("TESTED_VERSION: [u32; 3] = [{}];", tests::claude::VERSION.replace('.', ", "));
    assert!(read("runner/src/backend/claude/probe.rs").contains(&version), "{version}");
}

/// The page of settings.
const SETTINGS: &str = "docs/configuration.md";

/// The heads of the tables of settings.
const MEANINGS: &str = "| key | default | meaning |\n|---|---|---|\n";
const LIMITS: &str = "| key | type | unit | allowed |\n|---|---|---|---|\n";
const WEBHOOKS: &str = "| key | type | allowed | default | meaning |\n|---|---|---|---|---|\n";

/// The rows of a table of settings.
fn rows_of_settings<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
    let table = page.split(head).nth(1).unwrap_or_default();
    table.lines().take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_reference_repeats_the_tables_of_settings() {
    let meanings: Vec<String> = TABLE.iter().map(|row| row.to_markdown()).collect();
    let limits: Vec<String> = TABLE.iter().map(|row| row.limits_to_markdown()).collect();
    let webhooks: Vec<String> = WEBHOOK_KEYS.iter().map(|key| key.to_markdown()).collect();
    let mut page = read(SETTINGS);
    for (head, expected) in [(MEANINGS, meanings), (LIMITS, limits), (WEBHOOKS, webhooks)] {
        if std::env::var_os("UPDATE_DOCS").is_some() {
            page = page.replace(&rows_of_settings(&page, head).join("\n"), &expected.join("\n"));
            std::fs::write(root().join(SETTINGS), &page).unwrap();
        }
        assert_eq!(rows_of_settings(&page, head), expected, "{SETTINGS} is old: run `UPDATE_DOCS=1 cargo test -p tests --test tidy`");
    }
}
