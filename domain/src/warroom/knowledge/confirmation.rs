//! The rules of confirmation: a text without the words of a hunch, and evidence that others can repeat.
//!
//! It must not know what is confirmed.

use super::refusal::KnowledgeRefusal;
use crate::warroom::result::has_citation;

/// The words of a hunch, each as its words in lower case.
const HUNCHES: [&[&str]; 17] = [
    &["maybe"],
    &["perhaps"],
    &["probably"],
    &["possibly"],
    &["presumably"],
    &["apparently"],
    &["supposedly"],
    &["might"],
    &["seems"],
    &["seem"],
    &["seemingly"],
    &["i", "think"],
    &["i", "guess"],
    &["i", "believe"],
    &["i", "assume"],
    &["i", "suspect"],
    &["not", "sure"],
];

/// Refuses a text that says of itself that it is a hunch. Code is not read.
///
/// # Errors
/// When it contains words such as "maybe".
pub(super) fn require_confirmed(text: &str) -> Result<(), KnowledgeRefusal> {
    let prose = without_code(text).to_lowercase();
    let words: Vec<&str> = prose.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    match HUNCHES.iter().find(|hunch| words.windows(hunch.len()).any(|found| found == **hunch)) {
        Some(hunch) => Err(KnowledgeRefusal::Hunch { words: hunch.join(" ") }),
        None => Ok(()),
    }
}

/// Refuses evidence that others cannot repeat: it has to cite a line of a file, or show a command with its output.
///
/// # Errors
/// When it does neither.
pub(super) fn require_evidence(evidence: &str) -> Result<(), KnowledgeRefusal> {
    if has_citation(evidence) || shows_output(evidence) { Ok(()) } else { Err(KnowledgeRefusal::NoEvidence) }
}

/// Whether a line begins with `$ ` and a command, and another one with output follows it.
fn shows_output(evidence: &str) -> bool {
    let is_command = |line: &str| line.strip_prefix("$ ").is_some_and(|command| !command.trim().is_empty());
    let mut lines = evidence.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("```"));
    lines.any(is_command) && lines.any(|line| !line.starts_with('$'))
}

/// Returns the text without code between marks.
fn without_code(text: &str) -> String {
    let mut kept = String::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            for prose in line.split('`').step_by(2) {
                kept += prose;
                kept.push(' ');
            }
        }
        kept.push('\n');
    }
    kept
}
