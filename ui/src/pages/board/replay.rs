//! The board at any past event, with a scrubber. Nothing can be changed here.

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::event::Seq;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::card_state::CardState;
use crate::components::badge::{COLUMNS, status_label};
use crate::components::board::column::PAGE_SIZE;
use crate::components::glyph::StateGlyph;
use crate::components::icon::{BACK, BARS, FORTH, Icon, TRIANGLE};
use crate::components::inline_code::sentence;
use crate::project_data::ProjectData;
use crate::replay::{Replay, Target, shown};
use crate::route::{Navigation, Route};
use crate::time::{local_day, local_time};

#[component]
pub(crate) fn ReplayPage() -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let replay = Replay::begin(data.project(), navigation.get_untracked().replay_at());
    // A link of the same page, such as one in the browser's history.
    Effect::new(move |before: Option<Option<Seq>>| {
        let at = navigation.get().replay_at();
        if before.is_some_and(|before| before != at)
            && let Some(at) = at
        {
            replay.go(Target::To(at));
        }
        at
    });
    let loaded = Memo::new(move |_| replay.part.with(Option::is_some));
    let moment = Memo::new(move |_| replay.part.with(|part| part.as_ref().map(|part| shown(part, replay.at.get()))));
    let task = Memo::new(move |_| moment.with(|moment| moment.as_ref().and_then(|(_, step)| step.as_ref()?.event.task_id.clone())));
    let columns = COLUMNS.into_iter().flatten().map(|status| {
        let status = *status;
        let limit = RwSignal::new(PAGE_SIZE);
        let cards =
            Memo::new(move |_| moment.with(|moment| moment.as_ref().map(|(board, _)| column(board, status, limit.get())).unwrap_or_default()));
        view! { <PastColumn status=status cards=cards limit=limit changed=task /> }
    });
    view! {
        <div class="replay-page">
            <div class="replay-head">
                <h2>"Replay"</h2>
                <Show when=move || loaded.get() fallback=move || view! { <Waiting replay=replay /> }>
                    <Controls replay=replay />
                </Show>
            </div>
            <Show when=move || loaded.get()>
                <Remarks replay=replay />
            </Show>
            <div class="columns replay-columns" role="region" tabindex="0" aria-label="The board at this event">{columns.collect_view()}</div>
        </div>
    }
}

/// The cards of a column that are drawn, and how many there are.
fn column(board: &Board, status: Status, limit: usize) -> (Vec<Card>, usize) {
    let cards = board.column(status);
    (cards.iter().take(limit).map(|card| (*card).clone()).collect(), cards.len())
}

#[component]
fn Waiting(replay: Replay) -> impl IntoView {
    move || match replay.failure.get() {
        Some(why) => view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> }.into_any(),
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
    }
}

#[component]
fn Controls(replay: Replay) -> impl IntoView {
    let ends = Memo::new(move |_| replay.part.with(|part| part.as_ref().map_or((0, 0), |part| (part.first, part.last))));
    let told = Memo::new(move |_| {
        let step = replay.part.with(|part| part.as_ref().and_then(|part| shown(part, replay.at.get()).1));
        step.map(|step| (step.event.at, step.sentence)).unzip()
    });
    let time = move || told.get().0.map(|at| if local_time(at).len() > 5 { local_time(at) } else { format!("{} {}", local_day(at), local_time(at)) });
    let words = move || told.get().1.unwrap_or_default();
    let button = move |drawing, label: &'static str, target: Target| {
        view! {
            <button type="button" class="button quiet icon" aria-label=label title=label on:click=move |_| replay.go(target)>
                <Icon drawing=drawing />
            </button>
        }
        .into_any()
    };
    let play = move || {
        let (drawing, label) = if replay.is_playing() { (BARS, "Stop playing") } else { (TRIANGLE, "Play") };
        let toggle = move |_| if replay.is_playing() { replay.pause() } else { replay.play() };
        view! {
            <button type="button" class="button icon" aria-label=label title=label on:click=toggle>
                <Icon drawing=drawing />
            </button>
        }
        .into_any()
    };
    view! {
        <div class="row" role="group" aria-label="Replay">
            {button(BACK, "Previous event", Target::Previous)}
            {play}
            {button(FORTH, "Next event", Target::Next)}
        </div>
        <input
            type="range"
            class="replay-scrubber"
            aria-label="Event"
            min=move || ends.get().0.to_string()
            max=move || ends.get().1.to_string()
            prop:value=move || replay.at.get().clamp(ends.get().0, ends.get().1).to_string()
            aria-valuetext=move || format!("{}: {}", time().unwrap_or_default(), words())
            on:input:target=move |event| {
                if let Ok(at) = event.target().value().parse() {
                    replay.pause();
                    replay.go(Target::To(at));
                }
            }
        />
        <p class="replay-told">
            <time class="faint tabular" datetime=move || told.get().0.map(|at| at.to_string())>{time}</time>
            " "
            {words}
        </p>
    }
    .into_any()
}

/// Says where the past begins, what is left out, and that nothing can be changed.
#[component]
fn Remarks(replay: Replay) -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let board = StoredValue::new(Route::Board { project: data.project(), task: None });
    let late = Memo::new(move |_| replay.part.with(|part| part.as_ref().is_some_and(|part| part.begins_late)));
    let omitted = Memo::new(move |_| replay.part.with(|part| part.as_ref().map_or(0, |part| part.omitted)));
    view! {
        <div class="banner" data-tone="info" role="status">
            <strong>"This is the past"</strong>
            <span>"Nothing can be changed here."</span>
            <Show when=move || late.get()>
                <span>"Older events have been removed, so the replay starts later than the project."</span>
            </Show>
            <Show when=move || omitted.get() != 0>
                <span>{move || format!("The {} oldest tasks are not shown.", omitted.get())}</span>
            </Show>
            <Show when=move || replay.failure.with(Option::is_some)>
                <span role="alert">{move || replay.failure.get().map(|why| sentence(&why))}</span>
            </Show>
            <a class="button small spacer" href=board.with_value(Route::path) on:click=move |event| navigation.follow(&event, board.get_value())>
                "Return to the present"
            </a>
        </div>
    }
    .into_any()
}

#[component]
fn PastColumn(status: Status, cards: Memo<(Vec<Card>, usize)>, limit: RwSignal<usize>, changed: Memo<Option<TaskId>>) -> impl IntoView {
    let count = move || cards.with(|(_, count)| *count);
    let hidden = move || cards.with(|(drawn, count)| count - drawn.len());
    let is_vacant = move || (count() == 0).then_some("");
    view! {
        <section class="column" data-status=status.as_str() data-vacant=is_vacant aria-label=status_label(status)>
            <header>
                <h3>{status_label(status)}</h3>
                <span class="count">{count}</span>
            </header>
            <div class="cards">
                <ul>
                    <For each=move || cards.with(|(cards, _)| cards.clone()) key=|card| (card.id.clone(), card.title.clone(), CardState::of(card).label()) let:card>
                        <PastCard card=card changed=changed />
                    </For>
                </ul>
                <Show when=move || hidden() != 0>
                    <button
                        type="button"
                        class="button quiet"
                        aria-label=format!("Show more: {}", status_label(status))
                        on:click=move |_| limit.update(|limit| *limit += PAGE_SIZE)
                    >
                        {move || format!("Show more ({})", hidden())}
                    </button>
                </Show>
            </div>
        </section>
    }
    .into_any()
}

#[component]
fn PastCard(card: Card, changed: Memo<Option<TaskId>>) -> impl IntoView {
    let state = CardState::of(&card);
    let id = card.id.clone();
    view! {
        <li class="card past-card" data-state=state.as_str() data-changed=move || changed.with(|changed| changed.as_ref() == Some(&id)).then_some("")>
            <StateGlyph glyph=state.glyph() tone=state.tone() label=state.label() />
            <span class="title">{card.title}</span>
            <p class="meta">
                <span class="facts">{state.label()}</span>
                <span class="id">{card.id.to_string()}</span>
            </p>
        </li>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn pages_reach_every_card_of_a_past_column() {
        let board = testing::board((1..=120).map(|number| testing::card(number, Status::Done)).collect()).board;
        let drawn = |pages: usize| column(&board, Status::Done, pages * PAGE_SIZE);
        assert_eq!([1, 2, 3].map(|pages| (drawn(pages).0.len(), drawn(pages).1)), [(50, 120), (100, 120), (120, 120)]);
        assert_eq!(column(&board, Status::Backlog, PAGE_SIZE), (Vec::new(), 0));
    }
}
