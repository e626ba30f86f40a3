//! The list of browsers that are signed in, each with a button that signs it out for those who may.

use domain::team::browser_session::BrowserSession;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::icon::{Icon, PLUS};
use crate::components::team::pairing::PairDialog;
use crate::reader::Reader;
use crate::time::Clock;

#[component]
pub(crate) fn BrowserSessions(
    /// Notified when persons or sessions change.
    changed: Trigger,
) -> impl IntoView {
    let client = Client::from_context();
    let pairing = RwSignal::new(false);
    let sessions = RwSignal::new(Vec::<BrowserSession>::new());
    Effect::new(move || {
        changed.track();
        spawn_local(async move {
            if let Ok(list) = client.sessions().await {
                let _page_closed = sessions.try_set(list.items);
            }
        });
    });
    // A person's own browsers need no name.
    let several = Memo::new(move |_| sessions.with(|all| all.iter().any(|session| session.person_id != all[0].person_id)));
    view! {
        <section class="section" aria-label="Signed-in browsers">
            <div class="page-head">
                <h2>"Signed-in browsers"</h2>
                {Reader::may_write().then(|| view! {
                    <button type="button" class="button small" on:click=move |_| pairing.set(true)>
                        <Icon drawing=PLUS />
                        "Pair a phone"
                    </button>
                })}
            </div>
            <ul class="rows">
                <For each=move || sessions.get() key=|session| session.id let:session>
                    <SessionRow session=session named=several changed=changed />
                </For>
            </ul>
            <Show when=move || sessions.with(Vec::is_empty)>
                <p class="faint small-text">"No browser is signed in. Open the link that `vibe-relay serve` prints."</p>
            </Show>
        </section>
        <Show when=move || pairing.get()>
            <PairDialog changed=changed close=Callback::new(move |()| pairing.set(false)) />
        </Show>
    }
}

#[component]
fn SessionRow(session: BrowserSession, named: Memo<bool>, changed: Trigger) -> impl IntoView {
    let (client, clock) = (Client::from_context(), Clock::from_context());
    let BrowserSession { id, person, device, user_agent, created_at, last_seen_at, .. } = session;
    let browser = user_agent.unwrap_or_else(|| "Unknown browser".to_owned());
    let (verb, label) = match &device {
        Some(device) => ("Revoke", format!("Revoke {device}, session {id}")),
        None => ("Sign out", format!("Sign out browser {id}")),
    };
    // A refusal is shown by the client; the list is then still right.
    let revoke = move |_| client.act(client.revoke_session(id), move |_| changed.notify());
    view! {
        <li class="entry">
            <div class="entry-main">
                <p class="row">
                    <span class="mono faint">{format!("#{id}")}</span>
                    {move || named.get().then(|| view! { <strong>{person.clone()}</strong> })}
                    {device.map(|device| view! { <strong>{device}</strong> })}
                    <span class="small-text">{browser}</span>
                </p>
                <p class="row small-text faint">
                    <span title=created_at.to_string()>{move || format!("signed in {}", clock.ago(created_at))}</span>
                    <span title=last_seen_at.to_string()>{move || format!("last seen {}", clock.ago(last_seen_at))}</span>
                </p>
            </div>
            {Reader::may_write().then(|| view! {
                <div class="entry-tools">
                    <button type="button" class="button small" aria-label=label on:click=revoke>{verb}</button>
                </div>
            })}
        </li>
    }
}
