//! Tests of knowledge: hunches, evidence, bounds, and files.

use super::*;
use crate::refusal::Refusal;

fn checked(new: NewKnowledge) -> Result<NewKnowledge, Refusal> {
    new.require_bounded()?;
    let topic = topic(&new.topic)?;
    new.require_confirmed()?;
    Ok(NewKnowledge { topic, paths: new.claim_paths()?, ..new })
}

fn intel(body: &str, evidence: &str) -> Result<NewKnowledge, Refusal> {
    checked(new(KnowledgeKind::Intel, "deps", body, evidence, &[]))
}

fn new(kind: KnowledgeKind, topic: &str, body: &str, evidence: &str, paths: &[&str]) -> NewKnowledge {
    let owned = str::to_owned;
    NewKnowledge { kind, topic: owned(topic), body: owned(body), evidence: owned(evidence), paths: paths.iter().map(|path| owned(path)).collect() }
}

fn code<T, E: Into<Refusal>>(result: Result<T, E>) -> &'static str {
    result.err().map_or("accepted", |refusal| refusal.into().code())
}

#[test]
fn hunches_are_refused_and_code_is_not_read() {
    for body in ["Maybe it leaks", "It MIGHT leak", "I think it leaks", "it seems to leak", "(probably) so", "I  guess so", "I am not sure"] {
        let refused = intel(body, "a.rs:1").unwrap_err();
        assert_eq!((refused.code(), refused.hint().contains("write_note")), ("knowledge-unconfirmed", true), "{body}");
    }
    for body in ["It leaks", "Almighty seam", "`Option::maybe()` leaks", "```\nfn might() {}\n```\nIt leaks", "Call seems_fine", "think of it"] {
        let expected = if body.contains("seems") { "knowledge-unconfirmed" } else { "accepted" };
        assert_eq!(code(intel(body, "a.rs:1")), expected, "{body}");
    }
}

#[test]
fn evidence_cites_a_line_or_shows_output() {
    for evidence in ["src/lib.rs:12", "see (`src/lib.rs:3-9`)", "$ cargo test\n2 failed", "```\n$ make\nerror\n```", "Makefile:3"] {
        assert_eq!(code(intel("It leaks", evidence)), "accepted", "{evidence}");
    }
    for evidence in ["I saw it", "src/lib.rs", "$ cargo test", "$ \nerror", "output\n$ make", "12:30"] {
        assert_eq!(code(intel("It leaks", evidence)), "knowledge-without-evidence", "{evidence}");
    }
    for evidence in ["", " ", "a\0", &"x".repeat(MAX_EVIDENCE_BYTES + 1)] {
        assert_eq!(code(intel("It leaks", evidence)), "invalid");
    }
}

#[test]
fn topics_bodies_and_paths_are_bounded() {
    let made = |topic: &str, body: &str, paths: &[&str]| checked(new(KnowledgeKind::Trap, topic, body, "a.rs:1", paths));
    for (given, expected) in [("port", "port"), (" ci-2.md ", "ci-2")] {
        assert_eq!(made(given, "x", &[]).unwrap().topic, expected);
    }
    for bad in ["", "Port", "a b", "../x", "a/b", "ä", "-a", "notes", "resolved", &"a".repeat(61)] {
        assert_eq!(code(made(bad, "x", &[])), "knowledge-topic", "{bad}");
    }
    for bad in ["", " \n", "a\0", &"x".repeat(MAX_BODY_BYTES + 1), &"x".repeat(1 << 20)] {
        assert_eq!(code(made("port", bad, &[])), "invalid");
    }
    assert_eq!(made("port", "x", &["./src/", "a.rs"]).unwrap().paths, ["src/**", "a.rs"]);
    assert_eq!(code(made("port", "x", &["../x"])), "claim-outside");
    assert_eq!(code(made("port", "x", &["a.rs"; MAX_PATHS + 1])), "invalid");
    assert_eq!(code(checked(new(KnowledgeKind::Intel, "a", "x", "a.rs:1", &["a.rs"]))), "invalid");
    assert_eq!(code(checked(new(KnowledgeKind::Note, "a", "x", "a.rs:1", &[]))), "invalid");
    let closing = |reason: &str, evidence: &str| {
        let new = NewClosing { reason: reason.to_owned(), evidence: evidence.to_owned() };
        new.require_confirmed().map_err(Refusal::from).and_then(|()| Ok(new.text()?))
    };
    assert_eq!(closing("Fixed", "a.rs:3").unwrap(), "Fixed\n\na.rs:3");
    assert_eq!((code(closing("Probably gone", "a.rs:3")), code(closing("Gone", "Look"))), ("knowledge-unconfirmed", "knowledge-without-evidence"));
}

#[test]
fn notes_are_appended_or_replaced_within_their_limit() {
    assert_eq!(notes_with(None, "Maybe\n", false).unwrap(), "Maybe");
    assert_eq!(notes_with(Some("One\n"), "Two", false).unwrap(), "One\n\nTwo");
    assert_eq!(notes_with(Some("One"), "Two", true).unwrap(), "Two");
    assert_eq!(code(notes_with(Some(&"x".repeat(MAX_BODY_BYTES)), "y", false)), "invalid");
    assert_eq!(code(notes_with(None, " ", false)), "invalid");
}

#[test]
fn files_say_where_knowledge_stands_and_traps_concern_their_paths() {
    let mut item = Knowledge {
        id: 7,
        project_id: ProjectId::new(1),
        kind: KnowledgeKind::Trap,
        topic: "port".to_owned(),
        body: "Port 80 is taken\n".to_owned(),
        evidence: Some("$ ss\n:80".to_owned()),
        paths: vec!["src/net/**".to_owned()],
        author: "mara".to_owned(),
        run_id: None,
        version: 1,
        created_at: "2026-01-31T09:05:00.000Z".parse().unwrap(),
        updated_at: "2026-01-31T09:05:00.000Z".parse().unwrap(),
        closed_at: None,
        closed_by: None,
        closing: None,
    };
    assert_eq!(item.file(), "traps/port.md");
    let [inside, outside]: [ClaimPath; 2] = ["src/net/tcp.rs", "src/lib.rs"].map(|path| path.parse().unwrap());
    assert!(item.concerns(&[inside]) && !item.concerns(std::slice::from_ref(&outside)));
    item.closed_at = Some(item.created_at);
    (item.closed_by, item.closing) = (Some("ole".to_owned()), Some("Moved to 81\n\na.rs:3".to_owned()));
    item.paths.clear();
    assert!(item.concerns(&[outside]) && item.concerns(&[]), "one without paths is about everything");
    assert_eq!(item.file(), "traps/resolved/port-7.md");
    assert_eq!(
        item.markdown(),
        "# port\n\nPort 80 is taken\n\nEvidence (mara, 2026-01-31T09:05:00.000Z):\n\n$ ss\n:80\n\nResolved by ole, 2026-01-31T09:05:00.000Z:\n\nMoved to 81\n\na.rs:3\n"
    );
    item.kind = KnowledgeKind::Intel;
    assert_eq!(item.file(), "intel/archived/port-7.md");
    item.kind = KnowledgeKind::Note;
    let files = ["platform/mara", "intel/mara", "Traps/x", "../..", ".git"].map(|agent| {
        item.topic = agent.to_owned();
        item.file()
    });
    assert_eq!(files, ["platform/mara/notes.md", "_intel/mara/notes.md", "_Traps/x/notes.md", "_../_../notes.md", "_.git/notes.md"]);
}
