//! Keyboard focus on the board: steps between cards, and focus that follows a card to another column.

use domain::id::TaskId;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement, NodeList, ScrollIntoViewOptions, ScrollLogicalPosition};

use crate::components::dialog::focused;
use crate::components::new_below::after_layout;

/// Elements on the way to the wanted one get their sizes only when they are drawn, which moves it.
const SCROLL_FRAMES: u32 = 4;

/// The direction of a step from the focused card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Up,
    Down,
    Left,
    Right,
}

/// The task whose card has the focus.
pub(crate) fn focused_task() -> Option<TaskId> {
    focused()?.closest("[data-task]").ok()??.get_attribute("data-task")?.parse().ok()
}

/// Focuses a task's card after the next frame unless something else has the focus. A card that changes its column gets a new element.
pub(crate) fn on_card(task: &TaskId) {
    let selector = format!("[data-task={task}] .card-open");
    request_animation_frame(move || {
        let taken = focused().is_some_and(|element| element.tag_name() != "BODY");
        if !taken && let Some(card) = find(&selector) {
            focus(&card);
        }
    });
}

/// Scrolls to the element of `selector` once it has its place, and focuses that of `focused`.
pub(crate) fn bring_into_view(selector: String, focused: Option<String>) {
    after_layout(move || {
        focused.and_then(|selector| find(&selector)).iter().for_each(focus);
        scroll_to(selector, SCROLL_FRAMES);
    });
}

/// Scrolls to an element in this frame and the next ones.
fn scroll_to(selector: String, frames: u32) {
    if let Some(element) = find(&selector) {
        let options = ScrollIntoViewOptions::new();
        options.set_block(ScrollLogicalPosition::Center);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }
    if frames > 0 {
        request_animation_frame(move || scroll_to(selector, frames - 1));
    }
}

/// Runs `update` and then restores the focus to its card, because the update may replace the card's element.
pub(crate) fn preserving_focus<T>(update: impl FnOnce() -> T) -> T {
    let before = focused_task();
    let result = update();
    if let Some(task) = before {
        on_card(&task);
    }
    result
}

/// Moves the focus to a neighbouring card: within the column, or to the nearest column with cards.
pub(crate) fn step(step: Step) {
    let columns: Vec<Vec<HtmlElement>> = elements(document().query_selector_all("[data-status]:not([data-folded])"))
        .iter()
        .map(|column| elements(column.query_selector_all(".card-open")))
        .collect();
    let active = focused();
    let position = columns.iter().enumerate().find_map(|(column, cards)| {
        cards.iter().position(|card| Some(card) == active.as_ref() || in_same_card(card, active.as_ref())).map(|row| (column, row))
    });
    let sizes: Vec<usize> = columns.iter().map(Vec::len).collect();
    if let Some((column, row)) = neighbour(&sizes, position, step)
        && let Some(card) = columns.get(column).and_then(|cards| cards.get(row))
    {
        focus(card);
    }
}

/// Presses the action of the open panel or of the focused card. Among several, such as the answers to a question, it focuses the first.
pub(crate) fn press_action() {
    if find(".sheet").is_some() {
        if let Some(answer) = find(".sheet .question .options button:enabled") {
            focus(&answer);
        } else if let Some(action) = find(".sheet header button.primary:enabled, .sheet header a.primary") {
            action.click();
        }
        return;
    }
    let Some(card) = focused().and_then(|element| element.closest("[data-task]").ok().flatten()) else { return };
    match elements(card.query_selector_all(".card-actions button:enabled, .card-actions a")).as_slice() {
        [] => {}
        [only] => only.click(),
        [first, ..] => focus(first),
    }
}

/// Presses the answer with this number: of the question in the open panel or page, or else of the focused card. Returns whether there is one.
pub(crate) fn press_answer(number: &str) -> bool {
    let focused_item = || focused().and_then(|element| element.closest("[data-task], .need").ok().flatten());
    let place = find(".sheet, .task-page").map(Element::from).or_else(focused_item);
    let answer = place.and_then(|place| place.query_selector(&format!("button[aria-keyshortcuts='{number}']:enabled")).ok().flatten());
    answer.and_then(|answer| answer.dyn_into::<HtmlElement>().ok()).map(|answer| answer.click()).is_some()
}

/// The tasks whose cards the board shows, column after column.
pub(crate) fn tasks_in_order() -> Vec<TaskId> {
    let cards = elements(document().query_selector_all("[data-status]:not([data-folded]) [data-task]"));
    cards.iter().filter_map(|card| card.get_attribute("data-task")?.parse().ok()).collect()
}

/// The task whose card is `by` cards after that of `task` on the board, column after column.
pub(crate) fn neighbour_of(task: &TaskId, by: isize) -> Option<TaskId> {
    let tasks = tasks_in_order();
    let index = tasks.iter().position(|known| known == task)?;
    tasks.get(index.checked_add_signed(by)?).cloned()
}

/// The target of a step on a board whose columns show `sizes` cards: the first card if no card has the focus.
fn neighbour(sizes: &[usize], position: Option<(usize, usize)>, step: Step) -> Option<(usize, usize)> {
    let Some((column, row)) = position else {
        return sizes.iter().position(|size| *size > 0).map(|column| (column, 0));
    };
    let across = |next: Option<usize>| next.map(|next| (next, row.min(sizes[next] - 1)));
    match step {
        Step::Up => row.checked_sub(1).map(|row| (column, row)),
        Step::Down => (row + 1 < sizes[column]).then_some((column, row + 1)),
        Step::Left => across((0..column).rev().find(|other| sizes[*other] > 0)),
        Step::Right => across((column + 1..sizes.len()).find(|other| sizes[*other] > 0)),
    }
}

fn in_same_card(open: &HtmlElement, active: Option<&HtmlElement>) -> bool {
    let card = |element: &HtmlElement| element.closest("[data-task]").ok().flatten();
    active.and_then(card).is_some_and(|active| card(open) == Some(active))
}

fn find(selector: &str) -> Option<HtmlElement> {
    document().query_selector(selector).ok()??.dyn_into().ok()
}

fn elements(found: Result<NodeList, JsValue>) -> Vec<HtmlElement> {
    let Ok(found) = found else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}

fn focus(card: &HtmlElement) {
    let _focused = card.focus();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_skip_empty_columns_and_stop_at_the_ends() {
        let sizes = [2, 0, 5, 1, 0];
        assert_eq!(neighbour(&sizes, None, Step::Down), Some((0, 0)));
        assert_eq!(neighbour(&sizes, Some((0, 1)), Step::Down), None);
        assert_eq!(neighbour(&sizes, Some((0, 1)), Step::Up), Some((0, 0)));
        assert_eq!(neighbour(&sizes, Some((0, 1)), Step::Right), Some((2, 1)));
        assert_eq!(neighbour(&sizes, Some((2, 4)), Step::Right), Some((3, 0)));
        assert_eq!(neighbour(&sizes, Some((3, 0)), Step::Right), None);
        assert_eq!(neighbour(&sizes, Some((2, 4)), Step::Left), Some((0, 1)));
        assert_eq!(neighbour(&[0; 5], None, Step::Down), None);
    }
}
