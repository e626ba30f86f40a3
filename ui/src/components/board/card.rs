//! One card of the board. It follows only its own signal, so events about other cards do not redraw it.

use domain::board::card::{Card, CurrentRun};
use domain::id::TaskId;
use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, MouseEvent, PointerEvent};

use crate::components::badge::card_state::{CardState, meta};
use crate::components::badge::check::checks_badge;
use crate::components::badge::preview::app_badge;
use crate::components::badge::warroom::low_context_badge;
use crate::components::badge::{Badge, phase_label};
use crate::components::board::card_actions::CardActions;
use crate::components::glyph::StateGlyph;
use crate::components::icon::{DONE, GRIP, Icon, MORE};
use crate::components::inline_code::InlineCode;
use crate::components::runs::pull_request::PullRequestLink;
use crate::drag::Drag;
use crate::moves::Moves;
use crate::overview::Overview;
use crate::reader::Reader;
use crate::reveal::Reveal;
use crate::route::{Navigation, Route};
use crate::selection::Selection;
use crate::store::Store;
use crate::time::{Clock, local_time};

#[component]
pub(crate) fn TaskCard(
    id: TaskId,
    card: ArcRwSignal<Card>,
    /// The task whose next action is the filled button of the page.
    #[prop(into)]
    loud: Signal<Option<TaskId>>,
    /// Whether the board has cards of several projects, so that each names its own.
    across_projects: bool,
) -> impl IntoView {
    let (drag, navigation, overview) = (Drag::from_context(), Navigation::from_context(), Overview::from_context());
    let project = card.with_untracked(|card| card.project_id.clone());
    let named = project.clone();
    let route = Route::Board { project, task: Some(id.clone()) };

    let dragged = Memo::new({
        let id = id.clone();
        move |_| drag.dragged.with(|dragged| dragged.as_ref().is_some_and(|dragged| dragged.task == id))
    });
    let insertion = drag.insertion(id.clone());
    let current = Memo::new({
        let id = id.clone();
        move |_| navigation.get().task() == Some(&id)
    });
    let press = {
        let card = card.clone();
        move |event: PointerEvent, by_grip| card.with_untracked(|card| drag.pressed(&event, card, by_grip))
    };
    let (selection, may_write) = (Selection::from_context(), Reader::may_write());
    let open = {
        let (route, task) = (route.clone(), id.clone());
        move |event: MouseEvent| {
            let is_touch = event.dyn_ref::<PointerEvent>().is_some_and(|event| event.pointer_type() == "touch");
            if drag.suppresses_click() {
                event.prevent_default();
            } else if may_write && event.shift_key() {
                event.prevent_default();
                selection.extend_to(&task);
            } else if may_write && (event.ctrl_key() || event.meta_key() || (is_touch && !untrack(|| selection.is_empty()))) {
                event.prevent_default();
                selection.toggle(&task);
            } else {
                navigation.follow(&event, route.clone());
            }
        }
    };
    let own = id.clone();
    let is_loud = Memo::new(move |_| loud.with(|loud| loud.as_ref() == Some(&own)));
    let state = Memo::new({
        let card = card.clone();
        move |_| card.with(CardState::of)
    });
    let (title, live, facts, body) = (card.clone(), card.clone(), card.clone(), card);
    let (press_card, press_grip) = (press.clone(), press);
    let selected = Memo::new({
        let id = id.clone();
        move |_| selection.contains(&id)
    });
    let (own, reveal) = (id.clone(), Reveal::from_context());
    let fresh = Memo::new(move |_| reveal.marked().as_ref() == Some(&own));
    let (body_id, facts_id, name) = (id.clone(), id.to_string(), id.to_string());
    view! {
        <article
            class="card"
            data-task=name
            data-state=move || state.get().as_str()
            data-tone=move || state.get().needs_person().then(|| state.get().tone().as_str())
            data-live=move || live.with(|card| card.run.is_some()).then_some("")
            data-dragged=move || dragged.get().then_some("")
            data-insert=move || insertion.get()
            data-fresh=move || fresh.get().then_some("")
            data-selected=move || selected.get().then_some("")
            aria-current=move || if current.get() { "true" } else { "false" }
            on:pointerdown=move |event| press_card(event, false)
        >
            {move || selected.get().then(|| view! {
                <span class="check-mark"><Icon drawing=DONE /><span class="visually-hidden">"Selected"</span></span>
            })}
            {move || {
                let state = state.get();
                view! { <StateGlyph glyph=state.glyph() tone=state.tone() label=state.label() /> }
            }}
            <a class="title card-open" href=route.path() draggable="false" on:click=open>
                {move || title.with(|card| card.title.clone())}
            </a>
            {move || body.with(|card| view! { <Body id=body_id.clone() card=card.clone() loud=is_loud /> })}
            <p class="meta">
                {across_projects.then(|| view! { <span class="project">{overview.title_of(named)}</span> })}
                <span class="facts">{move || facts.with(|card| meta(card, local_time, overview.busy_elsewhere(card)))}</span>
                <span class="id">{facts_id}</span>
            </p>
            {may_write.then(|| view! { <CardTools id=id press=move |event| press_grip(event, true) /> })}
        </article>
    }
}

/// The grip for touch, and the button of the move menu.
#[component]
fn CardTools(id: TaskId, press: impl Fn(PointerEvent) + 'static) -> impl IntoView {
    let moves = Moves::from_context();
    let menu_button = NodeRef::<html::Button>::new();
    let label = format!("Move {id}");
    let open_menu = move |_| {
        if let Some(button) = menu_button.get_untracked() {
            moves.open_menu(id.clone(), HtmlElement::from(button));
        }
    };
    view! {
        <span class="card-tools">
            <span class="button quiet small icon grip" aria-hidden="true" on:pointerdown=move |event| {
                event.stop_propagation();
                press(event);
            }>
                <Icon drawing=GRIP />
            </span>
            <button
                type="button"
                class="button quiet small icon card-move"
                node_ref=menu_button
                aria-haspopup="menu"
                aria-label=label
                on:pointerdown=|event| event.stop_propagation()
                on:click=open_menu
            >
                <Icon drawing=MORE />
            </button>
        </span>
    }
}

/// The activity of the agent, or the reason why it stopped, with the actions.
#[component]
fn Body(id: TaskId, card: Card, #[prop(into)] loud: Signal<bool>) -> impl IntoView {
    let say = card.attention.as_ref().map(|attention| attention.detail.clone());
    let low_context = card.run.as_ref().and_then(|run| run.low_context).map(low_context_badge);
    let (checks, app) = (checks_badge(&card), app_badge(&card));
    let pull_request = card.pull_request.clone().filter(|_| card.is_approved());
    view! {
        {card.run.clone().map(|run| view! { <Activity run=run /> })}
        {low_context.map(|(label, tone)| view! { <p class="card-badge"><Badge label=label tone=tone /></p> })}
        {checks.map(|(label, tone)| view! { <p class="card-badge"><Badge label=label tone=tone /></p> })}
        {app.map(|(label, tone)| view! { <p class="card-badge"><Badge label=label tone=tone /></p> })}
        {pull_request.map(|known| view! { <p class="card-badge"><PullRequestLink address=known.address /></p> })}
        {say.map(|say| view! { <p class="say"><InlineCode text=say /></p> })}
        {Reader::may_write().then(|| view! { <CardActions task=id card=card loud=loud /> })}
    }
}

/// The activity of the running agent: its last line, and the elapsed time.
#[component]
fn Activity(run: CurrentRun) -> impl IntoView {
    let clock = Clock::from_context();
    let line = Store::from_context().activity_of(&run.id);
    let label = format!("{} at work, attempt {}", phase_label(run.phase), run.attempt);
    view! {
        <p class="now" data-tone="live">
            <span class="visually-hidden">{label}</span>
            <span class="last">{move || line.get()}</span>
            <span class="tabular">{move || clock.elapsed(run.started_at)}</span>
        </p>
    }
}
