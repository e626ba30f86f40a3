//! The companion of a person: the right to work on boards without the right to decide, and the end of its token.

use domain::board::project::PlanApproval;
use domain::board::status::{HeldBy, Status};
use domain::board::task::TaskPatch;
use domain::runs::agent_kind::AgentKind;
use domain::runs::permission::PermissionAnswer;
use domain::team::person::{NewPerson, OWNER, PersonRole};
use domain::team::role::Role;
use domain::team::token::{TokenAudience, TokenKind, TokenTerms};
use domain::wire::{NewPersonToken, ProjectPatch, TokenPatch};

use crate::tests::external_agents::{message, named};
use crate::tests::store::{Store, code, evidence, head, landing, new_task, publication};
use crate::{Caller, MoveRequest, new_token};

async fn owned_board() -> Store {
    let store = Store::board().await;
    store.db.set_owner("owner", "token").await.unwrap();
    store
}

/// The caller that a new companion token of `person` identifies.
async fn companion_of(store: &Store, person: &Caller) -> Caller {
    let token = store.db.create_companion_token(person).await.unwrap();
    store.db.identify(&token, TokenAudience::Mcp).await.unwrap().unwrap().caller
}

#[tokio::test]
async fn companion_works_on_tasks_under_the_name_of_its_person() {
    let store = owned_board().await;
    let (db, project) = (&store.db, &store.project);
    let companion = companion_of(&store, &Caller::owner()).await;
    assert_eq!((companion.name().as_deref(), companion.is_person()), (Some("human"), true));
    let task = db.create_task(&companion, project, new_task("By the companion")).await.unwrap().card.id;
    db.edit_task(&companion, &task, TaskPatch { title: Some("Renamed".to_owned()), ..TaskPatch::default() }).await.unwrap();
    db.add_comment(&companion, &task, "Read this first", None).await.unwrap();
    db.start_task(&companion, &task).await.unwrap();
    let agent = store.agent(&task, AgentKind::Coder).await;
    db.message_run(&companion, &agent.run, "Use the parser").await.unwrap();
    db.interrupt_run(&companion, &agent.run, Some("Stop")).await.unwrap();
    assert_eq!(db.stop_task(&companion, &task).await.unwrap().card.held_by, Some(HeldBy::Stop));
    store.member("mara", &[Role::Builder]).await;
    db.send(&companion, project, message("mara", "Please look at it")).await.unwrap();
    // Work that it thinks is wrong goes back.
    let reviewed = store.in_review("Wrong").await;
    let back = store.move_with(&companion, &reviewed, Status::InProgress, Some("Tests are missing"), evidence()).await.unwrap();
    assert_eq!(back.card.status, Status::InProgress);
    store.check_fold().await;
}

#[tokio::test]
async fn companion_takes_no_decision() {
    let store = owned_board().await;
    let (db, project) = (&store.db, &store.project);
    let companion = companion_of(&store, &Caller::owner()).await;
    let (reviewed, finished) = (store.in_review("In review").await, store.in_review("Finished").await);
    store.review_and_merge(&finished).await;
    let agent = store.agent(&store.task("At work").await, AgentKind::Coder).await;
    let seq = db.latest();
    let codes = [
        code(store.move_with(&companion, &reviewed, Status::Done, None, head("head")).await),
        code(db.edit_and_move_task(&companion, &reviewed, TaskPatch::default(), MoveRequest::to(Status::Done), head("head")).await),
        code(db.verify_task(&companion, &finished, None).await),
        code(db.approve_plan(&companion, project).await),
        code(db.answer_permission(&companion, &agent.run, 1, PermissionAnswer::Allow, None).await),
        code(db.raise_project_limit(&companion, project).await),
        code(db.record_landing(&companion, project, landing("a1", "a1")).await),
        code(db.record_undone_landing(&companion, project, 1).await),
        code(db.record_publication(&companion, project, publication("a1")).await),
        code(db.edit_project(&companion, project, ProjectPatch::default(), None).await),
        code(db.archive_project(&companion, project).await),
        code(db.delete_project(&companion, project, "A shop").await),
        code(db.create_companion_token(&companion).await),
        code(db.create_agent_token(&companion, project, named("mara", &[]), TokenTerms::default()).await),
        code(db.add_person(&companion, NewPerson { name: "ann".to_owned(), role: None }).await),
        code(db.replace_own_token(&companion, &new_token()).await),
        code(db.tokens(&companion, 0).await),
    ];
    assert_eq!(codes, ["companion"; 17]);
    assert_eq!(db.latest(), seq, "nothing changed");
}

#[tokio::test]
async fn companion_cannot_approve_a_plan_task_by_task() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    store.db.set_owner("owner", "token").await.unwrap();
    let planned = store.planned(&planner, &["One"]).await;
    assert_eq!(store.card(&planned[0]).await.held_by, Some(HeldBy::Plan));
    let companion = companion_of(&store, &Caller::owner()).await;
    assert_eq!(code(store.db.start_task(&companion, &planned[0]).await), "companion");
    assert_eq!(store.card(&planned[0]).await.held_by, Some(HeldBy::Plan));
    store.db.start_task(&Caller::owner(), &planned[0]).await.unwrap();
}

#[tokio::test]
async fn token_of_a_companion_is_for_tools_and_ends_with_its_successor_and_its_person() {
    let store = owned_board().await;
    let (db, owner) = (&store.db, &Caller::owner());
    let first = db.create_companion_token(owner).await.unwrap();
    assert_eq!(code(db.identify(&first, TokenAudience::Api).await), "token-audience");
    let second = db.create_companion_token(owner).await.unwrap();
    assert_eq!(db.caller(&first).await.unwrap(), None, "a new one replaces it");
    let listed = db.tokens(owner, 0).await.unwrap().0;
    let token = listed.iter().find(|token| token.kind == TokenKind::Companion).unwrap();
    assert_eq!((token.holder.as_deref(), token.project_id.as_ref(), token.is_owners()), (Some("human"), None, false));
    assert_eq!(token.permissions.to_string(), "read write");
    let widened = TokenPatch { permissions: Some(domain::team::token::Permissions::ALL), expires_in: None };
    assert_eq!(code(db.change_token(owner, &token.name, widened).await), "token-of-person");
    db.revoke_token(owner, &token.name).await.unwrap();
    assert_eq!(db.caller(&second).await.unwrap(), None);

    let third = db.create_companion_token(owner).await.unwrap();
    db.set_owner("owner", "another").await.unwrap();
    assert_eq!(db.caller(&third).await.unwrap(), None, "it ends with the token of its person");

    let ann = db.add_person(owner, NewPerson { name: "ann".to_owned(), role: Some(PersonRole::Member) }).await.unwrap();
    assert_ne!(ann.id, OWNER);
    let token = db.create_person_token(owner, ann.id, NewPersonToken::default()).await.unwrap();
    let of_ann = db.create_companion_token(&db.caller(&token).await.unwrap().unwrap()).await.unwrap();
    assert_eq!(db.caller(&of_ann).await.unwrap().unwrap().name().as_deref(), Some("human/ann"));
    db.change_person_role(owner, ann.id, PersonRole::Viewer).await.unwrap();
    let viewer = db.caller(&of_ann).await.unwrap().unwrap();
    assert_eq!(code(db.create_task(&viewer, &store.project, new_task("x")).await), "person-role", "it may do no more than its person");
    db.remove_person(owner, ann.id).await.unwrap();
    assert_eq!(db.caller(&of_ann).await.unwrap(), None);
}
