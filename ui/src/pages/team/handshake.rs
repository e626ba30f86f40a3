//! The page of handshakes: plans to acknowledge, and the state of each target.

use domain::team::handshake::{Handshake, HandshakeStatus};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::{handshake_badge, name_label, names_label};
use crate::components::prose::Prose;
use crate::components::section_page::SectionPage;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::time::Clock;

#[component]
pub(crate) fn HandshakesPage() -> impl IntoView {
    let data = ProjectData::from_context();
    let handshakes = data.handshakes.watch();
    let none = Memo::new(move |_| handshakes.value.with(|all| all.as_ref().is_some_and(Vec::is_empty)));
    let all = move || sorted(handshakes.value.get().unwrap_or_default());
    view! {
        <SectionPage
            title="Handshakes"
            verb="Initiate handshake"
            opens=OpenDialog::NewHandshake
            list=handshakes
            empty=none
            empty_heading="No handshakes yet"
            empty_hint="Initiate a handshake to have agents acknowledge a plan before work continues."
        >
            <ul class="rows" aria-label="Handshakes">
                <For each=all key=display_key let:handshake>
                    <HandshakeRow handshake=handshake />
                </For>
            </ul>
        </SectionPage>
    }
}

/// Differs between two states of a handshake that look different.
fn display_key(handshake: &Handshake) -> (i64, HandshakeStatus, usize, usize) {
    let left = handshake.targets.iter().filter(|target| target.left).count();
    (handshake.id, handshake.status, handshake.acknowledged().count(), left)
}

/// Pending handshakes first, each group newest first.
fn sorted(mut handshakes: Vec<Handshake>) -> Vec<Handshake> {
    handshakes.sort_by_key(|handshake| (handshake.status == HandshakeStatus::Completed, std::cmp::Reverse(handshake.id)));
    handshakes
}

#[component]
fn HandshakeRow(handshake: Handshake) -> impl IntoView {
    let (client, clock) = (Client::from_context(), Clock::from_context());
    let (label, tone) = handshake_badge(handshake.status);
    let (id, initiated) = (handshake.id, handshake.created_at);
    let pending = names_label(handshake.pending());
    let acknowledged = names_label(handshake.acknowledged());
    let left =
        names_label(handshake.targets.iter().filter(|target| target.left && target.acked_at.is_none()).map(|target| target.agent_name.as_str()));
    let reader = Reader::current();
    let awaits_reader = handshake.pending().any(|name| reader.is(name));
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
                <Badge label=label tone=tone />
                <span class="small-text soft">{format!("initiated by {}", name_label(&handshake.initiated_by))}</span>
                <time class="small-text faint" datetime=initiated.to_string() title=initiated.to_string()>{move || clock.ago(initiated)}</time>
                <span class="spacer"></span>
                {awaits_reader.then(|| view! {
                    <button type="button" class="button primary" on:click=move |_| client.act(client.acknowledge(id), |_| {})>"Acknowledge"</button>
                })}
            </header>
            <Prose text=handshake.message />
            <dl class="details">
                {fact("Pending", pending)}
                {fact("Acknowledged by", acknowledged)}
                {fact("Left without acknowledging", left)}
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
    fn pending_handshakes_sort_first() {
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
        assert_eq!(sorted(all).iter().map(|handshake| handshake.id).collect::<Vec<_>>(), [3, 1, 4, 2]);
    }
}
