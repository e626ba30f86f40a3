//! Refuses the old private vocabulary in comments, string literals, names and Markdown. Must not know what the words describe:
//! `CONTRIBUTING.md` defines the words we use.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::Regex;

use crate::source::{Source, files, none};

mod rust;

/// Phrases of comments, string literals and Markdown. All but the first are matched in lower case.
const PHRASES: [&str; 15] = [
    r"(?:^|[.!?] )\s*(?:[-*] |\d+\. )?(?:Who|Whoever|Whom|What|Whose) \w+[^.?]*\.",
    r"\b(?:whoever|whomever|whosoever|anew|thereof|therein|whereof|hitherto|upon|oneself|need not|be it)\b",
    r#"\b(?:any more|no more)(?:[.,;:"]|$)"#,
    r"\bin vain\b|\bworth nothing\b|\bsigns? of life\b|\bbelongs? into\b|\bput before the (?:person|human)\b",
    r"\b(?:is|are|was|were) (?:no|none) (?:agent|lead|json|use|asset|checkout|event|branch|name|path|route|port|object|text|tool|prompt)s?\b",
    r"\b(?:is|are) (?:waited|looked|asked|listened|cared) (?:for|at|after|into|about)\b",
    r"\b(?:somebody|everybody|anybody)\b|\bnobody (?:of ours|from outside|is there|is told|waits|listens)\b",
    r"\b(?:agents?|ones?|those) (?:from outside|of ours|that we run)\b",
    r"\b(?:vouch(?:es|ed)?|heard of|fell silent|falls? silent|gives? up on|given up)\b",
    r"\broom(?:'s)?[ -]token\b|\btoken of (?:a|the) room\b",
    r"\b(?:take|takes|taken|took) (?:it|that|them|this) back\b|\btaken back\b",
    r"\bhand(?:s|ed)?[ -]in\b|\bhad a hand in\b",
    r"\bin the (?:name|hands|words) of\b|\bover the head of\b|\bby (?:our|its) own hand\b",
    r"\bmay be left out\b|\bleav(?:e|es|ing) (?:it |--\w+ )?away\b",
    r"\b(?:so many|as many|the most) \w+ (?:are|is) (?:named|shown|listed|given|asked)\b",
];

/// Names in code.
const NAMES: [&str; 4] = [
    r"\bfn (?:lend|bury|put_down|tidy|say|tell|told|look|hear|words?|among|fits|put_on|leave|enter|make|keep|ask)\b",
    r"\b(?:struct|enum|type) (?:Voice|Hands?|Room|Said|Told|Ear|Stand|Silence|Way|Quiet|Patience|Trouble|Moment|Occasion|Obstacle|Pace|Touched|Known|Heard)\b",
    r"\bconst (?:MOST|KEPT|REST|PAUSE|PATIENCE|STUCK|NAMED|HEARD|BEAT|SILENCE)\b",
    r"\bfn (?:who|what|whoever|nobody|somebody|nothing|of|that|where)_\w+_(?:is|are|has|have|was)\w*_\w+\b",
];

/// Files that may contain the old words: this check with its samples, and the history.
const EXEMPT: [&str; 3] = ["CHANGELOG.md", "tests/tests/tidy/words.rs", "tests/tests/tidy/words/"];

/// One refused word at its place.
struct Finding {
    path: String,
    line: usize,
    text: String,
}

struct Patterns {
    phrases: Vec<Regex>,
    names: Vec<Regex>,
}

impl Patterns {
    fn new() -> Self {
        let compile = |patterns: &[&str]| patterns.iter().map(|pattern| Regex::new(pattern).unwrap()).collect();
        Self { phrases: compile(&PHRASES), names: compile(&NAMES) }
    }

    /// Returns the refused phrases of `text`. Line breaks count as spaces, because comments are wrapped.
    fn in_prose(&self, text: &str) -> Vec<Range<usize>> {
        let text = text.replace('\n', " ");
        let lower = text.to_ascii_lowercase();
        let matches = |(index, pattern): (usize, &Regex)| {
            let text = if index == 0 { &text } else { &lower };
            pattern.find_iter(text).map(|found| found.range()).collect::<Vec<_>>()
        };
        self.phrases.iter().enumerate().flat_map(matches).collect()
    }

    fn in_code(&self, code: &str) -> Vec<Range<usize>> {
        self.names.iter().flat_map(|pattern| pattern.find_iter(code).map(|found| found.range())).collect()
    }

    fn in_file(&self, file: &Source) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut record = |first_line: usize, text: &str, ranges: Vec<Range<usize>>| {
            for range in ranges {
                let line = first_line + text[..range.start].matches('\n').count();
                found.push(Finding { path: file.path.clone(), line, text: text[range].trim().replace('\n', " ") });
            }
        };
        if file.path.ends_with(".rs") {
            let parts = rust::split(&file.text);
            for (line, prose) in &parts.prose {
                record(*line, prose, self.in_prose(prose));
            }
            record(1, &parts.code, self.in_code(&parts.code));
        } else {
            for (index, line) in file.text.lines().enumerate() {
                record(index + 1, line, self.in_prose(line));
            }
        }
        found
    }
}

fn findings() -> Vec<Finding> {
    let patterns = Patterns::new();
    let is_checked = |file: &Source| {
        let exempt = EXEMPT.iter().any(|place| file.path == *place || (place.ends_with('/') && file.path.starts_with(place)));
        (file.path.ends_with(".rs") || file.path.ends_with(".md")) && !exempt
    };
    files().into_iter().filter(is_checked).flat_map(|file| patterns.in_file(&file)).collect()
}

/// Counts findings by the first folder of their path, or by the file at the top.
fn count_by_folder(findings: &[Finding]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.path.split('/').next().unwrap()).or_default() += 1;
    }
    counts
}

#[test]
fn every_text_uses_the_words_of_contributing() {
    let findings = findings();
    for (folder, count) in count_by_folder(&findings) {
        println!("{folder}: {count}");
    }
    let lines = findings.into_iter().map(|finding| format!("{}:{}: {}", finding.path, finding.line, finding.text));
    none("use plain English and the words of CONTRIBUTING.md", lines.collect());
}

mod tests;
