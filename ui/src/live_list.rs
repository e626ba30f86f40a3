//! A list from the server that is requested again when it becomes stale: at once while it is on screen, otherwise when it is shown again.
//!
//! Must not know what the list contains.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Failure;

/// The usual time to collect further events.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(120);

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

#[derive(Debug, Clone, Copy, Default)]
struct State {
    watchers: u32,
    stale: bool,
    /// Whether a request is scheduled for the end of the debounce interval.
    scheduled: bool,
    /// The number of the newest request. Answers to older requests are dropped.
    newest: u64,
}

pub(crate) struct LiveList<T: 'static> {
    /// The last answer, or none before the first.
    pub(crate) value: RwSignal<Option<T>>,
    /// The reason why the last request failed.
    pub(crate) failure: RwSignal<Option<String>>,
    request: StoredValue<Rc<dyn Fn() -> Answer<T>>, LocalStorage>,
    state: StoredValue<State>,
    /// Time to collect further events before the list is requested again.
    interval: StoredValue<Duration>,
    is_settled: fn(&T) -> bool,
}

impl<T> Clone for LiveList<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for LiveList<T> {}

impl<T: Send + Sync + 'static> LiveList<T> {
    /// Requests the list once `revision` is above zero, and again after each change. A change only marks the list as stale when no page
    /// watches it and `is_settled` accepts its last answer.
    pub(crate) fn new<F>(revision: RwSignal<u32>, is_settled: fn(&T) -> bool, request: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = Result<T, Failure>> + 'static,
    {
        let request: Rc<dyn Fn() -> Answer<T>> = Rc::new(move || Box::pin(request()));
        let list = Self {
            value: RwSignal::new(None),
            failure: RwSignal::new(None),
            request: StoredValue::new_local(request),
            state: StoredValue::new(State::default()),
            interval: StoredValue::new(DEBOUNCE_INTERVAL),
            is_settled,
        };
        Effect::new(move |was_requested: Option<bool>| {
            let has_board = revision.get() > 0;
            match was_requested {
                Some(true) => list.mark_stale(),
                _ if has_board => list.refetch(),
                _ => {}
            }
            has_board
        });
        list
    }

    /// Requests the list less often while events arrive.
    pub(crate) fn every(self, interval: Duration) -> Self {
        self.interval.set_value(interval);
        self
    }

    /// Keeps the list up to date for as long as the current owner lives.
    pub(crate) fn watch(self) -> Self {
        self.state.update_value(|state| state.watchers += 1);
        if self.state.try_update_value(|state| std::mem::take(&mut state.stale)) == Some(true) {
            self.refetch();
        }
        on_cleanup(move || {
            let _page_closed = self.state.try_update_value(|state| state.watchers -= 1);
        });
        self
    }

    /// Requests the list also at this interval for as long as the current owner lives, because not every change records an event.
    pub(crate) fn poll(self, interval: Duration) -> Self {
        if let Ok(polling) = set_interval_with_handle(move || self.refetch(), interval) {
            on_cleanup(move || polling.clear());
        }
        self
    }

    fn mark_stale(self) {
        let is_settled = self.value.with_untracked(|value| value.as_ref().is_some_and(self.is_settled));
        let schedule = self.state.try_update_value(|state| {
            if is_settled && state.watchers == 0 {
                state.stale = true;
                return false;
            }
            !std::mem::replace(&mut state.scheduled, true)
        });
        if schedule == Some(true) {
            let interval = self.interval.get_value();
            spawn_local(async move {
                sleep(interval).await;
                if self.state.try_update_value(|state| state.scheduled = false).is_some() {
                    self.refetch();
                }
            });
        }
    }

    /// Requests the list now.
    pub(crate) fn refetch(self) {
        let Some(answer) = self.request.try_with_value(|request| request()) else { return };
        let Some(number) = self.state.try_update_value(|state| {
            state.newest += 1;
            state.newest
        }) else {
            return;
        };
        spawn_local(async move {
            let answer = answer.await;
            if self.state.try_with_value(|state| state.newest) != Some(number) {
                return;
            }
            let _page_closed = match answer {
                Ok(value) => (self.failure.try_set(None).is_none(), self.value.try_set(Some(value)).is_none()),
                Err(Failure::Refused(problem)) => (self.failure.try_set(Some(problem.detail)).is_none(), true),
                Err(Failure::Unreachable(what)) => (self.failure.try_set(Some(what)).is_none(), true),
                Err(Failure::SignedOut) => return,
            };
        });
    }
}
