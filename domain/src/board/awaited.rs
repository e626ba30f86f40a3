//! The states of a task that a program can wait for. Pure: must not know how a caller waits.

use crate::board::card::Card;
use crate::board::status::Status;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// A state that a caller waits for.
    Awaited, "state to wait for" {
        /// It is done or cancelled.
        Finished = "finished",
        /// It is in review, or further.
        Review = "review",
        /// A person has to decide something.
        Attention = "attention",
        /// Its column, its agent or what it asks for has changed.
        Change = "change",
    }
}

/// Why a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitEnd {
    Met,
    /// Nothing else will happen before a person decides.
    NeedsPerson,
    /// It is done or cancelled, so the state cannot be reached any longer.
    Finished,
}

impl Awaited {
    /// Whether a wait that began with `before` is over, and why. A wait also ends when only a person can continue, or when the task is finished.
    pub fn end(self, before: &Card, now: &Card) -> Option<WaitEnd> {
        let is_finished = !now.status.is_open();
        let is_met = match self {
            Self::Finished => is_finished,
            Self::Review => matches!(now.status, Status::InReview | Status::Done),
            Self::Attention => now.attention.is_some(),
            Self::Change => differs(before, now),
        };
        match (is_met, now.attention.is_some(), is_finished) {
            (true, ..) => Some(WaitEnd::Met),
            (false, true, _) if self != Self::Change => Some(WaitEnd::NeedsPerson),
            (false, _, true) => Some(WaitEnd::Finished),
            (false, _, false) => None,
        }
    }
}

/// Whether a reader of the board would see another state.
fn differs(before: &Card, now: &Card) -> bool {
    let run = |card: &Card| card.run.as_ref().map(|run| (run.id.clone(), run.stopping));
    (before.status, &before.attention, before.held_by, run(before)) != (now.status, &now.attention, now.held_by, run(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::attention::{Attention, AttentionKind};
    use crate::board::project::tests::card;
    use crate::runs::agent_kind::AgentKind;

    fn at(status: Status) -> Card {
        card(1, AgentKind::Coder, status)
    }

    fn asking(status: Status) -> Card {
        Card { attention: Some(Attention::new(AttentionKind::NeedsInput, "Which?")), ..at(status) }
    }

    #[test]
    fn wait_ends_in_the_state_or_when_it_cannot_be_reached() {
        use Status::{Backlog, Cancelled, Done, InProgress, InReview};
        let end = |awaited: Awaited, now: Card| awaited.end(&at(InProgress), &now);
        for (awaited, now, expected) in [
            (Awaited::Finished, at(InReview), None),
            (Awaited::Finished, at(Done), Some(WaitEnd::Met)),
            (Awaited::Finished, at(Cancelled), Some(WaitEnd::Met)),
            (Awaited::Finished, asking(InProgress), Some(WaitEnd::NeedsPerson)),
            (Awaited::Review, at(InProgress), None),
            (Awaited::Review, at(InReview), Some(WaitEnd::Met)),
            (Awaited::Review, at(Done), Some(WaitEnd::Met)),
            (Awaited::Review, at(Cancelled), Some(WaitEnd::Finished)),
            (Awaited::Attention, at(InProgress), None),
            (Awaited::Attention, asking(InReview), Some(WaitEnd::Met)),
            (Awaited::Attention, at(Done), Some(WaitEnd::Finished)),
            (Awaited::Change, at(InProgress), None),
            (Awaited::Change, at(Backlog), Some(WaitEnd::Met)),
            (Awaited::Change, asking(InProgress), Some(WaitEnd::Met)),
        ] {
            assert_eq!(end(awaited, now.clone()), expected, "{awaited} with {:?}", now.status);
        }
    }

    #[test]
    fn change_ignores_what_a_reader_of_the_board_does_not_see() {
        let noted = Card { comments: 7, tokens: 4, ..at(Status::InProgress) };
        assert_eq!(Awaited::Change.end(&at(Status::InProgress), &noted), None);
        // An attention that was there before is no change.
        assert_eq!(Awaited::Change.end(&asking(Status::InProgress), &asking(Status::InProgress)), None);
    }
}
