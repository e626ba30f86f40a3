//! The button that says how many items of a list arrived below its visible part, and leads to them.
//!
//! Must not know what an item is: an attribute of its element names it.

use std::collections::HashSet;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use web_sys::Element;

use crate::components::icon::{DOWN, Icon};

/// The parts of the page that scroll lists.
const SCROLLERS: &str = ".cards, .sheet-body, .board-scroll";
/// How much of an item has to be visible, in pixels.
const MARGIN: f64 = 12.0;

/// The items below the visible part.
#[derive(Clone, Copy)]
pub(crate) struct NewItems {
    below: RwSignal<Vec<String>>,
    /// The attribute with the name of an item.
    attribute: &'static str,
}

impl NewItems {
    /// Follows the names of the items, which are none until the list is loaded.
    pub(crate) fn follow(attribute: &'static str, names: impl Fn() -> Option<Vec<String>> + 'static) -> Self {
        let items = Self { below: RwSignal::new(Vec::new()), attribute };
        Effect::new(move |before: Option<Option<Vec<String>>>| {
            let now = names();
            let added = added(before.flatten().as_deref(), now.as_deref());
            if !added.is_empty() {
                after_layout(move || items.add(added));
            }
            now
        });
        // A scroll does not bubble, so the window sees it only on its way down.
        let recheck = Closure::<dyn Fn()>::new(move || items.recheck());
        let _listens = window().add_event_listener_with_callback_and_bool("scroll", recheck.as_ref().unchecked_ref(), true);
        let recheck = StoredValue::new_local(recheck);
        on_cleanup(move || {
            recheck.try_with_value(|recheck| {
                let _ended = window().remove_event_listener_with_callback_and_bool("scroll", recheck.as_ref().unchecked_ref(), true);
            });
        });
        items
    }

    fn add(self, added: Vec<String>) {
        let below: Vec<String> = added.into_iter().filter(|name| self.is_below(name)).collect();
        if !below.is_empty() {
            let _list_closed = self.below.try_update(|known| known.extend(below));
        }
    }

    fn recheck(self) {
        let is_empty = self.below.try_with_untracked(Vec::is_empty).unwrap_or(true);
        if !is_empty {
            self.below.update(|below| below.retain(|name| self.is_below(name)));
        }
    }

    /// Whether an item is below the visible part, or too far down to be drawn.
    fn is_below(self, name: &str) -> bool {
        let Some(item) = document().query_selector(&format!("[{}='{name}']", self.attribute)).ok().flatten() else { return true };
        let Some(scroller) = item.closest(SCROLLERS).ok().flatten() else { return false };
        let bottom = |element: &Element| element.get_bounding_client_rect().bottom();
        item.get_bounding_client_rect().top() + MARGIN > bottom(&scroller)
    }
}

/// The names that the list did not have before. A list that has just been loaded has no new ones.
fn added(before: Option<&[String]>, now: Option<&[String]>) -> Vec<String> {
    let (Some(before), Some(now)) = (before, now) else { return Vec::new() };
    let before: HashSet<&String> = before.iter().collect();
    now.iter().filter(|name| !before.contains(name)).cloned().collect()
}

/// Runs `act` once new elements have their places.
pub(crate) fn after_layout(act: impl FnOnce() + 'static) {
    request_animation_frame(move || request_animation_frame(act));
}

#[component]
pub(crate) fn NewBelow(
    items: NewItems,
    /// Brings an item into view.
    show: Callback<String>,
) -> impl IntoView {
    let go = move |_| {
        let first = items.below.with_untracked(|below| below.first().cloned());
        items.below.set(Vec::new());
        first.into_iter().for_each(|name| show.run(name));
    };
    view! {
        <Show when=move || !items.below.with(Vec::is_empty)>
            <button type="button" class="button small new-below" on:click=go>
                <Icon drawing=DOWN />
                {move || format!("{} new below", items.below.with(Vec::len))}
            </button>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn items_are_new_once_the_list_is_loaded() {
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let added = |before: Option<Vec<String>>, now: Option<Vec<String>>| super::added(before.as_deref(), now.as_deref());
        assert_eq!(added(None, names(&["a"])), Vec::<String>::new());
        assert_eq!(added(names(&[]), names(&["a"])), ["a"]);
        assert_eq!(added(names(&["a", "b"]), names(&["b", "c", "a"])), ["c"]);
        assert_eq!(added(names(&["a"]), None), Vec::<String>::new());
    }
}
