//! The orders of a project: those that are active, and the last ones that ended.

mod give;

use domain::warroom::trigger::{Trigger, TriggerWithdrawal, Triggers};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::name_label;
use crate::components::badge::warroom::trigger_end_badge;
use crate::components::form::Sending;
use crate::components::section_box::SectionBox;
use crate::components::warroom::words::{Word, name_of, order_name};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::{Clock, local_clock, local_time};

use give::GiveDialog;

#[component]
pub(crate) fn OrdersSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let orders = LiveList::new(store.revision_of(ListKind::Triggers), |_| false, move || client.triggers(data.project())).watch();
    let active = Memo::new(move |_| orders.value.with(|orders| orders.as_ref().map(|orders| orders.active.clone()).unwrap_or_default()));
    let ended = Memo::new(move |_| orders.value.with(|orders| orders.as_ref().map(|orders| orders.ended.clone()).unwrap_or_default()));
    let (giving, earlier) = (RwSignal::new(false), RwSignal::new(false));
    let tools = Reader::may_write()
        .then(|| view! { <button type="button" class="button small" on:click=move |_| giving.set(true)>"Give an order"</button> }.into_any());
    view! {
        <SectionBox
            id="war-room-orders"
            title=name_of(Word::Orders)
            summary=String::new()
            tools=tools
            loaded=Signal::derive(move || orders.value.with(Option::is_some))
            failure=orders.failure
            empty=Signal::derive(move || active.with(Vec::is_empty))
            empty_heading="No active order"
            empty_hint="An order tells agents to report, to hand over or to stop. Leads give one with the first word of a message, such as rally."
        >
            <p class="soft small-text note" role="status">{move || orders.value.with(|orders| orders.as_ref().and_then(progress))}</p>
            <ul class="room-list">
                <For each=move || active.get() key=|order| order.id let:order>
                    <ActiveOrder order=order />
                </For>
            </ul>
            <Show when=move || !ended.with(Vec::is_empty)>
                <button
                    type="button"
                    class="button quiet small"
                    aria-expanded=move || earlier.get().to_string()
                    on:click=move |_| earlier.update(|open| *open = !*open)
                >
                    {move || if earlier.get() { "Hide earlier orders" } else { "Show earlier orders" }}
                </button>
            </Show>
            <Show when=move || earlier.get()>
                <ul class="room-list" aria-label="Earlier orders">
                    <For each=move || ended.get() key=|order| order.id let:order>
                        <EndedOrder order=order />
                    </For>
                </ul>
            </Show>
        </SectionBox>
        {move || giving.get().then(|| view! { <GiveDialog close=Callback::new(move |()| giving.set(false)) /> })}
    }
    .into_any()
}

/// How far an order to stop is carried out.
fn progress(orders: &Triggers) -> Option<String> {
    orders.active.iter().any(|order| order.word.stops_starts()).then(|| match orders.at_work {
        0 => "No managed agent is running, and none will start.".to_owned(),
        1 => "1 managed agent is still running, and no others will start.".to_owned(),
        count => format!("{count} managed agents are still running, and no others will start."),
    })
}

/// The name of an order with its target, such as `Put a zone first: audio`.
fn heading(order: &Trigger, title: &str) -> String {
    order.target.as_ref().map_or_else(|| title.to_owned(), |target| format!("{title}: {}", name_label(target)))
}

#[component]
fn ActiveOrder(order: Trigger) -> impl IntoView {
    let (client, data, clock, sending) = (Client::from_context(), ProjectData::from_context(), Clock::from_context(), Sending::new());
    let (heading, at, due_at) = (heading(&order, order_name(order.word)), order.given_at, order.due_at);
    let withdrawal = TriggerWithdrawal { word: order.word, target: order.target.clone() };
    let withdraw = move |_| sending.run(client.withdraw_trigger(data.project(), withdrawal.clone()), |_| ());
    let label = format!("Withdraw the order: {heading}");
    view! {
        <li class="plan-entry">
            <p class="row small-text">
                <strong class="name">{heading}</strong>
                <span class="soft">{format!("by {}", name_label(&order.author))}</span>
                <time class="faint tabular" datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
                {Reader::may_write().then(|| view! {
                    <button type="button" class="button quiet small spacer" aria-label=label disabled=move || sending.is_busy() on:click=withdraw>
                        "Withdraw"
                    </button>
                })}
            </p>
            {order.note.map(|note| view! { <p class="small-text" dir="auto">{note}</p> })}
            {due_at.map(|at| view! { <p class="soft small-text">{format!("The agent is removed if it has not answered by {}.", local_clock(at))}</p> })}
        </li>
    }
    .into_any()
}

#[component]
fn EndedOrder(order: Trigger) -> impl IntoView {
    let at = order.ended_at.unwrap_or(order.given_at);
    let badge = order.end.map(trigger_end_badge);
    view! {
        <li class="log-entry">
            <p class="row small-text">
                <strong class="name">{heading(&order, order_name(order.word))}</strong>
                {badge.map(|(label, tone)| view! { <Badge label=label tone=tone /> })}
                <time class="faint tabular spacer" datetime=at.to_string() title=at.to_string()>{local_time(at)}</time>
            </p>
            {order.note.map(|note| view! { <p class="small-text" dir="auto">{note}</p> })}
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;
    use domain::warroom::trigger::TriggerWord;

    use super::*;

    fn order(word: TriggerWord, target: Option<&str>) -> Trigger {
        Trigger {
            id: 1,
            project_id: ProjectId::new(1),
            word,
            target: target.map(str::to_owned),
            note: None,
            author: "human".to_owned(),
            given_at: Timestamp::from_milliseconds(0),
            due_at: None,
            ended_at: None,
            end: None,
        }
    }

    #[test]
    fn heading_names_the_target() {
        assert_eq!(heading(&order(TriggerWord::HotZone, Some("audio")), "Put a zone first"), "Put a zone first: audio");
        assert_eq!(heading(&order(TriggerWord::Retreat, None), "retreat"), "retreat");
    }

    #[test]
    fn only_orders_to_stop_have_progress() {
        let orders = |word, at_work| Triggers { active: vec![order(word, None)], ended: Vec::new(), at_work };
        assert_eq!(progress(&orders(TriggerWord::HotZone, 2)), None);
        for (at_work, text) in [(0, "No managed agent is"), (1, "1 managed agent is"), (2, "2 managed agents are")] {
            let line = progress(&orders(TriggerWord::MoonCrash, at_work)).unwrap_or_default();
            assert!(line.starts_with(text), "{line}");
        }
    }
}
