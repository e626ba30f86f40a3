//! Moving a card by hand: the menu of legal columns, and the question for what a move needs.
//!
//! Legal moves and their needs come from the transition table in `domain`; nothing here knows one.

use domain::board::status::{CancelReason, Status};
use domain::board::transition::{Mover, Requirement, target_columns};
use domain::id::TaskId;
use domain::wire::TaskPatch;
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::client::Client;
use crate::components::badge::{cancel_word, status_word};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, WordsField, given, written};
use crate::components::menu::Menu;
use crate::components::toast::Toasts;
use crate::focus::on_card;
use crate::store::Store;

/// What a person is asked before a move is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ask {
    Nothing,
    /// Words, which may be left out when `optional`.
    Words {
        label: &'static str,
        optional: bool,
    },
    /// One of the reasons for giving a task up.
    CancelReason,
    /// Whether the work is merged.
    Merge,
}

fn ask(to: Status, needs: Requirement) -> Ask {
    match needs {
        Requirement::Reason if !to.is_open() => Ask::CancelReason,
        Requirement::Reason => Ask::Words { label: "Why does it go back?", optional: false },
        Requirement::Comment => Ask::Words { label: "What should change?", optional: false },
        Requirement::ChildrenOrReason => Ask::Words { label: "Why is it done? (needed when it created no tasks)", optional: true },
        Requirement::Approval => Ask::Merge,
        Requirement::Nothing
        | Requirement::DependenciesDone
        | Requirement::Evidence
        | Requirement::Verdict
        | Requirement::Merged
        | Requirement::Independence => Ask::Nothing,
    }
}

/// A move that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    task: TaskId,
    to: Status,
    ask: Ask,
}

/// What is open: the menu of a card, or the question before a move.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    client: Client,
    toasts: Toasts,
    menu: RwSignal<Option<(TaskId, HtmlElement)>, LocalStorage>,
    wanted: RwSignal<Option<Wanted>>,
    /// What became of the last move, for those who do not see the board.
    said: RwSignal<String>,
}

impl Moves {
    pub(crate) fn provide() -> Self {
        let moves = Self {
            client: Client::here(),
            toasts: Toasts::here(),
            menu: RwSignal::new_local(None),
            wanted: RwSignal::new(None),
            said: RwSignal::new(String::new()),
        };
        provide_context(moves);
        moves
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// Opens the menu of a task's legal columns beside `anchor`.
    pub(crate) fn choose(self, task: TaskId, anchor: HtmlElement) {
        self.menu.set(Some((task, anchor)));
    }

    /// Makes a move, after asking for what it needs.
    pub(crate) fn request(self, task: TaskId, to: Status, needs: Requirement) {
        match ask(to, needs) {
            Ask::Nothing => self.make(task, TaskPatch { status: Some(to), ..TaskPatch::default() }),
            ask => self.wanted.set(Some(Wanted { task, to, ask })),
        }
    }

    fn make(self, task: TaskId, patch: TaskPatch) {
        self.client.act(self.client.patch_task(task.clone(), patch), move |view| {
            let said = format!("{task} is in {} now", status_word(view.task.card.status));
            let _page_was_left = self.said.try_set(said);
            if let Some(note) = view.note {
                self.toasts.news(note);
            }
            on_card(&task);
        });
    }
}

/// Where the menu and the question appear.
#[component]
pub(crate) fn MoveOutlet() -> impl IntoView {
    let moves = Moves::here();
    let close_menu = Callback::new(move |()| moves.menu.set(None));
    view! {
        {move || {
            moves.menu.get().map(|(task, anchor)| view! { <MoveMenu task=task anchor=anchor close=close_menu /> })
        }}
        <p class="visually-hidden" role="status">{move || moves.said.get()}</p>
        {move || moves.wanted.get().map(|wanted| view! { <MoveQuestion wanted=wanted /> })}
    }
}

#[component]
fn MoveMenu(task: TaskId, anchor: HtmlElement, close: Callback<()>) -> impl IntoView {
    let moves = Moves::here();
    let targets = Store::here().card_now(&task).map(|card| target_columns(card.phase, card.status, Mover::Human)).unwrap_or_default();
    let label = if targets.is_empty() { format!("{task} cannot be moved") } else { format!("Move {task} to") };
    let items = targets
        .into_iter()
        .map(|(to, needs)| {
            let task = task.clone();
            let hint = match ask(to, needs) {
                Ask::Nothing => "",
                Ask::Words { .. } | Ask::CancelReason => "asks why",
                Ask::Merge => "approves",
            };
            let pick = move |_| {
                close.run(());
                moves.request(task.clone(), to, needs);
            };
            view! {
                <button type="button" role="menuitem" tabindex="-1" on:click=pick>
                    {status_word(to)}
                    <small>{hint}</small>
                </button>
            }
        })
        .collect_view();
    view! { <Menu label=label anchor=anchor close=close>{items}</Menu> }
}

#[component]
fn MoveQuestion(wanted: Wanted) -> impl IntoView {
    let moves = Moves::here();
    let Wanted { task, to, ask } = wanted;
    let words = RwSignal::new(String::new());
    let reason = RwSignal::new(CancelReason::Abandoned);
    let merge = RwSignal::new(true);
    let ready = Signal::derive(move || match ask {
        Ask::Words { optional, .. } => optional || written(words),
        _ => true,
    });
    let title = format!("Move {task} to {}", status_word(to));
    let submit = move |()| {
        let reason = match ask {
            Ask::CancelReason => Some(reason.get_untracked().as_str().to_owned()),
            _ => given(words),
        };
        let patch =
            TaskPatch { status: Some(to), reason, merge: (ask == Ask::Merge && !merge.get_untracked()).then_some(false), ..TaskPatch::default() };
        moves.wanted.set(None);
        moves.make(task.clone(), patch);
    };
    let body = match ask {
        Ask::Words { label, .. } => view! { <WordsField id="move-words" label=label value=words autofocus=true /> }.into_any(),
        Ask::Merge => view! {
            <div class="choices" role="radiogroup" aria-label="What becomes of the work">
                <Choice name="merge" title="Approve and merge" detail="The newest commit joins the merge queue." value=true picked=merge />
                <Choice name="merge" title="Close without merging" detail="The branch is kept under a rescue name." value=false picked=merge />
            </div>
        }
        .into_any(),
        Ask::CancelReason | Ask::Nothing => view! { <CancelReasons picked=reason /> }.into_any(),
    };
    let close = Callback::new(move |()| moves.wanted.set(None));
    view! {
        <Dialog title=title close=close>
            <Form verb=format!("Move to {}", status_word(to)) ready=ready sending=Sending::new() submit=submit close=close>
                {body}
            </Form>
        </Dialog>
    }
}

/// The reasons for giving a task up, to pick one.
#[component]
pub(crate) fn CancelReasons(picked: RwSignal<CancelReason>) -> impl IntoView {
    let choices = [CancelReason::Abandoned, CancelReason::Failed, CancelReason::Obsolete, CancelReason::Duplicate].map(|reason| {
        let (title, detail) = cancel_word(reason);
        view! { <Choice name="cancel" title=title detail=detail value=reason picked=picked /> }
    });
    view! { <div class="choices" role="radiogroup" aria-label="Why is it given up?">{choices}</div> }
}

/// One of several answers, with a line that says what it means.
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
    fn a_person_is_asked_exactly_when_the_table_needs_their_words() {
        let mut asked: Vec<String> = TABLE
            .iter()
            .filter(|rule| rule.movers.contains(&Mover::Human) && ask(rule.to, rule.requirement) != Ask::Nothing)
            .map(|rule| format!("{} → {}", rule.from, rule.to))
            .collect();
        asked.dedup();
        assert_eq!(
            asked,
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
