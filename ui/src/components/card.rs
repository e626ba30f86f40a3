//! One card. Follows its own signal, so that an event about another card leaves it alone.

use domain::board::card::{Card, CurrentRun};
use domain::id::TaskId;
use leptos::html;
use leptos::prelude::*;
use web_sys::{HtmlElement, MouseEvent, PointerEvent};

use crate::components::badge::{Badge, Role, card_look, phase_word};
use crate::components::icon::{COMMENT, GRIP, Icon, MORE};
use crate::drag::Drag;
use crate::moves::Moves;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::{Clock, money};

#[component]
pub(crate) fn TaskCard(id: TaskId, card: ArcRwSignal<Card>) -> impl IntoView {
    let (drag, moves, navigation) = (Drag::here(), Moves::here(), Navigation::here());
    let project = card.with_untracked(|card| card.project_id.clone());
    let route = Route::Board { project, task: Some(id.clone()) };
    let menu_button = NodeRef::<html::Button>::new();

    let lifted = Memo::new({
        let id = id.clone();
        move |_| drag.carried.with(|carried| carried.as_ref().is_some_and(|carried| carried.task == id))
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
            if drag.took_the_click() {
                event.prevent_default();
            } else {
                navigation.follow(&event, route.clone());
            }
        }
    };
    let choose = {
        let id = id.clone();
        move |_| {
            if let Some(button) = menu_button.get_untracked() {
                moves.choose(id.clone(), HtmlElement::from(button));
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
            data-lifted=move || lifted.get().then_some("")
            aria-current=move || if current.get() { "true" } else { "false" }
            on:pointerdown=move |event| press_card(event, false)
        >
            <div class="line">
                <span class="id">{id.to_string()}</span>
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
                        on:click=choose
                    >
                        <Icon drawing=MORE />
                    </button>
                </span>
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

/// Everything below the title.
#[component]
fn Facts(card: Card) -> impl IntoView {
    let (word, tone) = card_look(&card);
    let cost = money(card.cost_micro_usd);
    // What an agent does says more than why none does.
    let why = card.wait_reason.as_ref().filter(|_| card.run.is_none()).map(|why| why.sentence());
    let detail = card.attention.as_ref().map(|attention| attention.detail.clone());
    view! {
        <div class="facts">
            <Badge word=word tone=tone />
            <Role phase=card.phase />
            {(card.comments > 0).then(|| view! {
                <span class="fact" title="Comments">
                    <Icon drawing=COMMENT />
                    {card.comments}
                    <span class="visually-hidden">"comments"</span>
                </span>
            })}
            {cost.map(|cost| view! { <span class="fact" title="Cost so far">{cost}</span> })}
        </div>
        {detail.or(why).map(|why| view! { <p class="why">{why}</p> })}
        {card.run.map(|run| view! { <Activity run=run /> })}
    }
}

/// The running mark: how long the agent has been at it, and what it did last.
#[component]
fn Activity(run: CurrentRun) -> impl IntoView {
    let clock = Clock::here();
    let line = Store::here().activity_of(&run.id);
    let label = format!("{} at work, attempt {}", phase_word(run.phase), run.attempt);
    view! {
        <div class="activity">
            <span class="pulse" role="img" aria-label=label></span>
            <span class="tabular">{move || clock.elapsed(run.started_at)}</span>
            <span class="last">{move || line.get()}</span>
        </div>
    }
}
