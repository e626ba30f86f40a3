//! The page of shared context: the sessions of a project, the thread of one of them with search, and the memory of agents.
//!
//! On a phone, the page shows the lists, or the thread of a session with a way back.

use domain::context::session::{ContextSession, ContextSessionId, SessionKind};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::team::name_label;
use crate::components::context::memory::MemoryBox;
use crate::components::context::new_session::NewSessionDialog;
use crate::components::context::session_composer::SessionComposer;
use crate::components::context::session_search::{SessionResults, SessionSearch};
use crate::components::context::session_thread::SessionThreadView;
use crate::components::icon::{BACK, Icon, PLUS};
use crate::components::inline_code::sentence;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{ContextPlace, Navigation, Route};
use crate::store::Store;
use crate::time::Clock;

#[component]
pub(crate) fn ContextPage() -> impl IntoView {
    let (client, store, data, navigation) = (Client::from_context(), Store::from_context(), ProjectData::from_context(), Navigation::from_context());
    let sessions = LiveList::new(store.revision_of(ListKind::Sessions), |_| false, move || client.context_sessions(data.project(), 0)).watch();
    // Older sessions, which the reader asked for.
    let older = RwSignal::new((Vec::<ContextSession>::new(), None::<Option<i64>>));
    let all = Memo::new(move |_| {
        let newest = sessions.value.with(|list| list.as_ref().map(|list| list.items.clone()).unwrap_or_default());
        older
            .with(|(older, _)| newest.iter().chain(older.iter().filter(|old| newest.iter().all(|new| new.id != old.id))).cloned().collect::<Vec<_>>())
    });
    let next =
        Memo::new(move |_| older.with(|(_, next)| *next).unwrap_or_else(|| sessions.value.with(|list| list.as_ref().and_then(|list| list.next))));
    let show_older = move |_| {
        let Some(after) = next.get_untracked() else { return };
        client.act(client.context_sessions(data.project(), after), move |page| {
            let _page_closed = older.try_update(|(known, next)| {
                known.extend(page.items);
                *next = Some(page.next);
            });
        });
    };
    let place = Memo::new(move |_| navigation.get().context_place());
    // Requests the session of a task, or one that is not in the list.
    let asked = RwSignal::new(None::<ContextSession>);
    Effect::new(move || {
        let place = place.get();
        let request = match (place.session, place.task) {
            (Some(session), _) if all.with_untracked(|all| all.iter().all(|known| known.id != session)) => Ok(session),
            (None, Some(task)) => Err(task),
            _ => return,
        };
        spawn_local(async move {
            let found = match request {
                Ok(session) => client.context_session(session).await,
                Err(task) => client.context_session_of(task).await,
            };
            let _page_closed = asked.try_set(found.ok());
        });
    });
    let selected = Memo::new(move |_| {
        let place = place.get();
        match (place.session, place.task) {
            (Some(session), _) => Some(session),
            (None, Some(_)) => asked.with(|asked| asked.as_ref().map(|asked| asked.id.clone())),
            (None, None) => all.with(|all| all.iter().find(|known| known.kind == SessionKind::Project).map(|known| known.id.clone())),
        }
    });
    let shown = Memo::new(move |_| {
        let selected = selected.get()?;
        let listed = all.with(|all| all.iter().find(|known| known.id == selected).cloned());
        listed.or_else(|| asked.get().filter(|asked| asked.id == selected))
    });
    let creating = RwSignal::new(false);
    let is_thread = move || place.with(ContextPlace::is_thread);
    let main = move || match selected.get() {
        Some(session) => view! { <SessionMain session=session shown=shown place=place /> }.into_any(),
        None => view! {
            <div class="empty">
                {move || match sessions.failure.get() {
                    Some(why) => view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> }.into_any(),
                    None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
                }}
            </div>
        }
        .into_any(),
    };
    view! {
        <div class="context-page" data-thread=move || is_thread().then_some("")>
            {main}
            <aside class="context-side" aria-label="Sessions and memory">
                <section class="context-box" aria-labelledby="context-sessions">
                    <div class="row">
                        <h2 id="context-sessions">"Sessions"</h2>
                        {Reader::may_write().then(|| view! {
                            <button type="button" class="button quiet small icon spacer" aria-label="New session" title="New session" on:click=move |_| creating.set(true)>
                                <Icon drawing=PLUS />
                            </button>
                        })}
                    </div>
                    <ul>
                        <For each=move || all.get() key=|session| (session.id.clone(), session.updated_at, session.is_active) let:session>
                            <SessionRow session=session selected=selected />
                        </For>
                    </ul>
                    <Show when=move || next.get().is_some()>
                        <button type="button" class="button quiet small" on:click=show_older>"Show older sessions"</button>
                    </Show>
                </section>
                <MemoryBox place=place />
            </aside>
            {move || creating.get().then(|| view! { <NewSessionDialog close=Callback::new(move |()| creating.set(false)) /> })}
        </div>
    }
}

#[component]
fn SessionRow(session: ContextSession, selected: Memo<Option<ContextSessionId>>) -> impl IntoView {
    let (data, navigation, clock) = (ProjectData::from_context(), Navigation::from_context(), Clock::from_context());
    let own = session.id.clone();
    let route = Route::Context { project: data.project(), place: ContextPlace { session: Some(session.id.clone()), ..ContextPlace::default() } };
    let at = session.updated_at;
    view! {
        <li>
            <a
                href=route.path()
                aria-current=move || (selected.get().as_ref() == Some(&own)).then_some("true")
                on:click=move |event| navigation.follow(&event, route.clone())
            >
                <span class="context-purpose" dir="auto">{title(&session)}</span>
                <span class="faint">
                    {about(&session)}
                    " · "
                    {move || clock.ago(at)}
                </span>
            </a>
        </li>
    }
}

/// The name of a session in lists.
fn title(session: &ContextSession) -> String {
    match session.kind {
        SessionKind::Project => "Session of the project".to_owned(),
        SessionKind::Plan | SessionKind::Shared => session.purpose.clone(),
    }
}

/// The kind of a session, or its creator.
fn about(session: &ContextSession) -> String {
    let kind = match session.kind {
        SessionKind::Project => "all agents".to_owned(),
        SessionKind::Plan => "plan".to_owned(),
        SessionKind::Shared => format!("by {}", name_label(&session.created_by)),
    };
    if session.is_active { kind } else { format!("{kind} · closed") }
}

/// One session: its head, search, thread and composer.
#[component]
fn SessionMain(session: ContextSessionId, shown: Memo<Option<ContextSession>>, place: Memo<ContextPlace>) -> impl IntoView {
    let (client, data, navigation) = (Client::from_context(), ProjectData::from_context(), Navigation::from_context());
    let words = RwSignal::new(String::new());
    // Another message of the same session is shown too.
    let message = Memo::new(move |_| place.with(|place| place.message));
    Effect::new(move || {
        if message.get().is_some() {
            words.set(String::new());
        }
    });
    let replying_to = RwSignal::new(None);
    let home = Route::Context { project: data.project(), place: ContextPlace::default() };
    let heading = move || shown.with(|shown| shown.as_ref().map(title)).unwrap_or_else(|| "Session".to_owned());
    let line = move || shown.with(|shown| shown.as_ref().map(about));
    let closable = Memo::new(move |_| {
        shown.with(|shown| shown.as_ref().is_some_and(|shown| shown.kind == SessionKind::Shared && shown.is_active)) && Reader::may_write()
    });
    let is_open = Memo::new(move |_| shown.with(|shown| shown.as_ref().is_none_or(|shown| shown.is_active)));
    let (own, closing) = (session.clone(), session.clone());
    let results = session.clone();
    let composer = StoredValue::new(session.clone());
    view! {
        <section class="context-main" aria-label="Session">
            <div class="context-head">
                <a class="button quiet small icon context-back" href=home.path() aria-label="All sessions" on:click=move |event| navigation.follow(&event, home.clone())>
                    <Icon drawing=BACK />
                </a>
                <h1 dir="auto">{heading}</h1>
                <span class="faint small-text">{line}</span>
                {move || {
                    let closing = closing.clone();
                    closable.get().then(|| view! {
                        <button type="button" class="button small spacer" on:click=move |_| client.act(client.close_context_session(closing.clone()), |_| {})>
                            "Close the session"
                        </button>
                    })
                }}
            </div>
            <SessionSearch words=words />
            {move || if words.with(|words| words.trim().is_empty()) {
                view! { <SessionThreadView session=own.clone() at=message.get() replying_to=replying_to /> }.into_any()
            } else {
                view! { <SessionResults session=results.clone() words=words /> }.into_any()
            }}
            {move || match (Reader::may_write(), is_open.get()) {
                (true, true) => view! { <SessionComposer session=composer.get_value() replying_to=replying_to /> }.into_any(),
                (true, false) => view! { <div class="composer"><p class="soft small-text">"This session is closed. It can still be read."</p></div> }.into_any(),
                (false, _) => view! { <div class="composer"><p class="soft small-text">{READ_ONLY}</p></div> }.into_any(),
            }}
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::context::metadata::Metadata;
    use domain::time::Timestamp;

    use super::*;

    fn session(kind: SessionKind, is_active: bool) -> ContextSession {
        let at = Timestamp::from_milliseconds(0);
        ContextSession {
            id: ContextSessionId::new(1),
            project_id: None,
            kind,
            task_id: None,
            purpose: "Fonts".to_owned(),
            metadata: Metadata::new(),
            created_by: "mara".to_owned(),
            created_at: at,
            updated_at: at,
            is_active,
        }
    }

    #[test]
    fn sessions_have_a_name_and_say_whether_they_are_closed() {
        assert_eq!(
            (title(&session(SessionKind::Project, true)), about(&session(SessionKind::Plan, true))),
            ("Session of the project".to_owned(), "plan".to_owned())
        );
        assert_eq!(title(&session(SessionKind::Shared, false)), "Fonts");
    }
}
