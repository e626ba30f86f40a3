//! The flow of a project in its header: whether its work moves on, and what holds it up.
//!
//! Must not judge the facts: `domain` names the state.

use std::time::Duration;

use domain::board::flow;
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::components::badge::Tone;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::Clock;

/// How often the state of the runner is read. Its changes of other projects cause no event here.
const REFRESH_INTERVAL: Duration = Duration::from_secs(30);

#[component]
pub(crate) fn FlowState() -> impl IntoView {
    let (store, status, clock) = (Store::from_context(), ServerStatus::from_context(), Clock::from_context());
    if let Ok(interval) = set_interval_with_handle(move || status.refresh(), REFRESH_INTERVAL) {
        on_cleanup(move || interval.clear());
    }
    let runner = Memo::new(move |_| status.server.with(|server| server.as_ref().map(|server| server.runner.clone())));
    let state = Memo::new(move |_| runner.with(|runner| runner.as_ref().map(|runner| store.flow.with(|flow| flow.state(runner)))));
    let facts = Memo::new(move |_| {
        let now = clock.now();
        runner.with(|runner| {
            let (runner, flow, project) = (runner.as_ref()?, store.flow.read(), store.project.read());
            Some(flow.facts(runner, project.as_ref()?, now).join(" · "))
        })
    });
    let navigation = Navigation::from_context();
    let words = move || match state.get()? {
        flow::FlowState::NeedsYou => {
            let sentence = flow::FlowState::NeedsYou.sentence();
            Some(view! { <a href=Route::NeedsYou.path() on:click=move |event| navigation.follow(&event, Route::NeedsYou)>{sentence}</a> }.into_any())
        }
        other => Some(other.sentence().into_any()),
    };
    view! {
        <span class="flow" title=facts data-tone=move || state.get().map(|state| tone(state).as_str())>
            {words}
        </span>
    }
}

const fn tone(state: flow::FlowState) -> Tone {
    match state {
        flow::FlowState::Working => Tone::Live,
        flow::FlowState::Stopped => Tone::Bad,
        flow::FlowState::Parked | flow::FlowState::Paused | flow::FlowState::NeedsYou => Tone::Warn,
        flow::FlowState::Ready | flow::FlowState::Waiting | flow::FlowState::Idle => Tone::Neutral,
    }
}
