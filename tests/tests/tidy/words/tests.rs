//! Each pattern refuses its sample and accepts the better sentence, and prose is told apart from code.

use super::{NAMES, PHRASES, Patterns, count_by_folder, rust};
use crate::source::Source;

/// A refused sample for each phrase, in order, with a better sentence.
const PROSE: [(&str, &str); 15] = [
    ("What cannot be read is looked at later.", "What is a run? The runner retries unreadable repositories later."),
    ("Refuses whoever is not a lead.", "Fails unless the participant is a lead."),
    ("It can no longer lead any more.", "It cannot lead any more tasks."),
    ("Waits in vain.", "Waits until the deadline."),
    ("the body is no json", "the body is not valid JSON"),
    ("A lock is waited for.", "Waits for a lock."),
    ("nobody is told", "no agent is notified"),
    ("an agent from outside", "an external agent"),
    ("an agent that the human vouches for", "a trusted agent"),
    ("the room's token", "the invite token"),
    ("It is never taken back.", "It is never revoked."),
    ("a coder's hand-in", "a coder's submission"),
    ("in the name of its token", "with its token"),
    ("The reason may be left out.", "The reason is optional."),
    ("the most files are shown", "most of the files are shown"),
];

/// A refused sample for each name, in order, with a better name.
const CODE: [(&str, &str); 4] = [
    ("fn look(&self)", "fn look_up(&self)"),
    ("pub struct Voice {", "pub struct Participant {"),
    ("const MOST: usize", "const MOST_RECENT: usize"),
    ("fn what_cannot_be_read_is_tried_again()", "fn unreadable_files_are_retried()"),
];

#[test]
fn each_phrase_is_refused_and_its_replacement_is_not() {
    let patterns = Patterns::new();
    assert_eq!(PROSE.len(), PHRASES.len());
    for ((refused, accepted), pattern) in PROSE.iter().zip(&patterns.phrases) {
        assert!(pattern.is_match(refused), "{pattern} accepts {refused}");
        assert!(patterns.in_prose(accepted).is_empty(), "{accepted}");
    }
}

#[test]
fn each_name_is_refused_and_its_replacement_is_not() {
    let patterns = Patterns::new();
    assert_eq!(CODE.len(), NAMES.len());
    for ((refused, accepted), pattern) in CODE.iter().zip(&patterns.names) {
        assert!(pattern.is_match(refused), "{pattern} accepts {refused}");
        assert!(patterns.in_code(accepted).is_empty(), "{accepted}");
    }
}

#[test]
fn a_sentence_is_refused_after_another_and_across_lines() {
    let patterns = Patterns::new();
    assert_eq!(patterns.in_prose("Reads the log. Who reads\nit may write.").len(), 1);
    assert_eq!(patterns.in_prose("It is taken\nback.").len(), 1);
    assert_eq!(patterns.in_prose("TAKEN BACK").len(), 1);
    assert!(patterns.in_prose("Who is it?").is_empty());
}

#[test]
fn findings_have_the_line_of_the_match() {
    let patterns = Patterns::new();
    let lines = |path: &str, text: &str| {
        let found = patterns.in_file(&Source { path: path.to_owned(), text: text.to_owned() });
        found.into_iter().map(|finding| (finding.line, finding.text)).collect::<Vec<_>>()
    };
    let source = "//! Fine.\n\n/// It is\n/// taken back.\nfn look() {\n    call(\"\n  anew\", 'x');\n}\n";
    let expected = [(4, "taken back".to_owned()), (7, "anew".to_owned()), (5, "fn look".to_owned())];
    assert_eq!(lines("crate/src/file.rs", source), expected);
    assert_eq!(lines("page.md", "Fine.\nStart anew.\nfn look()\n"), [(2, "anew".to_owned())]);
    let findings = patterns.in_file(&Source { path: "crate/src/file.rs".to_owned(), text: source.to_owned() });
    assert_eq!(count_by_folder(&findings).into_iter().collect::<Vec<_>>(), [("crate", 3)]);
}

#[test]
fn comments_and_literals_are_separated_from_code() {
    let source = "let url = \"http://x\"; // one\n// two\nlet quote = '\"'; let life: &'a str = r#\"a \"b\" c\"#;\n/* three */ br\"\\\" rest";
    let parts = rust::split(source);
    let prose: Vec<_> = parts.prose.iter().map(|(line, text)| (*line, text.as_str())).collect();
    assert_eq!(prose, [(1, "http://x"), (1, "one\ntwo"), (3, "a \"b\" c"), (4, "/* three */"), (4, "\\")]);
    let words: Vec<_> = parts.code.split_whitespace().collect();
    assert_eq!(words.join(" "), "let url = ; let quote = ; let life: &'a str = ; rest");
    assert_eq!(rust::split(r#"call("a \" b \\", b'"')"#).code.split_whitespace().collect::<String>(), "call(,b)");
}
