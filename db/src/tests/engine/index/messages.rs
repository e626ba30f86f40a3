//! Indexes of messages: inboxes, histories and searches read what they list, in the order of an index.

use domain::id::TaskId;

use crate::HistoryQuery;
use crate::board::search::row as search;
use crate::context::session::row::{self as sessions, Part};
use crate::engine::dialect::words_index::NEWER_WORDS;
use crate::team::agent::row as agent;
use crate::team::message::history::{acknowledged_sql, sql as history_sql};
use crate::team::message::{read, write};
use crate::tests::engine::index::plan;
use crate::tests::store::Store;

#[tokio::test]
async fn threads_and_history_use_indexes() {
    let store = Store::board().await;
    let thread = plan(&store, &history_sql(&HistoryQuery { task: Some(TaskId::new(1)), ..HistoryQuery::default() })).await;
    assert!(thread.contains("messages_by_task") && !thread.contains("TEMP B-TREE"), "{thread}");
    let acknowledged = plan(&store, &acknowledged_sql(3)).await;
    assert!(acknowledged.contains("messages USING INTEGER PRIMARY KEY") || acknowledged.contains("USING INTEGER PRIMARY KEY"), "{acknowledged}");
    assert!(!acknowledged.contains("SCAN d"), "{acknowledged}");
    let all = plan(&store, &history_sql(&HistoryQuery::default())).await;
    assert!(all.contains("messages_by_project"), "{all}");
}

/// Each audience of a reader is one walk from the newest message on, which sorts nothing.
#[tokio::test]
async fn messages_of_a_session_are_read_in_the_order_of_an_index() {
    let store = Store::board().await;
    for (part, index) in [
        (Part::Before(1), "session_messages_by_audience (session_id=? AND audience=? AND id<?)"),
        (Part::After(1), "session_messages_by_audience (session_id=? AND audience=? AND id>?)"),
        (Part::OfSender("mara"), "session_messages_by_sender (session_id=? AND sender=? AND audience=?)"),
        (Part::Between(crate::now(), crate::now()), "session_messages_by_time (session_id=? AND audience=? AND created_at>? AND created_at<?)"),
    ] {
        let plan = plan(&store, &sessions::messages_sql(&part, 1)).await;
        assert!(plan.contains(index), "{plan}");
        let (walk, _) = plan.split_once(index).unwrap();
        assert!(!walk.contains("TEMP B-TREE"), "{plan}");
    }
    let hidden = plan(&store, sessions::HIDDEN).await;
    assert!(hidden.contains("session_messages_hidden (session_id=? AND visibility=? AND id<?)") && !hidden.contains("TEMP B-TREE"), "{hidden}");
    let listed = plan(&store, &sessions::list_sql(true, false)).await;
    assert!(listed.contains("context_sessions_open (project_id=?)") && !listed.contains("TEMP B-TREE"), "{listed}");
}

/// A search goes through the newest matches until it has enough, and sorts nothing.
#[tokio::test]
async fn search_streams_from_the_index_of_words() {
    let store = Store::board().await;
    let candidates = plan(&store, &search::candidates_sql()).await;
    assert!(candidates.contains("SCAN search_words VIRTUAL TABLE") && candidates.contains("SEARCH d USING INTEGER PRIMARY KEY"), "{candidates}");
    let newer = plan(&store, NEWER_WORDS).await;
    assert!(newer.contains("SEARCH search_vocabulary USING INTEGER PRIMARY KEY (rowid>?)"), "{newer}");
    let messages = plan(&store, &sessions::candidates_sql(4)).await;
    let findings = plan(&store, &search::finding::candidates_sql()).await;
    for plan in [&messages, &findings] {
        let order = ["SCAN search_words_of_sessions VIRTUAL TABLE", "SEARCH m USING INTEGER PRIMARY KEY"].map(|step| plan.find(step));
        assert!(order[0].is_some() && order[0] < order[1], "the other order asks the index about each message: {plan}");
    }
    for plan in [candidates, newer, messages, findings] {
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}

/// A participant's inbox is found by what is unread, however much it has read.
#[tokio::test]
async fn inboxes_use_the_index_of_unread_deliveries() {
    let store = Store::board().await;
    let statements = [
        ("a present agent's count", agent::PRESENT.to_owned()),
        ("page", read::page_sql()),
        ("blocking", read::blocking_sql()),
        ("unread", read::UNREAD.to_owned()),
        ("undelivered", read::UNDELIVERED.to_owned()),
        ("reset", write::RESET.to_owned()),
    ];
    for (name, statement) in statements {
        let plan = plan(&store, &statement).await;
        let deliveries: Vec<&str> = plan.lines().filter(|line| line.contains(" d ") || line.contains(" deliveries ")).collect();
        assert!(
            !deliveries.is_empty() && deliveries.iter().all(|line| line.contains("deliveries_unread (project_id=? AND recipient=?")),
            "{name}\n{plan}"
        );
    }
    let missed = plan(&store, write::MISSED).await;
    assert!(missed.contains("messages_to_all (project_id=? AND id>?)"), "{missed}");
}
