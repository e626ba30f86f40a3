//! Cards under headings within a column: by goal, by plan or by project. Pure.
//!
//! Must not know how a heading or a card is drawn.

use std::collections::BTreeMap;

use domain::board::card::Card;
use domain::id::TaskId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    Goal,
    /// By the task that planned them.
    Plan,
    Project,
}

impl Grouping {
    pub(crate) const ALL: [Self; 3] = [Self::Goal, Self::Plan, Self::Project];

    /// Its name in the address.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Plan => "plan",
            Self::Project => "project",
        }
    }

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Goal => "By goal",
            Self::Plan => "By plan",
            Self::Project => "By project",
        }
    }

    /// The heading of cards that belong to no group.
    pub(crate) const fn none_label(self) -> &'static str {
        match self {
            Self::Goal => "No goal",
            Self::Plan => "No plan",
            Self::Project => "No project",
        }
    }

    /// The id of the group of a card, if it has one.
    pub(crate) fn group_of(self, card: &Card) -> Option<String> {
        match self {
            Self::Goal => card.goal_id.as_ref().map(ToString::to_string),
            Self::Plan => card.parent_task_id.as_ref().map(ToString::to_string),
            Self::Project => Some(card.project_id.to_string()),
        }
    }
}

/// How many tasks of each plan are done, and how many there are. Plans are named by the task that planned.
pub(crate) type PlanProgress = BTreeMap<String, (usize, usize)>;

/// The progress of the plans of `cards`, which are all cards of the board.
pub(crate) fn plan_progress(cards: &[Card]) -> PlanProgress {
    let mut plans = PlanProgress::new();
    for card in cards.iter().filter(|card| card.status.counts_as_work()) {
        if let Some(plan) = Grouping::Plan.group_of(card) {
            let (done, all) = plans.entry(plan).or_default();
            *done += usize::from(!card.status.is_open());
            *all += 1;
        }
    }
    plans
}

/// One line of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Row {
    /// `cards` counts those of the group, of which a folded one shows none.
    Heading {
        group: Option<String>,
        cards: usize,
        is_folded: bool,
    },
    Card(TaskId),
}

impl Row {
    /// The part that stays the same while the row changes: the task, or the group.
    pub(crate) fn key(&self) -> (Option<TaskId>, Option<String>) {
        match self {
            Self::Heading { group, .. } => (None, group.clone()),
            Self::Card(task) => (Some(task.clone()), None),
        }
    }
}

/// The cards under headings, in the order of their first cards. Cards without a group come last.
pub(crate) fn rows(ids: &[TaskId], group_of: impl Fn(&TaskId) -> Option<String>, is_folded: impl Fn(Option<&str>) -> bool) -> Vec<Row> {
    let mut groups: Vec<(Option<String>, Vec<TaskId>)> = Vec::new();
    for id in ids {
        let group = group_of(id);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, cards)) => cards.push(id.clone()),
            None => groups.push((group, vec![id.clone()])),
        }
    }
    groups.sort_by_key(|(group, _)| group.is_none());
    let of_group = |(group, cards): (Option<String>, Vec<TaskId>)| {
        let is_folded = is_folded(group.as_deref());
        let heading = Row::Heading { cards: cards.len(), group, is_folded };
        std::iter::once(heading).chain(cards.into_iter().filter(move |_| !is_folded).map(Row::Card))
    };
    groups.into_iter().flat_map(of_group).collect()
}

/// The cards of the rows that no folded group hides.
pub(crate) fn unfolded(rows: &[Row]) -> usize {
    rows.iter().filter(|row| matches!(row, Row::Card(_))).count()
}

/// The first rows with at most `limit` cards, and the `extra` cards that are not among them.
pub(crate) fn limited(rows: impl IntoIterator<Item = Row>, limit: usize, extra: &[TaskId]) -> Vec<Row> {
    let (mut shown, mut cards) = (Vec::new(), 0);
    for row in rows {
        match &row {
            Row::Card(_) if cards < limit => cards += 1,
            Row::Card(id) if !extra.contains(id) => continue,
            Row::Card(_) | Row::Heading { .. } => {}
        }
        // A heading whose cards are beyond the limit is replaced by the next one.
        if matches!(row, Row::Heading { .. }) && shown.last().is_some_and(is_bare) {
            shown.pop();
        }
        shown.push(row);
    }
    if shown.last().is_some_and(is_bare) {
        shown.pop();
    }
    shown
}

/// Whether a row is the heading of cards that must follow it.
fn is_bare(row: &Row) -> bool {
    matches!(row, Row::Heading { is_folded: false, .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(number: u64) -> Row {
        Row::Card(TaskId::new(number))
    }

    fn heading(group: Option<&str>, cards: usize) -> Row {
        Row::Heading { group: group.map(str::to_owned), cards, is_folded: false }
    }

    #[test]
    fn cards_are_grouped_under_headings() {
        let ids: Vec<TaskId> = [1, 2, 3, 4, 5].map(TaskId::new).into();
        let group = |id: &TaskId| [None, Some("b"), Some("a"), Some("b"), None][usize::try_from(id.number()).unwrap() - 1].map(str::to_owned);
        let all = rows(&ids, group, |_| false);
        let expected = [heading(Some("b"), 2), card(2), card(4), heading(Some("a"), 1), card(3), heading(None, 2), card(1), card(5)];
        assert_eq!(all, expected);
        assert_eq!(limited(all.clone(), 2, &[]), [heading(Some("b"), 2), card(2), card(4)], "no heading is left without cards");
        let with_extra = limited(all, 1, &[TaskId::new(5), TaskId::new(2)]);
        assert_eq!(with_extra, [heading(Some("b"), 2), card(2), heading(None, 2), card(5)]);
    }

    #[test]
    fn folded_group_keeps_its_heading_and_hides_its_cards() {
        let ids: Vec<TaskId> = [1, 2, 3].map(TaskId::new).into();
        let group = |id: &TaskId| (id.number() < 3).then(|| "a".to_owned());
        let all = rows(&ids, group, |group| group == Some("a"));
        let folded = Row::Heading { group: Some("a".to_owned()), cards: 2, is_folded: true };
        assert_eq!(all, [folded.clone(), heading(None, 1), card(3)]);
        assert_eq!((unfolded(&all), limited(all.clone(), 0, &[])), (1, vec![folded.clone()]));
        assert_eq!(all[0].key(), heading(Some("a"), 7).key(), "a folded heading is the same element");
        let none = rows(&ids, group, |_| true);
        assert_eq!((none.len(), limited(none, 50, &[])[0].clone()), (2, folded));
    }

    #[test]
    fn progress_of_a_plan_counts_its_work() {
        use domain::board::status::Status::{Backlog, Cancelled, Done};
        let of_plan = |number, status| Card { parent_task_id: Some(TaskId::new(1)), ..crate::testing::card(number, status) };
        let cards = [crate::testing::card(1, Done), of_plan(2, Done), of_plan(3, Backlog), of_plan(4, Cancelled)];
        assert_eq!(plan_progress(&cards), PlanProgress::from([("TASK-001".to_owned(), (1, 2))]));
    }

    #[test]
    fn group_of_a_card_is_its_goal_or_its_plan() {
        let card = Card { parent_task_id: Some(TaskId::new(1)), ..crate::testing::card(2, domain::board::status::Status::Backlog) };
        assert_eq!(Grouping::ALL.map(|grouping| grouping.group_of(&card)), [None, Some("TASK-001".to_owned()), Some("PROJ-001".to_owned())]);
    }
}
