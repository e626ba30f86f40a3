//! Replays: at every event, the board of the past is the fold of the log until then.

use std::time::Duration;

use domain::board::reducer::Board;
use domain::board::status::Status;

use crate::tests::store::{Store, code, whole_board};
use crate::{Caller, RetentionLimits};

#[tokio::test]
async fn board_of_the_past_is_the_fold_of_the_log() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    store.complete(&one).await;
    store.cancel(&two, "obsolete").await;
    let human = Caller::owner();
    let mut folded = Board { cards: Vec::new(), seq: 0, ..whole_board(&store.db, &store.project).await.unwrap() };
    for envelope in store.db.events_after(0, Some(&store.project), u32::MAX).await.unwrap() {
        folded.apply(&envelope);
        let part = store.db.replay(&human, &store.project, Some(envelope.seq)).await.unwrap();
        assert!(part.covers(envelope.seq), "{}", envelope.seq);
        assert_eq!(part.board_at(envelope.seq).cards, folded.cards, "{}", envelope.seq);
    }
    let part = store.db.replay(&human, &store.project, None).await.unwrap();
    assert_eq!((part.first, part.last, part.begins_late, part.omitted), (1, store.db.latest(), false, 0));
    assert_eq!(part.steps[0].sentence, "You created the project");
    assert_eq!(part.board_at(part.last).cards, whole_board(&store.db, &store.project).await.unwrap().cards);
    assert_eq!(code(store.db.replay(&human, &"PROJ-404".parse().unwrap(), None).await), "not-found");
}

#[tokio::test]
async fn replay_begins_where_the_kept_log_begins() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.complete(&task).await;
    store.db.prune(RetentionLimits { keep: Duration::from_secs(3600), max_events: 4 }).await.unwrap();
    let part = store.db.replay(&Caller::owner(), &store.project, Some(1)).await.unwrap();
    assert!(part.begins_late && part.first > 1, "{part:?}");
    assert_eq!(part.board.cards.len(), 1, "the checkpoint has the card");
    assert_eq!(part.board_at(part.last).cards, whole_board(&store.db, &store.project).await.unwrap().cards);
    assert_eq!(part.board_at(part.last).cards[0].status, Status::Done);
}

#[tokio::test]
async fn long_past_comes_in_parts_that_meet() {
    let store = Store::board().await;
    for number in 0..260 {
        store.task(&format!("Task {number}")).await;
    }
    let human = Caller::owner();
    let (mut at, mut seen) = (1, 0);
    loop {
        let part = store.db.replay(&human, &store.project, Some(at)).await.unwrap();
        assert!(part.steps.len() <= 200 && part.covers(at));
        assert_eq!(part.board_at(at).cards.len(), usize::try_from(at).unwrap() - 1);
        let end = part.steps.last().unwrap().event.seq;
        seen += 1;
        if end == part.last {
            break;
        }
        assert!(end > at, "a later part goes on");
        at = end;
    }
    assert_eq!(seen, 2);
}
