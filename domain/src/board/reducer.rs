//! The board as the log makes it: the reducer that the browser runs and the tests compare with the store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::project::Project;
use crate::board::status::{HeldBy, Status};
use crate::event::{Envelope, Seq};
use crate::id::TaskId;

/// One project's cards as of `seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Board {
    pub project: Project,
    /// In the order of their ids.
    pub cards: Vec<Card>,
    /// The last event that is contained.
    pub seq: Seq,
    /// The life of the log that `seq` counts in.
    pub epoch: String,
}

/// What an event touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoardChange {
    None,
    Card(TaskId),
    Project,
}

impl Board {
    /// Takes in one event; events that are already contained, or about another project, change nothing.
    pub fn apply(&mut self, envelope: &Envelope) -> BoardChange {
        if envelope.seq <= self.seq {
            return BoardChange::None;
        }
        self.seq = envelope.seq;
        if envelope.project_id.as_ref() != Some(&self.project.id) {
            return BoardChange::None;
        }
        if let Some(project) = &envelope.project {
            self.project = project.clone();
        }
        match &envelope.card {
            Some(card) => {
                match self.cards.binary_search_by_key(&card.id.number(), |known| known.id.number()) {
                    Ok(place) => self.cards[place] = card.clone(),
                    Err(place) => self.cards.insert(place, card.clone()),
                }
                BoardChange::Card(card.id.clone())
            }
            None if envelope.project.is_some() => BoardChange::Project,
            None => BoardChange::None,
        }
    }

    /// Adds cards of an older page and returns the new ones. Known cards stay, because events have kept them current.
    pub fn add(&mut self, cards: Vec<Card>) -> Vec<Card> {
        let mut added = Vec::new();
        for card in cards {
            if let Err(place) = self.cards.binary_search_by_key(&card.id.number(), |known| known.id.number()) {
                self.cards.insert(place, card.clone());
                added.push(card);
            }
        }
        added
    }

    pub fn card(&self, id: &TaskId) -> Option<&Card> {
        self.cards.binary_search_by_key(&id.number(), |card| card.id.number()).ok().map(|place| &self.cards[place])
    }

    /// The cards of one column, in the order in which the runner would take them.
    pub fn column(&self, status: Status) -> Vec<&Card> {
        let mut cards: Vec<&Card> = self.cards.iter().filter(|card| card.status == status).collect();
        match status {
            // What was finished last is what a person looks for first.
            Status::Done | Status::Cancelled => cards.sort_by_key(|card| (std::cmp::Reverse(card.updated_at), card.id.number())),
            _ => cards.sort_by_key(|card| (std::cmp::Reverse(card.priority), card.id.number())),
        }
        cards
    }

    /// The tasks of a plan that waits for approval, in order.
    pub fn plan(&self) -> Vec<&Card> {
        self.column(Status::Backlog).into_iter().filter(|card| card.held_by == Some(HeldBy::Plan)).collect()
    }

    /// How many cards stand in each column.
    pub fn counts(&self) -> BTreeMap<Status, usize> {
        let mut counts: BTreeMap<Status, usize> = Status::ALL.iter().map(|status| (*status, 0)).collect();
        for card in &self.cards {
            *counts.entry(card.status).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests;
