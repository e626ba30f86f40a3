//! Follows the pointer while a card is pressed or dragged, with mouse, pen or touch. A finger drags by the grip, or anywhere after a long
//! press, because it scrolls otherwise.
//!
//! The card under the pointer is a copy in the browser's top layer, because a column would clip it.

use std::rc::Rc;
use std::time::Duration;

use domain::board::card::Card;
use domain::board::order::NewPlace;
use domain::board::status::Status;
use domain::board::transition::{Mover, target_columns};
use domain::id::TaskId;
use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_bindgen::closure::Closure;
use web_sys::{AddEventListenerOptions, Element, Event, HtmlElement, PointerEvent};

use super::{Drag, DraggedCard, Drop, OnDrop};
use crate::components::badge::UNSTARTED;
use crate::pixels::pixels;
use crate::reader::Reader;

/// Pointer distance, in pixels, that turns a press into a drag.
const DRAG_THRESHOLD: f64 = 5.0;
/// How long a finger rests on a card before it drags it.
const LONG_PRESS: Duration = Duration::from_millis(350);
/// Distance from an edge, in pixels, at which dragging scrolls the page.
const SCROLL_MARGIN: f64 = 56.0;
/// Pixels scrolled for each pointer event near an edge.
const SCROLL_STEP: f64 = 14.0;

/// A pressed card, which becomes a drag when the pointer moves.
struct Press {
    dragged: DraggedCard,
    element: HtmlElement,
    pointer: i32,
    /// Whether a finger has to rest before it drags.
    is_waiting: bool,
    at: (f64, f64),
    /// The copy that follows the pointer, once the drag has begun.
    ghost: Option<HtmlElement>,
    /// The position of the pointer inside the card.
    offset: (f64, f64),
}

impl Press {
    fn move_ghost(&self, at: (f64, f64)) {
        if let Some(ghost) = &self.ghost {
            let (x, y) = (at.0 - self.offset.0, at.1 - self.offset.1);
            let _set = ghost.style().set_property("translate", &format!("{} {}", pixels(x), pixels(y)));
        }
    }
}

#[derive(Clone, Copy)]
struct Pointer {
    drag: Drag,
    press: StoredValue<Option<Press>, LocalStorage>,
    on_drop: StoredValue<OnDrop, LocalStorage>,
}

/// Listens to the pointer for as long as the current owner lives.
pub(crate) fn follow(drag: Drag, on_drop: OnDrop) {
    if !Reader::may_write() {
        return;
    }
    let pointer = Pointer { drag, press: StoredValue::new_local(None), on_drop: StoredValue::new_local(on_drop) };
    drag.on_press.set_value(Some(Rc::new(move |event, card, by_grip| pointer.pressed(event, card, by_grip))));
    let listeners = [
        window_event_listener(ev::pointermove, move |event| pointer.moved(&event)),
        window_event_listener(ev::pointerup, move |event| pointer.released(&event)),
        window_event_listener(ev::pointercancel, move |_| pointer.end()),
        window_event_listener(ev::blur, move |_| pointer.end()),
        window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" && drag.dragged.with_untracked(Option::is_some) {
                event.prevent_default();
                pointer.end();
            }
        }),
    ];
    let is_pressed_by_finger = move || drag.dragged.with_untracked(Option::is_some) || pointer.is_waiting();
    let menu = window_event_listener(ev::contextmenu, move |event| {
        // A long press opens the menu of a link otherwise.
        if is_pressed_by_finger() {
            event.prevent_default();
        }
    });
    let scroll = hinder_scrolling(move || drag.dragged.with_untracked(Option::is_some));
    on_cleanup(move || {
        listeners.into_iter().chain([menu]).for_each(WindowListenerHandle::remove);
        scroll();
    });
}

impl Pointer {
    fn pressed(self, event: &PointerEvent, card: &Card, by_grip: bool) {
        if event.button() != 0 {
            return;
        }
        let is_waiting = event.pointer_type() == "touch" && !by_grip;
        let hit = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let element = hit.and_then(|hit| hit.closest("[data-task]").ok().flatten()).and_then(|card| card.dyn_into::<HtmlElement>().ok());
        let Some(element) = element else { return };
        let (at, bounds) = ((f64::from(event.client_x()), f64::from(event.client_y())), element.get_bounding_client_rect());
        let targets = target_columns(card.phase, card.status, Mover::Human);
        self.press.set_value(Some(Press {
            dragged: DraggedCard { task: card.id.clone(), from: card.status, targets, over: None, place: None },
            offset: (at.0 - bounds.left(), at.1 - bounds.top()),
            element,
            pointer: event.pointer_id(),
            is_waiting,
            at,
            ghost: None,
        }));
        if is_waiting {
            let pointer = event.pointer_id();
            set_timeout(move || self.lift(pointer), LONG_PRESS);
        }
    }

    fn is_waiting(self) -> bool {
        self.press.with_value(|press| press.as_ref().is_some_and(|press| press.is_waiting))
    }

    /// Begins the drag of a finger that rested on a card.
    fn lift(self, pointer: i32) {
        let lifted = self.press.try_update_value(|press| {
            let press = press.as_mut().filter(|press| press.pointer == pointer && press.is_waiting)?;
            press.is_waiting = false;
            press.ghost = ghost(&press.element);
            press.move_ghost(press.at);
            Some(press.dragged.clone())
        });
        if let Some(dragged) = lifted.flatten() {
            self.drag.dragged.set(Some(dragged));
        }
    }

    fn moved(self, event: &PointerEvent) {
        let at = (f64::from(event.client_x()), f64::from(event.client_y()));
        let dragged = self.press.try_update_value(|pressed| {
            let press = pressed.as_mut().filter(|press| press.pointer == event.pointer_id())?;
            if press.ghost.is_none() && (at.0 - press.at.0).hypot(at.1 - press.at.1) < DRAG_THRESHOLD {
                return None;
            }
            if press.is_waiting {
                // It scrolls.
                *pressed = None;
                return None;
            }
            if press.ghost.is_none() {
                press.ghost = ghost(&press.element);
            }
            press.move_ghost(at);
            let below = column_at(at);
            press.dragged.over = below.filter(|below| press.dragged.targets.iter().any(|(to, _)| to == below));
            let is_own = below == Some(press.dragged.from) && press.dragged.from == UNSTARTED;
            press.dragged.place = is_own.then(|| place_at(at.1, &press.dragged)).flatten();
            Some(press.dragged.clone())
        });
        if let Some(dragged) = dragged.flatten() {
            event.prevent_default();
            scroll_near_edges(at);
            if self.drag.dragged.with_untracked(|known| known.as_ref() != Some(&dragged)) {
                self.drag.dragged.set(Some(dragged));
            }
        }
    }

    fn released(self, event: &PointerEvent) {
        let is_same_pointer = self.press.with_value(|press| press.as_ref().is_some_and(|press| press.pointer == event.pointer_id()));
        let dragged = self.drag.dragged.get_untracked().filter(|_| is_same_pointer);
        if !is_same_pointer {
            return;
        }
        self.end();
        let Some(dragged) = dragged else { return };
        let target = dragged.over.and_then(|over| dragged.targets.iter().find(|(to, _)| *to == over).copied());
        let drop = target.map(|(to, needs)| Drop::Column(to, needs)).or(dragged.place.map(Drop::Place));
        if let Some(drop) = drop
            && let Some(on_drop) = self.on_drop.try_get_value()
        {
            on_drop(dragged.task, drop);
        }
    }

    fn end(self) {
        if let Some(ghost) = self.press.try_update_value(Option::take).flatten().and_then(|press| press.ghost) {
            ghost.remove();
            // The browser sends a click right after the release.
            self.drag.just_ended.set_value(true);
            set_timeout(
                move || {
                    let _page_closed = self.drag.just_ended.try_set_value(false);
                },
                Duration::ZERO,
            );
        }
        if self.drag.dragged.with_untracked(Option::is_some) {
            self.drag.dragged.set(None);
        }
    }
}

/// Creates a copy of the card in the top layer that receives no events.
fn ghost(card: &HtmlElement) -> Option<HtmlElement> {
    let bounds = card.get_bounding_client_rect();
    let copy: HtmlElement = card.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    copy.remove_attribute("data-task").ok()?;
    copy.set_attribute("popover", "manual").ok()?;
    copy.set_attribute("aria-hidden", "true").ok()?;
    copy.class_list().add_1("card-ghost").ok()?;
    copy.style().set_property("width", &pixels(bounds.width())).ok()?;
    document().body()?.append_child(&copy).ok()?;
    copy.show_popover().ok()?;
    Some(copy)
}

fn column_at((x, y): (f64, f64)) -> Option<Status> {
    #[expect(clippy::cast_possible_truncation, reason = "window coordinates fit into f32")]
    let hit = document().element_from_point(x as f32, y as f32)?;
    // A phone shows one column, and the others as tabs.
    let column = hit.closest("[data-status], [data-drop]").ok()??;
    column.get_attribute("data-status").or_else(|| column.get_attribute("data-drop"))?.parse().ok()
}

/// Keeps the page from scrolling below a finger while `is_dragging`. The result ends it.
fn hinder_scrolling(is_dragging: impl Fn() -> bool + 'static) -> impl FnOnce() {
    let listener = Closure::<dyn Fn(Event)>::new(move |event: Event| {
        if is_dragging() && event.cancelable() {
            event.prevent_default();
        }
    });
    let options = AddEventListenerOptions::new();
    options.set_passive(false);
    let target = window();
    let function = listener.as_ref().unchecked_ref();
    let _listens = target.add_event_listener_with_callback_and_add_event_listener_options("touchmove", function, &options);
    let listener = StoredValue::new_local(listener);
    move || {
        listener.try_with_value(|listener| {
            let _ended = window().remove_event_listener_with_callback("touchmove", listener.as_ref().unchecked_ref());
        });
    }
}

/// The place at this height in the column of the dragged card: before the first card whose middle is lower, or after the last.
fn place_at(y: f64, dragged: &DraggedCard) -> Option<NewPlace> {
    let cards = document().query_selector_all(&format!("[data-status={}] [data-task]", dragged.from)).ok()?;
    let cards = (0..cards.length()).filter_map(|index| cards.item(index)?.dyn_into::<HtmlElement>().ok());
    let middles = cards.filter_map(|card| {
        let bounds = card.get_bounding_client_rect();
        let task = card.get_attribute("data-task")?.parse::<TaskId>().ok().filter(|task| *task != dragged.task)?;
        Some((task, f64::midpoint(bounds.top(), bounds.bottom())))
    });
    place_among(y, middles)
}

fn place_among(y: f64, cards: impl Iterator<Item = (TaskId, f64)>) -> Option<NewPlace> {
    let mut last = None;
    for (task, middle) in cards {
        if middle > y {
            return Some(NewPlace { before: Some(task), after: None });
        }
        last = Some(task);
    }
    last.map(|last| NewPlace { before: None, after: Some(last) })
}

fn scroll_near_edges((x, y): (f64, f64)) {
    let extent = |value: Result<leptos::wasm_bindgen::JsValue, _>| value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let by = |at: f64, end: f64| match at {
        _ if at < SCROLL_MARGIN => -SCROLL_STEP,
        _ if at > end - SCROLL_MARGIN => SCROLL_STEP,
        _ => 0.0,
    };
    let (across, down) = (by(x, extent(window().inner_width())), by(y, extent(window().inner_height())));
    if down != 0.0 {
        window().scroll_by_with_x_and_y(0.0, down);
    }
    scroll_column((x, y));
    if let Ok(Some(columns)) = document().query_selector(".columns")
        && across != 0.0
    {
        columns.scroll_by_with_x_and_y(across, 0.0);
    }
}

/// Scrolls the column under the pointer near its upper and lower edge.
fn scroll_column((x, y): (f64, f64)) {
    #[expect(clippy::cast_possible_truncation, reason = "window coordinates fit into f32")]
    let hit = document().element_from_point(x as f32, y as f32);
    let Some(cards) = hit.and_then(|hit| hit.closest(".cards").ok().flatten()) else { return };
    let bounds = cards.get_bounding_client_rect();
    match () {
        () if y < bounds.top() + SCROLL_MARGIN / 2.0 => cards.scroll_by_with_x_and_y(0.0, -SCROLL_STEP),
        () if y > bounds.bottom() - SCROLL_MARGIN / 2.0 => cards.scroll_by_with_x_and_y(0.0, SCROLL_STEP),
        () => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_goes_before_the_first_one_below_the_pointer() {
        let place = |y: f64| place_among(y, [(TaskId::new(1), 20.0), (TaskId::new(2), 60.0)].into_iter());
        assert_eq!(place(0.0), Some(NewPlace { before: Some(TaskId::new(1)), after: None }));
        assert_eq!(place(30.0), Some(NewPlace { before: Some(TaskId::new(2)), after: None }));
        assert_eq!(place(90.0), Some(NewPlace { before: None, after: Some(TaskId::new(2)) }));
        assert_eq!(place_among(0.0, std::iter::empty()), None, "it is alone in its column");
    }
}
