//! The cards of a store: of one project, or the open ones of all. Pure.

use domain::board::card::Card;
use domain::board::reducer::{Board, BoardChange, OpenBoard};
use domain::event::live::LiveEvent;

pub(super) enum Contents {
    /// Nothing is loaded.
    Empty,
    Project(Box<Board>),
    All(OpenBoard),
}

impl Contents {
    /// The cards, in id order.
    pub(super) fn cards(&self) -> &[Card] {
        match self {
            Self::Empty => &[],
            Self::Project(board) => &board.cards,
            Self::All(board) => &board.cards,
        }
    }

    pub(super) fn apply(&mut self, event: &LiveEvent) -> BoardChange {
        match self {
            Self::Empty => BoardChange::None,
            Self::Project(board) => board.apply(event),
            Self::All(board) => board.apply(event),
        }
    }

    /// Adds cards of an older page and returns the new ones.
    pub(super) fn add(&mut self, cards: Vec<Card>) -> Vec<Card> {
        match self {
            Self::Project(board) => board.add(cards),
            Self::Empty | Self::All(_) => Vec::new(),
        }
    }

    /// Whether an event is new and can concern the lists beside the board of its project.
    pub(super) fn makes_lists_stale(&self, event: &LiveEvent) -> bool {
        matches!(self, Self::Project(board) if event.seq > board.seq && event.project_id.as_ref() == Some(&board.project.id))
    }
}
