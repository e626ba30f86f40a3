//! Takeovers: the agent stops, nothing starts, and the next one is told what the person did.

use domain::board::status::{HeldBy, Status};
use domain::board::takeover::{HandBack, Takeover};
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;

use crate::Caller;
use crate::tests::store::{Store, code, refusal};

async fn working(store: &Store) -> (TaskId, crate::tests::store::Agent) {
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.record_checkout(&task, "vr/TASK-001/work", "/w/TASK-001").await.unwrap();
    store.db.record_launch(&agent.run, "RUN-001.x", None, Some("cd /w/TASK-001 && claude --resume")).await.unwrap();
    (task, agent)
}

#[tokio::test]
async fn person_continues_where_the_agent_stopped() {
    let store = Store::board().await;
    let (task, agent) = working(&store).await;
    let human = Caller::owner();
    let taken = store.db.take_over(&human, &task, &"head".to_owned()).await.unwrap();
    assert_eq!((taken.card.held_by, taken.card.status), (Some(HeldBy::Takeover), Status::InProgress));
    assert!(taken.card.run.as_ref().is_some_and(|run| run.stopping));
    assert_eq!(store.db.takeover(&taken).await.unwrap(), None, "the agent is still ending");
    assert_eq!(code(store.db.takeover_head(&task).await), "run-ending");
    assert_eq!(code(store.db.give_back(&human, &task, &HandBack::default()).await), "run-ending");
    assert_eq!(code(store.db.add_comment(&agent.caller, &task, "Wait", None).await), "stale-run");

    store.end(&agent.run, EndClass::Finished, None).await;
    let task_now = store.db.task(&task).await.unwrap();
    let command = Some(format!("cd /w/TASK-001 && claude --resume session of {}", agent.run));
    assert_eq!(store.db.takeover(&task_now).await.unwrap(), Some(Takeover { folder: "/w/TASK-001".to_owned(), command }));
    assert_eq!(store.db.takeover_head(&task).await.unwrap(), "head");
    assert_eq!(code(store.reserve(&task, AgentKind::Coder, "base").await), "not-now");
    for refused in [
        store.db.start_task(&human, &task).await,
        store.db.retry_task(&human, &task, Default::default()).await,
        store.db.stop_task(&human, &task).await,
    ] {
        assert!(refusal(refused).to_string().contains("a person has taken it over"));
    }
    assert_eq!(code(store.db.take_over(&human, &task, &"head".to_owned()).await), "not-now", "once");

    let work = HandBack { uncommitted: vec!["notes.md".to_owned()], ..HandBack::default() };
    let given = store.db.give_back(&human, &task, &work).await.unwrap();
    assert_eq!((given.card.held_by, store.db.takeover(&given).await.unwrap()), (None, None));
    let thread = store.db.comments(&task).await.unwrap();
    assert!(thread[0].content.contains("- notes.md"), "{thread:?}");
    store.reserve(&task, AgentKind::Coder, "base").await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn taken_over_task_is_settled_on_hold() {
    let store = Store::board().await;
    let (task, agent) = working(&store).await;
    store.db.claim_reference("/home/ann/site/.git", "refs/heads/vr/TASK-001/work", Some(&task)).await.unwrap();
    store.db.take_over(&Caller::owner(), &task, &"head".to_owned()).await.unwrap();
    store.end(&agent.run, EndClass::Finished, None).await;
    let held = WaitReason::Held { by: HeldBy::Takeover };
    store.db.set_wait_reasons(vec![(task.clone(), Some(held))]).await.unwrap();
    let project = store.project().await;
    assert_eq!(store.db.idle_references(&project.git_dir).await.unwrap(), Vec::<String>::new(), "the person's git may hold its lock");
    store.db.give_back(&Caller::owner(), &task, &HandBack::default()).await.unwrap();
    assert_eq!(store.db.idle_references(&project.git_dir).await.unwrap(), ["refs/heads/vr/TASK-001/work"]);
}

#[tokio::test]
async fn only_an_open_task_with_a_worktree_is_taken_over_by_a_person() {
    let store = Store::board().await;
    let human = Caller::owner();
    let new = store.task("New").await;
    assert!(refusal(store.db.take_over(&human, &new, &"head".to_owned()).await).to_string().contains("no worktree"));
    assert!(refusal(store.db.give_back(&human, &new, &HandBack::default()).await).to_string().contains("not taken over"));
    assert!(refusal(store.db.takeover_head(&new).await).to_string().contains("not taken over"));
    let (task, agent) = {
        let task = store.task("Two").await;
        let agent = store.agent(&task, AgentKind::Coder).await;
        store.db.record_checkout(&task, "vr/TASK-002/work", "/w/TASK-002").await.unwrap();
        (task, agent)
    };
    assert_eq!(code(store.db.take_over(&agent.caller, &task, &"head".to_owned()).await), "human-only");
    assert_eq!(code(store.db.give_back(&agent.caller, &task, &HandBack::default()).await), "human-only");
    store.cancel(&task, "abandoned").await;
    assert!(refusal(store.db.take_over(&human, &task, &"head".to_owned()).await).to_string().contains("it is finished"));
}
