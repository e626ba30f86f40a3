//! Which session is ended for a new one.

use db::Caller;
use domain::config::Config;

use super::*;

struct Fixture {
    db: Db,
    push: Push,
    sessions: Sessions,
    bearers: [Bearer; 2],
    _folder: tempfile::TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Db::open(&Config { db_path: folder.path().join("board.db"), ..Config::default() }).await.unwrap();
        db.set_owner("owner", "first").await.unwrap();
        let first = Bearer::of(&db, "first").await.unwrap().unwrap();
        db.set_owner("owner", "second").await.unwrap();
        let second = Bearer::of(&db, "second").await.unwrap().unwrap();
        Self { db, push: Push::default(), sessions: Sessions::default(), bearers: [first, second], _folder: folder }
    }

    fn open(&self, id: &str, bearer: &Bearer) {
        self.sessions.open(id, bearer.clone(), "2025-06-18".to_owned(), &self.push, &CancellationToken::new());
    }
}

#[tokio::test]
async fn longest_idle_session_of_the_token_is_ended() {
    let fixture = Fixture::new().await;
    let [bearer, other] = &fixture.bearers;
    fixture.open("other", other);
    for number in 0..MAX_SESSIONS {
        assert_eq!(fixture.sessions.evict_idle(bearer, Instant::now() + IDLE_AFTER * 2), Ok(None));
        fixture.open(&format!("s{number}"), bearer);
    }
    let now = Instant::now();
    assert_eq!(fixture.sessions.evict_idle(bearer, now), Err(AllInUse), "none is idle yet");
    assert_eq!(fixture.sessions.evict_idle(other, now + IDLE_AFTER), Ok(None), "another token has places of its own");
    // The oldest has a stream and the second was used just now, so the third is idle for longest.
    let oldest = fixture.sessions.get("s0").unwrap();
    let stream = oldest.open_stream(&fixture.db, &Caller::owner());
    *fixture.sessions.get("s1").unwrap().last_used() = now + IDLE_AFTER;
    let third = fixture.sessions.get("s2").unwrap();
    assert_eq!(fixture.sessions.evict_idle(bearer, now + IDLE_AFTER), Ok(Some("s2".to_owned())));
    assert!(third.ended.is_cancelled() && fixture.sessions.get("s2").is_none());
    assert!(!oldest.ended.is_cancelled() && fixture.sessions.get("other").is_some());
    drop(stream);
    assert!(oldest.last_used().elapsed() < IDLE_AFTER, "closing a stream counts as use");
}
