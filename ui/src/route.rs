//! The address bar: which page an address means, and moving between pages without a reload.
//!
//! Must not know what the pages show.

use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use web_sys::MouseEvent;

/// A page of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Projects,
    Board { project: ProjectId, task: Option<TaskId> },
    Plan { project: ProjectId },
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
            _ => Self::Unknown,
        }
    }

    pub(crate) fn path(&self) -> String {
        match self {
            Self::Projects | Self::Unknown => "/".to_owned(),
            Self::Board { project, task: None } => format!("/projects/{project}"),
            Self::Board { project, task: Some(task) } => format!("/projects/{project}/tasks/{task}"),
            Self::Plan { project } => format!("/projects/{project}/plan"),
        }
    }

    /// The project whose page this is.
    pub(crate) fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Board { project, .. } | Self::Plan { project } => Some(project),
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
            Route::Plan { project },
        ];
        for page in pages {
            assert_eq!(Route::parse(&page.path()), page);
        }
    }

    #[test]
    fn other_addresses_are_unknown() {
        for path in ["/projects", "/projects/x", "/projects/PROJ-001/tasks", "/projects/PROJ-001/tasks/RUN-001", "/a/b/c/d"] {
            assert_eq!(Route::parse(path), Route::Unknown, "{path}");
        }
    }
}
