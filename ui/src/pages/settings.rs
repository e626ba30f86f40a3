//! The settings: preferences of this browser, who has access, and what the configuration says.

use domain::board::project::Project;
use domain::config::setting::{RolePrompt, SettingsView};
use domain::config::table::SettingsPage as Page;
use domain::runs::branch_start::BranchStart;
use domain::runs::usage::money;
use domain::team::person::Right;
use domain::wire::ServerInfo;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::app::ServerStatus;
use crate::client::{AuditFilter, Client};
use crate::components::badge::Tone;
use crate::components::bar::Bar;
use crate::components::board::new_project::summary;
use crate::components::help::HelpDialog;
use crate::components::inline_code::{InlineCode, sentence};
use crate::components::preferences::Preferences;
use crate::components::runs::profile::{ProfileDialog, checks_sentence, sentence as prepares};
use crate::components::section_nav::scroll_to_current_tab;
use crate::components::setting::{AUDIT_LABEL, SettingList, tab_label};
use crate::components::team::audit::AuditLog;
use crate::components::team::browser_session::BrowserSessions;
use crate::components::team::person::Persons;
use crate::components::team::token::Tokens;
use crate::keys::{Key, listen};
use crate::notifications::tab_title;
use crate::overview::Overview;
use crate::reader::Reader;
use crate::route::{Navigation, Route, SettingsTab};
use crate::time::local_day;

#[component]
pub(crate) fn SettingsPage(
    /// The page of the settings, or none for the audit log.
    tab: Option<SettingsTab>,
) -> impl IntoView {
    let navigation = Navigation::from_context();
    let helping = RwSignal::new(false);
    // No event reaches this page.
    ServerStatus::from_context().refresh();
    listen(move |key| match key {
        Key::Help => helping.set(true),
        Key::Close => navigation.go(Route::Projects),
        _ => {}
    });
    tab_title(move || format!("{} · Settings", tab.map_or(AUDIT_LABEL, tab_label)));
    let audit = Reader::current().may(Right::Administer).then(|| (None, AUDIT_LABEL, Route::Audit { filter: AuditFilter::default() }));
    let pages = SettingsTab::ALL.into_iter().map(|offered| (Some(offered), tab_label(offered), Route::Settings { tab: offered })).chain(audit);
    let links = pages.map(move |(offered, label, route)| {
        view! {
            <a href=route.path() aria-current=(offered == tab).then_some("page") on:click=move |event| navigation.follow(&event, route.clone())>
                {label}
            </a>
        }
    });
    request_animation_frame(scroll_to_current_tab);
    let content = match tab {
        None => view! { <AuditLog /> }.into_any(),
        Some(SettingsTab::Browser) => view! { <Preferences /> }.into_any(),
        Some(SettingsTab::Access) => {
            let changed = Trigger::new();
            view! {
                <BrowserSessions changed=changed />
                <Persons changed=changed />
                {Reader::current().may(Right::Administer).then(|| view! { <Tokens changed=changed /> })}
                <Loaded page=Page::Access />
            }
            .into_any()
        }
        Some(SettingsTab::Limits) => view! { <Limits /> }.into_any(),
        Some(SettingsTab::Roles) => view! { <Loaded page=Page::Roles /> }.into_any(),
        Some(SettingsTab::Prompts) => view! { <Prompts /> }.into_any(),
        Some(SettingsTab::Repositories) => view! { <Repositories /> <Loaded page=Page::Repositories /> }.into_any(),
        Some(SettingsTab::Sandbox) => view! { <SandboxInUse /> <Loaded page=Page::Sandbox /> }.into_any(),
    };
    view! {
        <Bar title="Settings">
            <nav class="sections" aria-label="Settings">{links.collect_view()}</nav>
        </Bar>
        <main class="scroll">
            <div class="page">{content}</div>
        </main>
        <Show when=move || helping.get()>
            <HelpDialog close=Callback::new(move |()| helping.set(false)) />
        </Show>
    }
}

/// Requests the settings once, and shows `content` when they arrive.
fn loaded(content: impl Fn(SettingsView) -> AnyView + Send + 'static) -> impl IntoView {
    let client = Client::from_context();
    let answer = RwSignal::new(None);
    spawn_local(async move {
        let received = client.settings().await;
        let _page_closed = answer.try_set(Some(received));
    });
    move || match answer.get() {
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Some(Err(_)) => view! { <p class="notice" data-tone="bad" role="alert">"The settings could not be read. Reload the page."</p> }.into_any(),
        Some(Ok(view)) => content(view),
    }
}

#[component]
fn Loaded(page: Page) -> impl IntoView {
    loaded(move |view| view! { <SettingList view=view page=page /> }.into_any())
}

/// Facts as pairs of a name and a value.
#[component]
fn Facts(title: &'static str, facts: Vec<(String, String)>) -> impl IntoView {
    let pairs = facts.into_iter().map(|(name, value)| view! { <dt>{name}</dt> <dd><InlineCode text=value /></dd> });
    view! {
        <section class="section" aria-label=title>
            <h2>{title}</h2>
            <dl class="details facts">{pairs.collect_view()}</dl>
        </section>
    }
    .into_any()
}

#[component]
fn Limits() -> impl IntoView {
    loaded(|view| {
        let kept = use_of_task_and_log(&view);
        view! { <UsedNow kept=kept /> <SettingList view=view page=Page::Limits /> }.into_any()
    })
}

/// How much of the limits is used at the moment.
#[component]
fn UsedNow(
    /// The facts that no event changes on this page.
    kept: Vec<(String, String)>,
) -> impl IntoView {
    let (status, overview) = (ServerStatus::from_context(), Overview::from_context());
    let projects = overview.projects.watch().value;
    move || {
        let mut facts = status.server.with(|server| server.as_ref().map(use_of_server)).unwrap_or_default();
        let default = status.server.with(|server| server.as_ref().and_then(|server| server.project_budget_micro_usd));
        projects.with(|projects| {
            facts.extend(projects.iter().flatten().map(|summary| {
                let budget = summary.project.budget_micro_usd.or(default);
                (format!("{} {}", summary.project.id, summary.project.title), share(summary.cost_micro_usd, budget))
            }));
        });
        facts.extend(kept.clone());
        view! { <Facts title="In use" facts=facts /> }
    }
}

/// The costliest open task beside the limit of a task, and the age of the log beside its retention.
fn use_of_task_and_log(view: &SettingsView) -> Vec<(String, String)> {
    let task = view.in_use.costliest_task.as_ref().map(|task| {
        let name = format!("Costliest open task: {} {}", task.id, task.title);
        (name, share(task.cost_micro_usd, view.task_limit_micro_usd))
    });
    let days = view.settings.iter().find(|setting| setting.key == "keep_events_days").and_then(|setting| setting.value.clone());
    let log = view.in_use.kept_since.zip(days).map(|(since, days)| {
        let kept = format!("{} events since {}, for at most {days} days", view.in_use.kept_events, local_day(since));
        ("History".to_owned(), kept)
    });
    task.into_iter().chain(log).collect()
}

fn use_of_server(server: &ServerInfo) -> Vec<(String, String)> {
    vec![
        ("Agents at work".to_owned(), format!("{} of {}", server.runner.live_runs.len(), server.runner.max_agents)),
        ("All projects, today in UTC".to_owned(), amount(server.cost_today_micro_usd)),
    ]
}

fn amount(micro_usd: i64) -> String {
    money(micro_usd).unwrap_or_else(|| "$0".to_owned())
}

/// `$1.20 of $100`.
fn share(cost: i64, budget: Option<i64>) -> String {
    budget.map_or_else(|| format!("{}, without a limit", amount(cost)), |budget| format!("{} of {}", amount(cost), amount(budget)))
}

/// The text about its role that each kind of agent gets.
#[component]
fn Prompts() -> impl IntoView {
    loaded(|view| {
        let prompts = view.prompts.into_iter().map(|prompt| view! { <Prompt prompt=prompt /> });
        view! {
            <section class="section" aria-label="Prompts">
                <h2>"Prompts"</h2>
                <p class="soft small-text">
                    <InlineCode text="Each kind of agent is started with one of these texts. `vibe-relay init --prompts` writes them into a repository for you to edit; `prompts_path` names that folder, and `agents.PHASE.system_prompt_file` a single file." />
                </p>
                {prompts.collect_view()}
            </section>
        }
        .into_any()
    })
}

#[component]
fn Prompt(prompt: RolePrompt) -> impl IntoView {
    let name = format!("Prompt for the {}", prompt.phase);
    let source = prompt.file.map_or_else(|| "built in".to_owned(), |file| format!("replaced by `{file}`"));
    view! {
        <details class="prompt">
            <summary><strong>{prompt.phase.as_str()}</strong> " " <span class="faint small-text"><InlineCode text=source /></span></summary>
            <pre tabindex="0" role="region" aria-label=name>{prompt.text}</pre>
        </details>
    }
    .into_any()
}

/// The result of looking at the repository of a project, in words.
#[component]
fn Probed(path: String, base_branch: String) -> impl IntoView {
    let client = Client::from_context();
    let answer = RwSignal::new(None);
    let uncommitted = RwSignal::new(None);
    spawn_local(async move {
        let received = client.probe(&path, Some(&base_branch), false).await;
        let is_found = received.is_ok();
        let is_page_closed = answer.try_set(Some(received)).is_some();
        if is_found
            && !is_page_closed
            && let Ok(found) = client.uncommitted(&path, None).await
        {
            let _page_closed = uncommitted.try_set(Some(found.count));
        }
    });
    move || {
        let (text, tone) = answer.with(|answer| match answer {
            None => ("Checking…".to_owned(), Tone::Neutral),
            Some(Ok(found)) => (summary(found, uncommitted.get(), BranchStart::Base), Tone::Good),
            Some(Err(failure)) => {
                let (detail, hint) = failure.describe();
                (format!("{} {}", sentence(&detail), sentence(&hint)), Tone::Bad)
            }
        });
        view! { <span class="hint" data-tone=tone.as_str() role="status"><InlineCode text=text /></span> }.into_any()
    }
}

/// The repository of each project.
#[component]
fn Repositories() -> impl IntoView {
    let projects = Overview::from_context().projects.watch().value;
    let profile = |project: &Project| {
        let access: Vec<String> = project.allowed_access.iter().map(|access| format!("`{}`", access.target)).collect();
        vec![
            ("Repository".to_owned(), format!("`{}`", project.repo_path)),
            ("Base branch".to_owned(), format!("`{}`", project.base_branch)),
            ("Project branch".to_owned(), format!("`{}`", project.integration_branch)),
            ("Worktrees".to_owned(), prepares(&project.profile)),
            ("Checks".to_owned(), Some(checks_sentence(&project.profile)).filter(|words| !words.is_empty()).unwrap_or_else(|| "none".to_owned())),
            ("Allowed in a jail".to_owned(), if access.is_empty() { "no additional paths or hosts".to_owned() } else { access.join(", ") }),
        ]
    };
    let editing = RwSignal::new(None::<Project>);
    let list = move || {
        let projects = projects.get().unwrap_or_default();
        let empty = projects.is_empty().then(|| view! { <p class="soft">"Each project shows its repository and branches here."</p> });
        let sections = projects.into_iter().map(|summary| {
            let facts = profile(&summary.project).into_iter().map(|(name, value)| view! { <dt>{name}</dt> <dd><InlineCode text=value /></dd> });
            let (name, changed) = (format!("Prepare worktrees… of {}", summary.project.id), summary.project.clone());
            let change = Reader::current().may(Right::Administer).then(|| {
                view! {
                    <div>
                        <button type="button" class="button small" aria-label=name on:click=move |_| editing.set(Some(changed.clone()))>
                            "Prepare worktrees…"
                        </button>
                    </div>
                }
            });
            view! {
                <section class="section">
                    <h2>{format!("{} {}", summary.project.id, summary.project.title)}</h2>
                    <dl class="details facts">
                        {facts.collect_view()}
                        <dt>"Check"</dt>
                        <dd><Probed path=summary.project.repo_path base_branch=summary.project.base_branch /></dd>
                    </dl>
                    {change}
                </section>
            }
        });
        view! { {empty} {sections.collect_view()} }.into_any()
    };
    let close = Callback::new(move |()| editing.set(None));
    view! {
        {list}
        {move || editing.get().map(|project| view! { <ProfileDialog project=project close=close /> })}
    }
}

/// The tier that the next agents get.
#[component]
fn SandboxInUse() -> impl IntoView {
    let server = ServerStatus::from_context().server;
    move || {
        let sandbox = server.with(|server| server.as_ref().and_then(|server| server.sandbox.clone()));
        let tier = sandbox.as_ref().and_then(|sandbox| sandbox.tier).map_or_else(|| "not known yet".to_owned(), |tier| format!("`{tier}`"));
        let mut facts = vec![("Next agents".to_owned(), tier)];
        facts.extend(sandbox.and_then(|sandbox| sandbox.detail).map(|detail| ("Reason".to_owned(), detail)));
        view! { <Facts title="In use" facts=facts /> }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_names_the_cost_and_its_limit() {
        assert_eq!(share(1_200_000, Some(100_000_000)), "$1.20 of $100.00");
        assert_eq!(share(0, None), "$0, without a limit");
    }
}
