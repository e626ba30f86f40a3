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
    use domain::task::Status;

    use super::*;
    use crate::testing;

    #[test]
    fn every_word_must_occur_somewhere() {
        let card = Card {
            title: "Add a Login page".to_owned(),
            attention: Some(Attention::new(AttentionKind::NeedsInput, "")),
            ..testing::card(7, Status::InProgress)
        };
        for found in ["", "  ", "login", "LOGIN add", "task-007", "coder needs", "question"] {
            assert!(matches(&card, found), "{found:?}");
        }
        for other in ["logout", "login reviewer", "task-008"] {
            assert!(!matches(&card, other), "{other:?}");
        }
    }
}
