//! `vibe-relay profile`: shows and changes how worktrees of a project are prepared, and which commands check its work. Must not know the rules for it.

use std::path::Path;

use clap::Subcommand;
use domain::board::project::Project;
use domain::runs::evidence::RepositoryInfo;
use domain::runs::profile::checks::Checks;
use domain::runs::profile::{MergeStyle, Profile, PullRequests};
use domain::wire::ProjectPatch;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use crate::client::Client;
use crate::error::CliError;
use crate::{id, number, output, vocabulary};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show how worktrees are prepared and work is checked.
    Show {
        /// Project id or number, for example PROJ-001 or 1.
        project: String,
    },
    /// Change how worktrees are prepared and work is checked, from the next attempt on. An option replaces the whole list; an empty text empties it.
    Edit(Box<Edit>),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Edit {
    /// Project id or number, for example PROJ-001 or 1.
    project: String,
    /// Start from what the files of the repository suggest.
    #[arg(long)]
    detect: bool,
    /// A shell command that runs in each fresh worktree before its agent starts; repeat it for several.
    #[arg(long, value_name = "LINE")]
    setup: Vec<String>,
    /// A shell command that runs in a worktree before it is removed; repeat it for several.
    #[arg(long, value_name = "LINE")]
    cleanup: Vec<String>,
    /// Minutes that one of the setup commands may take.
    #[arg(long, value_name = "MINUTES", value_parser = number::whole::<u32>)]
    setup_minutes: Option<u32>,
    /// Pattern of ignored files to copy from your checkout, such as .env*.
    #[arg(long, value_name = "GLOB")]
    copy: Vec<String>,
    /// Folder that the setup fills, and that is copied to worktrees with the same lock files.
    #[arg(long, value_name = "FOLDER")]
    reuse: Vec<String>,
    /// Name of a variable of the server's environment that agents receive.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// A shell command that checks submitted work before its review; repeat it for several.
    #[arg(long, value_name = "LINE")]
    quick_check: Vec<String>,
    /// Minutes that one of these checks may take.
    #[arg(long, value_name = "MINUTES", value_parser = number::whole::<u32>)]
    quick_minutes: Option<u32>,
    /// A shell command that checks approved work before its merge; repeat it for several.
    #[arg(long, value_name = "LINE")]
    full_check: Vec<String>,
    /// Minutes that one of these checks may take.
    #[arg(long, value_name = "MINUTES", value_parser = number::whole::<u32>)]
    full_minutes: Option<u32>,
    /// A shell command that starts the app on the port {port}, which is also in PORT.
    #[arg(long, value_name = "LINE")]
    preview: Option<String>,
    /// How approved work is merged: with all its commits, or squashed to one.
    #[arg(long, value_name = "STYLE", value_parser = vocabulary::one_of(MergeStyle::ALL, MergeStyle::as_str))]
    merge_style: Option<MergeStyle>,
    /// Whether worktrees contain the files of submodules, from your checkout or, if missing there, from their addresses.
    #[arg(long, value_name = "true|false")]
    submodules: Option<bool>,
    /// Whether new commits of the base branch and its upstream are merged into the project branch.
    #[arg(long, value_name = "true|false")]
    follow_base: Option<bool>,
    /// Whether the project has one pull request, or each task its own, which is merged on its host.
    #[arg(long, value_name = "WHOSE", value_parser = vocabulary::one_of(PullRequests::ALL, PullRequests::as_str))]
    pull_requests: Option<PullRequests>,
}

/// Runs the command.
///
/// # Errors
/// When the board is not running, or refuses.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<(), CliError> {
    let client = Client::find(config)?;
    let project = match &command {
        Command::Show { project, .. } => project,
        Command::Edit(edit) => &edit.project,
    };
    let path = format!("/api/projects/{}", id::project(project)?);
    let project: Project = client.get(&path).await?;
    match command {
        Command::Show { .. } => output::data(&WholeProfile::of(&project.profile), |_| show(&project.profile)),
        Command::Edit(edit) => {
            let start = if edit.detect { detected(&client, &project).await? } else { project.profile };
            let patch = ProjectPatch { profile: Some(edit.apply(start)), ..ProjectPatch::default() };
            let project: Project = client.patch(&path, &patch).await?;
            output::data(&WholeProfile::of(&project.profile), |_| show(&project.profile));
        }
    }
    Ok(())
}

async fn detected(client: &Client, project: &Project) -> Result<Profile, CliError> {
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let query = format!("/api/repository?path={}&base_branch={}", encoded(&project.repo_path), encoded(&project.base_branch));
    let found: RepositoryInfo = client.get(&query).await?;
    for tool in &found.detection.tools {
        output::hint(format!("found {} ({})", tool.name, tool.file));
    }
    Ok(found.detection.profile)
}

impl Edit {
    fn apply(self, mut profile: Profile) -> Profile {
        let (quick, full) = (&mut profile.checks.quick, &mut profile.checks.full);
        let lists = [
            (self.setup, &mut profile.setup),
            (self.cleanup, &mut profile.cleanup),
            (self.copy, &mut profile.copy),
            (self.reuse, &mut profile.reuse),
            (self.env, &mut profile.env),
            (self.quick_check, &mut quick.commands),
            (self.full_check, &mut full.commands),
        ];
        for (given, known) in lists {
            if !given.is_empty() {
                *known = given;
            }
        }
        profile.preview = self.preview.or(profile.preview);
        profile.setup_minutes = self.setup_minutes.unwrap_or(profile.setup_minutes);
        quick.minutes = self.quick_minutes.unwrap_or(quick.minutes);
        full.minutes = self.full_minutes.unwrap_or(full.minutes);
        profile.submodules = self.submodules.unwrap_or(profile.submodules);
        profile.follow_base = self.follow_base.unwrap_or(profile.follow_base);
        profile.merge_style = self.merge_style.unwrap_or(profile.merge_style);
        profile.pull_requests = self.pull_requests.unwrap_or(profile.pull_requests);
        profile
    }
}

/// A profile with the fields that the interface omits while they have their default.
#[derive(Debug, Serialize)]
struct WholeProfile<'a> {
    setup: &'a [String],
    setup_minutes: u32,
    cleanup: &'a [String],
    copy: &'a [String],
    reuse: &'a [String],
    env: &'a [String],
    checks: &'a Checks,
    preview: Option<&'a str>,
    submodules: bool,
    merge_style: MergeStyle,
    follow_base: bool,
    pull_requests: PullRequests,
}

impl<'a> WholeProfile<'a> {
    fn of(profile: &'a Profile) -> Self {
        let Profile { setup, cleanup, setup_minutes, copy, reuse, env, submodules, checks, preview, merge_style, follow_base, pull_requests } =
            profile;
        Self {
            setup,
            setup_minutes: *setup_minutes,
            cleanup,
            copy,
            reuse,
            env,
            checks,
            preview: preview.as_deref(),
            submodules: *submodules,
            merge_style: *merge_style,
            follow_base: *follow_base,
            pull_requests: *pull_requests,
        }
    }
}

fn show(profile: &Profile) {
    for line in lines(profile) {
        output::line(line);
    }
}

fn lines(profile: &Profile) -> Vec<String> {
    let limit = |minutes: u32| format!("{:10}{minutes} minutes for each command", "limit");
    let list = |name: &str, entries: &[String]| {
        let first = entries.first().map_or("none", String::as_str);
        let rest = entries.iter().skip(1).map(|entry| format!("{:10}{entry}", ""));
        std::iter::once(format!("{name:10}{first}")).chain(rest).collect::<Vec<_>>()
    };
    let mut lines = list("setup", &profile.setup);
    lines.push(limit(profile.setup_minutes));
    lines.extend(list("cleanup", &profile.cleanup));
    lines.extend(list("copy", &profile.copy));
    lines.extend(list("reuse", &profile.reuse));
    lines.extend(list("env", &profile.env));
    for (name, checks) in [("quick", &profile.checks.quick), ("full", &profile.checks.full)] {
        lines.extend(list(name, &checks.commands));
        lines.extend((!checks.commands.is_empty()).then(|| limit(checks.minutes)));
    }
    lines.extend(list("preview", profile.preview.as_slice()));
    lines.extend(profile.submodules.then(|| format!("{:10}filled", "modules")));
    lines.push(format!("{:10}{}", "merge", profile.merge_style));
    lines.push(format!("{:10}{}", "base", if profile.follow_base { "followed" } else { "not followed" }));
    let pull_requests = match profile.pull_requests {
        PullRequests::Project => "one pull request for the project",
        PullRequests::Task => "a pull request for each task",
    };
    lines.push(format!("{:10}{pull_requests}", "publish"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_every_field_and_fits_the_type() {
        let json = serde_json::to_value(WholeProfile::of(&Profile::default())).unwrap();
        for field in ["cleanup", "checks", "preview", "submodules", "merge_style", "follow_base", "pull_requests"] {
            assert!(json.get(field).is_some(), "{field} is missing: {json}");
        }
        assert_eq!(serde_json::from_value::<Profile>(json).unwrap(), Profile::default());
    }

    #[test]
    fn options_replace_whole_lists_and_leave_the_others() {
        let edit = Edit {
            project: "PROJ-001".to_owned(),
            detect: false,
            setup: vec!["npm ci".to_owned(), "npm run build".to_owned()],
            cleanup: vec!["docker compose down".to_owned()],
            setup_minutes: None,
            copy: vec![String::new()],
            reuse: Vec::new(),
            env: Vec::new(),
            quick_check: vec!["npm test".to_owned()],
            quick_minutes: Some(5),
            full_check: Vec::new(),
            full_minutes: None,
            preview: Some("npm run dev -- --port {port}".to_owned()),
            merge_style: Some(MergeStyle::Squash),
            submodules: Some(true),
            follow_base: Some(true),
            pull_requests: Some(PullRequests::Task),
        };
        let before = Profile { reuse: vec!["node_modules".to_owned()], ..Profile::default() };
        let after = edit.apply(before).checked().unwrap();
        insta::assert_snapshot!(lines(&after).join("\n"), @r"
        setup     npm ci
                  npm run build
        limit     20 minutes for each command
        cleanup   docker compose down
        copy      none
        reuse     node_modules
        env       none
        quick     npm test
        limit     5 minutes for each command
        full      none
        preview   npm run dev -- --port {port}
        modules   filled
        merge     squash
        base      followed
        publish   a pull request for each task
        ");
    }
}
