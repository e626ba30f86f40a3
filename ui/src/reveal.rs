//! Brings a card into view: one that the reader created, or one that arrived below the visible part of its column.
//!
//! Must not know why a card is wanted.

use std::time::Duration;

use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::toast::Toasts;
use crate::focus;

/// How long a card is marked after it came into view.
const MARK_DURATION: Duration = Duration::from_millis(2_500);
/// How long a card may take to arrive. A filter may hide it.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(4);

#[derive(Clone, Copy)]
pub(crate) struct Reveal {
    toasts: Toasts,
    /// The card that no column shows yet, and whether it gets the focus.
    wanted: RwSignal<Option<(TaskId, bool)>>,
    /// The card that came into view last, for as long as it is marked.
    marked: RwSignal<Option<TaskId>>,
}

impl Reveal {
    pub(crate) fn provide() -> Self {
        let reveal = Self { toasts: Toasts::from_context(), wanted: RwSignal::new(None), marked: RwSignal::new(None) };
        provide_context(reveal);
        reveal
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Brings a card into view as soon as its column has it.
    pub(crate) fn show(self, task: TaskId, with_focus: bool) {
        self.wanted.set(Some((task.clone(), with_focus)));
        let expire = move || {
            let is_hidden = self.wanted.try_with_untracked(|wanted| wanted.as_ref().is_some_and(|(wanted, _)| *wanted == task));
            if is_hidden == Some(true) {
                self.wanted.set(None);
                self.toasts.success(format!("{task} was added. The filter hides it."));
            }
        };
        set_timeout(expire, ARRIVAL_TIMEOUT);
    }

    /// The card that no column shows yet.
    pub(crate) fn wanted(self) -> Option<TaskId> {
        self.wanted.with(|wanted| wanted.as_ref().map(|(task, _)| task.clone()))
    }

    /// The card that came into view last.
    pub(crate) fn marked(self) -> Option<TaskId> {
        self.marked.get()
    }

    /// Scrolls to a wanted card whose column draws it now.
    pub(crate) fn settle(self, task: &TaskId) {
        let with_focus = self.wanted.with_untracked(|wanted| wanted.as_ref().is_some_and(|(_, with_focus)| *with_focus));
        self.wanted.set(None);
        self.marked.set(Some(task.clone()));
        focus::bring_into_view(format!("[data-task={task}]"), with_focus.then(|| format!("[data-task={task}] .card-open")));
        let task = task.clone();
        let unmark = move || {
            if self.marked.try_with_untracked(|marked| marked.as_ref() == Some(&task)) == Some(true) {
                self.marked.set(None);
            }
        };
        set_timeout(unmark, MARK_DURATION);
    }
}
