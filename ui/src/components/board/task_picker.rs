//! A field that finds tasks of the project by their words, and collects the chosen ones: a combobox with chips.
//!
//! Must not know what the chosen tasks are for.

use domain::board::card::Card;
use domain::id::TaskId;
use domain::likeness::{MAX_BEHIND, Query};
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use crate::components::badge::card_state::CardState;
use crate::components::glyph::StateGlyph;
use crate::components::icon::{CLOSE, Icon};
use crate::palette::step;
use crate::store::Store;

/// More options would be read by nobody. Further words find the others.
const MAX_OPTIONS: usize = 7;

#[component]
pub(crate) fn TaskPicker(
    #[prop(into)] id: String,
    label: &'static str,
    chosen: RwSignal<Vec<TaskId>>,
    /// A task that cannot be chosen.
    #[prop(optional_no_strip)]
    except: Option<TaskId>,
    /// Whether a choice replaces the one before.
    #[prop(optional)]
    single: bool,
    /// Whether the label is only a placeholder for those who see it.
    #[prop(optional)]
    hides_label: bool,
    /// The tasks that can be chosen.
    #[prop(default = is_open_task)]
    offers: fn(&Card) -> bool,
) -> impl IntoView {
    let (store, id) = (Store::from_context(), StoredValue::new(id));
    let (typed, is_open, active) = (RwSignal::new(String::new()), RwSignal::new(false), RwSignal::new(0_usize));
    // Read only while the list is open, and as it is then: options that move would be chosen by mistake.
    let options = Memo::new(move |_| {
        if !is_open.get() {
            return Vec::new();
        }
        let (typed, chosen) = (typed.get(), chosen.get());
        let is_offered = |card: &&Card| offers(card) && Some(&card.id) != except.as_ref() && !chosen.contains(&card.id);
        found(store.cards_where(is_offered, usize::MAX), &typed)
    });
    let choose = Callback::new(move |index: usize| {
        if let Some(card) = options.with_untracked(|options| options.get(index).cloned()) {
            chosen.update(|chosen| {
                if single {
                    chosen.clear();
                }
                chosen.push(card.id);
            });
            typed.set(String::new());
            is_open.set(false);
        }
    });
    let option_id = move |index: usize| id.with_value(|id| format!("{id}-option-{index}"));
    let list_id = id.with_value(|id| format!("{id}-list"));
    let on_key = move |event: KeyboardEvent| {
        let count = options.with_untracked(Vec::len);
        match event.key().as_str() {
            "ArrowDown" | "ArrowUp" if is_open.get_untracked() => active.update(|active| *active = step(*active, count, event.key() == "ArrowDown")),
            "ArrowDown" => is_open.set(true),
            // Enter would submit the form.
            "Enter" if event.is_composing() => return,
            "Enter" => choose.run(active.get_untracked()),
            "Escape" if is_open.get_untracked() => is_open.set(false),
            "Backspace" if typed.with_untracked(String::is_empty) => chosen.update(|chosen| drop(chosen.pop())),
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let chip = move |task: TaskId| {
        let title = store.card(&task).map(|card| card.with(|card| card.title.clone())).unwrap_or_default();
        let removed = task.clone();
        view! {
            <li>
                <button
                    type="button"
                    class="option-box"
                    aria-label=format!("Remove {task} {title}")
                    title=title
                    on:click=move |_| chosen.update(|chosen| chosen.retain(|known| *known != removed))
                >
                    {task.to_string()}
                    <Icon drawing=CLOSE />
                </button>
            </li>
        }
    };
    let option = move |(index, card): (usize, Card)| {
        let state = CardState::of(&card);
        view! {
            <li
                id=option_id(index)
                role="option"
                aria-selected=move || (active.get() == index).to_string()
                // The field keeps the focus.
                on:mousedown=|event| event.prevent_default()
                on:mousemove=move |_| if active.get_untracked() != index { active.set(index) }
                on:click=move |_| choose.run(index)
            >
                <StateGlyph glyph=state.glyph() tone=state.tone() label=state.label() />
                <span class="title">{card.title}</span>
                <span class="faint tabular">{card.id.to_string()}</span>
            </li>
        }
    };
    let has_options = Memo::new(move |_| !options.with(Vec::is_empty));
    let status = move || match (is_open.get(), options.with(Vec::len)) {
        (false, _) => String::new(),
        (true, 0) if typed.with(|typed| typed.trim().is_empty()) => "No other task to choose from".to_owned(),
        (true, 0) => "No matching task".to_owned(),
        (true, 1) => "1 task".to_owned(),
        (true, count) => format!("{count} tasks"),
    };
    view! {
        <div class="field task-picker">
            <label for=id.get_value() class:visually-hidden=hides_label>{label}</label>
            <Show when=move || !chosen.with(Vec::is_empty)>
                <ul class="options-list" aria-label="Chosen tasks">{move || chosen.get().into_iter().map(chip).collect_view()}</ul>
            </Show>
            <input
                id=id.get_value()
                class="input"
                type="text"
                role="combobox"
                autocomplete="off"
                spellcheck="false"
                placeholder=if hides_label { label } else { "Find a task by its words or its number" }
                aria-autocomplete="list"
                aria-expanded=move || has_options.get().to_string()
                aria-controls=list_id.clone()
                aria-activedescendant=move || has_options.get().then(|| option_id(active.get()))
                prop:value=typed
                on:input:target=move |event| {
                    active.set(0);
                    typed.set(event.target().value());
                    is_open.set(true);
                }
                on:click=move |_| is_open.set(true)
                on:blur=move |_| is_open.set(false)
                on:keydown=on_key
            />
            <ul id=list_id role="listbox" aria-label=label hidden=move || !has_options.get()>
                {move || options.get().into_iter().enumerate().map(option).collect_view()}
            </ul>
            <p class="hint" role="status">{status}</p>
        </div>
    }
}

fn is_open_task(card: &Card) -> bool {
    card.status.is_open()
}

/// The cards with these words, the best match first. Without words, the newest cards.
fn found(cards: Vec<Card>, typed: &str) -> Vec<Card> {
    let query = Query::new(typed);
    if query.is_empty() {
        return cards.into_iter().rev().take(MAX_OPTIONS).collect();
    }
    let mut ranked: Vec<(u8, u8, Card)> = Vec::new();
    for card in cards.into_iter().rev() {
        let found = query.find(&format!("{}\n{}", card.title, card.id));
        if found.is_complete {
            ranked.push((found.score, found.phrase, card));
        }
    }
    let best = ranked.iter().map(|(score, ..)| *score).max().unwrap_or_default();
    ranked.retain(|(score, ..)| score + MAX_BEHIND >= best);
    ranked.sort_by_key(|(score, phrase, _)| std::cmp::Reverse((*score, *phrase)));
    ranked.into_iter().take(MAX_OPTIONS).map(|(.., card)| card).collect()
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;

    use super::*;
    use crate::testing;

    #[test]
    fn tasks_are_found_by_words_typing_errors_and_ids() {
        let titles = ["Add a login page", "Rename the passkeys", "Draw the login button"];
        let cards = || (1..).zip(titles).map(|(number, title)| Card { title: title.to_owned(), ..testing::card(number, Status::Backlog) });
        let ids = |typed: &str| found(cards().collect(), typed).into_iter().map(|card| card.id.number()).collect::<Vec<_>>();
        assert_eq!(ids(""), [3, 2, 1], "the newest first");
        assert_eq!((ids("login"), ids("paskeys"), ids("button login")), (vec![3, 1], vec![2], vec![3]));
        assert_eq!((ids("task-002"), ids("zebra")), (vec![2], Vec::<u64>::new()));
        let many = (1..100).map(|number| testing::card(number, Status::Backlog)).collect();
        assert_eq!(found(many, "task").len(), MAX_OPTIONS);
    }
}
