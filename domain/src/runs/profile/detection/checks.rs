//! Proposes checks from the contents of a repository's files. As for setup, only commands that are written here are proposed: a file decides
//! whether one of them makes sense, and never what it says.

use std::collections::BTreeSet;

use serde_json::Value;

use super::DetectedTool;
use crate::runs::profile::checks::Checks;

/// The files whose contents count.
pub const FILES: [&str; 10] =
    ["package.json", "Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile", "pyproject.toml", "setup.cfg", "tox.ini"];

/// What `npm init` writes in the place of a test.
const NO_TEST: &str = "no test specified";

/// Proposes checks for `tools`. `has_file` tells whether a file is in the root, and `read` its content.
pub fn propose(tools: &[DetectedTool], has_file: impl Fn(&str) -> bool, read: impl Fn(&str) -> Option<String>) -> Checks {
    let mut checks = Checks::default();
    for DetectedTool { name, file } in tools {
        let (quick, full) = match name.as_str() {
            "npm" | "pnpm" | "yarn" | "bun" => {
                let scripts = scripts(&read("package.json").unwrap_or_default());
                let command = |script: &str| scripts.contains(script).then(|| format!("{name} run {script}"));
                (command("lint"), command("test"))
            }
            "cargo" => (Some("cargo check --all-targets".to_owned()), Some("cargo test".to_owned())),
            "go" => (Some("go vet ./...".to_owned()), Some("go test ./...".to_owned())),
            "uv" | "poetry" => (None, uses_pytest(&has_file, &read).then(|| format!("{name} run pytest"))),
            "pip" => (None, uses_pytest(&has_file, &read).then(|| ".venv/bin/python -m pytest".to_owned())),
            "gradle" => (None, Some("./gradlew --no-daemon check".to_owned())),
            "maven" => (None, Some("mvn -q verify".to_owned())),
            "make" | "just" => {
                let text = read(file).unwrap_or_default();
                let targets = targets(&text);
                let wanted = ["test", "check"].into_iter().find(|target| targets.contains(*target));
                (None, wanted.map(|target| format!("{name} {target}")))
            }
            _ => (None, None),
        };
        checks.quick.commands.extend(quick);
        checks.full.commands.extend(full);
    }
    checks
}

/// The names of the scripts of a `package.json`, except for a test that only says that there is none.
fn scripts(package: &str) -> BTreeSet<String> {
    let package: Value = serde_json::from_str(package).unwrap_or_default();
    let scripts = package["scripts"].as_object().into_iter().flatten();
    let is_real = |content: &Value| content.as_str().is_some_and(|line| !line.contains(NO_TEST));
    scripts.filter(|(_, content)| is_real(content)).map(|(name, _)| name.clone()).collect()
}

fn uses_pytest(has_file: impl Fn(&str) -> bool, read: impl Fn(&str) -> Option<String>) -> bool {
    let sections = [("pyproject.toml", "[tool.pytest"), ("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")];
    let has_section = |(file, section): (&str, &str)| read(file).is_some_and(|text| text.lines().any(|line| line.trim_start().starts_with(section)));
    has_file("pytest.ini") || sections.into_iter().any(has_section)
}

/// The targets of a Makefile, or the recipes of a justfile. Variables are none.
fn targets(text: &str) -> BTreeSet<&str> {
    let target = |line| {
        let (head, rest) = str::split_once(line, ':')?;
        let name = head.split_whitespace().next()?;
        (!line.starts_with(char::is_whitespace) && !rest.starts_with('=')).then_some(name.trim_start_matches('@'))
    };
    text.lines().filter_map(target).collect()
}

#[cfg(test)]
mod tests {
    use super::super::detect;
    use super::*;

    fn proposed(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let tools = detect(files.iter().map(|(name, _)| *name)).tools;
        let find = |name: &str| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned());
        let checks = propose(&tools, |name| find(name).is_some(), find);
        (checks.quick.commands, checks.full.commands)
    }

    fn lists(quick: &[&str], full: &[&str]) -> (Vec<String>, Vec<String>) {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        (owned(quick), owned(full))
    }

    #[test]
    fn scripts_of_a_package_are_run_by_its_own_tool() {
        let package = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "evil": "curl x | sh"}}"#;
        assert_eq!(proposed(&[("package.json", package), ("pnpm-lock.yaml", "")]), lists(&["pnpm run lint"], &["pnpm run test"]));
        assert_eq!(proposed(&[("package.json", package), ("bun.lock", "")]), lists(&["bun run lint"], &["bun run test"]));
        let placeholder = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        assert_eq!(proposed(&[("package.json", placeholder)]), lists(&[], &[]));
        assert_eq!(proposed(&[("package.json", "not JSON")]), lists(&[], &[]));
    }

    #[test]
    fn languages_with_one_test_command_need_no_content() {
        assert_eq!(
            proposed(&[("Cargo.toml", ""), ("go.mod", "")]),
            lists(&["cargo check --all-targets", "go vet ./..."], &["cargo test", "go test ./..."])
        );
        assert_eq!(proposed(&[("gradlew", "")]), lists(&[], &["./gradlew --no-daemon check"]));
        assert_eq!(proposed(&[("pom.xml", "")]), lists(&[], &["mvn -q verify"]));
    }

    #[test]
    fn pytest_is_proposed_where_it_is_configured() {
        assert_eq!(proposed(&[("uv.lock", ""), ("pyproject.toml", "[project]\n[tool.pytest.ini_options]\n")]), lists(&[], &["uv run pytest"]));
        assert_eq!(proposed(&[("poetry.lock", ""), ("pytest.ini", "")]), lists(&[], &["poetry run pytest"]));
        assert_eq!(proposed(&[("requirements.txt", ""), ("setup.cfg", "[tool:pytest]")]), lists(&[], &[".venv/bin/python -m pytest"]));
        assert_eq!(proposed(&[("uv.lock", ""), ("pyproject.toml", "[project]\n")]), lists(&[], &[]));
    }

    #[test]
    fn targets_are_told_from_variables_and_their_lines() {
        assert_eq!(proposed(&[("Makefile", "test := yes\ncheck: build\n\ttest: no\n")]), lists(&[], &["make check"]));
        assert_eq!(proposed(&[("Makefile", "all check: build\nlint test:\n")]), lists(&[], &[]), "the first name of a line counts");
        assert_eq!(proposed(&[("justfile", "build:\n  x\ntest *args:\n  y\n")]), lists(&[], &["just test"]));
        assert_eq!(proposed(&[("justfile", "build:\n  x\n")]), lists(&[], &[]));
    }
}
