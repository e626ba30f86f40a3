//! Which crate may depend on which, and which library belongs to which crate. It is enough to read the manifests, because a crate can use
//! only what its manifest names.

use crate::source::{none, read};

/// The members of the workspace, each with the members that it may depend on.
const CRATES: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("db", &["domain"]),
    ("repo", &["domain"]),
    ("api", &["domain", "db", "repo"]),
    ("mcp", &["domain", "db", "repo"]),
    ("runner", &["domain", "db", "repo"]),
    ("ui", &["domain"]),
    ("ui/embed", &["api", "toolchain"]),
    ("ui/toolchain", &[]),
    ("cli", &["domain", "db", "repo", "api", "mcp", "runner", "embed"]),
    // `api` for the check of responses against the OpenAPI document.
    ("tests", &["domain", "db", "repo", "api", "cli"]),
];

/// Libraries that only these crates may know.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("ammonia", &["api"]),
    ("axum", &["api", "mcp", "cli", "tests"]),
    ("axum-extra", &["api"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("fantoccini", &["tests"]),
    ("git2", &["repo"]),
    ("jsonschema", &["api"]),
    ("leptos", &["ui"]),
    ("linkify", &["api"]),
    // `api` raises the limit of open files; a benchmark of `db` reads the time of its process.
    ("nix", &["api", "db", "repo", "runner", "tests"]),
    ("notify", &["cli"]),
    ("portpicker", &["runner"]),
    ("pulldown-cmark", &["api"]),
    ("rmcp", &["mcp", "tests"]),
    ("schemars", &["mcp"]),
    // The tests forge a database of a newer version.
    ("sqlx", &["db", "tests"]),
    ("utoipa-axum", &["api"]),
    ("wasm-bindgen-cli-support", &["ui/embed"]),
    ("web-sys", &["ui"]),
];

/// Pure crates stay pure: they cannot wait, query the system, or use random numbers.
const PURE: &[&str] = &["axum", "git2", "leptos", "nix", "rand", "reqwest", "sqlx", "tokio", "uuid"];

/// The names in the sections of a manifest whose header ends with `dependencies`.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            inside = header.ends_with("dependencies");
            // `[dependencies.web-sys]`
            names.extend(header.split_once("dependencies.").map(|(_, name)| name.to_owned()));
        } else if inside && !line.starts_with('#') {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            names.extend(Some(name.to_owned()).filter(|name| !name.is_empty()));
        }
    }
    names
}

fn manifest(folder: &str) -> Vec<String> {
    dependencies(&read(&format!("{folder}/Cargo.toml")))
}

#[test]
fn crates_depend_only_on_listed_crates() {
    let members = read("Cargo.toml").lines().find(|line| line.starts_with("members")).unwrap().to_owned();
    let listed: Vec<&str> = members.split('"').skip(1).step_by(2).collect();
    let known: Vec<&str> = CRATES.iter().map(|(folder, _)| *folder).collect();
    assert!(listed.iter().all(|folder| known.contains(folder)) && listed.len() == known.len(), "{listed:?} are the members, {known:?} the list");

    let crates: Vec<&str> = known.iter().map(|folder| folder.rsplit('/').next().unwrap()).collect();
    let mut found = Vec::new();
    for (folder, allowed) in CRATES {
        let wrong = manifest(folder).into_iter().filter(|name| crates.contains(&name.as_str()) && !allowed.contains(&name.as_str()));
        found.extend(wrong.map(|name| format!("{folder} → {name}")));
    }
    none("these dependencies are not allowed", found);
}

#[test]
fn libraries_stay_in_their_crates() {
    let mut found = Vec::new();
    for (folder, _) in CRATES {
        let names = manifest(folder);
        let wrong = LIBRARIES.iter().filter(|(library, owners)| names.iter().any(|name| name == library) && !owners.contains(folder));
        found.extend(wrong.map(|(library, owners)| format!("{folder} names {library}, which belongs to {}", owners.join(", "))));
    }
    for (library, owners) in LIBRARIES {
        let unused = owners.iter().filter(|owner| !manifest(owner).iter().any(|name| name == library));
        found.extend(unused.map(|owner| format!("{owner} is listed for {library} and does not use it")));
    }
    none("a library is used in its crates only", found);
}

#[test]
fn pure_crates_depend_on_no_library_that_acts() {
    let wrong = manifest("domain").into_iter().filter(|name| PURE.contains(&name.as_str()));
    none("domain does no I/O, and has no clock and no random numbers", wrong.collect());
}

#[test]
fn manifests_are_read_in_all_their_forms() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\n# no = 1\nb = { path = \"b\" }\n\n[build-dependencies]\nc = \"1\"\n\
        [dev-dependencies.d]\nworkspace = true\n[features]\ne = []\n";
    assert_eq!(dependencies(manifest), ["a", "b", "c", "d"]);
}
