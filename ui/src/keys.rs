//! Keyboard shortcuts: the action of each key of a page, the keys of the palette on every page, and the presses that belong to something else.

pub(crate) mod early;

use std::cell::Cell;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use crate::components::dialog::focused;
use crate::components::palette::{Mode, Palette};
use crate::focus::{Step, press_answer};
use crate::keys::early::EarlyKeys;
use crate::route::{Navigation, Route, Section};

/// The action of a shortcut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    New,
    Filter,
    Help,
    Settings,
    Move,
    /// Presses or focuses the button of the panel or of the focused card for what only the person can do.
    Act,
    /// Opens the review of the task in the panel or of the focused card.
    Review,
    Walk(Step),
    /// Selects the focused card, or takes it out of the selection.
    Select,
    /// Goes to a neighbouring card and selects both.
    Extend(Step),
    /// Opens another section of the project.
    Go(Section),
    Close,
}

/// The two keys that open *Needs you*, one after the other.
const NEEDS_YOU: (&str, &str) = ("g", "i");

/// Every shortcut with its effect, for the help.
pub(crate) const HELP: [(&str, &str); 17] = [
    ("Ctrl+K", "Open the palette: actions, tasks, projects, agents and settings. On a Mac: ⌘K"),
    ("/", "Search the texts of all projects"),
    ("n", "New task, or new item on the current page"),
    ("1 2 3 4 5 6 7 8 9", "Choose an answer to the open question, or open a section: board, team, messages and so on"),
    ("f", "Filter the cards"),
    ("← ↑ ↓ →", "Go to a neighbouring card"),
    ("j k", "Go to the next or previous card"),
    ("Enter", "Open the card"),
    ("a", "Do what the card waits for: start, retry, review, or choose an answer"),
    ("x", "Select the card, to change several at once"),
    ("Shift+↑ Shift+↓", "Go to a neighbouring card and select it too"),
    ("m", "Move the card"),
    ("r", "Review the changes of the card"),
    ("g i", "Needs you"),
    ("s", "Settings: signed-in browsers and people"),
    ("Esc", "Close the panel or dialog, or clear the selection"),
    ("?", "Show this help"),
];

/// The action of a shortcut on the page of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReviewKey {
    Next,
    Previous,
    LineDown,
    LineUp,
    Comment,
    Viewed,
    Close,
}

/// Every shortcut of a review with its effect, for the help.
pub(crate) const REVIEW_HELP: [(&str, &str); 5] = [
    ("j k", "Go to the next or previous file"),
    ("↑ ↓", "Go to the previous or next line"),
    ("c", "Comment on the line"),
    ("v", "Mark the file as viewed"),
    ("Esc", "Go back to the task"),
];

fn review_meaning(key: &str) -> Option<ReviewKey> {
    Some(match key {
        "j" => ReviewKey::Next,
        "k" => ReviewKey::Previous,
        "ArrowDown" => ReviewKey::LineDown,
        "ArrowUp" => ReviewKey::LineUp,
        "c" => ReviewKey::Comment,
        "v" => ReviewKey::Viewed,
        "Escape" => ReviewKey::Close,
        _ => return None,
    })
}

fn meaning(key: &str) -> Option<Key> {
    Some(match key {
        "n" => Key::New,
        "f" => Key::Filter,
        "?" => Key::Help,
        "s" => Key::Settings,
        "m" => Key::Move,
        "a" => Key::Act,
        "r" => Key::Review,
        "x" => Key::Select,
        "Escape" => Key::Close,
        "ArrowUp" | "k" => Key::Walk(Step::Up),
        "ArrowDown" | "j" => Key::Walk(Step::Down),
        "ArrowLeft" => Key::Walk(Step::Left),
        "ArrowRight" => Key::Walk(Step::Right),
        "Shift+ArrowUp" => Key::Extend(Step::Up),
        "Shift+ArrowDown" => Key::Extend(Step::Down),
        "Shift+ArrowLeft" => Key::Extend(Step::Left),
        "Shift+ArrowRight" => Key::Extend(Step::Right),
        digit => Key::Go(*Section::ALL.get(digit.parse::<usize>().ok()?.checked_sub(1)?)?),
    })
}

/// Passes shortcuts to `act` for as long as the current owner lives.
pub(crate) fn listen(act: impl Fn(Key) + 'static) {
    listen_where(|_| true, act);
}

/// Like [`listen`], for the shortcuts that `accepts` does not leave to others.
pub(crate) fn listen_where(accepts: impl Fn(Key) -> bool + 'static, act: impl Fn(Key) + 'static) {
    let accepted = move |key: &str| meaning(key).filter(|key| accepts(*key));
    listen_to(accepted, |key| matches!(key, Key::Walk(_) | Key::Extend(_)), |key| key == Key::Close, act);
}

/// Passes the shortcuts of a review to `act` for as long as the current owner lives.
pub(crate) fn listen_in_review(act: impl Fn(ReviewKey) + 'static) {
    listen_to(review_meaning, |_| false, |key| key == ReviewKey::Close, act);
}

fn listen_to<K: Copy + 'static>(
    meaning: impl Fn(&str) -> Option<K> + 'static,
    scrolls_panel: fn(K) -> bool,
    closes: fn(K) -> bool,
    act: impl Fn(K) + 'static,
) {
    // A listener for this key is the one of the page.
    let follows_page = meaning("Escape").is_some();
    let listener = window_event_listener(ev::keydown, move |event| {
        if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing() {
            return;
        }
        if is_digit(&event.key()) && !is_handled_elsewhere(&event, false, false) && press_answer(&event.key()) {
            event.prevent_default();
            return;
        }
        let name = if event.shift_key() && event.key().starts_with("Arrow") { format!("Shift+{}", event.key()) } else { event.key() };
        let Some(key) = meaning(&name) else { return };
        if is_handled_elsewhere(&event, scrolls_panel(key), closes(key)) {
            return;
        }
        if closes(key) && blur_field() {
            return;
        }
        event.prevent_default();
        act(key);
    });
    on_cleanup(move || listener.remove());
    if follows_page {
        EarlyKeys::from_context().press_again();
    }
}

/// Whether the key may choose an answer to a question, and opens a section of the project where none is open.
fn is_digit(key: &str) -> bool {
    matches!(key.as_bytes(), [b'1'..=b'9'])
}

/// The mode in which a key opens the palette. `with_command` tells whether Ctrl or ⌘ is held.
fn palette_mode(key: &str, with_command: bool) -> Option<Mode> {
    match (key, with_command) {
        ("k" | "K", true) => Some(Mode::All),
        ("/", false) => Some(Mode::Texts),
        _ => None,
    }
}

/// Opens the palette on any page. Ctrl+K does so from within a field too, and closes an open palette.
pub(crate) fn listen_for_palette(palette: Palette) {
    let listener = window_event_listener(ev::keydown, move |event| {
        let with_command = event.ctrl_key() || event.meta_key();
        let Some(mode) = palette_mode(&event.key(), with_command) else { return };
        if event.default_prevented() || event.alt_key() || (with_command && event.shift_key()) || event.is_composing() {
            return;
        }
        let is_elsewhere = if with_command { !palette.is_open() && has_dialog() } else { is_handled_elsewhere(&event, false, false) };
        if !is_elsewhere {
            event.prevent_default();
            palette.toggle(mode);
        }
    });
    on_cleanup(move || listener.remove());
}

/// Opens *Needs you* from any page, by `g` and then `i`.
pub(crate) fn listen_for_needs_you(navigation: Navigation) {
    let is_prefixed = Cell::new(false);
    let listener = window_event_listener(ev::keydown, move |event| {
        let was_prefixed = is_prefixed.take();
        if event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key() || is_handled_elsewhere(&event, false, false) {
            return;
        }
        is_prefixed.set(event.key() == NEEDS_YOU.0);
        if was_prefixed && event.key() == NEEDS_YOU.1 {
            event.prevent_default();
            navigation.go(Route::NeedsYou);
        }
    });
    on_cleanup(move || listener.remove());
}

/// Whether a dialog is open. It receives every key, even when a click on its text removed the focus from it.
fn has_dialog() -> bool {
    document().query_selector("dialog[open]").ok().flatten().is_some()
}

/// Removes the focus from a field, if it is in one. Escape then keeps the typed text; a second press closes the panel.
fn blur_field() -> bool {
    let field = focused().filter(|element| element.matches("input:not([type=checkbox]), textarea, select").unwrap_or(false));
    field.is_some_and(|field| field.blur().is_ok())
}

/// Whether the press is typed text, or belongs to a dialog, a menu or a scrolling panel.
fn is_handled_elsewhere(event: &KeyboardEvent, scrolls_panel: bool, closes: bool) -> bool {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return false };
    let within = |selector: &str| target.closest(selector).ok().flatten().is_some();
    if has_dialog() || within("[role=menu]") {
        return true;
    }
    // A checkbox takes no text.
    let types = within("input:not([type=checkbox]), textarea, select, [contenteditable]");
    !closes && (types || (scrolls_panel && within(".sheet")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digit_keys_open_sections() {
        assert_eq!(meaning("1"), Some(Key::Go(Section::Board)));
        assert_eq!(meaning("6"), Some(Key::Go(Section::Handshakes)));
        assert_eq!(meaning("7"), Some(Key::Go(Section::Activity)));
        assert_eq!([meaning("0"), meaning("F1"), meaning("y")], [None; 3]);
        assert_eq!(["1", "9", "0", "F1", "a"].map(is_digit), [true, true, false, false, false]);
    }

    #[test]
    fn help_lists_only_working_keys() {
        let arrows = [("←", "ArrowLeft"), ("↑", "ArrowUp"), ("↓", "ArrowDown"), ("→", "ArrowRight"), ("Esc", "Escape")];
        let pressed = |drawn: &'static str| {
            let (shift, key) = drawn.strip_prefix("Shift+").map_or(("", drawn), |key| ("Shift+", key));
            format!("{shift}{}", arrows.iter().find(|(known, _)| *known == key).map_or(key, |(_, name)| name))
        };
        let keys = |help: &[(&'static str, &str)]| help.iter().flat_map(|(keys, _)| keys.split(' ')).map(pressed).collect::<Vec<_>>();
        for key in keys(&HELP).into_iter().filter(|key| *key != "Enter") {
            let of_palette = key.strip_prefix("Ctrl+").map_or_else(|| palette_mode(&key, false), |key| palette_mode(key, true));
            let opens_needs_you = [NEEDS_YOU.0, NEEDS_YOU.1].contains(&key.as_str());
            assert_eq!([meaning(&key).is_some(), of_palette.is_some(), opens_needs_you].into_iter().filter(|known| *known).count(), 1, "{key}");
        }
        for key in keys(&REVIEW_HELP) {
            assert!(review_meaning(&key).is_some(), "{key}");
        }
    }
}
