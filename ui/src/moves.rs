//! Moves of a card by hand: the menu of legal columns, and the prompt for what a move requires.
//!
//! Must not know a legal move or its requirement: both come from the transition table in `domain`.

use domain::board::card::Card;
use domain::board::order::NewPlace;
use domain::board::status::{CancelReason, Status};
use domain::board::task::TaskPatch;
use domain::board::transition::{Mover, Requirement, target_columns};
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::client::Client;
use crate::components::badge::{UNSTARTED, cancel_label, status_label};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, has_text, non_empty};
use crate::components::menu::Menu;
use crate::components::toast::Toasts;
use crate::draft::draft;
use crate::focus::on_card;
use crate::store::Store;

/// The prompt before a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MovePrompt {
    None,
    Text {
        label: &'static str,
        optional: bool,
    },
    CancelReason,
    /// A choice between merging the work and closing the task without a merge.
    Merge,
}

fn prompt_for(to: Status, needs: Requirement) -> MovePrompt {
    match needs {
        Requirement::Reason if !to.is_open() => MovePrompt::CancelReason,
        Requirement::Reason => MovePrompt::Text { label: "Reason for reopening", optional: false },
        Requirement::Comment => MovePrompt::Text { label: "Requested changes", optional: false },
        Requirement::ChildrenOrReason => MovePrompt::Text { label: "Reason (optional if it created tasks)", optional: true },
        Requirement::Approval => MovePrompt::Merge,
        Requirement::Nothing
        | Requirement::DependenciesDone
        | Requirement::Evidence
        | Requirement::Verdict
        | Requirement::Merged
        | Requirement::Independence => MovePrompt::None,
    }
}

/// A move whose prompt is open.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PendingMove {
    task: TaskId,
    to: Status,
    prompt: MovePrompt,
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

    /// Makes a move, after a prompt if it requires input.
    pub(crate) fn request(self, task: TaskId, to: Status, needs: Requirement) {
        match prompt_for(to, needs) {
            MovePrompt::None => self.send(task, TaskPatch { status: Some(to), ..TaskPatch::default() }),
            prompt => self.pending.set(Some(PendingMove { task, to, prompt })),
        }
    }

    /// Puts a card into another place of its column.
    pub(crate) fn reorder(self, task: TaskId, place: NewPlace) {
        self.client.act(self.client.reorder(task.clone(), place.clone()), move |_| {
            let neighbour = [("before", place.before), ("after", place.after)].into_iter().find_map(|(side, other)| Some((side, other?)));
            if let Some((side, other)) = neighbour {
                let _page_closed = self.announcement.try_set(format!("{task} is {side} {other}"));
            }
            on_card(&task);
        });
    }

    fn send(self, task: TaskId, patch: TaskPatch) {
        let before = self.store.card_now(&task).map(|card| card.status);
        self.client.act(self.client.patch_task(task.clone(), patch), move |view| {
            let card = view.task.card;
            let moved = format!("{task} moved to {}", status_label(card.status));
            let text = view.note.map_or_else(|| moved.clone(), |note| format!("{moved}: {note}"));
            let back = before.filter(|before| *before != card.status).and_then(|before| way_back(&card, before));
            match back {
                Some(back) => {
                    let task = task.clone();
                    let undo = move |()| self.client.act(self.client.patch_task(task.clone(), back.clone()), |_| {});
                    self.toasts.undoable(text, Callback::new(undo));
                }
                None => self.toasts.success(text),
            }
            let _page_closed = self.announcement.try_set(moved);
            on_card(&task);
        });
    }
}

/// The move that undoes one from `before`, if a person may make it. Its reason is for the history.
fn way_back(card: &Card, before: Status) -> Option<TaskPatch> {
    let (_, needs) = target_columns(card.phase, card.status, Mover::Human).into_iter().find(|(to, _)| *to == before)?;
    let reason = match prompt_for(before, needs) {
        MovePrompt::None => None,
        MovePrompt::Text { .. } => Some("The last move was undone.".to_owned()),
        MovePrompt::CancelReason | MovePrompt::Merge => return None,
    };
    Some(TaskPatch { status: Some(before), reason, ..TaskPatch::default() })
}

/// The place of the menu and the prompt in the page.
#[component]
pub(crate) fn MoveOutlet() -> impl IntoView {
    let moves = Moves::from_context();
    let close_menu = Callback::new(move |()| moves.menu.set(None));
    view! {
        {move || {
            moves.menu.get().map(|(task, anchor)| view! { <MoveMenu task=task anchor=anchor close=close_menu /> })
        }}
        <p class="visually-hidden" role="status">{move || moves.announcement.get()}</p>
        {move || moves.pending.get().map(|pending| view! { <MoveDialog pending=pending /> })}
    }
}

#[component]
fn MoveMenu(task: TaskId, anchor: HtmlElement, close: Callback<()>) -> impl IntoView {
    let (moves, store) = (Moves::from_context(), Store::from_context());
    let places = places(&store.column(UNSTARTED).get_untracked(), &task);
    let targets = store.card_now(&task).map(|card| target_columns(card.phase, card.status, Mover::Human)).unwrap_or_default();
    let label = if targets.is_empty() { format!("{task} cannot be moved") } else { format!("Move {task} to") };
    let items = targets
        .into_iter()
        .map(|(to, needs)| {
            let task = task.clone();
            let hint = match prompt_for(to, needs) {
                MovePrompt::None => "",
                MovePrompt::Text { .. } | MovePrompt::CancelReason => "asks why",
                MovePrompt::Merge => "approves",
            };
            let pick = move |_| {
                close.run(());
                moves.request(task.clone(), to, needs);
            };
            view! {
                <button type="button" role="menuitem" tabindex="-1" on:click=pick>
                    {status_label(to)}
                    <small>{hint}</small>
                </button>
            }
        })
        .collect_view();
    let places = places
        .into_iter()
        .map(|(verb, place)| {
            let task = task.clone();
            let pick = move |_| {
                close.run(());
                moves.reorder(task.clone(), place.clone());
            };
            view! { <button type="button" role="menuitem" tabindex="-1" on:click=pick>{verb}</button> }
        })
        .collect_view();
    view! { <Menu label=label anchor=anchor close=close>{items}{places}</Menu> }
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
fn MoveDialog(pending: PendingMove) -> impl IntoView {
    let moves = Moves::from_context();
    let PendingMove { task, to, prompt } = pending;
    let text = draft(&format!("move/{task}/{to}"));
    let reason = RwSignal::new(CancelReason::Abandoned);
    let merge = RwSignal::new(true);
    let ready = Signal::derive(move || match prompt {
        MovePrompt::Text { optional, .. } => optional || has_text(text),
        _ => true,
    });
    let title = format!("Move {task} to {}", status_label(to));
    let submit = move |()| {
        let reason = match prompt {
            MovePrompt::CancelReason => Some(reason.get_untracked().as_str().to_owned()),
            _ => non_empty(text),
        };
        let merge = (prompt == MovePrompt::Merge && !merge.get_untracked()).then_some(false);
        text.set(String::new());
        moves.pending.set(None);
        moves.send(task.clone(), TaskPatch { status: Some(to), reason, merge, ..TaskPatch::default() });
    };
    let body = match prompt {
        MovePrompt::Text { label, .. } => view! { <TextArea id="move-text" label=label value=text autofocus=true /> }.into_any(),
        MovePrompt::Merge => view! {
            <div class="choices" role="radiogroup" aria-label="What happens to the work">
                <Choice name="merge" title="Approve and merge" detail="The newest commit joins the merge queue." value=true picked=merge />
                <Choice name="merge" title="Close without merging" detail="The branch is kept in a rescue ref." value=false picked=merge />
            </div>
        }
        .into_any(),
        MovePrompt::CancelReason | MovePrompt::None => view! { <CancelReasons picked=reason /> }.into_any(),
    };
    let close = Callback::new(move |()| moves.pending.set(None));
    view! {
        <Dialog title=title close=close>
            <Form verb=format!("Move to {}", status_label(to)) ready=ready sending=Sending::new() submit=submit close=close>
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
    use crate::testing;

    #[test]
    fn moves_are_undone_where_a_person_may_move_back() {
        let back = |from: Status, to: Status| way_back(&testing::card(1, to), from).and_then(|patch| patch.status);
        assert_eq!(back(Status::Backlog, Status::InProgress), Some(Status::Backlog));
        assert_eq!(back(Status::InProgress, Status::Cancelled), None, "a cancelled task only returns to the backlog");
        assert_eq!(back(Status::Backlog, Status::Cancelled), Some(Status::Backlog));
    }

    #[test]
    fn menu_offers_the_places_that_a_card_can_take() {
        let column: Vec<TaskId> = [3, 1, 2].map(TaskId::new).into();
        let verbs = |number: u64| places(&column, &TaskId::new(number)).into_iter().map(|(verb, _)| verb).collect::<Vec<_>>();
        assert_eq!((verbs(3), verbs(1), verbs(2)), (vec!["Down"], vec!["First in the column", "Up", "Down"], vec!["First in the column", "Up"]));
        assert_eq!(verbs(9), Vec::<&str>::new());
        assert_eq!(places(&column, &TaskId::new(2))[1].1, NewPlace { before: Some(TaskId::new(1)), after: None });
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
