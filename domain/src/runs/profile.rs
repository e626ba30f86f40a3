//! The profile of a repository: how a fresh checkout becomes one in which agents can build and test, and which commands judge their work.
//!
//! A person confirms it; nothing in a repository sets it. Must not know how its commands run.

pub mod checks;
pub mod detection;
mod refusal;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::profile::checks::Checks;
use crate::runs::protected_paths;
use crate::text::excerpt;
use crate::vocabulary::vocabulary;

const MAX_COMMANDS: usize = 20;
const MAX_COMMAND_BYTES: usize = 4_000;
const MAX_PATHS: usize = 50;
const MAX_NAMES: usize = 50;
const MAX_MINUTES: u32 = 240;

vocabulary! {
    /// How approved work becomes part of the project branch.
    MergeStyle, "merge style" {
        /// With all its commits, by a merge commit.
        Merge = "merge",
        /// As one commit.
        Squash = "squash",
    }
}

impl MergeStyle {
    fn is_default(&self) -> bool {
        *self == Self::Merge
    }
}

vocabulary! {
    /// The pull requests that bring approved work to the base branch.
    PullRequests, "pull requests" {
        /// Work is merged here, and one pull request can bring all of it.
        Project = "project",
        /// Each task has a pull request of its own, and is done when that is merged on its host.
        Task = "task",
    }
}

impl PullRequests {
    fn is_default(&self) -> bool {
        *self == Self::Project
    }
}

/// How checkouts of a project are prepared, and its work is checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Lines of shell that run one after another in each fresh checkout, before its agent starts, for example `npm ci`.
    pub setup: Vec<String>,
    /// Lines of shell that run in a checkout before it is removed, for example `docker compose down`. A failure keeps no checkout.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// Minutes after which a command of `setup` is ended.
    pub setup_minutes: u32,
    /// Globs of ignored files that are copied from your own checkout into those of agents, for example `.env*`.
    pub copy: Vec<String>,
    /// Folders that `setup` fills and that later checkouts with the same lock files get as copies, for example `node_modules`.
    pub reuse: Vec<String>,
    /// Names of variables of the server's environment that setup and agents inherit. The values are not stored.
    pub env: Vec<String>,
    /// Whether the submodules of each fresh checkout are filled, as `git submodule update --init --recursive` does.
    #[serde(skip_serializing_if = "is_false")]
    pub submodules: bool,
    /// The commands that judge its work besides a reviewer.
    #[serde(skip_serializing_if = "Checks::is_default")]
    pub checks: Checks,
    /// The line of shell that starts the app, for example `npm run dev`. It is to listen on the port in `PORT`, which also replaces `{port}`;
    /// `PORT_2` and `{port_2}` are another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// How approved work is merged.
    #[serde(skip_serializing_if = "MergeStyle::is_default")]
    pub merge_style: MergeStyle,
    /// Whether new commits of the base branch and its upstream are merged into the project branch.
    #[serde(skip_serializing_if = "is_true")]
    pub follow_base: bool,
    /// Whether the project or each task has a pull request.
    #[serde(skip_serializing_if = "PullRequests::is_default")]
    pub pull_requests: PullRequests,
}

/// The reason why a profile is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct ProfileProblem {
    pub field: &'static str,
    pub problem: String,
    /// The next legal step.
    pub hint: String,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            setup: Vec::new(),
            cleanup: Vec::new(),
            setup_minutes: 20,
            copy: vec![".env*".to_owned()],
            reuse: Vec::new(),
            env: Vec::new(),
            submodules: false,
            checks: Checks::default(),
            preview: None,
            merge_style: MergeStyle::Merge,
            follow_base: true,
            pull_requests: PullRequests::Project,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_true(flag: &bool) -> bool {
    *flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Profile {
    /// Returns the profile without blank lines and with each text trimmed.
    ///
    /// # Errors
    /// When a text is too long, a path leaves the repository, or a name is not one of a variable.
    pub fn checked(mut self) -> Result<Self, ProfileProblem> {
        let Checks { quick, full } = &mut self.checks;
        for list in [&mut self.setup, &mut self.cleanup, &mut self.copy, &mut self.reuse, &mut self.env, &mut quick.commands, &mut full.commands] {
            list.iter_mut().for_each(|text| *text = text.trim().to_owned());
            list.retain(|text| !text.is_empty());
        }
        for list in [&mut self.copy, &mut self.reuse] {
            list.iter_mut().for_each(|path| *path = path.trim_end_matches('/').to_owned());
        }
        self.preview = self.preview.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
        check_commands("profile.setup", &self.setup)?;
        check_commands("profile.preview", self.preview.as_slice())?;
        check_commands("profile.cleanup", &self.cleanup)?;
        check_minutes("profile.setup_minutes", self.setup_minutes)?;
        check_commands("profile.checks.quick.commands", &self.checks.quick.commands)?;
        check_minutes("profile.checks.quick.minutes", self.checks.quick.minutes)?;
        check_commands("profile.checks.full.commands", &self.checks.full.commands)?;
        check_minutes("profile.checks.full.minutes", self.checks.full.minutes)?;
        for (field, list) in [("profile.copy", &self.copy), ("profile.reuse", &self.reuse)] {
            if list.len() > MAX_PATHS {
                return Err(invalid(field, format!("{} paths were given", list.len()), format!("Give up to {MAX_PATHS}.")));
            }
            if let Some((path, problem)) = list.iter().find_map(|path| Some((path, path_problem(path)?))) {
                return Err(invalid(field, format!("\"{path}\": {problem}"), "Give paths below the root of the repository."));
            }
        }
        if let Some(folder) = self.reuse.iter().find(|folder| folder.contains(['*', '?'])) {
            return Err(invalid("profile.reuse", format!("\"{folder}\" is a pattern"), "Name each folder."));
        }
        if self.env.len() > MAX_NAMES {
            return Err(invalid("profile.env", format!("{} names were given", self.env.len()), format!("Give up to {MAX_NAMES}.")));
        }
        if let Some(name) = self.env.iter().find(|name| !is_variable(name)) {
            return Err(invalid(
                "profile.env",
                format!("\"{name}\" is not the name of a variable"),
                "Give only names; the values stay in the server's environment.",
            ));
        }
        if self.pull_requests == PullRequests::Task && !self.follow_base {
            return Err(invalid(
                "profile.pull_requests",
                "a project that does not follow its base never receives the merged work of its tasks",
                "Follow the base branch too, or choose one pull request for the project.",
            ));
        }
        Ok(self)
    }

    /// Whether nobody changed it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `path`, from the root of the repository, is copied into checkouts.
    pub fn copies(&self, path: &str) -> bool {
        protected_paths::is_named(path, &self.copy)
    }
}

fn check_commands(field: &'static str, commands: &[String]) -> Result<(), ProfileProblem> {
    if commands.len() > MAX_COMMANDS {
        let problem = format!("{} commands were given", commands.len());
        return Err(invalid(field, problem, format!("Give up to {MAX_COMMANDS}, or name a script.")));
    }
    if let Some(command) = commands.iter().find(|command| command.len() > MAX_COMMAND_BYTES || command.contains(['\n', '\r', '\0'])) {
        let problem = format!("\"{}\" is not one line of at most {MAX_COMMAND_BYTES} bytes", excerpt(command, 40));
        return Err(invalid(field, problem, "Give each command as an entry of its own, or name a script."));
    }
    Ok(())
}

fn check_minutes(field: &'static str, minutes: u32) -> Result<(), ProfileProblem> {
    if (1..=MAX_MINUTES).contains(&minutes) {
        return Ok(());
    }
    Err(invalid(field, format!("{minutes} is not between 1 and {MAX_MINUTES}"), "Give the minutes that the slowest command may take."))
}

fn invalid(field: &'static str, problem: impl Into<String>, hint: impl Into<String>) -> ProfileProblem {
    ProfileProblem { field, problem: problem.into(), hint: hint.into() }
}

fn path_problem(path: &str) -> Option<&'static str> {
    let is_git = path.split('/').next().is_some_and(|first| first.eq_ignore_ascii_case(".git"));
    if is_git { Some("the repository's own files are never copied") } else { protected_paths::problem(path) }
}

fn is_variable(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut Profile)) -> String {
        let mut profile = Profile::default();
        change(&mut profile);
        profile.checked().unwrap_err().to_string()
    }

    #[test]
    fn texts_are_trimmed_and_blank_ones_left_out() {
        let given = Profile {
            setup: vec![" npm ci ".to_owned(), String::new()],
            reuse: vec!["node_modules/".to_owned()],
            env: vec!["NPM_TOKEN".to_owned()],
            ..Profile::default()
        };
        let expected = Profile {
            setup: vec!["npm ci".to_owned()],
            reuse: vec!["node_modules".to_owned()],
            env: vec!["NPM_TOKEN".to_owned()],
            ..Profile::default()
        };
        assert_eq!(given.checked(), Ok(expected));
    }

    #[test]
    fn profile_reaches_nothing_outside_the_repository() {
        for path in ["../secret", "/etc/passwd", "a/../../b", "a//b"] {
            assert!(refused(|profile| profile.copy = vec![path.to_owned()]).contains(path), "{path}");
            assert!(refused(|profile| profile.reuse = vec![path.to_owned()]).contains(path), "{path}");
        }
        assert!(refused(|profile| profile.reuse = vec![".git/hooks".to_owned()]).contains("never copied"));
        assert!(refused(|profile| profile.copy = vec![".GIT/config".to_owned()]).contains("never copied"));
        assert!(refused(|profile| profile.reuse = vec!["packages/*/node_modules".to_owned()]).contains("is a pattern"));
    }

    #[test]
    fn pull_requests_of_tasks_need_the_base() {
        let given = Profile { pull_requests: PullRequests::Task, ..Profile::default() };
        assert_eq!(given.clone().checked(), Ok(given));
        let refused = refused(|profile| (profile.pull_requests, profile.follow_base) = (PullRequests::Task, false));
        assert!(refused.starts_with("profile.pull_requests: a project that does not follow its base"), "{refused}");
    }

    #[test]
    fn commands_are_lines_and_names_have_no_values() {
        assert!(refused(|profile| profile.setup = vec!["npm ci\nrm -rf /".to_owned()]).contains("not one line"));
        assert!(refused(|profile| profile.setup = vec!["x".to_owned(); 21]).contains("21 commands"));
        assert!(refused(|profile| profile.preview = Some("a\nb".to_owned())).starts_with("profile.preview: "));
        assert!(refused(|profile| profile.setup_minutes = 0).contains("0 is not between"));
        assert!(refused(|profile| profile.checks.quick.commands = vec!["a\nb".to_owned()]).starts_with("profile.checks.quick.commands: "));
        assert!(refused(|profile| profile.checks.full.minutes = 241).starts_with("profile.checks.full.minutes: 241 is not between"));
        for name in ["TOKEN=secret", "1A", "A-B", "A B"] {
            assert!(refused(|profile| profile.env = vec![name.to_owned()]).contains("not the name of a variable"), "{name}");
        }
    }

    #[test]
    fn environment_files_are_copied_unless_the_person_says_otherwise() {
        let profile = Profile::default();
        assert!(profile.copies(".env") && profile.copies("apps/web/.env.local"));
        assert!(!profile.copies("node_modules/a/index.js") && !profile.copies("environment"));
        let exact = Profile { copy: vec!["config/local.toml".to_owned()], ..Profile::default() };
        assert!(exact.copies("config/local.toml") && !exact.copies("x/config/local.toml") && !exact.copies(".env"));
        assert!(!Profile { copy: Vec::new(), ..Profile::default() }.copies(".env"));
    }
}
