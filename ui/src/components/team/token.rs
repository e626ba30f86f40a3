//! The list of tokens: who holds each, what it permits and until when, with a choice of the permissions and a button that revokes it; and the
//! fields for the terms of a new one.

use domain::team::token::{Permissions, Token, TokenKind, TokenReach};
use domain::time::Timestamp;
use domain::wire::TokenPatch;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlSelectElement;

use crate::client::Client;
use crate::time::{Clock, local_time};

/// The permissions that are offered.
const OFFERED: [Permissions; 4] =
    [Permissions::READ, Permissions { write: true, admin: false }, Permissions { write: false, admin: true }, Permissions::ALL];

#[component]
pub(crate) fn Tokens(
    /// Notified when persons or sessions change.
    changed: Trigger,
) -> impl IntoView {
    let client = Client::from_context();
    let tokens = RwSignal::new(Vec::<Token>::new());
    // Where the next page starts, if there is one.
    let next = RwSignal::new(None::<i64>);
    let read = move |after: i64| {
        spawn_local(async move {
            let Ok(page) = client.tokens(after).await else { return };
            let _page_closed = next.try_set(page.next);
            let _page_closed = tokens.try_update(|all| if after == 0 { *all = page.items } else { all.extend(page.items) });
        });
    };
    Effect::new(move || {
        changed.track();
        read(0);
    });
    let more = move || {
        let after = next.get()?;
        Some(view! { <button type="button" class="button small" on:click=move |_| read(after)>"Show more"</button> })
    };
    view! {
        <section class="section" aria-label="Tokens">
            <h2>"Tokens"</h2>
            <ul class="rows">
                <For each=move || tokens.get() key=|token| (token.name.clone(), token.permissions, token.expires_at) let:token>
                    <TokenRow token=token changed=changed />
                </For>
            </ul>
            {more}
            <p class="faint small-text">"With admin, an agent can read session messages for admins. It does not receive the rights of a person. " <code>"vibe-relay token"</code> " creates tokens and sets when they expire."</p>
        </section>
    }
    .into_any()
}

/// The lifetimes that are offered, in seconds; none for a token without an end.
const LIFETIMES: [(&str, Option<u64>); 5] =
    [("Until revoked", None), ("One day", Some(86_400)), ("One week", Some(604_800)), ("30 days", Some(2_592_000)), ("One year", Some(31_536_000))];

/// The fields for what a new token permits, and until when.
#[component]
pub(crate) fn TokenTermsFields(permissions: RwSignal<Permissions>, expires_in: RwSignal<Option<u64>>) -> impl IntoView {
    let choose = move |given: String| {
        if let Ok(chosen) = given.parse() {
            permissions.set(chosen);
        }
    };
    let lifetimes = LIFETIMES.map(|(label, seconds)| view! { <option value=seconds.unwrap_or_default()>{label}</option> });
    view! {
        <div class="field-row">
            <div class="field">
                <label for="token-permissions">"Permissions"</label>
                <select id="token-permissions" class="input" on:change:target=move |event| choose(event.target().value())>
                    {permission_options(permissions.get_untracked())}
                </select>
            </div>
            <div class="field">
                <label for="token-lifetime">"Valid for"</label>
                <select id="token-lifetime" class="input" on:change:target=move |event| {
                    expires_in.set(event.target().value().parse().ok().filter(|seconds| *seconds > 0));
                }>
                    {lifetimes.into_iter().collect_view()}
                </select>
            </div>
        </div>
    }
}

#[component]
fn TokenRow(token: Token, changed: Trigger) -> impl IntoView {
    let (client, clock) = (Client::from_context(), Clock::from_context());
    let can_revoke = token.require_revocable().is_ok();
    let has_choice = can_revoke && !matches!(token.kind, TokenKind::Human | TokenKind::Companion);
    let (label, permitted, end) = (label(&token), token.permissions.to_string(), token.expires_at);
    let Token { name, permissions, created_at, last_used_at, project_id, reach, kind, .. } = token;
    let revoke = {
        let name = name.clone();
        move |_| client.act(client.revoke_token(name.clone()), move |_| changed.notify())
    };
    let choice = has_choice.then(|| {
        let (name, for_reader) = (name.clone(), format!("Permissions of {label}"));
        let choose = move |select: HtmlSelectElement| {
            let Ok(chosen) = select.value().parse::<Permissions>() else { return };
            let patch = TokenPatch { permissions: Some(chosen), expires_in: None };
            client.watch(client.change_token(name.clone(), patch), move |result| match result {
                Ok(_) => changed.notify(),
                Err(_) => select.set_value(&permissions.to_string()),
            });
        };
        view! {
            <select class="input narrow" aria-label=for_reader on:change:target=move |event| choose(event.target())>
                {permission_options(permissions)}
            </select>
        }
    });
    let revoke_label = format!("Revoke the token of {label}");
    view! {
        <li class="entry">
            <div class="entry-main">
                <p class="row">
                    <strong class="name">{label}</strong>
                    <span class="mono faint">{name.to_string()}</span>
                    {project_id.map(|project| view! { <span class="small-text">{project.to_string()}</span> })}
                    {(reach == TokenReach::All).then(|| view! { <span class="small-text">"and all other projects"</span> })}
                </p>
                <p class="row small-text faint">
                    {(!has_choice).then_some(permitted)}
                    <span title=created_at.to_string()>{move || format!("created {}", clock.ago(created_at))}</span>
                    {last_used_at.map(|at| view! { <span title=at.to_string()>{move || format!("last used {}", clock.ago(at))}</span> })}
                    {(kind == TokenKind::Run).then_some("ends with its run")}
                    {end.map(|at| view! { <span title=at.to_string()>{move || expiry(at, clock.now())}</span> })}
                </p>
            </div>
            {choice}
            {can_revoke.then(|| view! {
                <div class="entry-tools">
                    <button type="button" class="button small" aria-label=revoke_label on:click=revoke>"Revoke"</button>
                </div>
            })}
        </li>
    }
    .into_any()
}

fn permission_options(selected: Permissions) -> impl IntoView {
    let option = |offered: Permissions| view! { <option value=offered.to_string() selected=offered == selected>{offered.to_string()}</option> };
    OFFERED.map(option).into_iter().collect_view()
}

fn label(token: &Token) -> String {
    match (token.kind, &token.holder) {
        (TokenKind::Companion, Some(person)) => format!("Companion of {person}"),
        (_, Some(holder)) => holder.clone(),
        (_, None) => "Invite".to_owned(),
    }
}

/// When a token ends, or that it has.
fn expiry(at: Timestamp, now: Timestamp) -> String {
    if at <= now { "expired".to_owned() } else { format!("expires {}", local_time(at)) }
}
