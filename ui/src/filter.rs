//! The text filter of the board. A card must contain each word in its id, title, role, badge, goal or contributors.

use domain::board::card::Card;
use domain::id::GoalId;

use crate::components::badge::{card_badge, phase_label};

pub(crate) fn matches(card: &Card, query: &str) -> bool {
    let mut words = query.split_whitespace().peekable();
    if words.peek().is_none() {
        return true;
    }
    let (badge, _) = card_badge(card);
    let hands = &card.contributors;
    let names = hands.built_by.iter().chain(&hands.assigned_to).chain(&hands.approved_by).chain(&hands.verified_by);
    let names: String = names.map(|name| format!(" {name}")).collect();
    let goal = card.goal_id.as_ref().map_or("", GoalId::as_str);
    let text = format!("{} {} {} {badge} {goal}{names}", card.id, card.title, phase_label(card.phase)).to_lowercase();
    words.all(|word| text.contains(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use domain::board::attention::{Attention, AttentionKind};
    use domain::board::card::Contributors;
    use domain::board::status::Status;

    use super::*;
    use crate::testing;

    #[test]
    fn filter_requires_every_word() {
        let card = Card {
            title: "Add a Login page".to_owned(),
            attention: Some(Attention::new(AttentionKind::NeedsInput, "")),
            goal_id: Some(GoalId::new(2)),
            contributors: Contributors { assigned_to: Some("platform/mara".to_owned()), ..Contributors::default() },
            ..testing::card(7, Status::InProgress)
        };
        for found in ["", "  ", "login", "LOGIN add", "task-007", "coder needs", "question", "goal-002", "mara"] {
            assert!(matches(&card, found), "{found:?}");
        }
        for other in ["logout", "login reviewer", "task-008"] {
            assert!(!matches(&card, other), "{other:?}");
        }
    }
}
