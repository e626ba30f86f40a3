//! Refusals of knowledge.

use super::kind::{KnowledgeKind, MAX_LIVE};
use crate::refusal::category::refusals;

refusals! {
    /// Why knowledge is not accepted, or why an oracle cannot go on.
    KnowledgeRefusal {
        #[error("\"{topic}\" is not a topic")]
        Topic { topic: String } => Unprocessable "knowledge-topic",
        #[error("the words \"{words}\" say that this is not confirmed")]
        Hunch { words: String } => Unprocessable "knowledge-unconfirmed",
        #[error("the evidence cites no line of a file, and shows no command with its output")]
        NoEvidence => Unprocessable "knowledge-without-evidence",
        #[error("there are {MAX_LIVE} live items of knowledge, and no more are allowed")]
        TooMuch => Conflict "knowledge-limit",
        #[error("no live {kind} has the topic {topic}")]
        NotLive { kind: KnowledgeKind, topic: String } => NotFound "knowledge-not-live",
        #[error("the {kind} {topic} is already closed")]
        Closed { kind: KnowledgeKind, topic: String } => Conflict "knowledge-closed",
        #[error("BLOCKED: an oracle answers with what is known now, and you have not read {}", named(topics))]
        Unread { topics: Vec<String> } => Conflict "unread-knowledge",
    }
}

impl KnowledgeRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Topic { .. } => "Give up to 60 lower-case letters, digits and -, such as upstream-deps.".to_owned(),
            Self::Hunch { .. } => {
                "Confirm it first, and state it as a fact. Until then, put it into your notes with write_note, or into a comment.".to_owned()
            }
            Self::NoEvidence => {
                "Cite src/lib.rs:12, or give the command after \"$ \" with its output below. Put hunches into your notes with write_note.".to_owned()
            }
            Self::TooMuch => "Archive intel that no longer holds with archive_intel, and resolve traps that are gone with resolve_trap.".to_owned(),
            Self::NotLive { .. } => "read_intel lists the live topics.".to_owned(),
            Self::Closed { .. } => "Write it again if it holds again.".to_owned(),
            Self::Unread { .. } => "Call read_intel until nothing is unread, then try again.".to_owned(),
        }
    }
}

fn named(topics: &[String]) -> String {
    match topics {
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => "some".to_owned(),
    }
}
