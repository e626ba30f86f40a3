//! The board as `GET /api/projects/{id}/board` answers it, and the pages of its finished cards.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::project::Project;
use crate::board::reducer::Board;
use crate::board::status::Status;
use crate::event::Seq;
use crate::id::ProjectId;

/// A project's board: the open cards and the newest finished ones.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BoardView {
    // Flattened so that the board has its fields at the top.
    #[serde(flatten)]
    pub board: Board,
    pub finished: FinishedCards,
}

// A derived implementation would store thousands of cards as untyped values first.
impl<'de> Deserialize<'de> for BoardView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            project: Project,
            cards: Vec<Card>,
            seq: Seq,
            epoch: String,
            #[serde(default)]
            finished: FinishedCards,
        }
        let Fields { project, cards, seq, epoch, finished } = Fields::deserialize(deserializer)?;
        Ok(Self { board: Board { project, cards, seq, epoch }, finished })
    }
}

/// The finished columns, whose older cards come in pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FinishedCards {
    pub done: FinishedColumn,
    pub cancelled: FinishedColumn,
}

impl FinishedCards {
    /// The column of a status, or none if the status is open.
    pub fn column(&self, status: Status) -> Option<&FinishedColumn> {
        match status {
            Status::Done => Some(&self.done),
            Status::Cancelled => Some(&self.cancelled),
            Status::Backlog | Status::InProgress | Status::InReview => None,
        }
    }

    pub fn column_mut(&mut self, status: Status) -> Option<&mut FinishedColumn> {
        match status {
            Status::Done => Some(&mut self.done),
            Status::Cancelled => Some(&mut self.cancelled),
            Status::Backlog | Status::InProgress | Status::InReview => None,
        }
    }

    /// What `board` leaves out: subtracts its finished cards from each column.
    pub fn without(mut self, board: &Board) -> Self {
        for card in &board.cards {
            if let Some(column) = self.column_mut(card.status) {
                column.subtract(card);
            }
        }
        self.done.clear_if_last();
        self.cancelled.clear_if_last();
        self
    }
}

/// Sums over the cards of a finished column, and the cursor of its next page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FinishedColumn {
    pub total: u32,
    /// Coders' cards whose work is merged.
    #[serde(default)]
    pub merged: u32,
    #[serde(default)]
    pub cost_micro_usd: i64,
    /// The value of `before` for the next page, or none after the last card.
    pub next: Option<String>,
}

impl FinishedColumn {
    /// Returns the sums over one card.
    pub fn of(card: &Card) -> Self {
        Self { total: 1, merged: u32::from(card.is_merged()), cost_micro_usd: card.cost_micro_usd, next: None }
    }

    /// Removes one card from the sums.
    pub fn subtract(&mut self, card: &Card) {
        let one = Self::of(card);
        self.total = self.total.saturating_sub(one.total);
        self.merged = self.merged.saturating_sub(one.merged);
        self.cost_micro_usd = (self.cost_micro_usd - one.cost_micro_usd).max(0);
    }

    /// Sets the cursor of the page after the one that was just read.
    pub fn advance(&mut self, next: Option<String>) {
        self.next = next;
        self.clear_if_last();
    }

    fn clear_if_last(&mut self) {
        if self.next.is_none() {
            *self = Self::default();
        }
    }
}

/// `GET /api/projects/{id}/cards`: finished cards of one status, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardPage {
    pub items: Vec<Card>,
    /// The value of `before` for the next page, or none after the last card.
    pub next: Option<String>,
}

/// `GET /api/board`: the open cards of some projects, as of `seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OpenCards {
    pub items: Vec<Card>,
    /// The number of the last event that they contain.
    pub seq: Seq,
    /// The value of `after` for the next page, or none after the last project.
    pub next: Option<ProjectId>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::project::tests::{card, project};
    use crate::board::status::CancelReason;
    use crate::runs::agent_kind::AgentKind;

    fn board(cards: Vec<Card>) -> Board {
        Board { project: project(), cards, seq: 3, epoch: "epoch".to_owned() }
    }

    fn column(total: u32, next: Option<&str>) -> FinishedColumn {
        FinishedColumn { total, merged: 1, cost_micro_usd: 500, next: next.map(str::to_owned) }
    }

    #[test]
    fn board_view_is_a_board_with_finished_columns() {
        let view = BoardView { board: board(Vec::new()), finished: FinishedCards { done: column(7, Some("12")), ..FinishedCards::default() } };
        let json = serde_json::to_value(&view).unwrap();
        assert_eq!(serde_json::from_value::<BoardView>(json.clone()).unwrap(), view);
        insta::assert_snapshot!(serde_json::to_string(&view.finished).unwrap(), @r#"{"done":{"total":7,"merged":1,"cost_micro_usd":500,"next":"12"},"cancelled":{"total":0,"merged":0,"cost_micro_usd":0,"next":null}}"#);
        assert_eq!(json["seq"], 3);
        let without_finished = serde_json::to_value(board(Vec::new())).unwrap();
        assert_eq!(serde_json::from_value::<BoardView>(without_finished).unwrap().finished, FinishedCards::default());
    }

    #[test]
    fn loaded_cards_are_subtracted_from_their_column() {
        let done = Card { approved_sha: Some("abc".to_owned()), cost_micro_usd: 100, ..card(1, AgentKind::Coder, Status::Done) };
        let open = card(2, AgentKind::Coder, Status::Backlog);
        let obsolete = Card { cancel_reason: Some(CancelReason::Obsolete), ..card(3, AgentKind::Coder, Status::Cancelled) };
        let all = FinishedCards { done: column(7, Some("1")), cancelled: column(2, Some("3")) };
        let unloaded = all.without(&board(vec![done, open, obsolete]));
        assert_eq!(unloaded.done, FinishedColumn { total: 6, merged: 0, cost_micro_usd: 400, next: Some("1".to_owned()) });
        assert_eq!(unloaded.cancelled.total, 1);
    }

    #[test]
    fn last_page_leaves_nothing_unloaded() {
        let mut unloaded = column(6, Some("1"));
        unloaded.advance(None);
        assert_eq!(unloaded, FinishedColumn::default());
        let all = FinishedCards { done: column(7, None), cancelled: FinishedColumn::default() };
        assert_eq!(all.without(&board(Vec::new())), FinishedCards::default());
    }
}
