//! A list from the server that is requested again when it becomes stale: at once while it is on screen, otherwise when it is shown again.
//!
//! Must not know what the list contains.

use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Answer, Failure};

/// The usual time to collect further events.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(120);

#[derive(Clone, Copy, Default)]
struct State {
    watchers: u32,
    stale: bool,
    /// Whether a request is scheduled for the end of the debounce interval.
    scheduled: bool,
    /// The number of the newest request. Answers to older requests are dropped.
    newest: u64,
}

/// When a list is requested. Apart from the list, because it is the same code for all.
#[derive(Clone, Copy)]
struct Requests {
    /// Requests the list, once it is known how.
    send: StoredValue<Option<Rc<dyn Fn()>>, LocalStorage>,
    state: StoredValue<State>,
    /// Time to collect further events before the list is requested again.
    interval: StoredValue<Duration>,
}

impl Requests {
    fn idle() -> Self {
        Self { send: StoredValue::new_local(None), state: StoredValue::new(State::default()), interval: StoredValue::new(DEBOUNCE_INTERVAL) }
    }

    fn start(self, revision: RwSignal<u32>, is_settled: impl Fn() -> bool + 'static, send: Rc<dyn Fn()>) {
        self.send.set_value(Some(send));
        Effect::new(move |was_requested: Option<bool>| {
            let has_board = revision.get() > 0;
            match was_requested {
                Some(true) => self.mark_stale(is_settled()),
                _ if has_board => self.send(),
                _ => {}
            }
            has_board
        });
    }

    fn watch(self) {
        self.state.update_value(|state| state.watchers += 1);
        if self.state.try_update_value(|state| std::mem::take(&mut state.stale)) == Some(true) {
            self.send();
        }
        on_cleanup(move || {
            let _page_closed = self.state.try_update_value(|state| state.watchers -= 1);
        });
    }

    fn mark_stale(self, is_settled: bool) {
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
                    self.send();
                }
            });
        }
    }

    fn send(self) {
        if let Some(send) = self.send.try_get_value().flatten() {
            send();
        }
    }

    /// The number of a new request, unless the list is gone.
    fn next(self) -> Option<u64> {
        self.state.try_update_value(|state| {
            state.newest += 1;
            state.newest
        })
    }

    fn is_newest(self, number: u64) -> bool {
        self.state.try_with_value(|state| state.newest) == Some(number)
    }
}

pub(crate) struct LiveList<T: 'static> {
    /// The last answer, or none before the first.
    pub(crate) value: RwSignal<Option<T>>,
    /// The reason why the last request failed.
    pub(crate) failure: RwSignal<Option<String>>,
    requests: Requests,
}

impl<T> Clone for LiveList<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for LiveList<T> {}

impl<T: Send + Sync + 'static> LiveList<T> {
    /// A list that is not requested before [`Self::follow`] says how. Until then, a page already shows and watches it.
    pub(crate) fn idle() -> Self {
        Self { value: RwSignal::new(None), failure: RwSignal::new(None), requests: Requests::idle() }
    }

    /// A list that is requested as [`Self::follow`] says.
    pub(crate) fn new<F>(revision: RwSignal<u32>, is_settled: fn(&T) -> bool, request: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = Result<T, Failure>> + 'static,
    {
        let list = Self::idle();
        list.follow(revision, is_settled, request);
        list
    }

    /// Requests the list once `revision` is above zero, and again after each change. A change only marks the list as stale when no page
    /// watches it and `is_settled` accepts its last answer.
    pub(crate) fn follow<F>(self, revision: RwSignal<u32>, is_settled: fn(&T) -> bool, request: impl Fn() -> F + 'static)
    where
        F: Future<Output = Result<T, Failure>> + 'static,
    {
        let request: Rc<dyn Fn() -> Answer<T>> = Rc::new(move || Box::pin(request()));
        let is_settled = move || self.value.with_untracked(|value| value.as_ref().is_some_and(is_settled));
        self.requests.start(revision, is_settled, Rc::new(move || self.request(&request)));
    }

    /// Requests the list less often while events arrive.
    pub(crate) fn every(self, interval: Duration) -> Self {
        self.requests.interval.set_value(interval);
        self
    }

    /// Keeps the list up to date for as long as the current owner lives.
    pub(crate) fn watch(self) -> Self {
        self.requests.watch();
        self
    }

    /// Requests the list also at this interval for as long as the current owner lives, because not every change records an event.
    pub(crate) fn poll(self, interval: Duration) -> Self {
        let requests = self.requests;
        if let Ok(polling) = set_interval_with_handle(move || requests.send(), interval) {
            on_cleanup(move || polling.clear());
        }
        self
    }

    /// Requests the list now.
    pub(crate) fn refetch(self) {
        self.requests.send();
    }

    fn request(self, request: &Rc<dyn Fn() -> Answer<T>>) {
        let Some(number) = self.requests.next() else { return };
        let answer = request();
        spawn_local(async move {
            let answer = answer.await;
            if !self.requests.is_newest(number) {
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
