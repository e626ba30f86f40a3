//! The address bar: the page of an address, and navigation without a reload.
//!
//! Must not know the content of a page.

mod context_place;
mod section;
mod settings_tab;

pub(crate) use context_place::ContextPlace;
pub(crate) use section::Section;
pub(crate) use settings_tab::SettingsTab;

use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use web_sys::{MouseEvent, UrlSearchParams};

use crate::client::{ActivityFilter, AuditFilter, MessageFilter};

/// A page of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Projects,
    /// Everything that needs the reader.
    NeedsYou,
    /// The open tasks of all projects.
    AllTasks,
    Settings {
        tab: SettingsTab,
    },
    /// The audit log, or a filtered part of it. It is shown among the settings.
    Audit {
        filter: AuditFilter,
    },
    /// A task whose project is not known yet.
    Task {
        task: TaskId,
    },
    Board {
        project: ProjectId,
        task: Option<TaskId>,
    },
    /// A task on a page of its own.
    TaskPage {
        project: ProjectId,
        task: TaskId,
    },
    Plan {
        project: ProjectId,
    },
    /// The review of a task.
    Review {
        project: ProjectId,
        task: TaskId,
    },
    /// The tasks and their dependencies.
    Graph {
        project: ProjectId,
    },
    /// The landing page: of the work that would land now, or of an earlier landing.
    Land {
        project: ProjectId,
        landing: Option<i64>,
    },
    /// The messages, or a filtered part of them.
    Messages {
        project: ProjectId,
        filter: MessageFilter,
    },
    /// The history of the project, or a filtered part of it.
    Activity {
        project: ProjectId,
        filter: ActivityFilter,
    },
    /// The board at a past event, or at the last one.
    Replay {
        project: ProjectId,
        at: Option<Seq>,
    },
    /// The findings and the memory of agents.
    Context {
        project: ProjectId,
        place: ContextPlace,
    },
    /// Another section beside the board.
    ProjectSection {
        project: ProjectId,
        section: Section,
    },
    Unknown,
}

impl Route {
    /// The page at `path`. `parameter` returns a query parameter by name.
    pub(crate) fn parse(path: &str, parameter: impl Fn(&str) -> Option<String>) -> Self {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let project = |id: &str| id.parse::<ProjectId>();
        match parts.as_slice() {
            [] => Self::Projects,
            ["needs-you"] => Self::NeedsYou,
            ["board"] => Self::AllTasks,
            ["settings"] => Self::Settings { tab: SettingsTab::Browser },
            ["settings", "audit"] => Self::Audit { filter: AuditFilter::parse(parameter, is_name) },
            ["settings", part] => {
                let tab = SettingsTab::ALL.into_iter().find(|tab| tab.path() == *part);
                tab.map_or(Self::Unknown, |tab| Self::Settings { tab })
            }
            ["tasks", task] => task.parse().map_or(Self::Unknown, |task| Self::Task { task }),
            ["projects", id] => project(id).map_or(Self::Unknown, |project| Self::Board { project, task: None }),
            ["projects", id, "plan"] => project(id).map_or(Self::Unknown, |project| Self::Plan { project }),
            ["projects", id, "graph"] => project(id).map_or(Self::Unknown, |project| Self::Graph { project }),
            ["projects", id, "land"] => project(id).map_or(Self::Unknown, |project| {
                let landing = parameter("landing").and_then(|landing| landing.parse().ok());
                Self::Land { project, landing }
            }),
            ["projects", id, "messages"] => project(id).map_or(Self::Unknown, |project| {
                let task = parameter("task").and_then(|task| task.parse().ok());
                Self::Messages { project, filter: MessageFilter { task, agent: parameter("agent").filter(|name| is_name(name)) } }
            }),
            ["projects", id, "activity"] => project(id).map_or(Self::Unknown, |project| {
                let filter = ActivityFilter {
                    topic: parameter("topic").and_then(|topic| topic.parse().ok()),
                    task: parameter("task").and_then(|task| task.parse().ok()),
                    actor: parameter("actor").filter(|name| is_name(name)),
                    details: parameter("details").is_some_and(|details| details == "true"),
                };
                Self::Activity { project, filter }
            }),
            ["projects", id, "replay"] => {
                project(id).map_or(Self::Unknown, |project| Self::Replay { project, at: parameter("at").and_then(|at| at.parse().ok()) })
            }
            ["projects", id, "context"] => {
                project(id).map_or(Self::Unknown, |project| Self::Context { project, place: ContextPlace::parse(parameter) })
            }
            ["projects", id, "tasks", task] => match (project(id), task.parse()) {
                (Ok(project), Ok(task)) => Self::Board { project, task: Some(task) },
                _ => Self::Unknown,
            },
            ["projects", id, "tasks", task, "page"] => match (project(id), task.parse()) {
                (Ok(project), Ok(task)) => Self::TaskPage { project, task },
                _ => Self::Unknown,
            },
            ["projects", id, "tasks", task, "review"] => match (project(id), task.parse()) {
                (Ok(project), Ok(task)) => Self::Review { project, task },
                _ => Self::Unknown,
            },
            ["projects", id, part] => match (project(id), Section::ALL.into_iter().find(|section| section.path() == *part)) {
                (Ok(project), Some(section)) => section.route(project),
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }

    pub(crate) fn path(&self) -> String {
        match self {
            Self::Projects | Self::Unknown => "/".to_owned(),
            Self::NeedsYou => "/needs-you".to_owned(),
            Self::AllTasks => "/board".to_owned(),
            Self::Settings { tab: SettingsTab::Browser } => "/settings".to_owned(),
            Self::Settings { tab } => format!("/settings/{}", tab.path()),
            Self::Audit { filter } => format!("/settings/audit{}", query(filter.parameters())),
            Self::Task { task } => format!("/tasks/{task}"),
            Self::Board { project, task: None } => format!("/projects/{project}"),
            Self::Board { project, task: Some(task) } => format!("/projects/{project}/tasks/{task}"),
            Self::TaskPage { project, task } => format!("/projects/{project}/tasks/{task}/page"),
            Self::Plan { project } => format!("/projects/{project}/plan"),
            Self::Review { project, task } => format!("/projects/{project}/tasks/{task}/review"),
            Self::Graph { project } => format!("/projects/{project}/graph"),
            Self::Land { project, landing: None } => format!("/projects/{project}/land"),
            Self::Land { project, landing: Some(landing) } => format!("/projects/{project}/land?landing={landing}"),
            Self::Messages { project, filter } => {
                let agent = filter.agent.clone().map(|agent| ("agent", agent));
                let task = filter.task.as_ref().map(|task| ("task", task.to_string()));
                format!("/projects/{project}/messages{}", query(agent.into_iter().chain(task)))
            }
            Self::Activity { project, filter } => format!("/projects/{project}/activity{}", query(filter.parameters())),
            Self::Replay { project, at } => format!("/projects/{project}/replay{}", query(at.map(|at| ("at", at.to_string())))),
            Self::Context { project, place } => format!("/projects/{project}/context{}", query(place.parameters())),
            Self::ProjectSection { project, section } => format!("/projects/{project}/{}", section.path()),
        }
    }

    /// The project of the page.
    pub(crate) fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Board { project, .. }
            | Self::TaskPage { project, .. }
            | Self::Plan { project }
            | Self::Review { project, .. }
            | Self::Graph { project }
            | Self::Land { project, .. }
            | Self::Messages { project, .. }
            | Self::Activity { project, .. }
            | Self::Replay { project, .. }
            | Self::Context { project, .. }
            | Self::ProjectSection { project, .. } => Some(project),
            Self::Projects | Self::NeedsYou | Self::AllTasks | Self::Settings { .. } | Self::Audit { .. } | Self::Task { .. } | Self::Unknown => None,
        }
    }

    /// The section of the page, if it belongs to a project.
    pub(crate) fn section(&self) -> Option<Section> {
        match self {
            Self::Board { .. } | Self::TaskPage { .. } | Self::Plan { .. } | Self::Review { .. } | Self::Graph { .. } | Self::Land { .. } => {
                Some(Section::Board)
            }
            Self::Messages { .. } => Some(Section::Messages),
            Self::Activity { .. } => Some(Section::Activity),
            Self::Replay { .. } => Some(Section::Replay),
            Self::Context { .. } => Some(Section::Context),
            Self::ProjectSection { section, .. } => Some(*section),
            Self::Projects | Self::NeedsYou | Self::AllTasks | Self::Settings { .. } | Self::Audit { .. } | Self::Task { .. } | Self::Unknown => None,
        }
    }

    /// The messages to show.
    pub(crate) fn message_filter(&self) -> MessageFilter {
        match self {
            Self::Messages { filter, .. } => filter.clone(),
            _ => MessageFilter::default(),
        }
    }

    /// The history to show.
    pub(crate) fn activity_filter(&self) -> ActivityFilter {
        match self {
            Self::Activity { filter, .. } => filter.clone(),
            _ => ActivityFilter::default(),
        }
    }

    /// The part of the audit log to show.
    pub(crate) fn audit_filter(&self) -> AuditFilter {
        match self {
            Self::Audit { filter } => filter.clone(),
            _ => AuditFilter::default(),
        }
    }

    /// The page without its filters, which change while it stays.
    pub(crate) fn unfiltered(self) -> Self {
        match self {
            Self::Audit { .. } => Self::Audit { filter: AuditFilter::default() },
            page => page,
        }
    }

    /// The part of the shared context to show.
    pub(crate) fn context_place(&self) -> ContextPlace {
        match self {
            Self::Context { place, .. } => place.clone(),
            _ => ContextPlace::default(),
        }
    }

    /// The event of a replay.
    pub(crate) const fn replay_at(&self) -> Option<Seq> {
        match self {
            Self::Replay { at, .. } => *at,
            _ => None,
        }
    }

    /// Whether the columns of the board are shown.
    pub(crate) const fn is_board(&self) -> bool {
        matches!(self, Self::Board { .. })
    }

    /// The task whose panel is open.
    pub(crate) fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Board { task, .. } => task.as_ref(),
            _ => None,
        }
    }
}

/// The current page.
#[derive(Clone, Copy)]
pub(crate) struct Navigation(RwSignal<Route>);

impl Navigation {
    /// Reads the address, follows the browser's back and forward buttons, and provides itself below the current owner.
    pub(crate) fn provide() -> Self {
        let navigation = Self(RwSignal::new(current()));
        provide_context(navigation);
        let listener = window_event_listener(leptos::ev::popstate, move |_| navigation.0.set(current()));
        on_cleanup(move || listener.remove());
        navigation
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    pub(crate) fn get(self) -> Route {
        self.0.get()
    }

    pub(crate) fn get_untracked(self) -> Route {
        self.0.get_untracked()
    }

    /// Opens a page and adds it to the browser's history.
    pub(crate) fn go(self, route: Route) {
        if self.0.with_untracked(|current| *current == route) {
            return;
        }
        if let Ok(history) = window().history() {
            // Browsers limit the rate of history changes. The page opens anyway.
            let _unchanged_address = history.push_state_with_url(&JsValue::NULL, "", Some(&route.path()));
        }
        self.0.set(route);
    }

    /// Follows a link without a reload, unless the click asks for a new tab or window.
    pub(crate) fn follow(self, event: &MouseEvent, route: Route) {
        if event.button() == 0 && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key()) {
            event.prevent_default();
            self.go(route);
        }
    }
}

/// The query of an address. The values need no escaping.
fn query(parameters: impl IntoIterator<Item = (&'static str, String)>) -> String {
    let pairs: Vec<String> = parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// Whether the text consists of the characters of agent names, which need no escaping in an address.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

fn current() -> Route {
    let location = window().location();
    let query = location.search().ok().and_then(|search| UrlSearchParams::new_with_str(&search).ok());
    location.pathname().map_or(Route::Unknown, |path| Route::parse(&path, |name| query.as_ref()?.get(name)))
}

#[cfg(test)]
mod tests;
