//! The dialog that gives an order.

use domain::warroom::party::PartyMember;
use domain::warroom::trigger::{MAX_NOTE_BYTES, NewTrigger, TriggerTarget, TriggerWord};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::team::name_label;
use crate::components::badge::warroom::trigger_label;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text, non_empty};
use crate::components::warroom::words::order_name;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::moves::Choice;
use crate::project_data::{ProjectData, items};
use crate::store::Store;

#[component]
pub(super) fn GiveDialog(close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let word = RwSignal::new(TriggerWord::Rally);
    let (agent, zone, note) = (RwSignal::new(String::new()), RwSignal::new(String::new()), RwSignal::new(String::new()));
    let target = Memo::new(move |_| word.get().target());
    let needs_agent = move || matches!(target.get(), TriggerTarget::Agent | TriggerTarget::AgentAndSubject);
    let needs_subject = Memo::new(move |_| target.get() == TriggerTarget::AgentAndSubject);
    let ready = Signal::derive(move || {
        (!needs_agent() || has_text(agent)) && (target.get() != TriggerTarget::Zone || has_text(zone)) && (!needs_subject.get() || has_text(note))
    });
    let submit = move |()| {
        let target = match target.get_untracked() {
            TriggerTarget::All => None,
            TriggerTarget::Zone => non_empty(zone),
            TriggerTarget::Agent | TriggerTarget::AgentAndSubject => non_empty(agent),
        };
        let order = NewTrigger { word: word.get_untracked(), target, note: non_empty(note) };
        sending.run(client.give_trigger(data.project(), order), move |_| close.run(()));
    };
    let choices = ORDERS.map(|offered| {
        let (title, detail) = (order_name(offered), trigger_label(offered).1);
        view! { <Choice name="order" title=title detail=detail value=offered picked=word /> }
    });
    view! {
        <Dialog title="Give an order" close=close>
            <Form verb="Give the order" ready=ready sending=sending submit=submit close=close>
                <div class="choices" role="radiogroup" aria-label="Order">{choices}</div>
                <Show when=needs_agent>
                    <AgentSelect agent=agent />
                </Show>
                <Show when=move || target.get() == TriggerTarget::Zone>
                    <TextField id="order-zone" label="Zone" value=zone max_length=60 placeholder="audio" mono=true />
                </Show>
                {move || {
                    let label = if needs_subject.get() { "Subject" } else { "Reason (optional)" };
                    view! { <TextField id="order-note" label=label value=note max_length=MAX_NOTE_BYTES as u32 /> }
                }}
            </Form>
        </Dialog>
    }
    .into_any()
}

/// The orders, those first that interrupt the least.
const ORDERS: [TriggerWord; 8] = [
    TriggerWord::Rally,
    TriggerWord::HotZone,
    TriggerWord::Recon,
    TriggerWord::Sitrep,
    TriggerWord::FenixDown,
    TriggerWord::StandDown,
    TriggerWord::Retreat,
    TriggerWord::MoonCrash,
];

#[component]
fn AgentSelect(agent: RwSignal<String>) -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let party = LiveList::new(store.revision_of(ListKind::Team), |_| false, move || items(client.party(data.project()))).watch();
    let options = move || {
        let option = |member: PartyMember| {
            let name = member.agent.name;
            let (label, is_chosen) = (name_label(&name), agent.get_untracked() == name);
            view! { <option value=name selected=is_chosen>{label}</option> }
        };
        party.value.get().unwrap_or_default().into_iter().map(option).collect_view()
    };
    view! {
        <div class="field">
            <label for="order-agent">"Agent"</label>
            <select id="order-agent" class="input" prop:value=move || agent.get() on:change:target=move |event| agent.set(event.target().value())>
                <option value="">"Choose an agent"</option>
                {options}
            </select>
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialog_offers_every_order() {
        for word in TriggerWord::ALL {
            assert_eq!(ORDERS.iter().filter(|offered| *offered == word).count(), 1, "{word}");
        }
    }
}
