//! The app of a task or a project: opening it, its state, its log and its end. Must not know which command starts it.

use domain::runs::preview::{Preview, PreviewState, PreviewSubject};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::preview::preview_badge;
use crate::components::badge::{Badge, Tone};
use crate::components::form::Sending;
use crate::reader::Reader;

#[component]
pub(crate) fn AppBox(
    subject: PreviewSubject,
    #[prop(into)] preview: Signal<Option<Preview>>,
    /// Whether there is a command for it and files to run it on.
    #[prop(into)]
    offered: Signal<bool>,
) -> impl IntoView {
    let (client, sending, may_write) = (Client::from_context(), Sending::new(), Reader::may_write());
    let subject = StoredValue::new(subject);
    // The tab of an app that the reader asked for opens by itself once it answers, if the browser lets it.
    let asked = RwSignal::new(false);
    Effect::new(move || {
        let address = preview.with(|preview| preview.as_ref().filter(|found| found.state == PreviewState::Running)?.address.clone());
        if let Some(address) = address.filter(|_| asked.get_untracked()) {
            asked.set(false);
            let _blocked = window().open_with_url_and_target_and_features(&address, "_blank", "noopener");
        }
    });
    let open = move || {
        asked.set(true);
        sending.run(client.open_app(&subject.get_value()), |_| {});
    };
    let close = move || sending.run(client.close_app(&subject.get_value()), |_| {});
    let button = move |label: &'static str, act: Callback<()>| {
        may_write.then(|| {
            view! {
                <button type="button" class="button small" disabled=move || sending.is_busy() on:click=move |_| act.run(())>
                    {label}
                </button>
            }
        })
    };
    let (open, close) = (Callback::new(move |()| open()), Callback::new(move |()| close()));
    let log = move || {
        let show = move |_| client.show_app_log(&subject.get_value());
        view! { <button type="button" class="button quiet small" on:click=show>"Log"</button> }
    };
    let state = move || {
        let Some(Preview { state, address, failure, .. }) = preview.get() else { return button("Open app", open).into_any() };
        let (label, tone) = preview_badge(state);
        match state {
            PreviewState::Starting => view! { <Badge label=label tone=tone />{log()}{button("Stop", close)} }.into_any(),
            PreviewState::Running => view! {
                <a class="button small primary" href=address target="_blank" rel="noopener">"Open app"</a>
                <Badge label=label tone=tone />
                {log()}
                {button("Stop", close)}
            }
            .into_any(),
            PreviewState::Stopping => view! { <Badge label=label tone=tone />{log()} }.into_any(),
            PreviewState::Failed => view! {
                {button("Open app", open)}
                <Badge label=label tone=tone />
                {log()}
                {button("Dismiss", close)}
                <pre class="app-failure" data-tone=Tone::Bad.as_str()>{failure}</pre>
            }
            .into_any(),
        }
    };
    view! {
        <Show when=move || offered.get() || preview.with(Option::is_some)>
            <section class="section" aria-label="App"><div class="row app-box" role="status">{state}</div></section>
        </Show>
    }
    .into_any()
}
