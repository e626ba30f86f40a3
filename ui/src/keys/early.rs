//! Keys that are pressed before the code that follows them is loaded: they are kept for a moment, and then pressed again in their order.
//!
//! Must not know what a key does.

use std::collections::VecDeque;
use std::time::Duration;

use domain::time::Timestamp;
use leptos::ev;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, KeyboardEventInit};

use super::{NEEDS_YOU, is_handled_elsewhere};
use crate::components::dialog::focused;
use crate::time::now;

/// The oldest press is dropped for one more.
const MAX_PRESSES: usize = 20;
/// The reader does not expect an effect of an older press.
const MAX_AGE: Duration = Duration::from_secs(5);

/// The keys that only change the focus or the selection. Any other key may open a field or a page, and the keys after it were meant for that.
const STAYING: [&str; 8] = ["j", "k", "x", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Escape"];

#[derive(Debug, Clone, PartialEq, Eq)]
struct Press {
    key: String,
    with_shift: bool,
    at: Timestamp,
}

/// The presses that nothing followed yet, or none once keys are followed.
#[derive(Clone, Copy)]
pub(crate) struct EarlyKeys(StoredValue<Option<VecDeque<Press>>>);

impl EarlyKeys {
    /// Keeps the presses that the listeners before it leave alone.
    pub(crate) fn provide() {
        let keys = Self(StoredValue::new(Some(VecDeque::new())));
        provide_context(keys);
        let listener = window_event_listener(ev::keydown, move |event| {
            if keys.0.with_value(Option::is_some) && is_kept(&event) {
                let press = Press { key: event.key(), with_shift: event.shift_key(), at: now() };
                keys.0.update_value(|presses| {
                    if let Some(presses) = presses {
                        push(presses, press);
                    }
                });
            }
        });
        on_cleanup(move || listener.remove());
    }

    pub(super) fn from_context() -> Self {
        expect_context()
    }

    /// Presses the kept keys again, once everything that was loaded with their listener is drawn. No more are kept from now on.
    pub(super) fn press_again(self) {
        let Some(presses) = self.0.try_update_value(Option::take).flatten() else { return };
        set_timeout(move || due(presses, now()).iter().for_each(dispatch), Duration::ZERO);
    }
}

fn is_kept(event: &KeyboardEvent) -> bool {
    let is_plain = !(event.ctrl_key() || event.meta_key() || event.alt_key() || event.is_composing());
    // Enter and Tab have an effect of their own in the browser. *Needs you* is followed from the beginning.
    let is_shortcut = event.key() != NEEDS_YOU.0 && (event.key().chars().count() == 1 || STAYING.contains(&event.key().as_str()));
    is_plain && is_shortcut && !event.default_prevented() && !is_handled_elsewhere(event, false, false)
}

fn push(presses: &mut VecDeque<Press>, press: Press) {
    if presses.len() == MAX_PRESSES {
        presses.pop_front();
    }
    presses.push_back(press);
}

/// The presses that are new enough, up to the first one that may open something.
fn due(presses: VecDeque<Press>, now: Timestamp) -> Vec<Press> {
    let mut is_over = false;
    let recent = presses.into_iter().filter(|press| now.since(press.at) <= MAX_AGE);
    recent.take_while(|press| !std::mem::replace(&mut is_over, !STAYING.contains(&press.key.as_str()))).collect()
}

fn dispatch(press: &Press) {
    let init = KeyboardEventInit::new();
    init.set_key(&press.key);
    init.set_shift_key(press.with_shift);
    init.set_bubbles(true);
    init.set_cancelable(true);
    let Ok(event) = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init) else { return };
    let target = focused().or_else(|| document().body());
    let _handled = target.map(|target| target.dispatch_event(&event));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: &str, at: i64) -> Press {
        Press { key: key.to_owned(), with_shift: false, at: Timestamp::from_milliseconds(at) }
    }

    fn keys_due(pressed: &[(&str, i64)], now: i64) -> String {
        let mut presses = VecDeque::new();
        pressed.iter().for_each(|(key, at)| push(&mut presses, press(key, *at)));
        due(presses, Timestamp::from_milliseconds(now)).into_iter().map(|press| press.key).collect()
    }

    #[test]
    fn early_keys_are_pressed_again_in_their_order() {
        assert_eq!(keys_due(&[("j", 1_000), ("j", 1_100), ("x", 1_200)], 1_300), "jjx");
        assert_eq!(keys_due(&[], 1_300), "");
    }

    #[test]
    fn old_presses_are_forgotten() {
        assert_eq!(keys_due(&[("k", 1_000), ("j", 2_000)], 6_500), "j");
        let many: Vec<(String, i64)> = (0..30_i64).map(|number| ((if number < 10 { "k" } else { "j" }).to_owned(), number)).collect();
        let many: Vec<(&str, i64)> = many.iter().map(|(key, at)| (key.as_str(), *at)).collect();
        assert_eq!(keys_due(&many, 100), "j".repeat(20));
    }

    #[test]
    fn keys_after_one_that_opens_a_field_are_dropped() {
        assert_eq!(keys_due(&[("j", 1), ("n", 2), ("x", 3), ("a", 4)], 10), "jn");
    }
}
