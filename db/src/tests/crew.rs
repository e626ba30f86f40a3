//! Agents from outside, as the tests of gates, goals and hats begin with them.

use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::task::{NewTask, Submission, Task, TaskUpdate};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;

use crate::tests::store::{Store, new_task};
use crate::{Caller, Result};

/// A lead, a builder and a tester.
pub(super) struct Crew {
    pub(super) lena: Caller,
    pub(super) ben: Caller,
    pub(super) tess: Caller,
}

pub(super) async fn crew(store: &Store) -> Crew {
    Crew {
        lena: store.member("lena", &[Role::Lead]).await,
        ben: store.member("ben", &[Role::Builder]).await,
        tess: store.member("tess", &[Role::Tester]).await,
    }
}

/// A task that is given to somebody from outside.
pub(super) async fn assigned(store: &Store, title: &str, to: &str) -> TaskId {
    let new = NewTask { assigned_to: Some(to.to_owned()), ..new_task(title) };
    store.db.create_task(&Caller::Human, &store.project, new).await.unwrap().card.id
}

/// Lets the assignee begin it and hand it in.
pub(super) async fn hand_in(store: &Store, task: &TaskId, by: &Caller) {
    stage(store, by, task, Stage::InProgress).await.unwrap();
    store.db.submit_for_review(by, task, submission("Done as asked")).await.unwrap();
}

/// The same, approved by a lead.
pub(super) async fn completed(store: &Store, title: &str, crew: &Crew) -> TaskId {
    let task = assigned(store, title, "ben").await;
    hand_in(store, &task, &crew.ben).await;
    store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await.unwrap();
    task
}

pub(super) fn submission(summary: &str) -> Submission {
    Submission { summary: summary.to_owned(), files_changed: None, test_results: None }
}

pub(super) async fn stage(store: &Store, caller: &Caller, task: &TaskId, stage: Stage) -> Result<Task> {
    update(store, caller, task, TaskUpdate { stage: Some(stage), ..TaskUpdate::default() }).await
}

pub(super) async fn update(store: &Store, caller: &Caller, task: &TaskId, update: TaskUpdate) -> Result<Task> {
    store.db.update_task(caller, task, update, EvidenceResult::Nothing).await
}

pub(super) fn hands(card: &Card) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    let hands = &card.contributors;
    format!("{} / {} / {} / {}", name(&hands.assigned_to), hands.built_by.join("+"), name(&hands.approved_by), name(&hands.verified_by))
}

/// What `name` was written, oldest first: from whom, the first line, and whether as a copy.
pub(super) async fn told(store: &Store, name: &str) -> Vec<String> {
    let rows: Vec<(String, String, bool)> = sqlx::query_as("SELECT from_agent, content, is_cc FROM messages WHERE to_agent = $1 ORDER BY id")
        .bind(name)
        .fetch_all(&store.db.readers)
        .await
        .unwrap();
    let line = |content: &str| content.lines().next().unwrap_or_default().to_owned();
    rows.iter().map(|(from, content, copy)| format!("{from}: {}{}", line(content), if *copy { " (copy)" } else { "" })).collect()
}
