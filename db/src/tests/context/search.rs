//! Search in sessions: typing errors, other orders and parts are found, with scores, and nobody finds what they may not read.

use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility::{self, Private, Public};
use domain::context::session::{ContextSessionId, NewSessionMessage};
use serde_json::json;

use super::session::{finding, purpose};
use crate::tests::store::{Store, code};
use crate::{Caller, SessionSearchQuery};

pub(super) fn query(text: &str) -> SessionSearchQuery {
    SessionSearchQuery { text: text.to_owned(), threshold: None, limit: None, metadata: true, visibility: None }
}

impl Store {
    async fn found(&self, caller: &Caller, session: &ContextSessionId, text: &str) -> Vec<String> {
        let hits = self.db.search_session(caller, session, &query(text)).await.unwrap();
        hits.into_iter().map(|hit| hit.message.content).collect()
    }
}

#[tokio::test]
async fn message_search_respects_visibility() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let id = store.blackboard().await.id;
    store.add(&mara, &id, "Searchable public content about database optimization", Public).await;
    store.add(&mara, &id, "Searchable private content about database secrets", Private).await;
    assert_eq!(store.found(&mara, &id, "database").await.len(), 2);
    assert_eq!(store.found(&ole, &id, "database").await, ["Searchable public content about database optimization"]);
    assert_eq!(store.found(&ole, &id, "secrets").await, [""; 0]);
    let only = |visibility: Visibility| SessionSearchQuery { visibility: Some(visibility), ..query("database") };
    assert_eq!(store.db.search_session(&mara, &id, &only(Private)).await.unwrap().len(), 1);
    assert_eq!(store.db.search_session(&ole, &id, &only(Private)).await.unwrap(), []);
    assert_eq!(store.found(&Caller::owner(), &id, "database").await.len(), 1, "the owner too finds no private notes of others");
}

#[tokio::test]
async fn findings_are_found_with_typing_errors_in_any_order_and_by_parts() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    let target = "The invoice parser rounds every amount to cents";
    store.add(&mara, &id, target, Public).await;
    for number in 0..50 {
        store.add(&mara, &id, &format!("Unrelated note {number} on colours and fonts"), Public).await;
    }
    for text in ["invoice parser", "invioce parser", "invoce", "parser invoice", "rounds amont cents", "nvoice", "INVOICE", "invoic"] {
        assert_eq!(store.found(&mara, &id, text).await.first().map(String::as_str), Some(target), "{text}");
    }
    let exact = store.db.search_session(&mara, &id, &query("invoice parser")).await.unwrap();
    assert!((exact[0].score - 100.0).abs() < 0.01, "{}", exact[0].score);
    assert_eq!(store.found(&mara, &id, "zebra").await, [""; 0]);
    assert_eq!(store.found(&mara, &id, "note").await.len(), 10, "the default limit");
}

#[tokio::test]
async fn equal_messages_are_different_results() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    for _ in 0..3 {
        store.add(&mara, &id, "The same words", Public).await;
    }
    let hits = store.db.search_session(&mara, &id, &query("same words")).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.message.id).collect::<Vec<_>>(), [3, 2, 1], "the newest of equals first");
}

#[tokio::test]
async fn metadata_and_sender_are_searched_and_other_sessions_are_not() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    let other = store.db.create_context_session(&mara, Some(&store.project), purpose("Other")).await.unwrap().id;
    let metadata: Metadata = json!({"component": "scheduler", "nested": {"x": "hidden"}}).as_object().unwrap().clone();
    store.db.add_session_message(&mara, &id, NewSessionMessage { metadata, ..finding("A finding", Public) }).await.unwrap();
    store.add(&mara, &other, "The scheduler elsewhere", Public).await;
    assert_eq!(store.found(&mara, &id, "schedular").await, ["A finding"]);
    assert_eq!(store.found(&mara, &id, "mara").await, ["A finding"]);
    let without = SessionSearchQuery { metadata: false, ..query("scheduler") };
    assert_eq!(store.db.search_session(&mara, &id, &without).await.unwrap(), []);
    assert_eq!(store.found(&mara, &other, "scheduler").await, ["The scheduler elsewhere"]);
}

#[tokio::test]
async fn hostile_queries_are_only_words() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    store.add(&mara, &id, "A finding", Public).await;
    let before = store.dump().await;
    for text in ["\"NEAR(", "a AND OR NOT *", "%_%", "'; DROP TABLE tasks", "\u{202e}x", "\0", &"word ".repeat(200_000), "-", "🚀", "検索"] {
        store.db.search_session(&mara, &id, &query(text)).await.unwrap();
    }
    for text in ["", "   ", "\n\t"] {
        assert_eq!(code(store.db.search_session(&mara, &id, &query(text)).await), "invalid");
    }
    for threshold in [-1.0, 101.0, f64::NAN] {
        assert_eq!(code(store.db.search_session(&mara, &id, &SessionSearchQuery { threshold: Some(threshold), ..query("x") }).await), "invalid");
    }
    let many = SessionSearchQuery { limit: Some(1_000_000_000), ..query("x") };
    assert_eq!(code(store.db.search_session(&mara, &id, &many).await), "invalid");
    assert_eq!(code(store.db.search_session(&mara, &ContextSessionId::new(1), &query("x")).await), "not-found");
    assert_eq!(store.dump().await, before);
}

/// Messages that others cannot read take no place among the candidates.
#[tokio::test]
async fn hidden_messages_crowd_out_nothing() {
    let store = Store::board().await;
    let (mara, ole, id) = (store.member("mara", &[]).await, store.member("ole", &[]).await, store.blackboard().await.id);
    store.add(&mara, &id, "The needle is here", Public).await;
    for number in 0..300 {
        store.add(&mara, &id, &format!("needle {number}"), Private).await;
    }
    assert_eq!(store.found(&ole, &id, "needle").await, ["The needle is here"]);
}
