//! The cards that a person selected to change all of them at once.
//!
//! Must not know what is done with them.

use domain::id::TaskId;
use leptos::prelude::*;

use crate::focus::{self, Step};

#[derive(Clone, Copy)]
pub(crate) struct Selection {
    chosen: RwSignal<Vec<TaskId>>,
    /// The card at which a range begins: the last one that was selected alone.
    anchor: StoredValue<Option<TaskId>>,
}

impl Selection {
    /// Creates an empty selection and makes it available below the current owner.
    pub(crate) fn provide() -> Self {
        let selection = Self { chosen: RwSignal::new(Vec::new()), anchor: StoredValue::new(None) };
        provide_context(selection);
        selection
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// The selected tasks, in the order in which they were selected.
    pub(crate) fn tasks(self) -> Vec<TaskId> {
        self.chosen.get()
    }

    pub(crate) fn contains(self, task: &TaskId) -> bool {
        self.chosen.with(|chosen| chosen.contains(task))
    }

    pub(crate) fn is_empty(self) -> bool {
        self.chosen.with(Vec::is_empty)
    }

    /// The tasks that an action on `task` is for: all selected ones if it is one of them.
    pub(crate) fn with(self, task: TaskId) -> Vec<TaskId> {
        let chosen = self.chosen.get_untracked();
        if chosen.contains(&task) { chosen } else { vec![task] }
    }

    pub(crate) fn clear(self) {
        self.chosen.set(Vec::new());
        self.anchor.set_value(None);
    }

    /// Selects a task, or takes it out of the selection.
    pub(crate) fn toggle(self, task: &TaskId) {
        self.anchor.set_value(Some(task.clone()));
        self.chosen.update(|chosen| toggle(chosen, task));
    }

    /// Selects every card from the anchor to `task`, in the order of the board.
    pub(crate) fn extend_to(self, task: &TaskId) {
        let anchor = self.anchor.get_value().unwrap_or_else(|| task.clone());
        let added = range(&focus::tasks_in_order(), &anchor, task);
        self.anchor.set_value(Some(anchor));
        self.chosen.update(|chosen| add(chosen, added));
    }

    /// Moves the focus to a neighbouring card and selects both, or takes back the last step.
    pub(crate) fn step(self, step: Step) {
        let from = focus::focused_task();
        focus::step(step);
        if let Some(to) = focus::focused_task() {
            self.chosen.update(|chosen| walk(chosen, from, to));
        }
    }
}

fn toggle(chosen: &mut Vec<TaskId>, task: &TaskId) {
    if chosen.contains(task) {
        chosen.retain(|known| known != task);
    } else {
        chosen.push(task.clone());
    }
}

fn add(chosen: &mut Vec<TaskId>, added: Vec<TaskId>) {
    for task in added {
        if !chosen.contains(&task) {
            chosen.push(task);
        }
    }
}

/// The tasks from `anchor` to `task`, both included. Only `task` if the board no longer shows the anchor.
fn range(order: &[TaskId], anchor: &TaskId, task: &TaskId) -> Vec<TaskId> {
    let place = |wanted: &TaskId| order.iter().position(|known| known == wanted);
    match (place(anchor), place(task)) {
        (Some(one), Some(other)) => order[one.min(other)..=one.max(other)].to_vec(),
        _ => vec![task.clone()],
    }
}

/// Selects both ends of a step. A step back to a selected card takes out the one it comes from.
fn walk(chosen: &mut Vec<TaskId>, from: Option<TaskId>, to: TaskId) {
    match from {
        Some(from) if from != to && chosen.contains(&to) && chosen.contains(&from) => chosen.retain(|known| *known != from),
        from => add(chosen, from.into_iter().chain([to]).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(numbers: [u64; N]) -> Vec<TaskId> {
        numbers.map(TaskId::new).into()
    }

    #[test]
    fn range_has_both_ends_in_the_order_of_the_board() {
        let order = ids([5, 1, 4, 2]);
        let between = |one: u64, other: u64| range(&order, &TaskId::new(one), &TaskId::new(other));
        assert_eq!((between(1, 2), between(2, 1)), (ids([1, 4, 2]), ids([1, 4, 2])));
        assert_eq!((between(4, 4), between(9, 4)), (ids([4]), ids([4])), "the anchor is gone");
    }

    #[test]
    fn steps_extend_the_selection_and_a_step_back_reduces_it() {
        let mut chosen = Vec::new();
        walk(&mut chosen, Some(TaskId::new(1)), TaskId::new(2));
        walk(&mut chosen, Some(TaskId::new(2)), TaskId::new(3));
        assert_eq!(chosen, ids([1, 2, 3]));
        walk(&mut chosen, Some(TaskId::new(3)), TaskId::new(2));
        assert_eq!(chosen, ids([1, 2]));
        toggle(&mut chosen, &TaskId::new(1));
        toggle(&mut chosen, &TaskId::new(7));
        assert_eq!(chosen, ids([2, 7]));
    }
}
