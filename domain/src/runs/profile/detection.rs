//! Proposes a profile from the names of a repository's files. Pure: it proposes only commands that are written here, never any from the
//! repository, and a person confirms them.

pub mod checks;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Profile;

/// A tool that was found, and the file that shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DetectedTool {
    pub name: String,
    pub file: String,
}

/// The tools of a repository, and a profile for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Detection {
    pub tools: Vec<DetectedTool>,
    /// A profile for these tools.
    pub profile: Profile,
    /// The profile that a person confirmed for the repository before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Profile>,
}

impl Detection {
    /// The profile for another project on the repository: what a person confirmed counts more than what files suggest.
    pub fn preferred(&self) -> &Profile {
        self.known.as_ref().unwrap_or(&self.profile)
    }

    /// Adds the patterns of a file `.worktreeinclude`, which has one on each line. Patterns that take files out again have no meaning here.
    pub fn include(&mut self, text: &str) {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', '!']));
        let patterns = lines.map(|line| line.trim_start_matches('/').trim_end_matches('/').to_owned());
        let patterns = patterns.filter(|pattern| is_usable(pattern)).take(MAX_INCLUDED);
        for pattern in patterns {
            if !self.profile.copy.contains(&pattern) {
                self.profile.copy.push(pattern);
            }
        }
    }
}

fn is_usable(pattern: &str) -> bool {
    Profile { copy: vec![pattern.to_owned()], ..Profile::default() }.checked().is_ok()
}

/// The most patterns that are proposed from a file.
const MAX_INCLUDED: usize = 40;

struct Tool {
    name: &'static str,
    /// Any of them shows the tool.
    files: &'static [&'static str],
    setup: Option<&'static str>,
    reuse: &'static [&'static str],
    /// Of the tools of one family, the first that is found counts.
    family: &'static str,
}

const fn tool(
    name: &'static str,
    family: &'static str,
    files: &'static [&'static str],
    setup: Option<&'static str>,
    reuse: &'static [&'static str],
) -> Tool {
    Tool { name, files, setup, reuse, family }
}

const TOOLS: [Tool; 14] = [
    tool("pnpm", "node", &["pnpm-lock.yaml"], Some("pnpm install --frozen-lockfile"), &["node_modules"]),
    tool("yarn", "node", &["yarn.lock"], Some("yarn install --immutable || yarn install --frozen-lockfile"), &["node_modules"]),
    tool("bun", "node", &["bun.lock", "bun.lockb"], Some("bun install --frozen-lockfile"), &["node_modules"]),
    tool("npm", "node", &["package-lock.json", "npm-shrinkwrap.json"], Some("npm ci"), &["node_modules"]),
    tool("npm", "node", &["package.json"], Some("npm install --no-save"), &["node_modules"]),
    tool("uv", "python", &["uv.lock"], Some("uv sync --frozen"), &[]),
    tool("poetry", "python", &["poetry.lock"], Some("poetry install"), &[]),
    tool("pip", "python", &["requirements.txt"], Some("python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"), &[]),
    tool("cargo", "rust", &["Cargo.toml"], Some("cargo fetch"), &[]),
    tool("go", "go", &["go.mod"], Some("go mod download"), &[]),
    tool("gradle", "jvm", &["gradlew"], Some("./gradlew --no-daemon dependencies"), &[]),
    tool("maven", "jvm", &["pom.xml"], Some("mvn -q dependency:go-offline"), &[]),
    tool("make", "make", &["Makefile", "makefile", "GNUmakefile"], None, &[]),
    tool("just", "just", &["justfile", "Justfile", ".justfile"], None, &[]),
];

/// Files that describe an environment which is not built here.
const CONTAINERS: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// The names of lock files: what `setup` installs depends on their contents.
const LOCK_FILES: [&str; 17] = [
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "package.json",
    "uv.lock",
    "poetry.lock",
    "requirements.txt",
    "Cargo.lock",
    "go.sum",
    "gradle.lockfile",
    "pom.xml",
    "Gemfile.lock",
    "composer.lock",
    "mix.lock",
];

/// Whether the contents of the file at `path` decide what setup installs.
pub fn is_lock_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| LOCK_FILES.contains(&name))
}

/// Proposes a profile for a repository whose root has these files. Paths may name files in folders.
pub fn detect<'a>(paths: impl IntoIterator<Item = &'a str>) -> Detection {
    let paths: BTreeSet<&str> = paths.into_iter().collect();
    let mut detection = Detection::default();
    let mut families = BTreeSet::new();
    for tool in TOOLS {
        let Some(file) = tool.files.iter().find(|file| paths.contains(*file)).filter(|_| families.insert(tool.family)) else { continue };
        detection.tools.push(DetectedTool { name: tool.name.to_owned(), file: (*file).to_owned() });
        detection.profile.setup.extend(tool.setup.map(str::to_owned));
        detection.profile.reuse.extend(tool.reuse.iter().map(|folder| (*folder).to_owned()));
    }
    let containers = CONTAINERS.iter().filter(|file| paths.contains(*file));
    detection.tools.extend(containers.map(|file| DetectedTool { name: "devcontainer".to_owned(), file: (*file).to_owned() }));
    detection
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(paths: &[&str]) -> Vec<String> {
        detect(paths.iter().copied()).profile.setup
    }

    #[test]
    fn every_tool_is_detected_by_each_of_its_files_and_proposes_a_valid_profile() {
        for tool in TOOLS {
            for file in tool.files {
                let found = detect([*file, "README.md"]);
                assert_eq!(found.tools, [DetectedTool { name: tool.name.to_owned(), file: (*file).to_owned() }]);
                assert_eq!(found.profile.clone().checked().as_ref(), Ok(&found.profile), "{file}");
                assert_eq!(found.profile.setup.first().map(String::as_str), tool.setup, "{file}");
            }
        }
    }

    #[test]
    fn several_tools_at_once_are_set_up_in_order() {
        assert_eq!(setup(&["Cargo.toml", "pnpm-lock.yaml", "package.json", "justfile"]), ["pnpm install --frozen-lockfile", "cargo fetch"]);
        let names: Vec<_> = detect(["Cargo.toml", "pnpm-lock.yaml", "justfile"]).tools.into_iter().map(|tool| tool.name).collect();
        assert_eq!(names, ["pnpm", "cargo", "just"]);
        assert_eq!(setup(&["package-lock.json", "package.json"]), ["npm ci"], "one of a family");
    }

    #[test]
    fn nothing_is_run_for_files_elsewhere_or_unknown_ones() {
        assert_eq!(detect(["examples/package.json", "src/main.c"]), Detection::default());
        let container = detect([".devcontainer/devcontainer.json"]);
        assert_eq!((container.tools[0].name.as_str(), container.profile.setup.len()), ("devcontainer", 0));
    }

    #[test]
    fn lock_files_count_in_every_folder() {
        assert!(is_lock_file("package-lock.json") && is_lock_file("apps/web/pnpm-lock.yaml"));
        assert!(!is_lock_file("src/lock.rs") && !is_lock_file("package-lock.json/x"));
    }
}
