//! Which cards a person wants to see: every word that they typed must occur in the card's id, title, role or badge.

use domain::task::Card;

use crate::components::badge::{card_look, phase_word};

pub(crate) fn matches(card: &Card, query: &str) -> bool {
    let mut words = query.split_whitespace().peekable();
    if words.peek().is_none() {
        return true;
    }
    let (badge, _) = card_look(card);
    let text = format!("{} {} {} {badge}", card.id, card.title, phase_word(card.phase)).to_lowercase();
    words.all(|word| text.contains(&word.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use domain::attention::{Attention, AttentionKind};
    use domain::id::{ProjectId, TaskId};
    use domain::task::{Phase, Status};
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn every_word_must_occur_somewhere() {
        let card = Card {
            id: TaskId::new(7),
            project_id: ProjectId::new(1),
            parent_task_id: None,
            title: "Add a Login page".to_owned(),
            phase: Phase::Coder,
            status: Status::InProgress,
            held_by: None,
            attention: Some(Attention::new(AttentionKind::NeedsInput, "")),
            why: None,
            cancel_reason: None,
            depends_on: Vec::new(),
            priority: 0,
            approved_sha: None,
            verified_by: None,
            round_of: None,
            round: None,
            run: None,
            comments: 0,
            runs: 0,
            cost_micro_usd: 0,
            created_at: Timestamp::from_milliseconds(0),
            updated_at: Timestamp::from_milliseconds(0),
        };
        for found in ["", "  ", "login", "LOGIN add", "task-007", "coder needs", "question"] {
            assert!(matches(&card, found), "{found:?}");
        }
        for other in ["logout", "login reviewer", "task-008"] {
            assert!(!matches(&card, other), "{other:?}");
        }
    }
}
