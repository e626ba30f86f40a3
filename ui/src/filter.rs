//! The filter of the board: words, each of which a card must contain in its id, title, role, badge, goal or contributors, a facet, and the
//! grouping of what it shows.

use domain::board::card::Card;
use domain::id::GoalId;

use crate::components::badge::card_state::CardState;
use crate::components::badge::{card_badge, phase_label};
use crate::grouping::Grouping;

/// The cards that a button of the bar shows alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Facet {
    NeedsYou,
    AtWork,
    Waiting,
}

impl Facet {
    pub(crate) const ALL: [Self; 3] = [Self::NeedsYou, Self::AtWork, Self::Waiting];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs you",
            Self::AtWork => "At work",
            Self::Waiting => "Waiting",
        }
    }

    /// Its name in the address.
    const fn name(self) -> &'static str {
        match self {
            Self::NeedsYou => "needs-you",
            Self::AtWork => "at-work",
            Self::Waiting => "waiting",
        }
    }

    pub(crate) fn accepts(self, card: &Card) -> bool {
        let state = CardState::of(card);
        match self {
            Self::NeedsYou => state.needs_person(),
            Self::AtWork => card.run.is_some(),
            Self::Waiting => !state.needs_person() && card.status.is_open() && card.run.is_none(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) words: String,
    pub(crate) facet: Option<Facet>,
    pub(crate) group: Option<Grouping>,
}

/// A part of the filter that can be removed alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Facet(Facet),
    Word(String),
    Group(Grouping),
}

impl Filter {
    /// Reads the parameters of the address.
    pub(crate) fn of_parameters(parameter: impl Fn(&str) -> Option<String>) -> Self {
        let facet = parameter("show").and_then(|name| Facet::ALL.into_iter().find(|facet| facet.name() == name));
        let group = parameter("group").and_then(|name| Grouping::ALL.into_iter().find(|group| group.name() == name));
        Self { words: parameter("filter").unwrap_or_default(), facet, group }
    }

    /// The parameters of the address, empty or with a value.
    pub(crate) fn parameters(&self) -> [(&'static str, Option<&str>); 3] {
        let words = Some(self.words.trim()).filter(|words| !words.is_empty());
        [("filter", words), ("show", self.facet.map(Facet::name)), ("group", self.group.map(Grouping::name))]
    }

    /// The parts, in the order in which they are shown.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let words = self.words.split_whitespace().map(|word| Part::Word(word.to_owned()));
        self.facet.map(Part::Facet).into_iter().chain(words).chain(self.group.map(Part::Group)).collect()
    }

    /// The filter without one of its parts.
    pub(crate) fn without(&self, part: &Part) -> Self {
        match part {
            Part::Facet(_) => Self { facet: None, ..self.clone() },
            Part::Group(_) => Self { group: None, ..self.clone() },
            Part::Word(removed) => {
                let words: Vec<&str> = self.words.split_whitespace().filter(|word| word != removed).collect();
                Self { words: words.join(" "), ..self.clone() }
            }
        }
    }

    /// Whether it shows every card.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.trim().is_empty() && self.facet.is_none()
    }

    pub(crate) fn accepts(&self, card: &Card) -> bool {
        self.facet.is_none_or(|facet| facet.accepts(card)) && matches(card, &self.words)
    }
}

pub(crate) fn matches(card: &Card, query: &str) -> bool {
    let mut words = query.split_whitespace().peekable();
    if words.peek().is_none() {
        return true;
    }
    let (badge, _) = card_badge(card);
    let contributors = &card.contributors;
    let names = contributors.built_by.iter().chain(&contributors.assigned_to).chain(&contributors.approved_by).chain(&contributors.verified_by);
    let names: String = names.map(|name| format!(" {name}")).collect();
    let goal = card.goal_id.as_ref().map_or("", GoalId::as_str);
    let text = lowercase(&format!("{} {} {} {badge} {goal}{names}", card.id, card.title, phase_label(card.phase)));
    words.all(|word| text.contains(&lowercase(word)))
}

/// The text in small letters. For those of all languages, the browser is asked: their tables would be loaded before the first card is shown.
fn lowercase(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    #[cfg(target_family = "wasm")]
    return js_sys::JsString::from(text).to_lower_case().into();
    #[cfg(not(target_family = "wasm"))]
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use domain::board::attention::{Attention, AttentionKind};
    use domain::board::card::Contributors;
    use domain::board::status::Status;

    use super::*;
    use crate::testing;

    #[test]
    fn filter_round_trips_through_the_address() {
        let filters = [
            Filter::default(),
            Filter { words: "a b".to_owned(), group: Some(Grouping::Goal), ..Filter::default() },
            Filter { words: "login".to_owned(), facet: Some(Facet::NeedsYou), group: None },
        ];
        for filter in filters {
            let parameters = filter.parameters();
            let read = |name: &str| parameters.iter().find(|(known, _)| *known == name).and_then(|(_, value)| value.map(str::to_owned));
            assert_eq!(Filter::of_parameters(read), filter);
        }
        assert_eq!(Filter::of_parameters(|_| Some("other".to_owned())), Filter { words: "other".to_owned(), ..Filter::default() });
    }

    #[test]
    fn parts_of_the_filter_are_removed_one_by_one() {
        let filter = Filter { words: " login  page ".to_owned(), facet: Some(Facet::AtWork), group: Some(Grouping::Plan) };
        let word = |word: &str| Part::Word(word.to_owned());
        assert_eq!(filter.parts(), [Part::Facet(Facet::AtWork), word("login"), word("page"), Part::Group(Grouping::Plan)]);
        assert_eq!(filter.without(&word("login")), Filter { words: "page".to_owned(), ..filter.clone() });
        let empty = filter.parts().iter().fold(filter, |filter, part| filter.without(part));
        assert_eq!((empty.clone(), empty.parts()), (Filter::default(), Vec::new()));
    }

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

    #[test]
    fn facet_shows_its_cards_alone() {
        let waiting = testing::card(1, Status::Backlog);
        let asking = Card { attention: Some(Attention::new(AttentionKind::NeedsInput, "")), ..waiting.clone() };
        let accepted = |card: &Card| Facet::ALL.into_iter().filter(|facet| facet.accepts(card)).collect::<Vec<_>>();
        assert_eq!(accepted(&waiting), [Facet::Waiting]);
        assert_eq!(accepted(&asking), [Facet::NeedsYou]);
        assert_eq!(accepted(&testing::card(1, Status::Done)), []);
    }
}
