//! Trigger words: short orders to agents, such as `rally`. A word counts only as the first of a message, so that agents can talk about it.
//!
//! Must not know who may give an order, or what follows from it.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// A short order.
    TriggerWord, "trigger word" {
        /// One agent writes down what it knows and continues with an empty context.
        FenixDown = "fenix_down",
        /// One agent stops and leaves.
        StandDown = "stand_down",
        /// One agent reports its context and its state.
        Sitrep = "sitrep",
        /// All agents look into their inboxes.
        Rally = "rally",
        /// All agents finish their turn and hand over.
        Retreat = "retreat",
        /// All agents hand over now; nothing starts.
        MoonCrash = "moon_crash",
        /// A zone comes first.
        HotZone = "hot_zone",
        /// One agent investigates something and reports.
        Recon = "recon",
    }
}

impl TriggerWord {
    /// Whom an order with this word is for, as the codebook describes it.
    pub const fn target(self) -> TriggerTarget {
        match self {
            Self::FenixDown | Self::StandDown | Self::Sitrep => TriggerTarget::Agent,
            Self::Rally | Self::Retreat | Self::MoonCrash => TriggerTarget::All,
            Self::HotZone => TriggerTarget::Zone,
            Self::Recon => TriggerTarget::AgentAndSubject,
        }
    }

    /// What it means, for the codebook that agents read.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::FenixDown => "write what you know to files, record them with fenix_down, and continue with an empty context",
            Self::StandDown => "stop working, hand over, and leave",
            Self::Sitrep => "report your context with set_context and send your state now",
            Self::Rally => "look into your inbox now",
            Self::Retreat => "finish your turn, then hand over",
            Self::MoonCrash => "hand over now: the session ends and nothing starts",
            Self::HotZone => "work in this zone first",
            Self::Recon => "investigate this and report",
        }
    }
}

/// What stands behind a trigger word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerTarget {
    All,
    Agent,
    Zone,
    AgentAndSubject,
}

/// An order, read from the first line of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger<'m> {
    pub word: TriggerWord,
    /// The agent or the zone that it names; none if it is for all.
    pub target: Option<&'m str>,
    /// The subject of a `recon`, or the reason behind a colon.
    pub note: Option<&'m str>,
}

impl<'m> Trigger<'m> {
    /// Reads the order that a message begins with, if it does. The first line has to be the word with its target and nothing else, except for a
    /// colon and a reason: "rally" is an order and "rally points are open" is a sentence. Quotes and code begin with other characters.
    pub fn of(message: &'m str) -> Option<Self> {
        // Four spaces begin a block of code.
        let line = message.trim_start_matches('\n').lines().next().filter(|line| !line.starts_with(['\t', ' ']))?;
        let (order, reason) = match line.split_once(':') {
            Some((order, reason)) => (order, Some(reason.trim()).filter(|reason| !reason.is_empty())),
            None => (line, None),
        };
        let mut words = order.split_whitespace();
        let word: TriggerWord = words.next()?.to_ascii_lowercase().parse().ok()?;
        let (target, next) = (words.next(), words.next());
        match word.target() {
            TriggerTarget::All if target.is_none() => Some(Self { word, target: None, note: reason }),
            TriggerTarget::Agent | TriggerTarget::Zone if next.is_none() => Some(Self { word, target: Some(target?), note: reason }),
            TriggerTarget::AgentAndSubject => {
                let target = target?;
                let behind = line.split_once(target).map(|(_, behind)| behind.trim_start_matches(':').trim());
                Some(Self { word, target: Some(target), note: Some(behind.filter(|subject| !subject.is_empty())?) })
            }
            TriggerTarget::All | TriggerTarget::Agent | TriggerTarget::Zone => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(message: &str) -> Option<(&str, Option<&str>, Option<&str>)> {
        Trigger::of(message).map(|trigger| (trigger.word.as_str(), trigger.target, trigger.note))
    }

    #[test]
    fn order_stands_alone_in_the_first_line() {
        assert_eq!(order("rally"), Some(("rally", None, None)));
        assert_eq!(order("Moon_Crash: the disk is full"), Some(("moon_crash", None, Some("the disk is full"))));
        assert_eq!(order("retreat\nWe go on tomorrow."), Some(("retreat", None, None)));
        assert_eq!(order("fenix_down mara"), Some(("fenix_down", Some("mara"), None)));
        assert_eq!(order("sitrep  platform/mara : now"), Some(("sitrep", Some("platform/mara"), Some("now"))));
        assert_eq!(order("hot_zone audio"), Some(("hot_zone", Some("audio"), None)));
        assert_eq!(order("recon ben why the build is red"), Some(("recon", Some("ben"), Some("why the build is red"))));
        assert_eq!(order("recon ben: the build"), Some(("recon", Some("ben"), Some("the build"))));
    }

    #[test]
    fn sentence_quote_and_code_are_no_order() {
        let messages = [
            "",
            "rally the others tomorrow",
            "Please rally",
            "\"rally\"",
            "> rally",
            "`rally`",
            "```\nrally\n```",
            "    rally",
            "\trally",
            "rallying",
            "sitrep",
            "stand_down mara and ben",
            "recon",
            "recon ben",
            "hot_zone",
        ];
        for message in messages {
            assert_eq!(order(message), None, "{message:?}");
        }
    }

    #[test]
    fn every_word_has_a_meaning() {
        let meanings: std::collections::BTreeSet<&str> = TriggerWord::ALL.iter().map(|word| word.meaning()).collect();
        assert_eq!(meanings.len(), TriggerWord::ALL.len());
    }
}
