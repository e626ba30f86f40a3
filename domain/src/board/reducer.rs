//! The reducer that builds a board from events. The browser runs it, and tests compare its result with the store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::order::start_order;
use crate::board::project::Project;
use crate::board::status::{HeldBy, Status};
use crate::event::live::LiveEvent;
use crate::event::{Envelope, Seq};
use crate::id::{ProjectId, TaskId};

/// One project's cards as of `seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Board {
    pub project: Project,
    /// In id order.
    pub cards: Vec<Card>,
    /// The number of the last applied event.
    pub seq: Seq,
    /// The id of the log. Numbers of different logs are not comparable.
    pub epoch: String,
}

/// The part of an event that changes a board.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    pub seq: Seq,
    pub project_id: Option<&'a ProjectId>,
    /// The card after the event.
    pub card: Option<&'a Card>,
    /// The project after the event.
    pub project: Option<&'a Project>,
}

impl<'a> From<&'a Envelope> for Step<'a> {
    fn from(event: &'a Envelope) -> Self {
        Self { seq: event.seq, project_id: event.project_id.as_ref(), card: event.card.as_ref(), project: event.project.as_ref() }
    }
}

impl<'a> From<&'a LiveEvent> for Step<'a> {
    fn from(event: &'a LiveEvent) -> Self {
        Self { seq: event.seq, project_id: event.project_id.as_ref(), card: event.card.as_ref(), project: event.project.as_ref() }
    }
}

/// The part of a board that an event changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardChange {
    None,
    Card(TaskId),
    Project,
}

impl Board {
    /// Applies one event. Events that were applied before or are about another project change nothing.
    pub fn apply<'a>(&mut self, event: impl Into<Step<'a>>) -> BoardChange {
        let step = event.into();
        if step.seq <= self.seq {
            return BoardChange::None;
        }
        self.seq = step.seq;
        if step.project_id != Some(&self.project.id) {
            return BoardChange::None;
        }
        if let Some(project) = step.project {
            self.project = project.clone();
        }
        match step.card {
            Some(card) => {
                match self.cards.binary_search_by_key(&card.id.number(), |known| known.id.number()) {
                    Ok(index) => self.cards[index] = card.clone(),
                    Err(index) => self.cards.insert(index, card.clone()),
                }
                BoardChange::Card(card.id.clone())
            }
            None if step.project.is_some() => BoardChange::Project,
            None => BoardChange::None,
        }
    }

    /// Adds cards of an older page and returns the new ones. Known cards stay, because events have kept them current.
    pub fn add(&mut self, cards: Vec<Card>) -> Vec<Card> {
        let mut added = Vec::new();
        for card in cards {
            if let Err(index) = self.cards.binary_search_by_key(&card.id.number(), |known| known.id.number()) {
                self.cards.insert(index, card.clone());
                added.push(card);
            }
        }
        added
    }

    pub fn card(&self, id: &TaskId) -> Option<&Card> {
        self.cards.binary_search_by_key(&id.number(), |card| card.id.number()).ok().map(|index| &self.cards[index])
    }

    /// Returns the cards of one column.
    pub fn column(&self, status: Status) -> Vec<&Card> {
        column(&self.cards, status)
    }

    /// Returns the tasks of a plan that awaits approval, in order.
    pub fn plan(&self) -> Vec<&Card> {
        self.column(Status::Backlog).into_iter().filter(|card| card.held_by == Some(HeldBy::Plan)).collect()
    }

    /// Counts the cards of each column.
    pub fn counts(&self) -> BTreeMap<Status, usize> {
        let mut counts: BTreeMap<Status, usize> = Status::ALL.iter().map(|status| (*status, 0)).collect();
        for card in &self.cards {
            *counts.entry(card.status).or_default() += 1;
        }
        counts
    }
}

/// Returns the cards of one column. Open cards are in the order in which they start.
pub fn column(cards: &[Card], status: Status) -> Vec<&Card> {
    let mut cards: Vec<&Card> = cards.iter().filter(|card| card.status == status).collect();
    match status {
        // The newest finished cards are the most interesting ones.
        Status::Done | Status::Cancelled => cards.sort_by_key(|card| (std::cmp::Reverse(card.updated_at), card.id.number())),
        _ => cards.sort_by_key(|card| start_order(card)),
    }
    cards
}

/// The open cards of all projects as of `seq`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenBoard {
    /// In id order.
    pub cards: Vec<Card>,
    pub seq: Seq,
}

impl OpenBoard {
    /// The board with these cards, in any order.
    pub fn new(mut cards: Vec<Card>, seq: Seq) -> Self {
        cards.sort_unstable_by_key(|card| card.id.number());
        cards.dedup_by_key(|card| card.id.number());
        Self { cards, seq }
    }

    /// Applies one event of any project. A card that is finished is no longer part of the board. Events that were applied before change nothing.
    pub fn apply<'a>(&mut self, event: impl Into<Step<'a>>) -> BoardChange {
        let step = event.into();
        if step.seq <= self.seq {
            return BoardChange::None;
        }
        self.seq = step.seq;
        let Some(card) = step.card else { return BoardChange::None };
        match (self.cards.binary_search_by_key(&card.id.number(), |known| known.id.number()), card.status.is_open()) {
            (Ok(index), true) => self.cards[index] = card.clone(),
            (Ok(index), false) => drop(self.cards.remove(index)),
            (Err(index), true) => self.cards.insert(index, card.clone()),
            (Err(_), false) => return BoardChange::None,
        }
        BoardChange::Card(card.id.clone())
    }
}

#[cfg(test)]
mod tests;
