//! Tests of the history of knowledge.

use domain::time::Timestamp;

use super::*;

pub(crate) fn item(id: i64, topic: &str) -> Knowledge {
    Knowledge {
        id,
        project_id: ProjectId::new(1),
        kind: KnowledgeKind::Trap,
        topic: topic.to_owned(),
        body: "It bites".to_owned(),
        evidence: Some("a.rs:1".to_owned()),
        paths: Vec::new(),
        author: "mara".to_owned(),
        run_id: None,
        version: 1,
        created_at: Timestamp::from_milliseconds(0),
        updated_at: Timestamp::from_milliseconds(0),
        closed_at: None,
        closed_by: None,
        closing: None,
    }
}

#[test]
fn closed_item_leaves_its_place_unless_it_is_taken() {
    let at = Some(Timestamp::from_milliseconds(1));
    let closed = |id| Knowledge { closed_at: at, closed_by: Some("ole".to_owned()), closing: Some("Gone".to_owned()), ..item(id, "port") };
    let named = |items: &[Knowledge]| changes(items).into_iter().map(|(path, content)| (path, content.is_some())).collect::<Vec<_>>();
    let archived = ("traps/resolved/port-1.md".to_owned(), true);
    assert_eq!(named(&[closed(1)]), [("traps/port.md".to_owned(), false), archived.clone()]);
    assert_eq!(named(&[closed(1), item(2, "port")]), [("traps/port.md".to_owned(), true), archived], "it is a trap again");
    assert_eq!(message(&[closed(1)]), "ole: traps/resolved/port-1.md");
    assert_eq!(message(&[item(1, "port"), item(2, "deps")]), "2 files\n\nmara: traps/port.md\nmara: traps/deps.md");
}
