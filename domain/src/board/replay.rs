//! Replay: the board of a project at a past event, and the events around it, from which the shared reducer makes every board between them.
//!
//! Must not know how the log is stored.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::reducer::Board;
use crate::event::{Envelope, Seq};

/// `GET /api/projects/{id}/replay`: a part of the past.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReplayPart {
    /// The board before the first of `steps`. The project itself is the present one.
    pub board: Board,
    /// The events of the project that follow, oldest first.
    pub steps: Vec<ReplayStep>,
    /// The first and the last kept event of the project.
    pub first: Seq,
    pub last: Seq,
    /// Whether retention removed earlier events of the project.
    pub begins_late: bool,
    /// How many of the oldest tasks are left out, because the board would be too large.
    pub omitted: u32,
}

/// One event of a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReplayStep {
    pub event: Envelope,
    /// The event in words, with the actor as its subject.
    pub sentence: String,
}

impl ReplayPart {
    /// The board after the event `at`, or the first one of this part.
    pub fn board_at(&self, at: Seq) -> Board {
        let mut board = self.board.clone();
        self.steps.iter().take_while(|step| step.event.seq <= at).for_each(|step| _ = board.apply(&step.event));
        board
    }

    /// The last step of this part at `at` or before, as its index.
    pub fn step_at(&self, at: Seq) -> Option<usize> {
        self.steps.partition_point(|step| step.event.seq <= at).checked_sub(1)
    }

    /// Whether the board at `at` can be made from this part.
    pub fn covers(&self, at: Seq) -> bool {
        let (Some(first), Some(last)) = (self.steps.first(), self.steps.last()) else { return false };
        (first.event.seq <= at || first.event.seq == self.first) && (at <= last.event.seq || last.event.seq == self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Actor;
    use crate::board::project::tests::{card, project};
    use crate::board::status::Status;
    use crate::board::task::event::TaskEvent;
    use crate::runs::agent_kind::AgentKind;
    use crate::time::Timestamp;

    fn step(seq: Seq, status: Status) -> ReplayStep {
        let card = card(1, AgentKind::Coder, status);
        let event = Envelope {
            seq,
            at: Timestamp::from_milliseconds(seq),
            project_id: Some(project().id),
            task_id: Some(card.id.clone()),
            run_id: None,
            actor: Actor::Owner,
            event: TaskEvent::Created {}.into(),
            card: Some(card),
            project: None,
        };
        ReplayStep { event, sentence: String::new() }
    }

    fn part(first: Seq, last: Seq) -> ReplayPart {
        let steps = vec![step(4, Status::Backlog), step(7, Status::InProgress), step(9, Status::Done)];
        let board = Board { project: project(), cards: Vec::new(), seq: 3, epoch: String::new() };
        ReplayPart { board, steps, first, last, begins_late: false, omitted: 0 }
    }

    #[test]
    fn board_of_every_step_is_the_fold_of_the_steps_before() {
        let part = part(4, 9);
        let status = |at| part.board_at(at).cards.first().map(|card| card.status);
        assert_eq!([3, 4, 8, 9, 99].map(status), [None, Some(Status::Backlog), Some(Status::InProgress), Some(Status::Done), Some(Status::Done)]);
        assert_eq!([3, 4, 6, 9, 12].map(|at| part.step_at(at)), [None, Some(0), Some(0), Some(2), Some(2)]);
    }

    #[test]
    fn part_covers_what_it_has_and_the_ends_of_the_log() {
        assert_eq!([3, 4, 9, 10].map(|at| part(1, 20).covers(at)), [false, true, true, false]);
        assert_eq!([3, 4, 9, 10].map(|at| part(4, 9).covers(at)), [true; 4]);
    }
}
