//! Changes of tasks by hand, one or several at once: one request for each task, one report of all answers, and the way back.
//!
//! Must not know a legal move: the transition table offers moves, and the server decides.

use domain::board::card::Card;
use domain::board::order::NewPlace;
use domain::board::status::{HeldBy, Status};
use domain::board::task::TaskPatch;
use domain::board::transition::{Mover, target_columns};
use domain::id::TaskId;

use crate::client::{Client, Failure};
use crate::components::badge::status_label;
use crate::components::board::card_actions::{CardAction, card_action};
use crate::components::inline_code::sentence;
use crate::moves::reason_to_undo;

/// More refusals would fill the screen.
const MAX_REFUSALS: usize = 4;
/// The priorities that a person chooses from, with their names.
pub(crate) const PRIORITIES: [(i64, &str); 3] = [(1, "high"), (0, "normal"), (-1, "low")];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Start,
    Hold,
    Patch(TaskPatch),
    Reorder(NewPlace),
}

impl Change {
    pub(crate) fn priority(priority: i64) -> Self {
        Self::Patch(TaskPatch { priority: Some(priority), ..TaskPatch::default() })
    }

    /// Whether a card offers the change. A move is offered by the transition table instead.
    pub(crate) fn is_offered(&self, card: &Card) -> bool {
        match self {
            Self::Start => card_action(card) == Some(CardAction::Start),
            Self::Hold => {
                let is_free = card.held_by.is_none() || card.run.as_ref().is_some_and(|run| !run.stopping);
                card.status.is_open() && card.attention.is_none() && is_free && card.held_by != Some(HeldBy::Takeover)
            }
            Self::Patch(_) | Self::Reorder(_) => card.status.is_open(),
        }
    }

    /// The words for the change, after the name of the task or a number of tasks. `status` is that of the task afterwards.
    fn describe(&self, status: Option<Status>) -> String {
        match self {
            Self::Start => "started".to_owned(),
            Self::Hold => "held".to_owned(),
            Self::Patch(TaskPatch { status: Some(to), .. }) => format!("moved to {}", status_label(status.unwrap_or(*to))),
            Self::Patch(TaskPatch { priority: Some(priority), .. }) => {
                let name =
                    PRIORITIES.iter().find(|(known, _)| known == priority).map_or_else(|| priority.to_string(), |(_, name)| (*name).to_owned());
                format!("given {name} priority")
            }
            Self::Patch(_) => "changed".to_owned(),
            Self::Reorder(NewPlace { before: Some(other), .. }) => format!("moved before {other}"),
            Self::Reorder(NewPlace { after: Some(other), .. }) => format!("moved after {other}"),
            Self::Reorder(_) => "moved to another place".to_owned(),
        }
    }

    /// The change that restores the card as it was `before`, if a person may make it.
    fn way_back(&self, before: &Before, status: Option<Status>) -> Option<Self> {
        let card = &before.card;
        match self {
            Self::Start => Some(Self::Hold),
            Self::Hold => Some(Self::Start),
            Self::Patch(TaskPatch { status: Some(to), .. }) => move_back(card, status.unwrap_or(*to)).map(Self::Patch),
            Self::Patch(TaskPatch { priority: Some(priority), .. }) => (*priority != card.priority).then(|| Self::priority(card.priority)),
            Self::Patch(_) => None,
            Self::Reorder(_) => before.place.clone().map(Self::Reorder),
        }
    }

    /// Sends the change. The answer is the status of the task afterwards, if it is known, and a further effect.
    async fn send(self, client: Client, task: TaskId) -> Result<(Option<Status>, Option<String>), Failure> {
        match self {
            Self::Start => client.start(task).await.map(|_| (None, None)),
            Self::Hold => client.hold(task).await.map(|_| (None, None)),
            Self::Patch(patch) => client.patch_task(task, patch).await.map(|task| (Some(task.status), task.note)),
            Self::Reorder(place) => client.reorder(task, place).await.map(|_| (None, None)),
        }
    }
}

/// A card before a change, and its place in its column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Before {
    pub(crate) card: Card,
    pub(crate) place: Option<NewPlace>,
}

/// The place of a task in its column, by its neighbours.
pub(crate) fn place_in(column: &[TaskId], task: &TaskId) -> Option<NewPlace> {
    let at = column.iter().position(|known| known == task)?;
    match (column.get(at + 1), at.checked_sub(1).and_then(|above| column.get(above))) {
        (Some(below), _) => Some(NewPlace { before: Some(below.clone()), after: None }),
        (None, Some(above)) => Some(NewPlace { before: None, after: Some(above.clone()) }),
        (None, None) => None,
    }
}

/// The move from `now` to the status of `card`, if a person may make it. Its reason is for the history.
fn move_back(card: &Card, now: Status) -> Option<TaskPatch> {
    let (_, needs) = target_columns(card.phase, now, Mover::Human).into_iter().find(|(to, _)| *to == card.status && *to != now)?;
    let reason = reason_to_undo(card.status, needs)?;
    Some(TaskPatch { status: Some(card.status), reason, ..TaskPatch::default() })
}

/// One change of one task, and the card before it unless nobody will want it back.
pub(crate) type Step = (TaskId, Change, Option<Before>);

/// The answers to several changes.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The changed tasks, the words for each change, and its further effect.
    done: Vec<(TaskId, String, Option<String>)>,
    /// The tasks that the server refused to change, with the reason and the next step.
    refused: Vec<(TaskId, String, String)>,
    pub(crate) undo: Vec<(TaskId, Change)>,
}

impl Outcome {
    /// The first task that was changed.
    pub(crate) fn first(&self) -> Option<&TaskId> {
        self.done.first().map(|(task, ..)| task)
    }

    pub(crate) fn is_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// The words about everything that was changed, or about what was refused if nothing was.
    pub(crate) fn heading(&self) -> String {
        match (self.done.as_slice(), self.refused.as_slice()) {
            ([], [(_, reason, _)]) => reason.clone(),
            ([], refused) => format!("{} tasks could not be changed", refused.len()),
            ([(task, words, note)], _) => note.as_ref().map_or_else(|| format!("{task} {words}"), |note| format!("{task} {words}: {note}")),
            ([(_, words, _), ..], _) => format!("{} tasks {words}", self.done.len()),
        }
    }

    /// A line for each refusal.
    pub(crate) fn details(&self) -> String {
        if let ([], [(_, _, hint)]) = (self.done.as_slice(), self.refused.as_slice()) {
            return sentence(hint);
        }
        let line = |(task, reason, hint): &(TaskId, String, String)| {
            let names_task = reason.contains(task.as_str());
            let reason = if names_task { sentence(reason) } else { format!("{task}: {}", sentence(reason)) };
            format!("{reason} {}", sentence(hint)).trim().to_owned()
        };
        let hidden = self.refused.len().saturating_sub(MAX_REFUSALS);
        let rest = (hidden > 0).then(|| format!("{hidden} more were refused."));
        self.refused.iter().take(MAX_REFUSALS).map(line).chain(rest).collect::<Vec<_>>().join("\n")
    }

    fn record(&mut self, (task, change, before): Step, answer: Result<(Option<Status>, Option<String>), Failure>) -> bool {
        match answer {
            Ok((status, note)) => {
                let back = before.as_ref().and_then(|before| change.way_back(before, status));
                self.undo.extend(back.map(|back| (task.clone(), back)));
                self.done.push((task, change.describe(status), note));
                true
            }
            Err(Failure::SignedOut) => false,
            Err(failure) => {
                let goes_on = matches!(failure, Failure::Refused(_));
                let (reason, hint) = failure.describe();
                self.refused.push((task, reason, hint));
                goes_on
            }
        }
    }
}

/// Sends the changes one after the other. After a lost connection the others are not sent.
pub(crate) async fn carry_out(client: Client, steps: Vec<Step>) -> Outcome {
    let mut outcome = Outcome::default();
    for step in steps {
        let answer = step.1.clone().send(client, step.0.clone()).await;
        if !outcome.record(step, answer) {
            break;
        }
    }
    // The last change is undone first, so that places are found again.
    outcome.undo.reverse();
    outcome
}

#[cfg(test)]
mod tests;
