//! Comments: permissions, order and limits.

use domain::board::comment::{AuthorRole, CommentEvent};
use domain::board::project::PlanApproval;
use domain::runs::agent_kind::AgentKind;
use domain::team::person::{NewPerson, PersonRole};
use domain::wire::NewPersonToken;

use crate::Caller;
use crate::tests::store::{Store, code, refusal};

#[tokio::test]
async fn thread_keeps_order_role_and_bytes() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    store.db.add_comment(&Caller::owner(), &task, " keep\r\nme ", None).await.unwrap();
    store.db.add_comment(&coder.caller, &task, "done", Some(AuthorRole::Coder)).await.unwrap();
    let last = store.db.add_comment(&Caller::Runner, &task, "red", None).await.unwrap();
    let thread = store.db.comments(&task).await.unwrap();
    let said: Vec<(&str, &str)> = thread.iter().map(|comment| (comment.author_role.as_str(), comment.content.as_str())).collect();
    assert_eq!(said, [("human", " keep\r\nme "), ("coder", "done"), ("runner", "red")]);
    assert_eq!(thread[1].run_id, Some(coder.run));
    assert_eq!(thread[2], last);
    let first = CommentEvent::Added { comment: thread[0].id.clone(), author_role: AuthorRole::Human }.into();
    assert_eq!(store.since(seq).await[0], first);
    assert_eq!(store.card(&task).await.comments, 3);
    store.check_fold().await;
}

#[tokio::test]
async fn comment_with_another_role_or_on_another_task_is_refused() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let (own, other) = (store.task("Own").await, store.task("Other").await);
    let coder = store.agent(&own, AgentKind::Coder).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let elsewhere = store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id;
    let hidden = store.db.create_task(&Caller::owner(), &elsewhere, crate::tests::store::new_task("Hidden")).await.unwrap().card.id;
    let before = store.dump().await;
    let refused = refusal(store.db.add_comment(&coder.caller, &own, "x", Some(AuthorRole::Human)).await);
    assert_eq!(refused.to_string(), "this token belongs to coder, not to human");
    assert_eq!(code(store.db.add_comment(&coder.caller, &other, "x", None).await), "not-your-task");
    assert_eq!(code(store.db.add_comment(&coder.caller, &hidden, "x", None).await), "not-found");
    assert_eq!(code(store.db.add_comment(&planning.caller, &hidden, "x", None).await), "not-found");
    assert_eq!(code(store.db.add_comment(&coder.caller, &own, " ", None).await), "invalid");
    assert_eq!(code(store.db.add_comment(&coder.caller, &own, &"x".repeat(64 * 1024 + 1), None).await), "invalid");
    assert_eq!(code(store.db.comments(&"TASK-404".parse().unwrap()).await), "not-found");
    assert_eq!(store.dump().await, before);
    let ole = store.guest("ole").await;
    assert_eq!(code(store.db.add_comment(&ole, &hidden, "x", None).await), "not-found");
    assert_eq!(code(store.db.add_comment(&ole, &other, "x", Some(AuthorRole::Human)).await), "not-you");
    let said = store.db.add_comment(&ole, &other, "An external agent signs with its name", None).await.unwrap();
    assert_eq!((said.author_role, said.author_name.as_deref()), (AuthorRole::Agent, Some("ole")));
    assert_eq!(store.db.comments(&other).await.unwrap(), [said]);
    store.db.add_comment(&planning.caller, &other, "A planner speaks on every task of its project", None).await.unwrap();
}

#[tokio::test]
async fn last_comments_of_all_cards_are_read_together() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    for (task, content) in [(&one, "a"), (&two, "b"), (&one, "c"), (&one, "d")] {
        store.db.add_comment(&Caller::owner(), task, content, None).await.unwrap();
    }
    let last = async |most| {
        store.db.last_comments(&store.project, Some((&one, &two)), most).await.unwrap().into_iter().map(|comment| comment.content).collect::<String>()
    };
    assert_eq!((last(1).await.as_str(), last(2).await.as_str(), last(0).await.as_str()), ("bd", "bcd", ""));
    assert_eq!(store.db.last_comments(&"PROJ-009".parse().unwrap(), Some((&one, &two)), 9).await.unwrap(), []);
    let second = store.db.last_comments(&store.project, Some((&two, &two)), 9).await.unwrap();
    assert_eq!(second.iter().map(|comment| comment.content.as_str()).collect::<String>(), "b");
}

#[tokio::test]
async fn only_the_author_changes_a_comment() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let (own, other) = (Caller::owner(), store.db.add_comment(&coder.caller, &task, "by the coder", None).await.unwrap());
    let first = store.db.add_comment(&own, &task, "first", None).await.unwrap();
    let (ann, vera) = (person(&store, "ann", PersonRole::Member).await, person(&store, "vera", PersonRole::Viewer).await);
    let seq = store.db.latest();
    for (caller, id) in [(&own, &other.id), (&ann, &first.id)] {
        assert_eq!(code(store.db.edit_comment(caller, id, "changed").await), "not-yours");
        assert_eq!(code(store.db.remove_comment(caller, id).await), "not-yours");
    }
    assert_eq!(code(store.db.edit_comment(&coder.caller, &other.id, "changed").await), "human-only");
    assert_eq!(code(store.db.edit_comment(&vera, &first.id, "changed").await), "person-role");
    assert_eq!(code(store.db.edit_comment(&own, &first.id, " ").await), "invalid");
    assert_eq!(store.db.latest(), seq);

    let edited = store.db.edit_comment(&own, &first.id, "second").await.unwrap();
    assert_eq!(store.db.edit_comment(&own, &first.id, "second").await.unwrap(), edited, "nothing changes");
    assert_eq!((edited.content.as_str(), edited.created_at, edited.edited_at.is_some()), ("second", first.created_at, true));
    assert_eq!(store.db.comments(&task).await.unwrap(), [other.clone(), edited]);
    store.db.remove_comment(&own, &first.id).await.unwrap();
    assert_eq!((store.db.comments(&task).await.unwrap(), store.card(&task).await.comments), (vec![other], 1));
    assert_eq!(code(store.db.remove_comment(&own, &first.id).await), "not-found");
    assert_eq!(store.kinds_since(seq).await, ["comment_edited", "comment_removed"]);
    store.check_fold().await;
}

async fn person(store: &Store, name: &str, role: PersonRole) -> Caller {
    store.db.set_owner("owner", "token").await.unwrap();
    let id = store.db.add_person(&Caller::owner(), NewPerson { name: name.to_owned(), role: Some(role) }).await.unwrap().id;
    let token = store.db.create_person_token(&Caller::owner(), id, NewPersonToken::default()).await.unwrap();
    store.db.caller(&token).await.unwrap().unwrap()
}
