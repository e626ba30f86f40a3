//! The plans of a project: the active one of each scope, a new one, its end, and those that ended.

use domain::warroom::battle_plan::{BattlePlan, BattlePlanScope, BattlePlanStatus, NewBattlePlan};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::name_label;
use crate::components::badge::warroom::{plan_badge, plan_end_label, scope_label};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, non_empty};
use crate::components::prose::LongProse;
use crate::components::section_box::SectionBox;
use crate::components::text_dialog::{Request, TextDialog};
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::moves::Choice;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::{ProjectData, items};
use crate::reader::Reader;
use crate::store::Store;
use crate::time::Clock;

/// The reach of a plan, such as `This project` or `Zone audio`.
fn reach(plan: &BattlePlan) -> String {
    match &plan.zone {
        Some(zone) => format!("{} {zone}", scope_label(plan.scope).0),
        None => scope_label(plan.scope).0.to_owned(),
    }
}

#[component]
pub(crate) fn PlanSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let request = move || items(client.battle_plans(data.project(), Some(BattlePlanStatus::Active), None));
    let plans = LiveList::new(store.revision_of(ListKind::BattlePlans), |_| false, request).watch();
    let all = Memo::new(move |_| plans.value.get().unwrap_or_default());
    let (setting, earlier) = (RwSignal::new(false), RwSignal::new(false));
    // Outside of the list, whose plans come and go.
    let ending = RwSignal::new(None::<BattlePlan>);
    let tools = Reader::may_write()
        .then(|| view! { <button type="button" class="button small" on:click=move |_| setting.set(true)>"Set a plan"</button> }.into_any());
    view! {
        <SectionBox
            id="war-room-plan"
            title=name_of(Word::Plan)
            summary=String::new()
            tools=tools
            loaded=Signal::derive(move || plans.value.with(Option::is_some))
            failure=plans.failure
            empty=Signal::derive(move || all.with(Vec::is_empty))
            empty_heading="No active plan"
            empty_hint="A plan says what to achieve, and in which order. The planner sets one with its tasks; other leads need one before they assign work."
        >
            <ul class="room-list">
                <For each=move || all.get() key=|plan| plan.id let:plan>
                    <PlanRow plan=plan ending=ending />
                </For>
            </ul>
            <button
                type="button"
                class="button quiet small"
                aria-expanded=move || earlier.get().to_string()
                on:click=move |_| earlier.update(|open| *open = !*open)
            >
                {move || if earlier.get() { "Hide earlier plans" } else { "Show earlier plans" }}
            </button>
            {move || earlier.get().then(|| view! { <EarlierPlans /> })}
        </SectionBox>
        {move || setting.get().then(|| view! { <NewPlanDialog close=Callback::new(move |()| setting.set(false)) /> })}
        {move || ending.get().map(|plan| view! { <EndPlanDialog plan=plan close=Callback::new(move |()| ending.set(None)) /> })}
    }
    .into_any()
}

#[component]
fn PlanRow(plan: BattlePlan, #[prop(optional)] ending: Option<RwSignal<Option<BattlePlan>>>) -> impl IntoView {
    let clock = Clock::from_context();
    let (is_active, reach) = (plan.status == BattlePlanStatus::Active, reach(&plan));
    let (label, tone) = plan_badge(plan.status);
    let at = plan.ended_at.unwrap_or(plan.created_at);
    let by = format!("by {}", name_label(&plan.author));
    let end = ending.filter(|_| is_active && Reader::may_write()).map(|ending| {
        let (label, ended) = (format!("End the plan: {reach}"), plan.clone());
        view! { <button type="button" class="button quiet small spacer" aria-label=label on:click=move |_| ending.set(Some(ended.clone()))>"End…"</button> }
    });
    view! {
        <li class="plan-entry">
            <p class="row small-text">
                <strong class="name">{reach}</strong>
                {(!is_active).then(|| view! { <Badge label=label tone=tone /> })}
                <span class="soft">{by}</span>
                <time class="faint tabular" datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
                {end}
            </p>
            {plan.derived.then(|| view! { <p class="faint small-text">"Made from the planner's tasks, and kept up to date with them."</p> })}
            <LongProse text=plan.plan />
        </li>
    }
    .into_any()
}

/// The plans that ended, requested when the reader asks for them.
#[component]
fn EarlierPlans() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let plans = PagedList::watch(store.revision_of(ListKind::BattlePlans), move |before| client.battle_plans(data.project(), None, before));
    let ended = Memo::new(move |_| plans.items().into_iter().filter(|plan| plan.status != BattlePlanStatus::Active).collect::<Vec<_>>());
    let note = move || match (plans.is_loaded(), plans.list.failure.get()) {
        (false, Some(why)) => Some(why),
        (false, None) => Some("Loading…".to_owned()),
        (true, _) => (ended.with(Vec::is_empty) && !plans.has_older()).then(|| "No plan has ended yet.".to_owned()),
    };
    view! {
        <p class="soft small-text note" role="status">{note}</p>
        <ul class="room-list" aria-label="Earlier plans">
            <For each=move || ended.get() key=|plan| plan.id let:plan>
                <PlanRow plan=plan />
            </For>
        </ul>
        <ShowOlder label="Show older plans" has_older=Signal::derive(move || plans.has_older()) show_older=move |()| plans.show_older() />
    }
    .into_any()
}

#[component]
fn NewPlanDialog(close: Callback<()>) -> impl IntoView {
    let (client, data) = (Client::from_context(), ProjectData::from_context());
    let (scope, zone) = (RwSignal::new(BattlePlanScope::Project), RwSignal::new(String::new()));
    let is_zone = Memo::new(move |_| scope.get() == BattlePlanScope::Zone);
    let send = Callback::new(move |plan| -> Request {
        let zone = non_empty(zone).filter(|_| is_zone.get_untracked());
        Box::pin(client.set_battle_plan(data.project(), NewBattlePlan { plan, scope: Some(scope.get_untracked()), zone }))
    });
    let ready = Signal::derive(move || !is_zone.get() || zone.with(|zone| !zone.trim().is_empty()));
    let choices = [BattlePlanScope::Project, BattlePlanScope::General, BattlePlanScope::Zone].map(|offered| {
        let (title, detail) = scope_label(offered);
        view! { <Choice name="plan-scope" title=title detail=detail value=offered picked=scope /> }
    });
    view! {
        <TextDialog title="Set a plan" verb="Set the plan" label="Goals, priorities and the order of the work" draft_key=format!("plan/{}", data.project()) send=send ready=ready close=close>
            <p class="soft">"It replaces the active plan of the same scope. Agents read it before they assign or take work."</p>
            <div class="choices" role="radiogroup" aria-label="Scope">{choices}</div>
            <Show when=move || is_zone.get()>
                <TextField id="plan-zone" label="Zone" value=zone max_length=60 placeholder="audio" mono=true />
            </Show>
        </TextDialog>
    }
}

#[component]
fn EndPlanDialog(plan: BattlePlan, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let (id, title) = (plan.id, format!("End the plan: {}", reach(&plan)));
    let status = RwSignal::new(BattlePlanStatus::Completed);
    let submit = move |()| sending.run(client.end_battle_plan(id, status.get_untracked()), move |_| close.run(()));
    let offered = BattlePlanStatus::ALL.iter().copied().filter(|status| plan.status.can_become(*status));
    let choice = |offered: BattlePlanStatus| {
        let ((title, _), detail) = (plan_badge(offered), plan_end_label(offered));
        view! { <Choice name="plan-end" title=title detail=detail value=offered picked=status /> }
    };
    let choices: Vec<_> = offered.map(choice).collect();
    view! {
        <Dialog title=title close=close>
            <Form verb="End the plan" sending=sending submit=submit close=close>
                <div class="choices" role="radiogroup" aria-label="How it ended">{choices}</div>
            </Form>
        </Dialog>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn reach_names_the_zone() {
        let plan = BattlePlan {
            id: 1,
            project_id: ProjectId::new(1),
            scope: BattlePlanScope::Zone,
            zone: Some("audio".to_owned()),
            author: "human".to_owned(),
            derived: false,
            plan: "Ship".to_owned(),
            status: BattlePlanStatus::Active,
            created_at: Timestamp::from_milliseconds(0),
            ended_at: None,
        };
        assert_eq!(reach(&plan), "Zone audio");
        assert_eq!(reach(&BattlePlan { scope: BattlePlanScope::Project, zone: None, ..plan }), "This project");
    }
}
