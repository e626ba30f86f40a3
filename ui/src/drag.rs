//! Dragging a card with a mouse, a pen or a finger. Columns that may take it come from the transition table.
//!
//! The card under the pointer is a copy in the browser's top layer, so that no column clips it. Must not move anything itself: the
//! drop is handed on.

use std::time::Duration;

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::transition::{Mover, Requirement, target_columns};
use domain::id::TaskId;
use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, PointerEvent};

/// How far the pointer goes, in pixels, before a press becomes a drag.
const THRESHOLD: f64 = 5.0;
/// How near to an edge, in pixels, the pointer scrolls the page, and by how much at a time.
const EDGE: f64 = 56.0;
const SCROLL: f64 = 14.0;

/// A card on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) task: TaskId,
    pub(crate) from: Status,
    pub(crate) targets: Vec<(Status, Requirement)>,
    /// The column below the pointer, if it takes the card.
    pub(crate) over: Option<Status>,
}

/// A card that was pressed and may become a drag.
struct Press {
    carried: Carried,
    element: HtmlElement,
    pointer: i32,
    at: (f64, f64),
    /// Where inside of the card it was taken, and the copy that follows the pointer, once the drag began.
    ghost: Option<HtmlElement>,
    offset: (f64, f64),
}

#[derive(Clone, Copy)]
pub(crate) struct Drag {
    press: StoredValue<Option<Press>, LocalStorage>,
    just_ended: StoredValue<bool>,
    /// What is being carried; none while nothing moves.
    pub(crate) carried: RwSignal<Option<Carried>>,
}

impl Drag {
    /// Listens to the pointer until the current owner goes. `drop` is told where a card was let go.
    pub(crate) fn provide(drop: impl Fn(TaskId, Status, Requirement) + Copy + 'static) -> Self {
        let drag = Self { press: StoredValue::new_local(None), just_ended: StoredValue::new(false), carried: RwSignal::new(None) };
        provide_context(drag);
        let listeners = [
            window_event_listener(ev::pointermove, move |event| drag.moved(&event)),
            window_event_listener(ev::pointerup, move |event| drag.released(&event, drop)),
            window_event_listener(ev::pointercancel, move |_| drag.end()),
            window_event_listener(ev::blur, move |_| drag.end()),
            window_event_listener(ev::keydown, move |event| {
                if event.key() == "Escape" && drag.carried.with_untracked(Option::is_some) {
                    event.prevent_default();
                    drag.end();
                }
            }),
        ];
        on_cleanup(move || listeners.into_iter().for_each(WindowListenerHandle::remove));
        drag
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// Whether a click is the end of a drag rather than a click.
    pub(crate) fn took_the_click(self) -> bool {
        self.just_ended.get_value()
    }

    /// A card was pressed. Fingers scroll, so they carry only by the grip.
    pub(crate) fn pressed(self, event: &PointerEvent, card: &Card, by_grip: bool) {
        if event.button() != 0 || (event.pointer_type() == "touch" && !by_grip) {
            return;
        }
        let hit = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let element = hit.and_then(|hit| hit.closest("[data-task]").ok().flatten()).and_then(|card| card.dyn_into::<HtmlElement>().ok());
        let Some(element) = element else { return };
        let (at, place) = ((f64::from(event.client_x()), f64::from(event.client_y())), element.get_bounding_client_rect());
        let targets = target_columns(card.phase, card.status, Mover::Human);
        self.press.set_value(Some(Press {
            carried: Carried { task: card.id.clone(), from: card.status, targets, over: None },
            offset: (at.0 - place.left(), at.1 - place.top()),
            element,
            pointer: event.pointer_id(),
            at,
            ghost: None,
        }));
    }

    fn moved(self, event: &PointerEvent) {
        let at = (f64::from(event.client_x()), f64::from(event.client_y()));
        let carried = self.press.try_update_value(|press| {
            let press = press.as_mut().filter(|press| press.pointer == event.pointer_id())?;
            if press.ghost.is_none() && (at.0 - press.at.0).hypot(at.1 - press.at.1) < THRESHOLD {
                return None;
            }
            if press.ghost.is_none() {
                press.ghost = ghost(&press.element);
            }
            if let Some(ghost) = &press.ghost {
                let (x, y) = (at.0 - press.offset.0, at.1 - press.offset.1);
                let _set = ghost.style().set_property("translate", &format!("{x}px {y}px"));
            }
            let below = column_at(at);
            press.carried.over = below.filter(|below| press.carried.targets.iter().any(|(to, _)| to == below));
            Some(press.carried.clone())
        });
        if let Some(carried) = carried.flatten() {
            event.prevent_default();
            scroll_near_edges(at);
            if self.carried.with_untracked(|known| known.as_ref() != Some(&carried)) {
                self.carried.set(Some(carried));
            }
        }
    }

    fn released(self, event: &PointerEvent, drop: impl Fn(TaskId, Status, Requirement)) {
        let ours = self.press.with_value(|press| press.as_ref().is_some_and(|press| press.pointer == event.pointer_id()));
        let carried = self.carried.get_untracked().filter(|_| ours);
        if !ours {
            return;
        }
        self.end();
        let Some(carried) = carried else { return };
        if let Some((to, needs)) = carried.over.and_then(|over| carried.targets.iter().find(|(to, _)| *to == over).copied()) {
            drop(carried.task, to, needs);
        }
    }

    fn end(self) {
        if let Some(ghost) = self.press.try_update_value(Option::take).flatten().and_then(|press| press.ghost) {
            ghost.remove();
            // The click that follows the release at once belongs to the drag.
            self.just_ended.set_value(true);
            set_timeout(
                move || {
                    let _page_was_left = self.just_ended.try_set_value(false);
                },
                Duration::ZERO,
            );
        }
        if self.carried.with_untracked(Option::is_some) {
            self.carried.set(None);
        }
    }
}

/// A copy of the card that lies above everything and takes no events.
fn ghost(card: &HtmlElement) -> Option<HtmlElement> {
    let place = card.get_bounding_client_rect();
    let copy: HtmlElement = card.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
    copy.remove_attribute("data-task").ok()?;
    copy.set_attribute("popover", "manual").ok()?;
    copy.set_attribute("aria-hidden", "true").ok()?;
    copy.class_list().add_1("card-ghost").ok()?;
    copy.style().set_property("width", &format!("{}px", place.width())).ok()?;
    document().body()?.append_child(&copy).ok()?;
    copy.show_popover().ok()?;
    Some(copy)
}

fn column_at((x, y): (f64, f64)) -> Option<Status> {
    #[expect(clippy::cast_possible_truncation, reason = "coordinates of a window")]
    let hit = document().element_from_point(x as f32, y as f32)?;
    hit.closest("[data-status]").ok()??.get_attribute("data-status")?.parse().ok()
}

fn scroll_near_edges((x, y): (f64, f64)) {
    let extent = |value: Result<leptos::wasm_bindgen::JsValue, _>| value.ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let by = |at: f64, end: f64| match at {
        _ if at < EDGE => -SCROLL,
        _ if at > end - EDGE => SCROLL,
        _ => 0.0,
    };
    let (across, down) = (by(x, extent(window().inner_width())), by(y, extent(window().inner_height())));
    if down != 0.0 {
        window().scroll_by_with_x_and_y(0.0, down);
    }
    if let Ok(Some(columns)) = document().query_selector(".columns")
        && across != 0.0
    {
        target_columns.scroll_by_with_x_and_y(across, 0.0);
    }
}
