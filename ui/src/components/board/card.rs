//! One card of the board. It follows only its own signal, so events about other cards do not redraw it.

use domain::board::card::{Card, CurrentRun};
use domain::id::TaskId;
use leptos::html;
use leptos::prelude::*;
use web_sys::{HtmlElement, MouseEvent, PointerEvent};

use crate::components::badge::{Badge, Role, Tone, card_badge, phase_label};
use crate::components::board::card_facts::card_facts;
use crate::components::icon::{COMMENT, GRIP, Icon, MORE};
use crate::drag::Drag;
use crate::moves::Moves;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::Clock;

#[component]
pub(crate) fn TaskCard(id: TaskId, card: ArcRwSignal<Card>) -> impl IntoView {
    let (drag, moves, navigation) = (Drag::from_context(), Moves::from_context(), Navigation::from_context());
    let project = card.with_untracked(|card| card.project_id.clone());
    let route = Route::Board { project, task: Some(id.clone()) };
    let menu_button = NodeRef::<html::Button>::new();

    let dragged = Memo::new({
        let id = id.clone();
        move |_| drag.dragged.with(|dragged| dragged.as_ref().is_some_and(|dragged| dragged.task == id))
    });
    let current = Memo::new({
        let id = id.clone();
        move |_| navigation.get().task() == Some(&id)
    });
    let press = {
        let card = card.clone();
        move |event: PointerEvent, by_grip| card.with_untracked(|card| drag.pressed(&event, card, by_grip))
    };
    let open = {
        let route = route.clone();
        move |event: MouseEvent| {
            if drag.suppresses_click() {
                event.prevent_default();
            } else {
                navigation.follow(&event, route.clone());
            }
        }
    };
    let open_menu = {
        let id = id.clone();
        move |_| {
            if let Some(button) = menu_button.get_untracked() {
                moves.open_menu(id.clone(), HtmlElement::from(button));
            }
        }
    };
    let (live, attention, content) = (card.clone(), card.clone(), card);
    let (press_card, press_grip) = (press.clone(), press);
    view! {
        <article
            class="card"
            data-task=id.to_string()
            data-live=move || live.with(|card| card.run.is_some()).then_some("")
            data-attention=move || attention.with(|card| card.attention.is_some()).then_some("")
            data-dragged=move || dragged.get().then_some("")
            aria-current=move || if current.get() { "true" } else { "false" }
            on:pointerdown=move |event| press_card(event, false)
        >
            <div class="line">
                <span class="id">{id.to_string()}</span>
                {Reader::may_write().then(|| view! {
                    <span class="card-tools">
                        <span class="button quiet small icon grip" aria-hidden="true" on:pointerdown=move |event| {
                            event.stop_propagation();
                            press_grip(event, true);
                        }>
                            <Icon drawing=GRIP />
                        </span>
                        <button
                            type="button"
                            class="button quiet small icon card-move"
                            node_ref=menu_button
                            aria-haspopup="menu"
                            aria-label=format!("Move {id}")
                            on:pointerdown=|event| event.stop_propagation()
                            on:click=open_menu
                        >
                            <Icon drawing=MORE />
                        </button>
                    </span>
                })}
            </div>
            <a class="title card-open" href=route.path() draggable="false" on:click=open>
                {
                    let content = content.clone();
                    move || content.with(|card| card.title.clone())
                }
            </a>
            {move || content.with(|card| view! { <Facts card=card.clone() /> })}
        </article>
    }
}

/// The lines below the title.
#[component]
fn Facts(card: Card) -> impl IntoView {
    let (label, tone) = card_badge(&card);
    let facts = card_facts(&card).into_iter().map(|(name, value)| view! { <span class="fact" title=name>{value}</span> }).collect_view();
    // The activity of a running agent replaces the wait reason.
    let why = card.wait_reason.as_ref().filter(|_| card.run.is_none()).map(|why| why.sentence());
    let detail = card.attention.as_ref().map(|attention| attention.detail.clone());
    let near = card.near_limit.filter(|_| card.attention.is_none()).map(|limit| limit.sentence());
    view! {
        <div class="facts">
            <Badge label=label tone=tone />
            <Role phase=card.phase />
            {(card.comments > 0).then(|| view! {
                <span class="fact" title="Comments">
                    <Icon drawing=COMMENT />
                    {card.comments}
                    <span class="visually-hidden">"comments"</span>
                </span>
            })}
            {facts}
        </div>
        {near.map(|near| view! { <p class="reason" data-tone=Tone::Warn.as_str()>{near}</p> })}
        {detail.or(why).map(|why| view! { <p class="reason">{why}</p> })}
        {card.run.map(|run| view! { <Activity run=run /> })}
    }
}

/// The activity of the running agent: elapsed time and its last line.
#[component]
fn Activity(run: CurrentRun) -> impl IntoView {
    let clock = Clock::from_context();
    let line = Store::from_context().activity_of(&run.id);
    let label = format!("{} working, attempt {}", phase_label(run.phase), run.attempt);
    view! {
        <div class="activity">
            <span class="pulse" role="img" aria-label=label></span>
            <span class="tabular">{move || clock.elapsed(run.started_at)}</span>
            <span class="last">{move || line.get()}</span>
        </div>
    }
}
