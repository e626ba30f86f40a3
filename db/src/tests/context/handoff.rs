//! The handoff: public findings and the keys of predecessors, and nothing that a coder keeps from its reviewer.

use domain::board::project::PlanApproval;
use domain::context::session::visibility::Visibility::{AdminOnly, AgentOnly, Private, Public};
use domain::id::RunId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use serde_json::json;

use crate::Caller;
use crate::tests::store::{Store, code};

impl Store {
    async fn set(&self, caller: &Caller, key: &str, scope: &str) {
        let entry = serde_json::from_value(json!({"key": key, "value": "secret", "scope": scope})).unwrap();
        self.db.set_memory(caller, entry).await.unwrap();
    }

    /// The findings and the keys that a run gets.
    async fn left_for(&self, run: &RunId) -> (Vec<String>, Vec<String>) {
        let handoff = self.db.handoff(run).await.unwrap();
        assert_eq!(handoff.older, 0);
        let findings = handoff.findings.into_iter().map(|finding| finding.content).collect();
        (findings, handoff.memory.into_iter().map(|entry| entry.key).collect())
    }
}

#[tokio::test]
async fn run_gets_public_findings_and_the_keys_of_its_predecessors_alone() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let tasks = store.planned(&planner, &["Page", "Style"]).await;
    let first = store.agent(&tasks[0], AgentKind::Coder).await;
    let plan = store.db.own_context_session(&first.caller, &store.project).await.unwrap().id;
    assert_eq!(store.left_for(&first.run).await, (Vec::new(), Vec::new()));
    for visibility in [Public, Private, AgentOnly] {
        store.add(&first.caller, &plan, visibility.as_str(), visibility).await;
    }
    store.add(&Caller::owner(), &plan, "admin_only", AdminOnly).await;
    store.set(&first.caller, "of-the-task", "task").await;
    store.set(&first.caller, "of-all-coders", "global").await;
    store.end(&first.run, EndClass::Stopped, None).await;
    store.db.start_task(&Caller::owner(), &tasks[0]).await.unwrap();

    let public = vec!["public".to_owned()];
    let second = store.agent(&tasks[0], AgentKind::Coder).await;
    assert_eq!(store.left_for(&second.run).await, (public.clone(), vec!["of-all-coders".to_owned(), "of-the-task".to_owned()]));
    let other = store.agent(&tasks[1], AgentKind::Coder).await;
    assert_eq!(store.left_for(&other.run).await, (public, vec!["of-all-coders".to_owned()]), "the coder of another task");
    assert_eq!(code(store.db.handoff(&RunId::new(99)).await), "not-found");
}

#[tokio::test]
async fn reviewer_gets_nothing_private_of_the_coder() {
    let store = Store::board().await;
    let blackboard = store.blackboard().await.id;
    let judged = store.task("Words").await;
    let coder = store.agent(&judged, AgentKind::Coder).await;
    for visibility in [Public, Private, AgentOnly] {
        store.add(&coder.caller, &blackboard, visibility.as_str(), visibility).await;
    }
    store.set(&coder.caller, "tests-fail", "task").await;
    store.set(&coder.caller, "all-coders", "global").await;
    store.end(&coder.run, EndClass::Stopped, None).await;
    let judged = store.in_review("Other words").await;
    let reviewer = store.agent_at(&judged, AgentKind::Reviewer, "head").await;
    assert_eq!(store.left_for(&reviewer.run).await, (vec!["public".to_owned()], Vec::new()));
}

#[tokio::test]
async fn handoff_reads_a_page_of_a_long_session() {
    let store = Store::board().await;
    let (mara, blackboard) = (store.member("mara", &[]).await, store.blackboard().await.id);
    for number in 0..60 {
        store.add(&mara, &blackboard, &number.to_string(), Public).await;
        store.add(&mara, &blackboard, "hidden", Private).await;
    }
    let run = store.agent(&store.task("Page").await, AgentKind::Coder).await.run;
    let handoff = store.db.handoff(&run).await.unwrap();
    assert_eq!((handoff.findings.len(), handoff.older), (50, 10), "hidden messages do not count");
    assert_eq!((handoff.findings[0].content.as_str(), handoff.findings[49].content.as_str()), ("59", "10"));
}
