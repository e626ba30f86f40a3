//! The address bar: which page an address means, and moving between pages without a reload.
//!
//! Must not know what the pages show.

use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use web_sys::MouseEvent;

/// A part of a project with a page of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Section {
    Board,
    Team,
    Messages,
    Goals,
    Contracts,
    Handshakes,
}

impl Section {
    /// In the order of the tabs and of the keys from 1.
    pub(crate) const ALL: [Self; 6] = [Self::Board, Self::Team, Self::Messages, Self::Goals, Self::Contracts, Self::Handshakes];

    /// Its place in an address; the board has none.
    const fn path(self) -> &'static str {
        match self {
            Self::Board => "",
            Self::Team => "team",
            Self::Messages => "messages",
            Self::Goals => "goals",
            Self::Contracts => "contracts",
            Self::Handshakes => "handshakes",
        }
    }

    pub(crate) fn route(self, project: ProjectId) -> Route {
        match self {
            Self::Board => Route::Board { project, task: None },
            section => Route::Beside { project, section },
        }
    }
}

/// A page of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Projects,
    Board {
        project: ProjectId,
        task: Option<TaskId>,
    },
    Plan {
        project: ProjectId,
    },
    /// A section other than the board.
    Beside {
        project: ProjectId,
        section: Section,
    },
    Unknown,
}

impl Route {
    pub(crate) fn parse(path: &str) -> Self {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let project = |id: &str| id.parse::<ProjectId>();
        match parts.as_slice() {
            [] => Self::Projects,
            ["projects", id] => project(id).map_or(Self::Unknown, |project| Self::Board { project, task: None }),
            ["projects", id, "plan"] => project(id).map_or(Self::Unknown, |project| Self::Plan { project }),
            ["projects", id, "tasks", task] => match (project(id), task.parse()) {
                (Ok(project), Ok(task)) => Self::Board { project, task: Some(task) },
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
            Self::Board { project, task: None } => format!("/projects/{project}"),
            Self::Board { project, task: Some(task) } => format!("/projects/{project}/tasks/{task}"),
            Self::Plan { project } => format!("/projects/{project}/plan"),
            Self::Beside { project, section } => format!("/projects/{project}/{}", section.path()),
        }
    }

    /// The project whose page this is.
    pub(crate) fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Board { project, .. } | Self::Plan { project } | Self::Beside { project, .. } => Some(project),
            Self::Projects | Self::Unknown => None,
        }
    }

    /// The part of the project that this is, if it is one of a project.
    pub(crate) fn section(&self) -> Option<Section> {
        match self {
            Self::Board { .. } | Self::Plan { .. } => Some(Section::Board),
            Self::Beside { section, .. } => Some(*section),
            Self::Projects | Self::Unknown => None,
        }
    }

    /// The task whose sheet is open.
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
    /// Reads the address, follows the browser's back and forward, and makes itself available below the current owner.
    pub(crate) fn provide() -> Self {
        let navigation = Self(RwSignal::new(current()));
        provide_context(navigation);
        let listener = window_event_listener(leptos::ev::popstate, move |_| navigation.0.set(current()));
        on_cleanup(move || listener.remove());
        navigation
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    pub(crate) fn get(self) -> Route {
        self.0.get()
    }

    pub(crate) fn get_untracked(self) -> Route {
        self.0.get_untracked()
    }

    /// Goes to a page and puts it into the browser's history.
    pub(crate) fn go(self, route: Route) {
        if self.0.with_untracked(|now| *now == route) {
            return;
        }
        if let Ok(history) = window().history() {
            // A refusal (too many calls in a short time) costs the address, not the page.
            let _address_kept = history.push_state_with_url(&JsValue::NULL, "", Some(&route.path()));
        }
        self.0.set(route);
    }

    /// Follows a link without a reload, unless the person asked for a new tab or window.
    pub(crate) fn follow(self, event: &MouseEvent, route: Route) {
        if event.button() == 0 && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key()) {
            event.prevent_default();
            self.go(route);
        }
    }
}

fn current() -> Route {
    window().location().pathname().map_or(Route::Unknown, |path| Route::parse(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_an_address_that_leads_back_to_it() {
        let project = ProjectId::new(1);
        let pages = [
            Route::Projects,
            Route::Board { project: project.clone(), task: None },
            Route::Board { project: project.clone(), task: Some(TaskId::new(12)) },
            Route::Plan { project: project.clone() },
        ];
        let pages = pages.into_iter().chain(Section::ALL.map(|section| section.route(project.clone())));
        for page in pages {
            assert_eq!(Route::parse(&page.path()), page);
        }
    }

    #[test]
    fn other_addresses_are_unknown() {
        for path in [
            "/projects",
            "/projects/x",
            "/projects/PROJ-001/tasks",
            "/projects/PROJ-001/x",
            "/projects/x/team",
            "/projects/PROJ-001/tasks/RUN-001",
            "/a/b/c/d",
        ] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }
}
