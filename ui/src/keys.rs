//! Keyboard shortcuts of a page: the action of each key, and the presses that belong to something else.

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use crate::components::dialog::focused;
use crate::focus::Step;
use crate::route::Section;

/// The action of a shortcut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    New,
    Filter,
    Help,
    Settings,
    Move,
    Walk(Step),
    /// Opens another section of the project.
    Go(Section),
    Close,
}

/// Every shortcut with its effect, for the help.
pub(crate) const HELP: [(&str, &str); 10] = [
    ("n", "New task, or new item on the current page"),
    ("1 2 3 4 5 6", "Board, team, messages, goals, contracts, handshakes"),
    ("/", "Filter the cards"),
    ("← ↑ ↓ →", "Go to a neighbouring card"),
    ("j k", "Go to the next or previous card"),
    ("Enter", "Open the card"),
    ("m", "Move the card"),
    ("s", "Settings: signed-in browsers and people"),
    ("Esc", "Close the panel or dialog"),
    ("?", "Show this help"),
];

fn meaning(key: &str) -> Option<Key> {
    Some(match key {
        "n" => Key::New,
        "/" => Key::Filter,
        "?" => Key::Help,
        "s" => Key::Settings,
        "m" => Key::Move,
        "Escape" => Key::Close,
        "ArrowUp" | "k" => Key::Walk(Step::Up),
        "ArrowDown" | "j" => Key::Walk(Step::Down),
        "ArrowLeft" => Key::Walk(Step::Left),
        "ArrowRight" => Key::Walk(Step::Right),
        digit => Key::Go(*Section::ALL.get(digit.parse::<usize>().ok()?.checked_sub(1)?)?),
    })
}

/// Passes shortcuts to `act` for as long as the current owner lives.
pub(crate) fn listen(act: impl Fn(Key) + 'static) {
    let listener = window_event_listener(ev::keydown, move |event| {
        if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() {
            return;
        }
        let Some(key) = meaning(&event.key()) else { return };
        if is_handled_elsewhere(&event, key) {
            return;
        }
        if key == Key::Close && blur_field() {
            return;
        }
        event.prevent_default();
        act(key);
    });
    on_cleanup(move || listener.remove());
}

/// Removes the focus from a field, if it is in one. Escape then keeps the typed text; a second press closes the panel.
fn blur_field() -> bool {
    let field = focused().filter(|element| element.matches("input, textarea, select").unwrap_or(false));
    field.is_some_and(|field| field.blur().is_ok())
}

/// Whether the press is typed text, or belongs to a dialog, a menu or a scrolling panel.
fn is_handled_elsewhere(event: &KeyboardEvent, key: Key) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return false };
    let within = |selector: &str| target.closest(selector).ok().flatten().is_some();
    // An open dialog receives every key, even when a click on its text removed the focus from it.
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
    fn digit_keys_open_sections() {
        assert_eq!(meaning("1"), Some(Key::Go(Section::Board)));
        assert_eq!(meaning("6"), Some(Key::Go(Section::Handshakes)));
        assert_eq!([meaning("0"), meaning("7"), meaning("F1"), meaning("x")], [None; 4]);
    }

    #[test]
    fn help_lists_only_working_keys() {
        let arrows = [("←", "ArrowLeft"), ("↑", "ArrowUp"), ("↓", "ArrowDown"), ("→", "ArrowRight"), ("Esc", "Escape")];
        for (keys, _) in HELP {
            for key in keys.split(' ').filter(|key| *key != "Enter") {
                let name = arrows.iter().find(|(drawn, _)| *drawn == key).map_or(key, |(_, name)| name);
                assert!(meaning(name).is_some(), "{key}");
            }
        }
    }
}
