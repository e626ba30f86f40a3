//! Results: which texts have all parts, and what the facts of runs become.

use super::facts::{Attempt, Decision, Facts, MAX_LISTED};
use super::*;
use crate::runs::agent_kind::AgentKind;

const COMPLETE: &str =
    "# What I tried\nA trie.\n\n## What worked, and what didn't\nThe trie did.\n## For the next agent\nUmlauts: see src/search.rs:12\n";

fn lacks(content: &str) -> Vec<&'static str> {
    missing_parts(content).into_iter().map(ResultPart::as_str).collect()
}

#[test]
fn headings_are_recognised_in_every_usual_form() {
    for complete in [
        COMPLETE,
        "Tried: a trie\nWorked, and what didn't: the trie\nThe next agent should know: nothing\nFile:line citations: a.rs:1",
        "**What I tried**\nx\n**What worked:** y\n**Next agent**: z\n**Citations**\n`src/a.rs:3-9`",
        "1. Attempts:\n- a\n2. Outcome\n- b\n3. Next steps\n- c (Makefile:3)",
        "Attempts and what worked\n============\nAll of it.\n\nHandover\n--------\nLook at src/lib.rs:L7",
    ] {
        assert_eq!(lacks(complete), [""; 0], "{complete}");
    }
}

#[test]
fn missing_part_is_named() {
    let without = |part: &str, by: &str| lacks(&COMPLETE.replace(part, by));
    assert_eq!(without("# What I tried\n", ""), ["what you tried"]);
    assert_eq!(without("A trie.", ""), ["what you tried"], "a heading without text");
    assert_eq!(without("The trie did.", "### Details\n"), ["what worked and what did not"], "another heading is not text");
    assert_eq!(without("Umlauts: see src/search.rs:12", "None."), ["file:line citations"]);
    assert_eq!(without("src/search.rs:12", "src/search.rs:0"), ["file:line citations"]);
    assert_eq!(
        without("## For the next agent\nUmlauts: see src/search.rs:12", "Fixed at 12:30, https://x.org:80"),
        ["what the next agent should know", "file:line citations"]
    );
    assert_eq!(lacks("```\n# What I tried\nx\n# What worked\ny\n# Next\na.rs:1\n```").len(), 3, "a code block has no headings");
    assert_eq!(lacks("I tried a lot and it worked, so the next agent has nothing to do, see a.rs:1, which is all there is to say.").len(), 3);
    assert_eq!(lacks(""), ResultPart::ALL.iter().map(|part| part.as_str()).collect::<Vec<_>>());
}

#[test]
fn result_is_a_bounded_text() {
    let text = |content: String| NewTaskResult { content, file: None }.text();
    assert_eq!(text(COMPLETE.to_owned()).unwrap(), COMPLETE);
    assert!(text(COMPLETE.to_owned() + &"x".repeat(MAX_RESULT_BYTES - COMPLETE.len())).is_ok());
    for bad in [String::new(), " \n".to_owned(), format!("{COMPLETE}\0"), COMPLETE.to_owned() + &"x".repeat(MAX_RESULT_BYTES), "x".repeat(1 << 20)] {
        assert_eq!(text(bad).unwrap_err().code(), "invalid");
    }
    assert_eq!(require_parts(COMPLETE), Ok(()));
    let refused = require_parts("# What I tried\nx").unwrap_err();
    insta::assert_snapshot!(format!("{refused}\n{}", refused.hint()), @r#"
    the result lacks what worked and what did not, and what the next agent should know, and file:line citations
    Add the heading "what worked and what did not" with text below it, the heading "what the next agent should know" with text below it, at least one citation such as src/lib.rs:12, then call submit_result again.
    "#);
}

#[test]
fn facts_of_runs_become_a_bounded_result() {
    let attempt = |number, end: &str| Attempt { kind: AgentKind::Coder, number, end: end.to_owned() };
    let decision = |approved, findings: Option<&str>| Decision {
        approved,
        by: "reviewer-TASK-001".to_owned(),
        sha: "0123456789abcdef".to_owned(),
        findings: findings.map(str::to_owned),
    };
    let facts = Facts {
        attempts: vec![attempt(1, "timeout"), attempt(2, "finished")],
        decisions: vec![decision(false, Some("src/a.rs:3 panics\nand more")), decision(true, None)],
        comment: Some("The index is in src/a.rs:9.".to_owned()),
        files: vec!["src/a.rs".to_owned()],
    };
    insta::assert_snapshot!(facts.worded(), @r"
    ## What was tried

    - coder, attempt 1: timeout
    - coder, attempt 2: finished

    ## What worked and what did not

    - 0123456789 sent back by reviewer-TASK-001: src/a.rs:3 panics…
    - 0123456789 approved by reviewer-TASK-001

    ## What the next agent should know

    The index is in src/a.rs:9.

    ## Changed files

    - src/a.rs
    ");
    assert!(missing_parts(&facts.worded()).is_empty());
    let many = Facts {
        attempts: vec![attempt(1, &"漢".repeat(9_000)); MAX_LISTED],
        decisions: vec![decision(false, Some(&"漢".repeat(9_000))); MAX_LISTED],
        comment: Some("漢".repeat(9_000)),
        files: vec!["漢".repeat(200); MAX_LISTED],
    };
    assert!(many.worded().len() <= MAX_RESULT_BYTES);
    assert!(Facts::default().worded().contains("left no comment"));
}
