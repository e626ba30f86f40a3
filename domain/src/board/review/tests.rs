//! The text of a review for an agent, and the persons who may decide it.

use super::*;
use crate::board::attention::{Attention, AttentionKind};
use crate::board::project::tests::card;
use crate::id::{CommentId, RunId};
use crate::runs::agent_kind::AgentKind;

fn comment(path: &str, line: u32, side: Side, text: &str) -> LineComment {
    LineComment { path: path.to_owned(), line, side, since: None, sha: None, text: text.to_owned() }
}

#[test]
fn agent_reads_path_line_quote_and_text() {
    let comments = vec![comment("src/a.rs", 3, Side::New, "Why `2`?\n"), comment("old.rs", 1, Side::Old, "Keep this.")];
    let review = SendBack { sha: "0123456789".to_owned(), words: Some(" Nearly. ".to_owned()), comments };
    let quotes = [Some("    let x = 2; // ```".to_owned()), None];
    insta::assert_snapshot!(review.markdown(&quotes), @"
    Nearly.

    2 comments on 0123456:

    `src/a.rs:3`:

            let x = 2; // ```

    Why `2`?

    `old.rs:1`, before the change:

    Keep this.
    ");
    let words = SendBack { comments: Vec::new(), ..review };
    assert_eq!(words.markdown(&[]), "Nearly.");
}

#[test]
fn comment_on_an_earlier_commit_names_it() {
    let head = "0123456789".to_owned();
    let earlier = LineComment { sha: Some("abcdef0123".to_owned()), ..comment("src/a.rs", 3, Side::New, "Still wrong.") };
    let current = LineComment { sha: Some(head.clone()), ..comment("src/b.rs", 1, Side::New, "This too.") };
    let review = SendBack { sha: head, words: None, comments: vec![earlier, current] };
    let text = review.markdown(&[Some("let x = 2;".to_owned()), None]);
    assert!(text.contains("`src/a.rs:3` at the earlier commit abcdef0:\n\n    let x = 2;\n\nStill wrong."), "{text}");
    assert!(text.contains("`src/b.rs:1`:\n\nThis too."), "{text}");
}

#[test]
fn review_has_to_say_something() {
    let empty = SendBack { sha: String::new(), words: Some("  ".to_owned()), comments: Vec::new() };
    let many = SendBack { comments: vec![comment("a", 1, Side::New, "x"); MAX_COMMENTS + 1], ..empty.clone() };
    let blank = SendBack { comments: vec![comment("a", 1, Side::New, " ")], ..empty.clone() };
    assert!([&empty, &many, &blank].iter().all(|review| review.validate().is_err()));
    assert!(SendBack { words: Some("Again.".to_owned()), ..empty.clone() }.validate().is_ok());
    assert!(SendBack { comments: vec![comment("a", 1, Side::New, "x")], ..empty }.validate().is_ok());
}

#[test]
fn person_decides_submitted_work_at_a_commit() {
    let head = "head".to_owned();
    let of = |card: &Card, head: Option<&Sha>, may_work| {
        let decisions = Decisions::of(card, head, may_work);
        assert_eq!(decisions.why_not.is_none(), decisions.approve && decisions.send_back, "{decisions:?}");
        (decisions.approve, decisions.send_back)
    };
    let submitted = card(1, AgentKind::Coder, Status::InReview);
    assert_eq!(of(&submitted, Some(&head), true), (true, true));
    assert_eq!(of(&submitted, Some(&head), false), (false, false));
    assert_eq!(of(&submitted, None, true), (false, false));
    let approved = Card { approved_sha: Some(head.clone()), ..submitted.clone() };
    assert_eq!(of(&approved, Some(&head), true), (false, true));
    let newer = "newer".to_owned();
    assert_eq!(of(&approved, Some(&newer), true), (true, true), "the approval was of another commit");
    let attention = Some(Attention::new(AttentionKind::ProtectedPaths, ""));
    assert_eq!(of(&Card { attention, ..approved }, Some(&head), true), (true, true), "a person must approve it too");
    for status in [Status::Backlog, Status::InProgress, Status::Done, Status::Cancelled] {
        assert_eq!(of(&card(1, AgentKind::Coder, status), Some(&head), true), (false, false), "{status}");
    }
}

#[test]
fn decision_is_bound_to_the_commit_that_was_read() {
    let (task, shown) = (TaskId::new(1), "a".repeat(40));
    assert_eq!(ReviewRefusal::require_current(&task, &shown, &EvidenceResult::head(shown.clone())), Ok(()));
    let moved = ReviewRefusal::require_current(&task, &shown, &EvidenceResult::head("b".repeat(40))).unwrap_err();
    assert_eq!((moved.code(), moved.to_string().as_str()), ("review-outdated", "TASK-001 is now at bbbbbbb, but the review is of aaaaaaa"));
    assert!(ReviewRefusal::require_current(&task, &shown, &EvidenceResult::Nothing).is_err());
}

#[test]
fn words_are_those_of_the_latest_runs() {
    let said = |number: u64, author_role, run: Option<u64>| Comment {
        id: CommentId::new(number),
        task_id: TaskId::new(1),
        author_role,
        author_name: None,
        run_id: run.map(RunId::new),
        content: String::new(),
        created_at: Timestamp::from_milliseconds(0),
        edited_at: None,
    };
    use AuthorRole::{Coder, Human, Reviewer};
    let comments = [(Coder, Some(1)), (Reviewer, Some(2)), (Human, None), (Coder, Some(3)), (Reviewer, Some(4)), (Reviewer, Some(4))];
    let comments = (1..).zip(comments).map(|(number, (role, run))| said(number, role, run)).collect();
    let shown: Vec<String> = latest_words(comments).into_iter().map(|comment| comment.id.to_string()).collect();
    assert_eq!(shown, [4, 5, 6].map(|number| CommentId::new(number).to_string()));
}
