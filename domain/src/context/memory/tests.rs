//! Owners and places of entries, the limits of keys and expiry, and the JSON that clients know.

use serde_json::json;

use super::*;
use crate::id::RunId;
use crate::team::person::PersonRole;

fn run(kind: AgentKind, task: u64) -> Reader {
    Reader::Run { project: ProjectId::new(1), run: RunId::new(1), kind, task: TaskId::new(task) }
}

fn session() -> ContextSessionId {
    ContextSessionId::new(1)
}

#[test]
fn agents_of_a_kind_share_an_owner_in_their_project() {
    let owner = |reader: &Reader| MemoryOwner::of_reader(reader);
    assert_eq!(owner(&run(AgentKind::Coder, 1)), owner(&run(AgentKind::Coder, 2)));
    assert_ne!(owner(&run(AgentKind::Coder, 1)), owner(&run(AgentKind::Reviewer, 1)), "nobody instructs the reviewer");
    let named = |name: &str| Reader::Agent { project: ProjectId::new(1), name: name.to_owned(), admin: false };
    assert_ne!(owner(&named("coder")), owner(&run(AgentKind::Coder, 1)));
    assert_ne!(owner(&named("mara")), owner(&named("ole")));
    let person = Reader::Person { name: "ann".to_owned(), role: PersonRole::Owner };
    assert_eq!(owner(&person), MemoryOwner { project: None, key: "name:human".to_owned() });
}

#[test]
fn coder_keeps_entries_for_its_task_and_others_for_the_project() {
    let write = |reader: &Reader, scope, session| MemoryPlace::for_writing(reader, scope, session).map(|place| place.scope());
    let (coder, reviewer) = (run(AgentKind::Coder, 7), run(AgentKind::Reviewer, 7));
    assert_eq!(write(&coder, None, None), Ok(MemoryScope::Task));
    assert_eq!(write(&reviewer, None, None), Ok(MemoryScope::Global));
    assert_eq!(write(&coder, Some(MemoryScope::Global), None), Ok(MemoryScope::Global));
    assert_eq!(write(&reviewer, Some(MemoryScope::Task), None), Ok(MemoryScope::Task));
    assert_eq!(write(&coder, None, Some(session())), Ok(MemoryScope::Session));
    let mara = Reader::Agent { project: ProjectId::new(1), name: "mara".to_owned(), admin: false };
    assert_eq!(write(&mara, None, None), Ok(MemoryScope::Global));
    assert!(write(&mara, Some(MemoryScope::Task), None).is_err());
    assert!(write(&coder, Some(MemoryScope::Session), None).is_err());
    assert!(write(&coder, Some(MemoryScope::Task), Some(session())).is_err());
    let read = |reader: &Reader, session| MemoryPlace::for_reading(reader, session).iter().map(MemoryPlace::scope).collect::<Vec<_>>();
    assert_eq!(read(&coder, None), [MemoryScope::Task, MemoryScope::Global]);
    assert_eq!(read(&mara, None), [MemoryScope::Global]);
    assert_eq!(read(&coder, Some(session())), [MemoryScope::Session]);
}

#[test]
fn keys_are_single_words_of_at_most_255_characters() {
    assert_eq!(validate_key(" build.command ").unwrap(), "build.command");
    assert!(validate_key(&"é".repeat(MAX_KEY)).is_ok());
    for bad in ["", "  ", "two words", "a\tb", "a\0b", "a\u{2003}b", &"x".repeat(MAX_KEY + 1), &"x".repeat(1 << 20)] {
        assert!(validate_key(bad).is_err(), "{}", bad.chars().take(9).collect::<String>());
    }
}

#[test]
fn expiry_is_at_most_a_year_ahead() {
    let now = Timestamp::from_milliseconds(1_000);
    assert_eq!(validate_expiry(None, now).unwrap(), None);
    assert_eq!(validate_expiry(Some(0), now).unwrap(), None);
    assert_eq!(validate_expiry(Some(2), now).unwrap(), Some(Timestamp::from_milliseconds(3_000)));
    for bad in [-1, 365 * 86_400 + 1, 1_000_000_000_000_000_000, i64::MAX, i64::MIN] {
        assert!(validate_expiry(Some(bad), now).is_err(), "{bad}");
    }
}

#[test]
fn entry_has_a_stable_json_form() {
    let at = Timestamp::from_milliseconds(1_769_850_300_000);
    let entry = MemoryEntry {
        key: "build".to_owned(),
        value: json!("cargo build"),
        metadata: Metadata::new(),
        scope: MemoryScope::Task,
        session_id: None,
        task_id: Some(TaskId::new(2)),
        created_at: at,
        updated_at: at,
        expires_at: Some(at),
    };
    let line = serde_json::to_string(&entry).unwrap();
    assert_eq!(serde_json::from_str::<MemoryEntry>(&line).unwrap(), entry);
    insta::assert_snapshot!(line, @r#"{"key":"build","value":"cargo build","metadata":{},"scope":"task","session_id":null,"task_id":"TASK-002","created_at":"2026-01-31T09:05:00.000Z","updated_at":"2026-01-31T09:05:00.000Z","expires_at":"2026-01-31T09:05:00.000Z"}"#);
    let new: NewMemoryEntry = serde_json::from_str(r#"{"key": "a", "value": 1}"#).unwrap();
    assert!(new.overwrite && new.scope.is_none());
}
