//! The papers say what is so: paths exist, keys are listed, the example is the default. It must not judge their words.

use std::collections::BTreeSet;
use std::path::Path;

use domain::config::Config;
use serde_json::Value;

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
        // The screenshot is not text, so its path is checked.
        found.extend(local.filter(|target| !root().join(&folder).join(target).exists()).map(|target| format!("{}: {target}", file.path)));
    }
    none("a link leads somewhere", found);
}

/// Every key of a configuration, with dots.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let Value::Object(object) = value else { return };
    for (key, below) in object {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if below.as_object().is_none_or(serde_json::Map::is_empty) {
            found.insert(path.clone());
        }
        keys(below, &path, found);
    }
}

#[test]
fn the_readme_lists_every_key_of_the_configuration() {
    let readme = read("README.md");
    let mut known = BTreeSet::new();
    keys(&serde_json::to_value(Config::default()).unwrap(), "", &mut known);
    // The four phases have the same keys.
    let phases = ["planner", "coder", "reviewer", "orchestrator"];
    let general = |key: String| phases.iter().fold(key, |key, phase| key.replace(&format!("agents.{phase}."), "agents.PHASE."));
    let known: BTreeSet<String> = known.into_iter().map(general).collect();
    assert!(known.contains("agents.PHASE.model"), "{known:?}");
    none("README.md lists every key", known.into_iter().filter(|key| !readme.contains(&format!("| `{key}` |"))).collect());
}
