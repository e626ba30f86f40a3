//! Temporary checkouts that were left behind: recorded once, listed until they are gone.

use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;

use crate::tests::store::{Store, code};

#[tokio::test]
async fn left_checkout_is_listed_until_it_is_gone() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let run = store.agent(&task, AgentKind::Coder).await.run;
    let listed = async || store.db.left_checkouts().await.unwrap().into_iter().map(|left| left.run.id).collect::<Vec<_>>();
    let leave = async |detail: Option<&str>| store.db.set_checkout_left(&run, detail.map(str::to_owned)).await.unwrap();
    leave(Some("permission denied")).await;
    assert_eq!(listed().await, [], "its run has not ended");
    store.end(&run, EndClass::Finished, None).await;
    let seq = store.db.latest();
    leave(Some("permission denied")).await;
    assert_eq!((listed().await, store.db.latest()), (vec![run.clone()], seq), "repeating it records no event");
    leave(Some("busy")).await;
    assert_eq!(store.db.run(&run).await.unwrap().checkout_left.as_deref(), Some("busy"));
    leave(None).await;
    assert_eq!(listed().await, []);
    assert_eq!(store.kinds_since(seq).await, ["run_checkout_left"; 2]);
    assert_eq!(code(store.db.set_checkout_left(&"RUN-404".parse().unwrap(), None).await), "not-found");
    store.check_fold().await;
}
