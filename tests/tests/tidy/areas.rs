//! The areas: the same few folders in every crate, and the same path for the same noun. It must not know what a noun does.

use std::collections::{BTreeMap, BTreeSet};

use crate::generated::check;
use crate::source::{none, read, rust};

const AREAS: [&str; 5] = ["board", "context", "runs", "team", "warroom"];

/// Where the areas of a crate are.
const CRATES: &[(&str, &[&str])] = &[
    ("domain", &["domain/src"]),
    ("db", &["db/src"]),
    ("api", &["api/src/routes"]),
    ("mcp", &["mcp/src/tools"]),
    ("runner", &["runner/src"]),
    ("ui", &["ui/src/components", "ui/src/pages", "ui/src/client"]),
    ("cli", &["cli/src"]),
];

/// Nouns of an area, with the files that hold them by crate.
type Nouns = BTreeMap<(String, String), BTreeMap<&'static str, String>>;

/// A file belongs to the noun that it is named after: `board/task.rs` and `board/task/create.rs` to `task`.
fn nouns() -> Nouns {
    let mut found = Nouns::new();
    for file in rust() {
        for (name, folders) in CRATES {
            let Some(rest) = folders.iter().find_map(|folder| file.path.strip_prefix(&format!("{folder}/"))) else { continue };
            let mut parts = rest.trim_end_matches(".rs").split('/');
            let (Some(area), Some(noun)) = (parts.next(), parts.next()) else { continue };
            if AREAS.contains(&area) {
                found.entry((area.to_owned(), noun.to_owned())).or_default().entry(name).or_insert(file.path.clone());
            }
        }
    }
    found
}

/// The first sentence of a file.
fn purpose(path: &str) -> String {
    let text = read(path);
    let first = text.lines().next().unwrap_or_default().trim_start_matches("//! ");
    first.split_inclusive(". ").next().unwrap_or_default().trim().to_owned()
}

#[test]
fn nouns_are_in_one_area() {
    let mut areas: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (area, noun) in nouns().into_keys() {
        areas.entry(noun).or_default().insert(area);
    }
    let scattered = areas.into_iter().filter(|(_, areas)| areas.len() > 1);
    none("a noun belongs to one area", scattered.map(|(noun, areas)| format!("{noun}: {areas:?}")).collect());
}

#[test]
fn page_of_areas_is_current() {
    let nouns = nouns();
    assert!(nouns.len() > 30, "the areas were not found");
    let crates: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    let mut page = format!(
        "# Areas\n\nEvery crate has the same areas as folders, and a noun has the same path in each: `git ls-files | grep board/task` lists a task's \
         type, storage, routes, tools and components. Code that is not about a noun stays outside the areas. `repo` has none, because all its nouns are git's.\n\n\
         | noun | purpose | {} |\n|---|---|{}\n",
        crates.join(" | "),
        "---|".repeat(crates.len())
    );
    for ((area, noun), files) in &nouns {
        let first = crates.iter().find_map(|name| files.get(name)).unwrap();
        let marks: Vec<&str> = crates.iter().map(|name| if files.contains_key(name) { "yes" } else { "" }).collect();
        page += &format!("| `{area}/{noun}` | {} | {} |\n", purpose(first), marks.join(" | "));
    }
    check("docs/areas.md", &page);
}
