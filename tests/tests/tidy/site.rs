//! The site that `mdbook build docs` makes from `docs/`: its table of contents names every page, its links stay inside, and the links of all
//! papers lead to headings that exist. It must not know how pages look; `tests/book` builds them.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::generated::check;
use crate::source::{Source, files, none, read, root};

const SUMMARY: &str = "docs/SUMMARY.md";
/// The line of the table of contents below which the decisions are.
const DECISIONS: &str = "- [Decisions](decisions.md)\n";

/// Every Markdown file for people.
fn papers() -> Vec<Source> {
    files().into_iter().filter(|file| file.path.ends_with(".md") && !file.path.contains("/src/")).collect()
}

/// The pages of the site, from `docs/`.
fn pages() -> Vec<Source> {
    papers().into_iter().filter(|paper| paper.path.starts_with("docs/") && paper.path != SUMMARY).collect()
}

/// The text without its blocks of code.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The targets of the links of a text that lead into the repository.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// The anchors of the headings of a text, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

fn anchor(title: &str) -> String {
    let letters = title.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-' | ' '));
    letters.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

/// The path from the root that `target` names in the file `from`.
fn resolve(from: &str, target: &str) -> PathBuf {
    let mut path = Path::new(from).parent().unwrap().to_owned();
    for part in Path::new(target).components() {
        if part == Component::ParentDir {
            path.pop();
        } else {
            path.push(part);
        }
    }
    path
}

#[test]
fn links_lead_to_headings_that_exist() {
    let papers = papers();
    let mut found = Vec::new();
    for paper in &papers {
        for link in links(&paper.text) {
            let Some((target, heading)) = link.split_once('#') else { continue };
            let path = if target.is_empty() { PathBuf::from(&paper.path) } else { resolve(&paper.path, target) };
            let page = papers.iter().find(|page| Path::new(&page.path) == path);
            let exists = page.is_some_and(|page| anchors(&page.text).contains(heading));
            if !exists {
                found.push(format!("{}: {link}", paper.path));
            }
        }
    }
    none("a link leads to a heading", found);
}

#[test]
fn pages_of_the_site_link_only_to_each_other() {
    let outside = |page: &Source| {
        let links = links(&page.text).into_iter().filter(|link| !resolve(&page.path, link).starts_with("docs"));
        links.map(|link| format!("{}: {link}", page.path)).collect::<Vec<_>>()
    };
    none("a page of the site links to the site, or to a whole address", pages().iter().flat_map(outside).collect());
}

#[test]
fn the_table_of_contents_names_every_page_once() {
    let named = links(&read(SUMMARY));
    let once: BTreeSet<String> = named.iter().cloned().collect();
    assert_eq!(named.len(), once.len(), "{SUMMARY} names a page twice");
    let pages: BTreeSet<String> = pages().into_iter().filter_map(|page| page.path.strip_prefix("docs/").map(str::to_owned)).collect();
    let missing = pages.difference(&once).map(|page| format!("{page} is not named"));
    let unknown = once.difference(&pages).map(|page| format!("{page} does not exist"));
    none("docs/SUMMARY.md names every page", missing.chain(unknown).collect());
}

/// The number, the title and the page of each decision, in order.
fn decisions() -> Vec<(String, String, String)> {
    let pages = pages().into_iter().filter_map(|page| Some((page.path.strip_prefix("docs/")?.to_owned(), page.text)));
    let decisions = pages.filter(|(path, _)| path.starts_with("decisions/")).map(|(path, text)| {
        let title = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap();
        let (number, title) = title.split_once(": ").unwrap();
        (number.to_owned(), title.to_owned(), path)
    });
    decisions.collect()
}

#[test]
fn the_page_of_decisions_is_fresh() {
    let rows: String = decisions().into_iter().map(|(number, title, path)| format!("| {number} | [{title}]({path}) |\n")).collect();
    let page = "# Decisions\n\nOne page for each decision that others will question: what was decided, why, what was considered instead, what \
        it costs, and when to look at it again. They are in the order in which they were made.\n\n| | |\n|---|---|\n";
    check("docs/decisions.md", &format!("{page}{rows}"));
}

#[test]
fn the_table_of_contents_lists_the_decisions() {
    let lines: String = decisions().into_iter().map(|(number, title, path)| format!("  - [{number}: {title}]({path})\n")).collect();
    let summary = read(SUMMARY);
    let (above, _) = summary.split_once(DECISIONS).unwrap();
    let fresh = format!("{above}{DECISIONS}{lines}");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join(SUMMARY), &fresh).unwrap();
    }
    assert_eq!(read(SUMMARY), fresh, "{SUMMARY} is old: run `UPDATE_DOCS=1 cargo test -p tests --test tidy`");
}

#[test]
fn links_and_anchors_are_read_outside_of_code() {
    let text = "# The `first` one, twice\n\n[a](b.md#c) and [d](#e) and [f](https://g)\n\n```md\n# No heading\n[h](i.md)\n```\n";
    assert_eq!(links(text), ["b.md#c", "#e"]);
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["the-first-one-twice"]);
    assert_eq!(resolve("docs/decisions/0001.md", "../war-room.md"), Path::new("docs/war-room.md"));
    assert_eq!(resolve("README.md", "docs/faq.md"), Path::new("docs/faq.md"));
}
