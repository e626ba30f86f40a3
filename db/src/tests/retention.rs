//! Retention: each kind of row goes when it may, a replay still ends in the present board, and nothing that a person wrote goes.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::message::NewMessage;
use domain::team::role::Role;
use domain::wire::ProjectPatch;

use crate::tests::engine::event_log::story;
use crate::tests::external_agents::{message, named};
use crate::tests::open::open_again;
use crate::tests::store::{Store, whole_board};
use crate::{Caller, Pruned, RetentionLimits, SearchQuery};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const BY_AGE: RetentionLimits = RetentionLimits { keep: DAY, max_events: u32::MAX };

impl Store {
    async fn prune(&self, limits: RetentionLimits) -> Pruned {
        self.db.prune(limits).await.unwrap()
    }

    async fn kept_events(&self) -> Vec<i64> {
        self.db.events_after(0, None, u32::MAX).await.unwrap().iter().map(|envelope| envelope.seq).collect()
    }

    async fn check_replay(&self) {
        assert_eq!(self.db.replay_board(&self.project).await.unwrap(), whole_board(&self.db, &self.project).await.unwrap());
    }
}

#[tokio::test]
async fn a_replay_from_the_checkpoint_yields_the_present_board() {
    let store = story().await;
    store.check_replay().await;
    let latest = store.db.latest();
    // One event at a time: every event of the story is once the first one after the checkpoint.
    for keep in (1..latest).rev() {
        let limits = RetentionLimits { keep: WEEK, max_events: u32::try_from(keep).unwrap() };
        assert_eq!(store.prune(limits).await, Pruned { events: 1, ..Pruned::default() });
        store.check_replay().await;
    }
    assert_eq!(store.kept_events().await, [latest]);
}

#[tokio::test]
async fn the_latest_event_stays_so_that_numbers_go_on_after_a_restart() {
    let store = Store::board().await;
    store.task("One").await;
    let latest = store.db.latest();
    store.prune(RetentionLimits { keep: Duration::ZERO, max_events: 0 }).await;
    assert_eq!(store.kept_events().await, [latest]);
    let Store { db, config, project, folder } = store;
    drop(db);
    let store = Store { db: open_again(&config).await.unwrap(), config, project, folder };
    assert_eq!(store.db.latest(), latest);
    store.task("Two").await;
    assert_eq!(store.db.latest(), latest + 1);
    store.check_replay().await;
}

#[tokio::test]
async fn events_are_removed_by_age_without_leaving_a_gap() {
    let store = Store::board().await;
    for title in ["One", "Two", "Three"] {
        store.task(title).await;
    }
    let latest = store.db.latest();
    for old in ["1", "3"] {
        store.backdate("UPDATE events SET at = $1 WHERE seq = CAST($2 AS INTEGER)", WEEK, old).await;
    }
    assert_eq!(store.prune(BY_AGE).await.events, 1, "a younger event stops the removal");
    assert_eq!(store.kept_events().await, (2..=latest).collect::<Vec<_>>());
    assert!(store.db.has_events_after(1).await.unwrap());
    assert!(!store.db.has_events_after(0).await.unwrap());
    store.check_replay().await;
}

#[tokio::test]
async fn more_events_than_one_write_removes_are_removed() {
    let store = Store::board().await;
    for number in 0..450 {
        let patch = ProjectPatch { title: Some(format!("Title {number}")), ..ProjectPatch::default() };
        store.db.edit_project(&Caller::owner(), &store.project, patch, None).await.unwrap();
    }
    let latest = store.db.latest();
    let pruned = store.prune(RetentionLimits { keep: WEEK, max_events: 10 }).await;
    assert_eq!((pruned.events, store.kept_events().await.len()), (u64::try_from(latest).unwrap() - 10, 10));
    store.check_replay().await;
}

#[tokio::test]
async fn read_deliveries_of_a_broadcast_go_and_it_is_not_given_again() {
    let store = Store::board().await;
    let lead = store.member("ann", &[]).await;
    let readers = [store.guest("ole").await, store.guest("zoe").await];
    store.guest("tom").await;
    store.send(&lead, "all", "Hello").await.unwrap();
    for reader in &readers {
        let given = store.inbox(reader).await.messages[0].message.id;
        store.db.check_inbox(reader, &store.project, Some(given)).await.unwrap();
    }
    assert_eq!(store.prune(BY_AGE).await, Pruned::default(), "they are young");
    store.backdate("UPDATE deliveries SET read_at = $1 WHERE state = 'read' AND $2 = ''", WEEK, "").await;
    assert_eq!(store.prune(BY_AGE).await, Pruned { deliveries: 2, ..Pruned::default() }, "tom and the human have not read it");
    store.leaves(&readers[0], "ole").await;
    store.db.register(&readers[0], &store.project, named("ole", &[]), None).await.unwrap();
    for reader in &readers {
        assert!(store.inbox_texts(reader).await.is_empty(), "it is not delivered again");
    }
}

#[tokio::test]
async fn only_messages_between_managed_agents_go_once_their_reader_departed() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let (reader, writer) = (store.agent(&one, AgentKind::Coder).await, store.agent(&two, AgentKind::Coder).await);
    let guest = store.guest("ole").await;
    let name = "coder-TASK-001";
    store.send(&Caller::owner(), name, "from a person").await.unwrap();
    store.send(&guest, name, "from an external agent").await.unwrap();
    store.send(&writer.caller, name, "from a managed agent").await.unwrap();
    let answered = store.send(&writer.caller, name, "answered").await.unwrap().id;
    store.inbox(&reader.caller).await;
    let answer = NewMessage { reply_to: Some(answered), ..message("coder-TASK-002", "answer") };
    store.db.send(&reader.caller, &store.project, answer).await.unwrap();
    store.inbox(&writer.caller).await;
    store.send(&writer.caller, name, "unread").await.unwrap();
    store.backdate("UPDATE messages SET created_at = $1 WHERE $2 = ''", WEEK, "").await;
    store.backdate("UPDATE deliveries SET read_at = $1 WHERE recipient = $2 AND state = 'read'", WEEK, name).await;
    assert_eq!(store.prune(BY_AGE).await.messages, 0, "their reader is present");
    store.backdate("UPDATE agents SET left_at = $1 WHERE name = $2", WEEK, name).await;
    let search = SearchQuery { text: "managed".to_owned(), project: None, limit: 9 };
    assert_eq!(store.db.search(&Caller::owner(), &search).await.unwrap().len(), 1);
    assert_eq!(store.prune(BY_AGE).await, Pruned { messages: 1, ..Pruned::default() });
    assert_eq!(store.db.search(&Caller::owner(), &search).await.unwrap(), [], "a removed message is not found");
    let kept: Vec<String> = sqlx::query_scalar("SELECT content FROM messages ORDER BY id").fetch_all(&store.db.readers).await.unwrap();
    assert_eq!(kept, ["from a person", "from an external agent", "answered", "answer", "unread"]);
}

#[tokio::test]
async fn message_stays_while_the_recipient_of_a_copy_needs_it() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let (reader, writer) = (store.agent(&one, AgentKind::Coder).await, store.agent(&two, AgentKind::Coder).await);
    let lead = store.member("ann", &[Role::Lead]).await;
    store.send(&writer.caller, "coder-TASK-001", "Copied").await.unwrap();
    store.inbox(&reader.caller).await;
    store.send(&reader.caller, "human", "Read").await.unwrap();
    store.backdate("UPDATE messages SET created_at = $1 WHERE $2 = ''", WEEK, "").await;
    store.backdate("UPDATE deliveries SET read_at = $1 WHERE $2 = '' AND state = 'read'", WEEK, "").await;
    store.backdate("UPDATE agents SET left_at = $1 WHERE name = $2", WEEK, "coder-TASK-001").await;
    assert_eq!(store.prune(BY_AGE).await.messages, 0, "the lead has not read its copy");
    assert!(store.inbox_texts(&lead).await.contains(&"Copied".to_owned()));
}

#[tokio::test]
async fn the_newest_runs_of_a_task_keep_their_folders() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let mut ended = Vec::new();
    for _ in 0..4 {
        let run = store.agent(&task, AgentKind::Coder).await.run;
        store.end(&run, EndClass::Finished, None).await;
        ended.push(run);
    }
    let live = store.agent(&task, AgentKind::Coder).await.run;
    let removable = async |keep| store.db.removable_run_folders(keep).await.unwrap().into_iter().map(|folder| folder.run).collect::<Vec<_>>();
    assert_eq!(removable(3).await, ended[..2], "the live run is one of the three");
    assert_eq!(removable(0).await, ended, "a live run keeps its folder");
    store.db.record_run_folder_removed(&ended[0]).await.unwrap();
    store.db.record_run_folder_removed(&live).await.unwrap();
    assert_eq!(removable(0).await, ended[1..]);
    store.db.run_dir(&ended[0]).await.unwrap();
}

#[tokio::test]
async fn text_written_by_people_is_kept() {
    let store = story().await;
    let task = store.task("Talk").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.send(&Caller::owner(), "all", "To all").await.unwrap();
    store.send(&Caller::owner(), "coder-TASK-001", "To one").await.unwrap_err();
    let name = format!("coder-{task}");
    store.send(&Caller::owner(), &name, "To one").await.unwrap();
    store.db.message_run(&Caller::owner(), &coder.run, "Use spaces").await.unwrap();
    store.db.add_comment(&Caller::owner(), &task, "Mind the gap", None).await.unwrap();
    store.inbox(&coder.caller).await;
    store.finish(&coder).await;
    store.task("Later").await;
    for statement in [
        "UPDATE events SET at = $1 WHERE $2 = ''",
        "UPDATE calls SET created_at = $1 WHERE $2 = ''",
        "UPDATE messages SET created_at = $1 WHERE $2 = ''",
        "UPDATE deliveries SET read_at = $1 WHERE $2 = '' AND state = 'read'",
        "UPDATE agents SET left_at = $1 WHERE $2 = ''",
    ] {
        store.backdate(statement, WEEK, "").await;
    }
    let written = async || {
        let by_person = sqlx::query_scalar::<_, String>("SELECT content FROM messages WHERE from_agent = 'human' ORDER BY id");
        by_person.fetch_all(&store.db.readers).await.unwrap()
    };
    let (rows, messages) = (store.dump().await, written().await);
    let pruned = store.prune(BY_AGE).await;
    assert!(pruned.events > 0 && pruned.calls == 0 && !messages.is_empty(), "{pruned:?}");
    assert_eq!(written().await, messages);
    let kept: BTreeSet<String> = store.dump().await.into_iter().collect();
    let removed = rows.iter().filter(|row| !kept.contains(*row)).filter_map(|row| row.split(' ').next());
    let tables: BTreeSet<&str> = removed.collect();
    assert!(tables.iter().all(|table| ["events", "deliveries", "messages"].contains(table)), "{tables:?}");
    store.check_replay().await;
}
