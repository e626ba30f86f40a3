//! Keys that work anywhere on a page: which key means what, and when a press is meant for something else.

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use crate::components::dialog::focused;
use crate::focus::Step;
use crate::route::Section;

/// What a key press asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    New,
    Filter,
    Help,
    Move,
    Walk(Step),
    /// To another part of the project.
    Go(Section),
    Close,
}

/// Every key with what it does, for the help.
pub(crate) const HELP: [(&str, &str); 9] = [
    ("n", "New: a task, or what the page is about"),
    ("1 2 3 4 5 6", "Board, team, messages, goals, contracts, handshakes"),
    ("/", "Filter the cards"),
    ("← ↑ ↓ →", "Walk between cards"),
    ("j k", "Next and previous card"),
    ("Enter", "Open the card"),
    ("m", "Move the card"),
    ("Esc", "Close what is open"),
    ("?", "This help"),
];

fn meaning(key: &str) -> Option<Key> {
    Some(match key {
        "n" => Key::New,
        "/" => Key::Filter,
        "?" => Key::Help,
        "m" => Key::Move,
        "Escape" => Key::Close,
        "ArrowUp" | "k" => Key::Walk(Step::Up),
        "ArrowDown" | "j" => Key::Walk(Step::Down),
        "ArrowLeft" => Key::Walk(Step::Left),
        "ArrowRight" => Key::Walk(Step::Right),
        digit => Key::Go(*Section::ALL.get(digit.parse::<usize>().ok()?.checked_sub(1)?)?),
    })
}

/// Tells `act` about the page's keys until the current owner goes.
pub(crate) fn listen(act: impl Fn(Key) + 'static) {
    let listener = window_event_listener(ev::keydown, move |event| {
        if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() {
            return;
        }
        let Some(key) = meaning(&event.key()) else { return };
        if belongs_elsewhere(&event, key) {
            return;
        }
        if key == Key::Close && left_a_field() {
            return;
        }
        event.prevent_default();
        act(key);
    });
    on_cleanup(move || listener.remove());
}

/// Takes the focus out of a field, if it is in one: what was typed there is not given up by the same key.
fn left_a_field() -> bool {
    let field = focused().filter(|element| element.matches("input, textarea, select").unwrap_or(false));
    field.is_some_and(|field| field.blur().is_ok())
}

/// Whether the press is typed text, or meant for a dialog, a menu, a list of tabs or a scrolling text.
fn belongs_elsewhere(event: &KeyboardEvent, key: Key) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return false };
    let within = |selector: &str| target.closest(selector).ok().flatten().is_some();
    // A dialog has every key, also where a click on its text took the focus out of it.
    let has_dialog = document().query_selector("dialog[open]").ok().flatten().is_some();
    if has_dialog || within("[role=menu]") {
        return true;
    }
    match key {
        Key::Close => false,
        Key::Walk(_) => within("input, textarea, select, [contenteditable], .sheet"),
        _ => within("input, textarea, select, [contenteditable]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_is_a_part_of_the_project() {
        assert_eq!(meaning("1"), Some(Key::Go(Section::Board)));
        assert_eq!(meaning("6"), Some(Key::Go(Section::Handshakes)));
        assert_eq!([meaning("0"), meaning("7"), meaning("F1"), meaning("x")], [None; 4]);
    }

    #[test]
    fn the_help_names_keys_that_mean_something() {
        let arrows = [("←", "ArrowLeft"), ("↑", "ArrowUp"), ("↓", "ArrowDown"), ("→", "ArrowRight"), ("Esc", "Escape")];
        for (keys, _) in HELP {
            for key in keys.split(' ').filter(|key| *key != "Enter") {
                let name = arrows.iter().find(|(drawn, _)| *drawn == key).map_or(key, |(_, name)| name);
                assert!(meaning(name).is_some(), "{key}");
            }
        }
    }
}
