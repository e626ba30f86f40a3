//! Results of tasks: who submits them, what is closed without one, and the ones that follow from the runs of managed agents.

use domain::board::search::SearchKind;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::TaskUpdate;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::result::{NewTaskResult, missing_parts};

use crate::tests::external_agents::{assigned, crew, leave_result, named, stage, submission, submit, update};
use crate::tests::store::{Store, code, head, new_task, refusal};
use crate::{Caller, SearchQuery};

/// A task in review whose result was not submitted.
async fn in_review_without_result(store: &Store, by: &Caller) -> TaskId {
    let task = assigned(store, "Search", "ben").await;
    stage(store, by, &task, Stage::InProgress).await.unwrap();
    store.db.submit_for_review(by, &task, submission("Done")).await.unwrap();
    task
}

#[tokio::test]
async fn lead_closes_no_external_task_without_result() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = in_review_without_result(&store, &crew.ben).await;
    let before = store.dump().await;
    let (db, nothing) = (&store.db, || EvidenceResult::Nothing);
    for refused in [
        code(db.close_task(&crew.lena, &task, nothing()).await),
        code(db.close_task(&Caller::owner(), &task, nothing()).await),
        code(db.approve_task(&crew.lena, &task, None, nothing()).await),
        code(stage(&store, &crew.lena, &task, Stage::Completed).await),
        code(store.move_to(&crew.lena, &task, Status::Done).await),
    ] {
        assert_eq!(refused, "result-missing");
    }
    for by in [&crew.lena, &crew.ben] {
        assert_eq!(code(stage(&store, by, &task, Stage::Closed).await), "close-with-close-task");
    }
    assert_eq!(code(db.close_task(&crew.ben, &task, nothing()).await), "lead-only");
    assert_eq!(store.dump().await, before, "nothing was written");
    leave_result(&store, &task, &crew.ben).await;
    assert_eq!(db.close_task(&crew.lena, &task, nothing()).await.unwrap().card.status, Status::Done);
    assert_eq!(code(db.close_task(&crew.lena, &task, nothing()).await), "illegal-stage");
    store.check_fold().await;
}

#[tokio::test]
async fn task_reassigned_after_its_submission_still_needs_a_result() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = in_review_without_result(&store, &crew.ben).await;
    let to = TaskUpdate { assigned_to: Some("tess".to_owned()), ..TaskUpdate::default() };
    update(&store, &crew.lena, &task, to).await.unwrap();
    assert_eq!(code(store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await), "result-missing");
}

#[tokio::test]
async fn person_closes_in_the_browser_what_has_no_result() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let (first, second) = (in_review_without_result(&store, &crew.ben).await, in_review_without_result(&store, &crew.ben).await);
    store.db.approve_task(&Caller::owner(), &first, None, EvidenceResult::Nothing).await.unwrap();
    assert_eq!(store.move_to(&Caller::owner(), &second, Status::Done).await.unwrap().card.status, Status::Done);
    assert_eq!(store.db.task_result(&first).await.unwrap(), None);
}

#[tokio::test]
async fn assignee_and_leads_submit_and_the_newest_counts() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "Search", "ben").await;
    let text = |last: &str| format!("# Tried\nA trie\n# Worked\nIt\n# Next agent\n{last}, a.rs:1");
    let result = async |by: &Caller, id: &TaskId, content: String| store.db.submit_result(by, id, NewTaskResult { content, file: None }).await;
    let before = store.dump().await;
    assert_eq!(code(result(&crew.ben, &task, text("x")).await), "not-now", "nobody has started it");
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    let begun = store.dump().await;
    assert_eq!(code(result(&crew.tess, &task, text("x")).await), "not-assignee");
    assert_eq!(code(result(&crew.ben, &TaskId::new(404), text("x")).await), "not-found");
    for (bad, expected) in [
        (String::new(), "invalid"),
        ("x".repeat(1 << 20), "invalid"),
        (text("a\0b"), "invalid"),
        (text(&"x".repeat(20_000)), "invalid"),
        ("# Tried\nA trie".to_owned(), "result-parts-missing"),
    ] {
        assert_eq!(code(result(&crew.ben, &task, bad).await), expected);
    }
    assert_eq!(store.dump().await, begun, "nothing was written");
    assert_ne!(before, begun);
    let first = result(&crew.ben, &task, text("Umlauts")).await.unwrap();
    assert_eq!((first.author.as_str(), first.derived, first.run_id), ("ben", false, None));
    let second = result(&crew.lena, &task, text("Xylophones")).await.unwrap();
    assert_eq!(store.db.task_result(&task).await.unwrap().unwrap(), second);
    assert_eq!(code(store.db.task_result(&TaskId::new(404)).await), "not-found");
    let query = SearchQuery { text: "xylophones".to_owned(), project: None, limit: 5 };
    let found = store.db.search(&Caller::owner(), &query).await.unwrap();
    assert_eq!(found.iter().map(|hit| (hit.kind, hit.id.as_str())).collect::<Vec<_>>(), [(SearchKind::Task, task.as_str())]);
    assert!(found[0].excerpt.contains("Xylophones"), "{:?}", found[0].excerpt);
    stage(&store, &crew.ben, &task, Stage::Failed).await.unwrap();
    result(&crew.ben, &task, text("A failure teaches as well")).await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn other_projects_are_not_revealed() {
    let (store, other) = (Store::board().await, Store::board().await);
    let crew = crew(&store).await;
    let stranger = Caller::Agent(crate::AgentCaller { project_id: "PROJ-099".parse().unwrap(), ..agent(&crew.lena) });
    let task = assigned(&store, "Search", "ben").await;
    submit(&store, &task, &crew.ben).await;
    assert_eq!(code(store.db.close_task(&stranger, &task, EvidenceResult::Nothing).await), "not-found");
    assert_eq!(code(store.db.submit_result(&stranger, &task, NewTaskResult::default()).await), "not-found");
    drop(other);
}

fn agent(caller: &Caller) -> crate::AgentCaller {
    let Caller::Agent(agent) = caller else { panic!("{caller:?} is not an agent") };
    agent.clone()
}

#[tokio::test]
async fn merged_work_of_a_coder_has_a_result_from_its_facts() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.add_comment(&coder.caller, &task, "The index is in src/a.rs:9.", None).await.unwrap();
    store.claim(&coder.caller, "src/a.rs").await.unwrap();
    store.finish(&coder).await;
    store.move_to(&Caller::owner(), &task, Status::Backlog).await.unwrap();
    assert_eq!(store.db.task_result(&task).await.unwrap(), None, "it is not done");
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    store.complete(&task).await;
    let result = store.db.task_result(&task).await.unwrap().unwrap();
    assert_eq!((result.author.as_str(), result.derived, result.file), ("coder-TASK-001", true, None));
    assert!(missing_parts(&result.content).is_empty(), "{}", result.content);
    for words in ["coder, attempt 1: finished", "approved by", "The index is in src/a.rs:9."] {
        assert!(result.content.contains(words), "{words}: {}", result.content);
    }
    // It is opened and finished once more.
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some("One thing more"), EvidenceResult::Nothing).await.unwrap();
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    store.merge(&task).await;
    assert!(store.db.task_result(&task).await.unwrap().unwrap().id > result.id, "the earlier one stays");
    store.check_fold().await;
}

#[tokio::test]
async fn lead_closes_the_work_of_a_coder_without_a_submitted_result() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.in_review("One").await;
    let queued = store.db.close_task(&crew.lena, &task, head("head")).await.unwrap().card;
    assert_eq!((queued.status, queued.approved_sha.as_deref()), (Status::InReview, Some("head")));
    store.merge(&task).await;
    assert!(store.db.task_result(&task).await.unwrap().unwrap().derived);
}

#[tokio::test]
async fn only_the_class_lead_creates_and_closes() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "Search", "ben").await;
    submit(&store, &task, &crew.ben).await;
    let class = async |caller: &Caller, name: &str, class| {
        let who = domain::team::agent::Registration { class: Some(class), ..named(name, &[]) };
        store.db.register(caller, &store.project, who, None).await.unwrap();
    };
    assert!(store.db.create_task(&crew.tess, &store.project, new_task("A proposal")).await.unwrap().card.held_by.is_some());
    for (name, named) in [("olga", AgentClass::Oracle), ("rick", AgentClass::Recon), ("bill", AgentClass::Builder), ("cara", AgentClass::Coder)] {
        // Even with the role of a lead.
        let agent = store.member(name, &[Role::Lead]).await;
        class(&agent, name, named).await;
        let before = store.dump().await;
        let created = refusal(store.db.create_task(&agent, &store.project, new_task("Two")).await);
        assert_eq!(
            (created.code(), created.to_string()),
            ("class-creates-no-tasks", format!("{name} has the class {named}, and only the class lead creates tasks"))
        );
        assert_eq!(code(store.db.close_task(&agent, &task, EvidenceResult::Nothing).await), "lead-only");
        assert_eq!(code(store.db.approve_task(&agent, &task, None, EvidenceResult::Nothing).await), "lead-only");
        assert_eq!(code(store.db.assign_task(&agent, &task, Some("ben".to_owned()), None).await), "lead-only");
        assert_eq!(
            code(store.db.debrief(&agent, &store.project, domain::warroom::debrief::NewDebrief { summary: "x".to_owned() }).await),
            "lead-only"
        );
        assert_eq!(code(store.db.end_session(&agent, &store.project).await), "lead-only");
        assert_eq!(store.dump().await, before, "nothing was written");
    }
    class(&crew.lena, "lena", AgentClass::Lead).await;
    store.db.create_task(&crew.lena, &store.project, new_task("Two")).await.unwrap();
    store.db.close_task(&crew.lena, &task, EvidenceResult::Nothing).await.unwrap();
}
