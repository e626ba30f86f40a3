//! Search in a context session: the field, and the messages that were found with their words marked.

use std::time::Duration;

use domain::context::session::ContextSessionId;
use domain::wire::FoundMessage;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::session_thread::visibility_label;
use crate::client::Client;
use crate::components::badge::team::name_heading;
use crate::components::icon::{CLOSE, Icon, SEARCH};
use crate::palette::parts;
use crate::project_data::ProjectData;
use crate::route::{ContextPlace, Navigation, Route};
use crate::time::Clock;

/// Time without typing before the server is asked.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(150);

#[component]
pub(crate) fn SessionSearch(words: RwSignal<String>) -> impl IntoView {
    view! {
        <div class="context-search" role="search">
            <Icon drawing=SEARCH />
            <input
                type="text"
                autocomplete="off"
                maxlength="128"
                aria-label="Search this session"
                placeholder="Search this session"
                prop:value=words
                on:input:target=move |event| words.set(event.target().value())
                on:keydown=move |event| if event.key() == "Escape" && !words.with_untracked(String::is_empty) {
                    event.stop_propagation();
                    words.set(String::new());
                }
            />
            <Show when=move || !words.with(String::is_empty)>
                <button type="button" class="button quiet icon small" aria-label="Clear the search" on:click=move |_| words.set(String::new())>
                    <Icon drawing=CLOSE />
                </button>
            </Show>
        </div>
    }
    .into_any()
}

/// The messages that were found for `words`, or why there are none.
#[component]
pub(crate) fn SessionResults(session: ContextSessionId, words: RwSignal<String>) -> impl IntoView {
    let client = Client::from_context();
    let (answer, newest) = (RwSignal::new(None::<Option<Vec<FoundMessage>>>), StoredValue::new(0_u32));
    let own = StoredValue::new(session);
    Effect::new(move || {
        let typed = words.with(|words| words.trim().to_owned());
        newest.update_value(|newest| *newest = newest.wrapping_add(1));
        let number = newest.get_value();
        if typed.is_empty() {
            return;
        }
        spawn_local(async move {
            sleep(DEBOUNCE_INTERVAL).await;
            let Some(session) = own.try_get_value().filter(|_| newest.try_get_value() == Some(number)) else { return };
            let found = client.search_session(session, &typed).await;
            if newest.try_get_value() == Some(number) {
                let _page_closed = answer.try_set(Some(found.ok().map(|list| list.items)));
            }
        });
    });
    let status = move || {
        answer.with(|answer| match answer {
            None => "Searching…".to_owned(),
            Some(None) => "The server did not answer the search.".to_owned(),
            Some(Some(found)) => match found.len() {
                0 => "Nothing found. Try fewer or other words.".to_owned(),
                1 => "1 message".to_owned(),
                count => format!("{count} messages"),
            },
        })
    };
    let found = move || answer.get().flatten().unwrap_or_default();
    view! {
        <div class="context-scroll" tabindex="0" role="region" aria-label="Results">
            <p class="faint small-text" role="status">{status}</p>
            <ul class="context-found">
                {move || found().into_iter().map(|found| view! { <Found found=found session=own.get_value() words=words /> }).collect_view()}
            </ul>
        </div>
    }
    .into_any()
}

#[component]
fn Found(found: FoundMessage, session: ContextSessionId, words: RwSignal<String>) -> impl IntoView {
    let (data, navigation, clock) = (ProjectData::from_context(), Navigation::from_context(), Clock::from_context());
    let place = ContextPlace { session: Some(session), message: Some(found.id), ..ContextPlace::default() };
    let route = Route::Context { project: data.project(), place };
    let at = found.at;
    let text = parts(&found.excerpt, &found.highlights)
        .into_iter()
        .map(|(part, is_marked)| if is_marked { view! { <mark>{part}</mark> }.into_any() } else { part.into_any() })
        .collect_view();
    view! {
        <li>
            <a href=route.path() on:click=move |event| {
                navigation.follow(&event, route.clone());
                if event.default_prevented() {
                    words.set(String::new());
                }
            }>
                <span class="context-excerpt" dir="auto">{text}</span>
                <span class="faint small-text">
                    {name_heading(&found.sender)}
                    " · "
                    {visibility_label(found.visibility).0}
                    " · "
                    {move || clock.ago(at)}
                </span>
            </a>
        </li>
    }
    .into_any()
}
