//! The parts of a description as planners write them: context, setup, acceptance criteria and files. Pure.
//!
//! Must not know how a part is drawn.

/// The names of the parts, as the prompt of the planner lists them.
const LABELS: [&str; 4] = ["Context", "Setup", "Acceptance", "Files"];

/// A part of a description. Lines before the first name have an empty label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) label: &'static str,
    pub(crate) lines: Vec<String>,
}

impl Section {
    /// Whether its lines are conditions that the reviewer checks.
    pub(crate) fn is_acceptance(&self) -> bool {
        self.label == "Acceptance"
    }
}

/// Returns the named parts of a description, or none if it is another text.
pub(crate) fn sections(description: &str) -> Option<Vec<Section>> {
    // Only Markdown can show code as it is.
    if description.contains("```") {
        return None;
    }
    let mut found: Vec<Section> = Vec::new();
    for line in description.lines() {
        let (label, rest) = labelled(line).map_or(("", line), |(label, rest)| (label, rest));
        if !label.is_empty() || found.is_empty() {
            found.push(Section { label, lines: Vec::new() });
        }
        let text = without_bullet(rest);
        if let Some(section) = found.last_mut().filter(|_| !text.is_empty()) {
            section.lines.push(text.to_owned());
        }
    }
    found.retain(|section| !section.lines.is_empty());
    found.iter().any(|section| !section.label.is_empty()).then_some(found)
}

/// The name of a part and the rest of its line: `Acceptance: it works`, `**Files**: a, b`, `## Setup`.
fn labelled(line: &str) -> Option<(&'static str, &str)> {
    let is_heading = line.starts_with('#');
    let line = line.trim().trim_start_matches(['#', '*', ' ']);
    LABELS.into_iter().find_map(|label| {
        let start = line.get(..label.len()).filter(|start| start.eq_ignore_ascii_case(label))?;
        let rest = line[start.len()..].trim_start_matches('*');
        match rest.strip_prefix(':') {
            Some(rest) => Some((label, rest.trim_start_matches('*'))),
            None => (is_heading && rest.trim().is_empty()).then_some((label, "")),
        }
    })
}

/// The text of a line of a list.
fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let text = ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet)).unwrap_or(line).trim_start();
    ["[ ] ", "[x] "].iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(description: &str) -> Vec<String> {
        sections(description).unwrap().into_iter().map(|section| format!("{}: {}", section.label, section.lines.join(" | "))).collect()
    }

    #[test]
    fn description_of_a_planner_has_named_parts() {
        let description = "Keep it small.\nContext: The shop needs it.\nIt hashes already.\nSetup: npm ci\nAcceptance:\n- [ ] a test passes\n* `npm test` is green\nFiles: src/a.ts";
        assert_eq!(
            parts(description),
            [
                ": Keep it small.",
                "Context: The shop needs it. | It hashes already.",
                "Setup: npm ci",
                "Acceptance: a test passes | `npm test` is green",
                "Files: src/a.ts",
            ]
        );
        assert!(sections(description).unwrap()[3].is_acceptance());
    }

    #[test]
    fn names_may_be_set_in_markdown() {
        assert_eq!(parts("## Context\nOne\n\n**Acceptance:** it works\n**Files**: a"), ["Context: One", "Acceptance: it works", "Files: a"]);
    }

    #[test]
    fn other_texts_stay_markdown() {
        for text in ["", "Write a footer.", "Context is king", "Setup:\n```sh\nnpm ci\n```", "Filesystem: no"] {
            assert_eq!(sections(text), None, "{text}");
        }
    }
}
