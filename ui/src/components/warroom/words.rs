//! The words of the war room in one table: plain ones, and those of a raid for readers who chose them in the settings of their browser.
//!
//! Must not know where a word is shown.

use domain::warroom::trigger::TriggerWord;

use crate::components::badge::warroom::trigger_label;
use crate::components::theme::chosen_words;

/// Something that has a plain name and one of a raid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Agents,
    Formation,
    SmallRepository,
    MediumRepository,
    LargeRepository,
    HugeRepository,
    ContextLeft,
    Left,
    Expert,
    Investigator,
    Orders,
    Plan,
    Files,
    Handovers,
    Map,
    Questions,
    Knowledge,
    Log,
}

/// Each with its plain name and the name of a raid.
const TABLE: [(Word, &str, &str); 18] = [
    (Word::Agents, "Agents", "Party"),
    (Word::Formation, "How many agents", "Formation"),
    (Word::SmallRepository, "Small repository", "Skirmish"),
    (Word::MediumRepository, "Medium repository", "Dungeon"),
    (Word::LargeRepository, "Large repository", "Raid"),
    (Word::HugeRepository, "Very large repository", "World boss"),
    (Word::ContextLeft, "Context left", "HP"),
    // After a number, such as `41 % left`.
    (Word::Left, "left", "HP"),
    (Word::Expert, "Expert", "Oracle"),
    (Word::Investigator, "Investigator", "Recon"),
    (Word::Orders, "Orders", "Trigger words"),
    (Word::Plan, "Plan", "Battle plan"),
    (Word::Files, "Files", "Claims"),
    (Word::Handovers, "Handovers", "Fenix downs"),
    (Word::Map, "Where the work is", "Heat map"),
    (Word::Questions, "Questions to experts", "Oracle questions"),
    (Word::Knowledge, "Knowledge", "Loot"),
    (Word::Log, "Log", "Raid log"),
];

/// The name in the words that this browser chose.
pub(crate) fn name_of(word: Word) -> &'static str {
    named(word, chosen_words() == "raid")
}

/// The name of an order, which is its word for readers of those of a raid.
pub(crate) fn order_name(order: TriggerWord) -> &'static str {
    if chosen_words() == "raid" { order.as_str() } else { trigger_label(order).0 }
}

fn named(word: Word, of_raid: bool) -> &'static str {
    let found = TABLE.iter().find(|(known, ..)| *known == word);
    found.map_or("", |(_, plain, raid)| if of_raid { raid } else { plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_two_names_and_is_plain_at_first() {
        for (word, plain, raid) in TABLE {
            assert_eq!((named(word, false), named(word, true)), (plain, raid));
            assert_ne!(plain, raid);
        }
        assert_eq!((named(Word::ContextLeft, false), named(Word::ContextLeft, true)), ("Context left", "HP"));
    }
}
