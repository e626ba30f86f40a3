//! Drag and drop of a card: the dragged card, and which columns accept it by the transition table.
//!
//! The pointer is followed by code that is loaded after the first cards. Must not move a task: it reports the drop.

pub(crate) mod pointer;

use std::rc::Rc;

use domain::board::card::Card;
use domain::board::order::NewPlace;
use domain::board::status::Status;
use domain::board::transition::Requirement;
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::PointerEvent;

use crate::lazy::start;
use crate::parts;

/// A card while it is dragged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DraggedCard {
    pub(crate) task: TaskId,
    pub(crate) from: Status,
    pub(crate) targets: Vec<(Status, Requirement)>,
    /// The column below the pointer, if it accepts the card.
    pub(crate) over: Option<Status>,
    /// The place below the pointer, if that is in its own column and tasks of it can be reordered.
    pub(crate) place: Option<NewPlace>,
}

/// Where a card was dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Drop {
    Column(Status, Requirement),
    /// In its own column.
    Place(NewPlace),
}

pub(crate) type OnDrop = Rc<dyn Fn(TaskId, Drop)>;
type OnPress = Rc<dyn Fn(&PointerEvent, &Card, bool)>;

#[derive(Clone, Copy)]
pub(crate) struct Drag {
    /// The effect of a press on a card, once its code is loaded.
    on_press: StoredValue<Option<OnPress>, LocalStorage>,
    just_ended: StoredValue<bool>,
    /// The dragged card, or none.
    pub(crate) dragged: RwSignal<Option<DraggedCard>>,
}

impl Drag {
    /// Follows the pointer for as long as the current owner lives, and reports each drop.
    pub(crate) fn provide(on_drop: impl Fn(TaskId, Drop) + 'static) -> Self {
        let drag = Self { on_press: StoredValue::new_local(None), just_ended: StoredValue::new(false), dragged: RwSignal::new(None) };
        provide_context(drag);
        let on_drop: OnDrop = Rc::new(on_drop);
        start(move || parts::follow_pointer(drag, Rc::clone(&on_drop)));
        drag
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Whether one of the columns accepts the dragged card.
    pub(crate) fn accepts(self, columns: &[Status]) -> bool {
        self.dragged.with(|dragged| dragged.as_ref().is_some_and(|dragged| dragged.targets.iter().any(|(to, _)| columns.contains(to))))
    }

    /// Whether the dragged card is over one of the columns, and accepted there.
    pub(crate) fn is_over(self, columns: &[Status]) -> bool {
        self.dragged.with(|dragged| dragged.as_ref().and_then(|dragged| dragged.over).is_some_and(|over| columns.contains(&over)))
    }

    /// The side of a card on which the dragged one would be put.
    pub(crate) fn insertion(self, task: TaskId) -> Memo<Option<&'static str>> {
        Memo::new(move |_| {
            self.dragged.with(|dragged| {
                let place = dragged.as_ref()?.place.as_ref()?;
                let sides = [("before", &place.before), ("after", &place.after)];
                sides.into_iter().find(|(_, other)| other.as_ref() == Some(&task)).map(|(side, _)| side)
            })
        })
    }

    /// Whether the next click only ends a drag.
    pub(crate) fn suppresses_click(self) -> bool {
        self.just_ended.get_value()
    }

    /// Handles a press on a card.
    pub(crate) fn pressed(self, event: &PointerEvent, card: &Card, by_grip: bool) {
        if let Some(press) = self.on_press.try_get_value().flatten() {
            press(event, card, by_grip);
        }
    }
}
