//! The fields for how checkouts of a project are prepared, and what was detected in its repository.

use domain::board::project::Project;
use domain::runs::profile::checks::{CheckList, Checks};
use domain::runs::profile::detection::Detection;
use domain::runs::profile::{MergeStyle, Profile, PullRequests};
use domain::wire::ProjectPatch;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::inline_code::InlineCode;

/// A profile as it is typed: a list has one entry on each line.
#[derive(Clone, Copy)]
pub(crate) struct ProfileFields {
    setup: RwSignal<String>,
    cleanup: RwSignal<String>,
    minutes: RwSignal<String>,
    copy: RwSignal<String>,
    reuse: RwSignal<String>,
    env: RwSignal<String>,
    submodules: RwSignal<bool>,
    quick: ListFields,
    full: ListFields,
    preview: RwSignal<String>,
    squash: RwSignal<bool>,
    follow_base: RwSignal<bool>,
    by_task: RwSignal<bool>,
}

/// Commands and their limit, as they are typed.
#[derive(Clone, Copy)]
struct ListFields {
    commands: RwSignal<String>,
    minutes: RwSignal<String>,
}

impl ListFields {
    fn new() -> Self {
        Self { commands: RwSignal::new(String::new()), minutes: RwSignal::new(String::new()) }
    }

    fn set(self, list: &CheckList) {
        self.commands.set(list.commands.join("\n"));
        self.minutes.set(list.minutes.to_string());
    }

    fn list(self) -> Option<CheckList> {
        Some(CheckList { commands: lines(self.commands), minutes: number(self.minutes)? })
    }
}

impl ProfileFields {
    pub(crate) fn new(profile: &Profile) -> Self {
        let fields = Self {
            setup: RwSignal::new(String::new()),
            cleanup: RwSignal::new(String::new()),
            minutes: RwSignal::new(String::new()),
            copy: RwSignal::new(String::new()),
            reuse: RwSignal::new(String::new()),
            env: RwSignal::new(String::new()),
            submodules: RwSignal::new(false),
            quick: ListFields::new(),
            full: ListFields::new(),
            preview: RwSignal::new(String::new()),
            squash: RwSignal::new(false),
            follow_base: RwSignal::new(true),
            by_task: RwSignal::new(false),
        };
        fields.set(profile);
        fields
    }

    pub(crate) fn set(self, profile: &Profile) {
        self.setup.set(profile.setup.join("\n"));
        self.cleanup.set(profile.cleanup.join("\n"));
        self.minutes.set(profile.setup_minutes.to_string());
        self.copy.set(profile.copy.join("\n"));
        self.reuse.set(profile.reuse.join("\n"));
        self.env.set(profile.env.join("\n"));
        self.submodules.set(profile.submodules);
        self.quick.set(&profile.checks.quick);
        self.full.set(&profile.checks.full);
        self.preview.set(profile.preview.clone().unwrap_or_default());
        self.follow_base.set(profile.follow_base);
        self.by_task.set(profile.pull_requests == PullRequests::Task);
        self.squash.set(profile.merge_style == MergeStyle::Squash);
    }

    /// The typed profile; `None` while the minutes are no number. The server checks the rest.
    pub(crate) fn profile(self) -> Option<Profile> {
        Some(Profile {
            setup: lines(self.setup),
            cleanup: lines(self.cleanup),
            setup_minutes: number(self.minutes)?,
            copy: lines(self.copy),
            reuse: lines(self.reuse),
            env: lines(self.env),
            submodules: self.submodules.get(),
            checks: Checks { quick: self.quick.list()?, full: self.full.list()? },
            preview: self.preview.with(|line| Some(line.trim().to_owned()).filter(|line| !line.is_empty())),
            follow_base: self.follow_base.get(),
            pull_requests: if self.by_task.get() { PullRequests::Task } else { PullRequests::Project },
            merge_style: if self.squash.get() { MergeStyle::Squash } else { MergeStyle::Merge },
        })
    }
}

fn number(text: RwSignal<String>) -> Option<u32> {
    text.with(|text| text.trim().parse().ok())
}

fn lines(text: RwSignal<String>) -> Vec<String> {
    text.with(|text| text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Describes a profile in one sentence with code in backticks.
pub(crate) fn sentence(profile: &Profile) -> String {
    let code = |entries: &[String]| entries.iter().map(|entry| format!("`{entry}`")).collect::<Vec<_>>().join(", ");
    let setup = match profile.setup.as_slice() {
        [] => "Nothing runs in fresh worktrees".to_owned(),
        [command] => format!("`{command}` runs in each fresh worktree"),
        commands => format!("{} run in each fresh worktree", code(commands)),
    };
    let copy = if profile.copy.is_empty() { String::new() } else { format!("; ignored files named {} are copied into it", code(&profile.copy)) };
    format!("{setup}{copy}.")
}

/// Describes the checks of a profile in one sentence with code in backticks; empty if it has none.
pub(crate) fn checks_sentence(profile: &Profile) -> String {
    let stages = [("before the review", &profile.checks.quick), ("before the merge", &profile.checks.full)];
    let named = stages.into_iter().filter(|(_, list)| !list.commands.is_empty()).map(|(when, list)| {
        let commands: Vec<String> = list.commands.iter().map(|command| format!("`{command}`")).collect();
        format!("{} {when}", commands.join(", "))
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { String::new() } else { format!("Work must pass {}.", named.join("; and ")) }
}

/// Names the tools that were found; empty if none was.
pub(crate) fn found(detection: &Detection) -> String {
    let tools: Vec<String> = detection.tools.iter().map(|tool| format!("{} (`{}`)", tool.name, tool.file)).collect();
    if tools.is_empty() { String::new() } else { format!("Found {}.", tools.join(", ")) }
}

#[component]
fn Lines(id: &'static str, label: &'static str, hint: &'static str, value: RwSignal<String>, #[prop(default = 2)] rows: u32) -> impl IntoView {
    let described = format!("{id}-hint");
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <textarea id=id class="input mono" rows=rows.to_string() spellcheck="false" aria-describedby=described.clone() bind:value=value></textarea>
            <p class="hint" id=described>{hint}</p>
        </div>
    }
}

#[component]
fn Minutes(id: &'static str, label: &'static str, value: RwSignal<String>) -> impl IntoView {
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input id=id class="input" inputmode="numeric" maxlength="3" bind:value=value />
        </div>
    }
}

/// The fields of a profile.
#[component]
pub(crate) fn ProfileForm(fields: ProfileFields) -> impl IntoView {
    view! {
        <Lines
            id="profile-setup"
            label="Setup commands"
            hint="One per line. They run in each fresh worktree before its agent starts, and again when a lock file changes."
            value=fields.setup
            rows=3
        />
        <Minutes id="profile-minutes" label="Minutes for one setup command" value=fields.minutes />
        <Lines
            id="profile-cleanup"
            label="Cleanup commands"
            hint="One per line, such as docker compose down. They run in a worktree before it is removed, for up to 5 minutes each."
            value=fields.cleanup
        />
        <Lines
            id="profile-copy"
            label="Files to copy"
            hint="Patterns of files that git ignores, such as .env*. They are copied from your checkout, and agents can read them."
            value=fields.copy
        />
        <Lines
            id="profile-reuse"
            label="Folders to reuse"
            hint="Folders that the setup fills, such as node_modules. Worktrees with the same lock files get copies of them instead of a setup."
            value=fields.reuse
        />
        <Lines
            id="profile-env"
            label="Environment variables to pass on"
            hint="Names only. The values come from the environment of the server and are not stored."
            value=fields.env
        />
        <Lines
            id="profile-quick"
            label="Checks before the review"
            hint="One per line, such as npm test. Submitted work that fails one goes back to its coder, and no reviewer starts."
            value=fields.quick.commands
        />
        <Minutes id="profile-quick-minutes" label="Minutes for one check before the review" value=fields.quick.minutes />
        <Lines
            id="profile-full"
            label="Checks before the merge"
            hint="One per line. They run on the merged files. Work that fails one twice is not merged."
            value=fields.full.commands
        />
        <Minutes id="profile-full-minutes" label="Minutes for one check before the merge" value=fields.full.minutes />
        <Lines
            id="profile-preview"
            label="Command that starts the app"
            hint="One line, such as npm run dev -- --port {port}. Open app runs it in the checkout of a task or of the project; it must listen on the port, which is also in PORT."
            value=fields.preview
            rows=1
        />
        <label class="choice">
            <input type="checkbox" bind:checked=fields.submodules />
            <div>
                <strong>"Fill submodules"</strong>
                <span>"Each worktree contains their files, from your checkout or, if they are missing there, from their addresses on the base branch."</span>
            </div>
        </label>
        <label class="choice">
            <input type="checkbox" bind:checked=fields.follow_base />
            <div>
                <strong>"Follow the base branch"</strong>
                <span>"New commits of it and its upstream are merged into the project branch. A conflict becomes a task for a coder."</span>
            </div>
        </label>
        <label class="choice">
            <input type="checkbox" bind:checked=fields.squash />
            <div>
                <strong>"Squash approved work"</strong>
                <span>"Each task becomes one commit on the project branch, with its title and description. Otherwise its commits are merged as they are."</span>
            </div>
        </label>
        <label class="choice">
            <input type="checkbox" bind:checked=fields.by_task />
            <div>
                <strong>"A pull request for each task"</strong>
                <span>"Approved work is pushed and not merged here. The task is done when its pull request is merged on its host."</span>
            </div>
        </label>
    }
    .into_any()
}

/// The dialog that changes the profile of a project.
#[component]
pub(crate) fn ProfileDialog(project: Project, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let fields = ProfileFields::new(&project.profile);
    let id = StoredValue::new(project.id);
    let submit = move |()| {
        let patch = ProjectPatch { profile: fields.profile(), ..ProjectPatch::default() };
        sending.run(client.edit_project(id.get_value(), patch), move |_| close.run(()));
    };
    view! {
        <Dialog title="Prepare worktrees" close=close>
            <Form verb="Save" ready=Signal::derive(move || fields.profile().is_some()) sending=sending submit=submit close=close>
                <p class="hint">
                    "The commands run with your rights, in the sandbox of the agents. Changes apply from the next attempt on, and saving discards earlier check results."
                </p>
                <ProfileForm fields=fields />
            </Form>
        </Dialog>
    }
    .into_any()
}

/// The profile that a new project gets, with what it follows from, and its fields when they are opened.
#[component]
pub(crate) fn ProposedProfile(#[prop(into)] detection: Signal<Option<Detection>>, fields: ProfileFields) -> impl IntoView {
    let words = |profile: Profile| format!("{} {}", sentence(&profile), checks_sentence(&profile)).trim().to_owned();
    let summary = move || fields.profile().map(words).unwrap_or_default();
    let tools = move || detection.get().map(|detection| found(&detection)).unwrap_or_default();
    view! {
        <Show when=move || detection.with(Option::is_some)>
            <details class="proposed-profile">
                <summary><strong>"Prepare worktrees"</strong><span class="hint">{move || view! { <InlineCode text=format!("{} {}", tools(), summary()).trim().to_owned() /> }}</span></summary>
                <ProfileForm fields=fields />
            </details>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use domain::runs::profile::detection::detect;

    use super::*;

    #[test]
    fn lists_are_typed_one_entry_on_a_line() {
        let owner = Owner::new();
        owner.with(|| {
            let given = Profile {
                setup: vec!["npm ci".to_owned(), "cargo fetch".to_owned()],
                env: vec!["NPM_TOKEN".to_owned()],
                submodules: true,
                preview: Some("npm run dev".to_owned()),
                merge_style: MergeStyle::Squash,
                pull_requests: PullRequests::Task,
                ..Profile::default()
            };
            let fields = ProfileFields::new(&given);
            assert_eq!(fields.profile(), Some(given));
            fields.setup.set(" make deps \n\n".to_owned());
            assert_eq!(fields.profile().unwrap().setup, ["make deps"]);
            fields.minutes.set("soon".to_owned());
            assert_eq!(fields.profile(), None);
        });
    }

    #[test]
    fn sentence_says_what_runs_and_what_is_copied() {
        let found_tools = detect(["package-lock.json", "justfile"]);
        assert_eq!(found(&found_tools), "Found npm (`package-lock.json`), just (`justfile`).");
        assert_eq!(sentence(&found_tools.profile), "`npm ci` runs in each fresh worktree; ignored files named `.env*` are copied into it.");
        assert_eq!(sentence(&Profile { copy: Vec::new(), ..Profile::default() }), "Nothing runs in fresh worktrees.");
        assert_eq!(found(&Detection::default()), "");
    }
}
