//! Moves of a card by hand: the menu of legal columns, and the prompt for what a move requires.
//!
//! Must not know a legal move or its requirement: both come from the transition table in `domain`.

mod approval;

use domain::board::card::Card;
use domain::board::order::NewPlace;
use domain::board::status::{CancelReason, Status};
use domain::board::task::TaskPatch;
use domain::board::transition::{Mover, Requirement, target_columns};
use domain::id::TaskId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::change::{Before, Change, carry_out, place_in};
use crate::client::Client;
use crate::components::badge::{UNSTARTED, cancel_label, status_label};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, has_text, non_empty};
use crate::components::menu::{Menu, MenuItem};
use crate::components::toast::Toasts;
use crate::draft::draft;
use crate::focus::{focused_task, on_card};
use crate::lazy::lazy;
use crate::moves::approval::{CommitList, Commits};
use crate::parts;
use crate::selection::Selection;
use crate::store::Store;

/// The prompt before a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MovePrompt {
    None,
    Text {
        label: &'static str,
        optional: bool,
    },
    /// The reason why finished work is open again.
    Reopen,
    CancelReason,
    /// A choice between merging the work and closing the task without a merge.
    Merge,
}

fn prompt_for(to: Status, needs: Requirement) -> MovePrompt {
    match needs {
        Requirement::Reason if !to.is_open() => MovePrompt::CancelReason,
        Requirement::Reason => MovePrompt::Reopen,
        Requirement::Comment => MovePrompt::Text { label: "Requested changes", optional: false },
        Requirement::ChildrenOrReason => MovePrompt::Text { label: "Reason (optional if it created tasks)", optional: true },
        Requirement::Approval => MovePrompt::Merge,
        Requirement::Nothing
        | Requirement::DependenciesDone
        | Requirement::Evidence
        | Requirement::Verdict
        | Requirement::Merged
        | Requirement::Answers
        | Requirement::Independence => MovePrompt::None,
    }
}

/// Whether several tasks can make a move at once: the person reads the work of each before it is merged.
pub(crate) fn is_for_several(to: Status, needs: Requirement) -> bool {
    matches!(prompt_for(to, needs), MovePrompt::None | MovePrompt::Text { .. } | MovePrompt::Reopen)
}

/// The reason that the history has for an undone move, or none if the move asks for a decision.
pub(crate) fn reason_to_undo(to: Status, needs: Requirement) -> Option<Option<String>> {
    match prompt_for(to, needs) {
        MovePrompt::None => Some(None),
        MovePrompt::Text { .. } | MovePrompt::Reopen => Some(Some("The last move was undone.".to_owned())),
        MovePrompt::CancelReason | MovePrompt::Merge => None,
    }
}

/// A move whose prompt is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingMove {
    tasks: Vec<TaskId>,
    to: Status,
    prompt: MovePrompt,
}

/// The move by which a person reopens finished work, if the table has one.
pub(crate) fn reopening(card: &Card) -> Option<(Status, Requirement)> {
    let moves = target_columns(card.phase, card.status, Mover::Human);
    moves.into_iter().find(|(to, needs)| prompt_for(*to, *needs) == MovePrompt::Reopen)
}

/// The open move menu or prompt.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    client: Client,
    store: Store,
    toasts: Toasts,
    menu: RwSignal<Option<(TaskId, HtmlElement)>, LocalStorage>,
    pending: RwSignal<Option<PendingMove>>,
    /// The result of the last move, for screen readers.
    announcement: RwSignal<String>,
}

impl Moves {
    pub(crate) fn provide() -> Self {
        let moves = Self {
            client: Client::from_context(),
            store: Store::from_context(),
            toasts: Toasts::from_context(),
            menu: RwSignal::new_local(None),
            pending: RwSignal::new(None),
            announcement: RwSignal::new(String::new()),
        };
        provide_context(moves);
        moves
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Opens the menu of a task's legal columns beside `anchor`.
    pub(crate) fn open_menu(self, task: TaskId, anchor: HtmlElement) {
        self.menu.set(Some((task, anchor)));
    }

    /// Opens the menu of the focused card.
    pub(crate) fn open_focused_menu(self) {
        let Some(task) = focused_task() else { return };
        let button = document().query_selector(&format!("[data-task={task}] .card-move")).ok().flatten();
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
            self.open_menu(task, button);
        }
    }

    /// Moves one or several tasks, after a prompt if the move requires input.
    pub(crate) fn request(self, tasks: Vec<TaskId>, to: Status, needs: Requirement) {
        match prompt_for(to, needs) {
            MovePrompt::None => self.send(tasks, |_| TaskPatch { status: Some(to), ..TaskPatch::default() }),
            prompt => self.pending.set(Some(PendingMove { tasks, to, prompt })),
        }
    }

    /// Puts a card into another place of its column.
    pub(crate) fn reorder(self, task: TaskId, place: NewPlace) {
        self.apply(vec![(task, Change::Reorder(place))]);
    }

    fn send(self, tasks: Vec<TaskId>, patch: impl Fn(&TaskId) -> TaskPatch) {
        let change = |task: TaskId| {
            let patch = patch(&task);
            (task, Change::Patch(patch))
        };
        self.apply(tasks.into_iter().map(change).collect());
    }

    /// Changes one or several tasks.
    pub(crate) fn apply(self, changes: Vec<(TaskId, Change)>) {
        spawn_local(async move {
            if let Err(failure) = parts::apply_changes(self, changes).await {
                self.client.show(&failure);
            }
        });
    }

    /// Sends the changes. One toast reports all answers and offers the way back.
    pub(crate) fn send_all(self, changes: Vec<(TaskId, Change)>) {
        let before = |task: &TaskId| {
            let card = self.store.card_now(task)?;
            let is_same_project = |other: &&TaskId| self.store.card_now(other).is_some_and(|other| other.project_id == card.project_id);
            let column: Vec<TaskId> =
                self.store.column(card.status).with_untracked(|column| column.iter().filter(is_same_project).cloned().collect());
            let place = place_in(&column, task);
            Some(Before { card, place })
        };
        let steps = changes.into_iter().map(|(task, change)| {
            let before = before(&task);
            (task, change, before)
        });
        let steps: Vec<_> = steps.collect();
        let Self { client, toasts, announcement, .. } = self;
        spawn_local(async move {
            let outcome = carry_out(client, steps).await;
            let undo = outcome.undo.clone();
            let has_way_back = !undo.is_empty();
            let way_back = move |()| {
                let steps = undo.iter().map(|(task, change)| (task.clone(), change.clone(), None)).collect();
                spawn_local(async move { toasts.report(&carry_out(client, steps).await, None) });
            };
            toasts.report(&outcome, has_way_back.then(|| Callback::new(way_back)));
            let _page_closed = announcement.try_set(outcome.heading());
            outcome.first().into_iter().for_each(on_card);
        });
    }
}

/// The place of the menu and the prompt in the page.
#[component]
pub(crate) fn MoveOutlet() -> impl IntoView {
    let moves = Moves::from_context();
    let close_menu = Callback::new(move |()| moves.menu.set(None));
    view! {
        {move || {
            moves.menu.get().map(|(task, anchor)| lazy(move || parts::move_menu(task.clone(), anchor.clone(), close_menu)))
        }}
        <p class="visually-hidden" role="status">{move || moves.announcement.get()}</p>
        {move || moves.pending.get().map(|pending| lazy(move || parts::move_dialog(pending.clone())))}
    }
}

#[component]
pub(crate) fn MoveMenu(task: TaskId, anchor: HtmlElement, close: Callback<()>) -> impl IntoView {
    let (moves, store) = (Moves::from_context(), Store::from_context());
    // On the board of all projects, a task has its place among those of its project.
    let is_same_project = |other: &TaskId| store.card_now(other).map(|card| card.project_id) == store.card_now(&task).map(|card| card.project_id);
    let column: Vec<TaskId> = store.column(UNSTARTED).get_untracked().into_iter().filter(is_same_project).collect();
    let places = places(&column, &task);
    let targets = store.card_now(&task).map(|card| target_columns(card.phase, card.status, Mover::Human)).unwrap_or_default();
    let label = if targets.is_empty() { format!("{task} cannot be moved") } else { format!("Move {task} to") };
    let selection = Selection::from_context();
    let select = if selection.contains(&task) { "Deselect" } else { "Select" };
    let items = move || {
        let target = |(to, needs)| {
            let task = task.clone();
            let note = match prompt_for(to, needs) {
                MovePrompt::None => "",
                MovePrompt::Text { .. } | MovePrompt::Reopen | MovePrompt::CancelReason => "asks why",
                MovePrompt::Merge => "approves",
            };
            view! { <MenuItem label=status_label(to) note=note act=move |()| moves.request(vec![task.clone()], to, needs) /> }
        };
        let place = |(verb, place): (&'static str, NewPlace)| {
            let task = task.clone();
            view! { <MenuItem label=verb act=move |()| moves.reorder(task.clone(), place.clone()) /> }
        };
        let toggled = task.clone();
        view! {
            {targets.into_iter().map(target).collect_view()}
            {places.into_iter().map(place).collect_view()}
            <MenuItem label=select key="x" act=move |()| selection.toggle(&toggled) />
        }
    };
    view! { <Menu label=label anchor=anchor close=close>{items()}</Menu> }
}

/// The steps within a column whose tasks can be reordered.
fn places(column: &[TaskId], task: &TaskId) -> Vec<(&'static str, NewPlace)> {
    let Some(at) = column.iter().position(|known| known == task) else { return Vec::new() };
    let before = |other: Option<&TaskId>| Some(NewPlace { before: Some(other.filter(|other| *other != task)?.clone()), after: None });
    let above = at.checked_sub(1).and_then(|above| column.get(above));
    let down = column.get(at + 1).map(|below| NewPlace { before: None, after: Some(below.clone()) });
    let steps = [("First in the column", before(column.first())), ("Up", before(above)), ("Down", down)];
    steps.into_iter().filter_map(|(verb, place)| Some((verb, place?))).collect()
}

#[component]
pub(crate) fn MoveDialog(pending: PendingMove) -> impl IntoView {
    let moves = Moves::from_context();
    let PendingMove { tasks, to, prompt } = pending;
    let named = if let [task] = tasks.as_slice() { task.to_string() } else { format!("{} tasks", tasks.len()) };
    let text = draft(&format!("move/{named}/{to}"));
    let reason = RwSignal::new(CancelReason::Abandoned);
    let merge = RwSignal::new(true);
    let commits = (prompt == MovePrompt::Merge).then(|| Commits::of(tasks.clone()));
    let ready = Signal::derive(move || match prompt {
        MovePrompt::Text { optional, .. } => optional || has_text(text),
        MovePrompt::Reopen => has_text(text),
        MovePrompt::Merge => !merge.get() || commits.is_some_and(Commits::are_shown),
        _ => true,
    });
    let (title, verb) = match prompt {
        MovePrompt::Reopen => (format!("Reopen {named}"), "Reopen".to_owned()),
        _ => (format!("Move {named} to {}", status_label(to)), format!("Move to {}", status_label(to))),
    };
    let submit = move |()| {
        let reason = match prompt {
            MovePrompt::CancelReason => Some(reason.get_untracked().as_str().to_owned()),
            _ => non_empty(text),
        };
        let merge = (prompt == MovePrompt::Merge && !merge.get_untracked()).then_some(false);
        text.set(String::new());
        moves.pending.set(None);
        moves.send(tasks.clone(), |task| {
            let patch = TaskPatch { status: Some(to), reason: reason.clone(), merge, ..TaskPatch::default() };
            commits.map_or_else(|| patch.clone(), |commits| commits.bind(task, patch.clone()))
        });
    };
    let close = Callback::new(move |()| moves.pending.set(None));
    let body = match prompt {
        MovePrompt::Text { label, .. } => view! { <TextArea id="move-text" label=label value=text autofocus=true /> }.into_any(),
        MovePrompt::Reopen => view! { <TextArea id="move-text" label="Reason" value=text autofocus=true /> }.into_any(),
        MovePrompt::Merge => view! {
            <div class="choices" role="radiogroup" aria-label="What happens to the work">
                <Choice name="merge" title="Approve and merge" detail="The commit below joins the merge queue." value=true picked=merge />
                <Choice name="merge" title="Close without merging" detail="The branch is kept in a rescue ref." value=false picked=merge />
            </div>
            {commits.map(|commits| view! { <CommitList commits=commits close=close /> })}
        }
        .into_any(),
        MovePrompt::CancelReason | MovePrompt::None => view! { <CancelReasons picked=reason /> }.into_any(),
    };
    view! {
        <Dialog title=title close=close>
            <Form verb=verb ready=ready sending=Sending::new() submit=submit close=close>
                {body}
            </Form>
        </Dialog>
    }
}

/// A choice of the reason for cancelling a task.
#[component]
pub(crate) fn CancelReasons(picked: RwSignal<CancelReason>) -> impl IntoView {
    let choices = [CancelReason::Abandoned, CancelReason::Failed, CancelReason::Obsolete, CancelReason::Duplicate].map(|reason| {
        let (title, detail) = cancel_label(reason);
        view! { <Choice name="cancel" title=title detail=detail value=reason picked=picked /> }
    });
    view! { <div class="choices" role="radiogroup" aria-label="Reason for cancelling">{choices}</div> }
}

/// One of several options, with a line that explains it.
#[component]
pub(crate) fn Choice<T: Copy + PartialEq + Send + Sync + 'static>(
    name: &'static str,
    title: &'static str,
    detail: &'static str,
    value: T,
    picked: RwSignal<T>,
) -> impl IntoView {
    view! {
        <label class="choice">
            <input type="radio" name=name autofocus=picked.get_untracked() == value prop:checked=move || picked.get() == value on:change=move |_| picked.set(value) />
            <div>
                <strong>{title}</strong>
                <span>{detail}</span>
            </div>
        </label>
    }
}

#[cfg(test)]
mod tests {
    use domain::board::transition::TABLE;

    use super::*;

    #[test]
    fn menu_offers_the_places_that_a_card_can_take() {
        let column: Vec<TaskId> = [3, 1, 2].map(TaskId::new).into();
        let verbs = |number: u64| places(&column, &TaskId::new(number)).into_iter().map(|(verb, _)| verb).collect::<Vec<_>>();
        assert_eq!((verbs(3), verbs(1), verbs(2)), (vec!["Down"], vec!["First in the column", "Up", "Down"], vec!["First in the column", "Up"]));
        assert_eq!(verbs(9), Vec::<&str>::new());
        assert_eq!(places(&column, &TaskId::new(2))[1].1, NewPlace { before: Some(TaskId::new(1)), after: None });
    }

    #[test]
    fn only_finished_work_is_reopened() {
        let offered =
            Status::ALL.iter().filter_map(|status| reopening(&crate::testing::card(1, *status)).map(|found| (*status, found))).collect::<Vec<_>>();
        assert_eq!(offered, [(Status::Done, (Status::InProgress, Requirement::Reason))]);
    }

    #[test]
    fn moves_prompt_when_the_table_requires_input() {
        let mut prompted: Vec<String> = TABLE
            .iter()
            .filter(|rule| rule.movers.contains(&Mover::Human) && prompt_for(rule.to, rule.requirement) != MovePrompt::None)
            .map(|rule| format!("{} → {}", rule.from, rule.to))
            .collect();
        prompted.dedup();
        assert_eq!(
            prompted,
            [
                "in_progress → done",
                "in_review → done",
                "in_review → in_progress",
                "done → in_progress",
                "backlog → cancelled",
                "in_progress → cancelled",
                "in_review → cancelled",
            ]
        );
    }
}
