//! Cards under headings within a column: by goal, by plan or by project. Pure.
//!
//! Must not know how a heading or a card is drawn.

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

/// One line of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    Heading { group: Option<String>, cards: usize },
    Card(TaskId),
}

/// The cards under headings, in the order of their first cards. Cards without a group come last.
pub(crate) fn rows(ids: &[TaskId], group_of: impl Fn(&TaskId) -> Option<String>) -> Vec<Row> {
    let mut groups: Vec<(Option<String>, Vec<TaskId>)> = Vec::new();
    for id in ids {
        let group = group_of(id);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, cards)) => cards.push(id.clone()),
            None => groups.push((group, vec![id.clone()])),
        }
    }
    groups.sort_by_key(|(group, _)| group.is_none());
    let heading = |group: &Option<String>, cards: &[TaskId]| Row::Heading { group: group.clone(), cards: cards.len() };
    groups
        .into_iter()
        .flat_map(|(group, cards)| std::iter::once(heading(&group, &cards)).chain(cards.into_iter().map(Row::Card)).collect::<Vec<_>>())
        .collect()
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
        // A heading without cards is replaced by the next one.
        if matches!((&row, shown.last()), (Row::Heading { .. }, Some(Row::Heading { .. }))) {
            shown.pop();
        }
        shown.push(row);
    }
    if matches!(shown.last(), Some(Row::Heading { .. })) {
        shown.pop();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(number: u64) -> Row {
        Row::Card(TaskId::new(number))
    }

    fn heading(group: Option<&str>, cards: usize) -> Row {
        Row::Heading { group: group.map(str::to_owned), cards }
    }

    #[test]
    fn cards_are_grouped_under_headings() {
        let ids: Vec<TaskId> = [1, 2, 3, 4, 5].map(TaskId::new).into();
        let group = |id: &TaskId| [None, Some("b"), Some("a"), Some("b"), None][usize::try_from(id.number()).unwrap() - 1].map(str::to_owned);
        let all = rows(&ids, group);
        let expected = [heading(Some("b"), 2), card(2), card(4), heading(Some("a"), 1), card(3), heading(None, 2), card(1), card(5)];
        assert_eq!(all, expected);
        assert_eq!(limited(all.clone(), 2, &[]), [heading(Some("b"), 2), card(2), card(4)], "no heading is left without cards");
        let with_extra = limited(all, 1, &[TaskId::new(5), TaskId::new(2)]);
        assert_eq!(with_extra, [heading(Some("b"), 2), card(2), heading(None, 2), card(5)]);
    }

    #[test]
    fn group_of_a_card_is_its_goal_or_its_plan() {
        let card = Card { parent_task_id: Some(TaskId::new(1)), ..crate::testing::card(2, domain::board::status::Status::Backlog) };
        assert_eq!(Grouping::ALL.map(|grouping| grouping.group_of(&card)), [None, Some("TASK-001".to_owned()), Some("PROJ-001".to_owned())]);
    }
}
