//! Handshakes: what everybody is to agree to, who has, and who is waited for.

use domain::team::agent::HUMAN;
use domain::team::handshake::{Handshake, HandshakeStatus};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::among::{handshake_look, name_word, names_word};
use crate::components::section_page::SectionPage;
use crate::room::{Open, Room};
use crate::time::Clock;

#[component]
pub(crate) fn HandshakesPage() -> impl IntoView {
    let room = Room::here();
    let handshakes = room.handshakes.watch();
    let none = Memo::new(move |_| handshakes.value.with(|all| all.as_ref().is_some_and(Vec::is_empty)));
    let all = move || ordered(handshakes.value.get().unwrap_or_default());
    view! {
        <SectionPage
            title="Handshakes"
            verb="Begin a handshake"
            opens=Open::NewHandshake
            feed=handshakes
            empty=none
            heading="No handshake yet"
            words="Tell a plan, and see who has acknowledged it before work goes on."
        >
            <ul class="rows" aria-label="Handshakes">
                <For each=all key=version let:handshake>
                    <HandshakeRow handshake=handshake />
                </For>
            </ul>
        </SectionPage>
    }
}

/// Differs where two states of a handshake look different.
fn version(handshake: &Handshake) -> (i64, HandshakeStatus, usize, usize) {
    let left = handshake.targets.iter().filter(|target| target.left).count();
    (handshake.id, handshake.status, handshake.acknowledged().count(), left)
}

/// Open ones first, then the newest.
fn ordered(mut handshakes: Vec<Handshake>) -> Vec<Handshake> {
    handshakes.sort_by_key(|handshake| (handshake.status == HandshakeStatus::Completed, std::cmp::Reverse(handshake.id)));
    handshakes
}

#[component]
fn HandshakeRow(handshake: Handshake) -> impl IntoView {
    let (client, clock) = (Client::here(), Clock::here());
    let (word, tone) = handshake_look(handshake.status);
    let (id, began) = (handshake.id, handshake.created_at);
    let waits_for = names_word(handshake.pending());
    let acknowledged = names_word(handshake.acknowledged());
    let left =
        names_word(handshake.targets.iter().filter(|target| target.left && target.acked_at.is_none()).map(|target| target.agent_name.as_str()));
    let mine = handshake.pending().any(|name| name == HUMAN);
    let fact = |name: &'static str, names: String| {
        (!names.is_empty()).then(|| {
            view! {
                <dt>{name}</dt>
                <dd>{names}</dd>
            }
        })
    };
    view! {
        <li class="entry tall">
            <header class="row">
                <span class="mono faint">{format!("#{id}")}</span>
                <Badge word=word tone=tone />
                <span class="small-text soft">{format!("begun by {}", name_word(&handshake.initiated_by))}</span>
                <time class="small-text faint" datetime=began.to_string() title=began.to_string()>{move || clock.ago(began)}</time>
                <span class="push"></span>
                {mine.then(|| view! {
                    <button type="button" class="button primary" on:click=move |_| client.act(client.acknowledge(id), |_| {})>"Acknowledge"</button>
                })}
            </header>
            <p class="said">{handshake.message}</p>
            <dl class="details">
                {fact("Waits for", waits_for)}
                {fact("Acknowledged by", acknowledged)}
                {fact("Left before", left)}
            </dl>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn what_waits_comes_first() {
        let handshake = |id, status| Handshake {
            id,
            project_id: ProjectId::new(1),
            initiated_by: "lea".to_owned(),
            message: String::new(),
            status,
            targets: Vec::new(),
            created_at: Timestamp::from_milliseconds(0),
            completed_at: None,
        };
        use HandshakeStatus::{Completed, Pending};
        let all = vec![handshake(1, Pending), handshake(2, Completed), handshake(3, Pending), handshake(4, Completed)];
        assert_eq!(ordered(all).iter().map(|handshake| handshake.id).collect::<Vec<_>>(), [3, 1, 4, 2]);
    }
}
