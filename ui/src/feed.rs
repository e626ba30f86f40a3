//! A list of the server that is read again when it has become old: soon while somebody looks at it, otherwise when somebody does again.
//!
//! Must not know what the list holds.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Failure;

/// How long events are collected before the list is read again.
const REST: Duration = Duration::from_millis(120);

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

/// Where reading stands.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    watchers: u32,
    stale: bool,
    /// Whether a reading waits for events to rest.
    waiting: bool,
    /// Counts readings, so that an answer that was overtaken is dropped.
    newest: u64,
}

pub(crate) struct Feed<T: 'static> {
    /// What the server answered last; none before the first answer.
    pub(crate) value: RwSignal<Option<T>>,
    /// Why the last reading brought nothing.
    pub(crate) failure: RwSignal<Option<String>>,
    read: StoredValue<Rc<dyn Fn() -> Answer<T>>, LocalStorage>,
    state: StoredValue<State>,
    settled: fn(&T) -> bool,
}

impl<T> Clone for Feed<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Feed<T> {}

impl<T: Send + Sync + 'static> Feed<T> {
    /// Reads as soon as there was any `news`, and again after more. Once an answer is `settled` and nobody looks at it, news only marks it as old.
    pub(crate) fn new<F>(news: RwSignal<u32>, settled: fn(&T) -> bool, read: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = Result<T, Failure>> + 'static,
    {
        let read: Rc<dyn Fn() -> Answer<T>> = Rc::new(move || Box::pin(read()));
        let feed = Self {
            value: RwSignal::new(None),
            failure: RwSignal::new(None),
            read: StoredValue::new_local(read),
            state: StoredValue::new(State::default()),
            settled,
        };
        Effect::new(move |asked: Option<bool>| {
            let any = news.get() > 0;
            match asked {
                Some(true) => feed.outdate(),
                _ if any => feed.ask(),
                _ => {}
            }
            any
        });
        feed
    }

    /// Looks at the list until the current owner goes.
    pub(crate) fn watch(self) -> Self {
        self.state.update_value(|state| state.watchers += 1);
        if self.state.try_update_value(|state| std::mem::take(&mut state.stale)) == Some(true) {
            self.ask();
        }
        on_cleanup(move || {
            let _page_was_left = self.state.try_update_value(|state| state.watchers -= 1);
        });
        self
    }

    fn outdate(self) {
        let settled = self.value.with_untracked(|value| value.as_ref().is_some_and(self.settled));
        let wanted = self.state.try_update_value(|state| {
            if settled && state.watchers == 0 {
                state.stale = true;
                return false;
            }
            !std::mem::replace(&mut state.waiting, true)
        });
        if wanted == Some(true) {
            spawn_local(async move {
                sleep(REST).await;
                if self.state.try_update_value(|state| state.waiting = false).is_some() {
                    self.ask();
                }
            });
        }
    }

    /// Reads now.
    pub(crate) fn ask(self) {
        let Some(answer) = self.read.try_with_value(|read| read()) else { return };
        let Some(mine) = self.state.try_update_value(|state| {
            state.newest += 1;
            state.newest
        }) else {
            return;
        };
        spawn_local(async move {
            let answer = answer.await;
            if self.state.try_with_value(|state| state.newest) != Some(mine) {
                return;
            }
            let _page_was_left = match answer {
                Ok(value) => (self.failure.try_set(None).is_none(), self.value.try_set(Some(value)).is_none()),
                Err(Failure::Refused(problem)) => (self.failure.try_set(Some(problem.detail)).is_none(), true),
                Err(Failure::Unreachable(what)) => (self.failure.try_set(Some(what)).is_none(), true),
                Err(Failure::SignedOut) => return,
            };
        });
    }
}
