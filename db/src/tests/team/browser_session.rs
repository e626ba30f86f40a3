//! Browser sessions: opened, seen, revoked and expired, without keeping what opens the door.

use domain::team::browser_session::{BrowserSessionEvent, SessionSecret};
use domain::team::person::OWNER;
use domain::time::Timestamp;

use crate::tests::store::{Store, code};
use crate::{Caller, new_token};

/// Creates a board with its owner.
async fn owned_board() -> Store {
    let store = Store::board().await;
    store.db.set_owner("owner", "token").await.unwrap();
    store
}

/// Moves a time of every session into the past.
async fn age(store: &Store, column: &'static str, minutes: u64) -> Timestamp {
    let then = crate::now().before(std::time::Duration::from_secs(60 * minutes));
    store
        .db
        .write(move |tx| {
            Box::pin(async move {
                let sql = sqlx::AssertSqlSafe(format!("UPDATE browser_sessions SET {column} = $1"));
                sqlx::query(sql).bind(then.to_string()).execute(&mut tx.connection).await?;
                tx.skip_event(crate::engine::tx::NoEventReason::Heartbeat);
                Ok(())
            })
        })
        .await
        .unwrap();
    then
}

#[tokio::test]
async fn a_session_is_open_until_it_is_revoked() {
    let store = owned_board().await;
    let (seq, mut revocations) = (store.db.latest(), store.db.token_revocations());
    let one = store.db.open_browser_session(OWNER, Some("Firefox\r\n\u{1b}[1m"), None).await.unwrap().unwrap();
    let two = store.db.open_browser_session(OWNER, Some(&"ä".repeat(300)), None).await.unwrap().unwrap();
    let listed = store.db.browser_sessions(&Caller::owner()).await.unwrap();
    assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((listed[0].user_agent.as_deref(), listed[1].user_agent.clone().unwrap().chars().count()), (Some("Firefox[1m"), 200));
    assert!(listed.iter().all(|session| session.created_at == session.last_seen_at));
    let secret = |cookie: &str, key: &str| SessionSecret { cookie: cookie.to_owned(), key: key.to_owned() };
    for (number, wrong) in [
        secret("", ""),
        secret(&one.cookie, ""),
        secret("", &one.key),
        secret(&one.cookie, &two.key),
        secret(&one.key, &one.cookie),
        secret(&one.cookie, &new_token()),
        secret(&one.cookie[1..], &one.key),
        secret(&one.cookie.to_uppercase(), &one.key),
        secret(&one.joined(), ""),
        secret("' OR 1", &one.key),
    ]
    .iter()
    .enumerate()
    {
        assert!(store.db.use_browser_session(wrong).await.unwrap().is_none(), "{number}");
    }
    let rows = store.dump().await.concat();
    for part in [&one.cookie, &one.key, &one.joined()] {
        assert_eq!(store.db.caller(part).await.unwrap(), None, "the secret is no token");
        let stored = part.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
        assert!(!rows.contains(&stored), "only the hash is kept");
    }

    assert!(!revocations.has_changed().unwrap());
    store.db.revoke_browser_session(&Caller::owner(), 1).await.unwrap();
    assert!(revocations.has_changed().unwrap(), "open connections look up their caller again");
    revocations.mark_unchanged();
    assert!(store.db.use_browser_session(&one).await.unwrap().is_none());
    assert!(store.db.use_browser_session(&two).await.unwrap().is_some());
    assert_eq!(code(store.db.revoke_browser_session(&Caller::owner(), 1).await), "not-found");
    store.db.open_browser_session(OWNER, None, None).await.unwrap();
    assert_eq!(
        store.since(seq).await,
        [
            BrowserSessionEvent::Opened { session: 1 }.into(),
            BrowserSessionEvent::Opened { session: 2 }.into(),
            BrowserSessionEvent::Revoked { session: 1 }.into(),
            BrowserSessionEvent::Opened { session: 3 }.into(),
        ]
    );
}

#[tokio::test]
async fn a_session_is_written_down_as_seen_once_a_minute_and_quietly() {
    let store = owned_board().await;
    let secret = store.db.open_browser_session(OWNER, None, None).await.unwrap().unwrap();
    let seq = store.db.latest();
    let recent = age(&store, "last_seen_at", 0).await;
    assert!(store.db.use_browser_session(&secret).await.unwrap().is_some());
    assert_eq!(store.db.browser_sessions(&Caller::owner()).await.unwrap()[0].last_seen_at, recent, "too soon");
    let old = age(&store, "last_seen_at", 2).await;
    assert!(store.db.use_browser_session(&secret).await.unwrap().is_some());
    assert!(store.db.browser_sessions(&Caller::owner()).await.unwrap()[0].last_seen_at > old);
    assert_eq!(store.db.latest(), seq, "no event");
}

#[tokio::test]
async fn a_session_expires_after_thirty_days() {
    let store = owned_board().await;
    let secret = store.db.open_browser_session(OWNER, None, None).await.unwrap().unwrap();
    age(&store, "created_at", 30 * 24 * 60 - 1).await;
    assert!(store.db.use_browser_session(&secret).await.unwrap().is_some());
    age(&store, "created_at", 30 * 24 * 60).await;
    assert!(store.db.use_browser_session(&secret).await.unwrap().is_none());
    assert_eq!(store.db.browser_sessions(&Caller::owner()).await.unwrap(), []);
    store.db.open_browser_session(OWNER, None, None).await.unwrap();
    let kept: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM browser_sessions").fetch_one(&store.db.readers).await.unwrap();
    assert_eq!(kept, 1, "the expired one was deleted");
}

#[tokio::test]
async fn another_human_token_revokes_all_sessions() {
    let store = Store::board().await;
    let (old, new) = (new_token(), new_token());
    assert_eq!(store.db.set_owner("owner", &old).await.unwrap(), 0);
    let open = async || store.db.open_browser_session(OWNER, None, None).await.unwrap().unwrap();
    let secrets = [open().await, open().await];
    assert_eq!(store.db.set_owner("owner", &old).await.unwrap(), 0, "the same token again, as at each start");
    assert!(store.db.use_browser_session(&secrets[0]).await.unwrap().is_some());
    let seq = store.db.latest();
    assert_eq!(store.db.set_owner("owner", &new).await.unwrap(), 2);
    assert_eq!(store.kinds_since(seq).await, ["token_made", "browser_session_revoked", "browser_session_revoked"]);
    for secret in &secrets {
        assert!(store.db.use_browser_session(secret).await.unwrap().is_none());
    }
    assert_eq!(store.db.caller(&old).await.unwrap(), None);
    assert!(store.db.caller(&new).await.unwrap().is_some());
}
