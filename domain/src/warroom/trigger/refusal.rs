//! Refusals of orders by trigger words.

use super::word::TriggerWord;
use crate::refusal::category::refusals;

refusals! {
    /// Why an order is not given, or why another change has to wait for one.
    TriggerRefusal {
        #[error("BLOCKED: {agent} is not a lead, and a message that begins with {word} is an order")]
        LeadOnly { agent: String, word: TriggerWord } => Forbidden "order-needs-a-lead",
        #[error("{word} is for one agent, and the message does not name one")]
        NoAgent { word: TriggerWord } => Unprocessable "order-without-agent",
        #[error("{word} needs the name of a zone")]
        NoZone { word: TriggerWord } => Unprocessable "order-without-zone",
        #[error("{word} needs a subject to investigate")]
        NoSubject { word: TriggerWord } => Unprocessable "order-without-subject",
        #[error("{word} is for all agents")]
        ForAll { word: TriggerWord } => Unprocessable "order-is-for-all",
        #[error("the message is for {recipient}, and its order is for {target}")]
        OtherRecipient { word: TriggerWord, target: String, recipient: String } => Unprocessable "order-for-another",
        #[error("{word} is an order to agents, and {target} is a person")]
        ToPerson { word: TriggerWord, target: String } => Unprocessable "order-to-a-person",
        #[error("the target of {word} is not one word")]
        NotOneWord { word: TriggerWord } => Unprocessable "order-target-is-not-a-word",
        #[error("the note of {word} is not one line of at most {most} bytes")]
        LongNote { word: TriggerWord, most: usize } => Unprocessable "order-note-too-long",
        #[error("{word} is not active")]
        NotActive { word: TriggerWord } => Conflict "order-not-active",
        #[error("BLOCKED: {author} ordered {word}, and no work is assigned until it is withdrawn")]
        Stopped { word: TriggerWord, author: String } => Conflict "stopped-by-order",
    }
}

impl TriggerRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::LeadOnly { word, .. } => {
                format!("Ask a lead for it with send. To write about {word}, start the message with another word.")
            }
            Self::NoAgent { word } => format!("Send \"{word}\" to the agent, or \"{word} NAME\" to all."),
            Self::NoZone { word } => format!("Send \"{word} ZONE\" to all."),
            Self::NoSubject { word } => format!("Send \"{word} NAME: SUBJECT\" to the agent."),
            Self::ForAll { word } => format!("Send \"{word}\" to all. For one agent, use fenix_down, stand_down or sitrep."),
            Self::OtherRecipient { target, .. } => format!("Send it to {target}, or to all."),
            Self::ToPerson { .. } => "Write to a person in a sentence; call who to see the agents.".to_owned(),
            Self::NotOneWord { .. } => "Give the name of one agent or zone, without spaces and colons.".to_owned(),
            Self::LongNote { .. } => "Give a short reason, and put the details into a message of its own.".to_owned(),
            Self::NotActive { .. } => "cold_start lists the orders that are active.".to_owned(),
            Self::Stopped { word, .. } => {
                format!("Wait, or withdraw it: a lead calls withdraw_trigger with word={word}, a person uses the page War room.")
            }
        }
    }
}
