//! Persons: who may add them, what each role may do, under which name they take part, and what is left after they are removed.

use domain::actor::Actor;
use domain::board::comment::AuthorRole;
use domain::board::order::NewPlace;
use domain::board::status::Status;
use domain::board::task::TaskUpdate;
use domain::runs::evidence::EvidenceResult;
use domain::runs::preview::PreviewSubject;
use domain::team::handshake::HandshakeEvent;
use domain::team::message::NewMessage;
use domain::team::person::{NewPerson, OWNER, Person, PersonEvent, PersonRole};
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::wire::NewPersonToken;

use crate::tests::external_agents::{message, named};
use crate::tests::store::{Store, code, landing, new_task, probe, publication};
use crate::{Caller, HistoryQuery, MoveRequest, PersonCaller, new_token};

fn new_person(name: &str, role: PersonRole) -> NewPerson {
    NewPerson { name: name.to_owned(), role: Some(role) }
}

async fn owned_board() -> Store {
    let store = Store::board().await;
    store.db.set_owner("owner", "token").await.unwrap();
    store
}

/// Adds a person and returns their caller, as their token identifies them.
async fn join(store: &Store, name: &str, role: PersonRole) -> Caller {
    let person = store.db.add_person(&Caller::owner(), new_person(name, role)).await.unwrap();
    let token = store.db.create_person_token(&Caller::owner(), person.id, NewPersonToken::default()).await.unwrap();
    store.db.caller(&token).await.unwrap().unwrap()
}

fn names(persons: &[Person]) -> Vec<(&str, PersonRole)> {
    persons.iter().map(|person| (person.name.as_str(), person.role)).collect()
}

#[tokio::test]
async fn first_start_makes_the_owner_and_later_ones_keep_the_name() {
    let store = Store::board().await;
    assert_eq!(store.db.persons().await.unwrap(), []);
    store.db.set_owner("Ann Example\n", "first").await.unwrap();
    store.db.set_owner("Someone", "second").await.unwrap();
    assert_eq!(names(&store.db.persons().await.unwrap()), [("Ann Example", PersonRole::Owner)]);
    assert_eq!(store.db.person(OWNER).await.unwrap().name, "Ann Example");
    let caller = store.db.caller("second").await.unwrap().unwrap();
    assert!(caller.is_person() && !Caller::Runner.is_person());
    assert_eq!((caller.name().as_deref(), caller.actor()), (Some("human"), Actor::Owner));
}

#[tokio::test]
async fn names_of_persons_are_unique_among_persons_and_agents() {
    let store = owned_board().await;
    let (db, owner) = (&store.db, &Caller::owner());
    store.member("mara", &[Role::Builder]).await;
    store.task("Runs").await;
    let add = async |name: &str| db.add_person(owner, new_person(name, PersonRole::Member)).await;
    add("ann").await.unwrap();
    for taken in ["ann", "Ann", "MARA", "Owner", "human", "all", "coder-TASK-001", "a/b", ""] {
        assert_eq!(code(add(taken).await), "invalid", "{taken}");
    }
    assert_eq!(code(db.create_agent_token(owner, &store.project, named("Ann", &[]), TokenTerms::default()).await), "name-taken");
    assert_eq!(code(db.register(&store.invite(), &store.project, named("blue/ann", &[]), None).await), "name-taken");
    let second_owner = new_person("ben", PersonRole::Owner);
    assert_eq!(code(db.add_person(owner, second_owner).await), "invalid");
}

#[tokio::test]
async fn actions_of_a_member_are_recorded_under_their_name() {
    let store = owned_board().await;
    let (db, ann) = (&store.db, join(&store, "ann", PersonRole::Member).await);
    let seq = db.latest();
    let task = db.create_task(&ann, &store.project, new_task("By Ann")).await.unwrap().card.id;
    let comment = db.add_comment(&ann, &task, "Hello", None).await.unwrap();
    assert_eq!((comment.author_role, comment.author_name.as_deref()), (AuthorRole::Human, Some("human/ann")));
    let owners = db.add_comment(&Caller::owner(), &task, "Hello", None).await.unwrap();
    assert_eq!((owners.author_role, owners.author_name), (AuthorRole::Human, None));
    assert_eq!(db.comments(&task).await.unwrap()[0].author_name.as_deref(), Some("human/ann"));
    db.move_task(&ann, &task, MoveRequest::to(Status::InProgress), EvidenceResult::Nothing).await.unwrap();
    db.move_task(&ann, &task, MoveRequest { merge: false, ..MoveRequest::to(Status::Done) }, EvidenceResult::Nothing).await.unwrap();
    let contributors = db.card(&task).await.unwrap().contributors;
    assert_eq!((contributors.approved_by.as_deref(), contributors.verified_by), (Some("human/ann"), None));
    assert_eq!(code(db.verify_task(&ann, &task, None).await), "not-independent");
    let verified = db.verify_task(&Caller::owner(), &task, None).await.unwrap();
    assert_eq!(verified.card.contributors.verified_by.as_deref(), Some("human"), "another person than the one who approved it");
    let created: Option<String> =
        sqlx::query_scalar("SELECT created_by FROM tasks WHERE id = $1").bind(task.as_str()).fetch_one(&db.readers).await.unwrap();
    assert_eq!(created.as_deref(), Some("human/ann"));
    let actors: Vec<Actor> = db.events_after(seq, None, 50).await.unwrap().into_iter().map(|envelope| envelope.actor).collect();
    assert_eq!(actors.first(), Some(&Actor::Person("ann".to_owned())));
    assert!(actors.contains(&Actor::Owner));
}

#[tokio::test]
async fn member_sends_and_receives_messages_under_their_name() {
    let store = owned_board().await;
    let mara = store.member("mara", &[Role::Builder]).await;
    store.send(&mara, "all", "Before Ann came").await.unwrap();
    let (db, ann) = (&store.db, join(&store, "ann", PersonRole::Member).await);
    join(&store, "vera", PersonRole::Viewer).await;
    let sent = store.send(&ann, "mara", "Which colour?").await.unwrap();
    assert_eq!(sent.from_agent, "human/ann");
    assert!(db.unread(&store.project, "mara").await.unwrap().urgent, "a person interrupts");
    store.inbox(&mara).await;
    for to in ["ann", "human/ann"] {
        assert_eq!(store.send(&mara, to, "Red").await.unwrap().to_agent, "human/ann", "{to}");
    }
    store.send(&mara, "all", "Done").await.unwrap();
    assert_eq!(code(store.send(&mara, "vera", "Hello").await), "unknown-agent");
    assert_eq!(store.inbox_texts(&ann).await, ["Red", "Red", "Done"]);
    assert_eq!(db.unread(&store.project, "human").await.unwrap().count, 2, "the owner has the broadcasts");
    let last = store.inbox(&ann).await.messages.last().unwrap().message.id;
    assert_eq!(db.check_inbox(&ann, &store.project, Some(last)).await.unwrap().messages, []);
}

#[tokio::test]
async fn request_to_the_human_reaches_every_member_until_one_answers() {
    let store = owned_board().await;
    let mara = store.member("mara", &[Role::Builder]).await;
    let (db, project) = (&store.db, &store.project);
    let (ann, ben) = (join(&store, "ann", PersonRole::Member).await, join(&store, "ben", PersonRole::Member).await);
    join(&store, "vera", PersonRole::Viewer).await;
    let unread = async || {
        let of = async |name: &str| db.unread(project, name).await.unwrap().count;
        [of("human").await, of("human/ann").await, of("human/ben").await, of("human/vera").await]
    };
    let asked = store.send(&mara, "human", "Which colour?").await.unwrap();
    assert_eq!((asked.to_agent.as_str(), asked.cc.len()), ("human", 0), "one message, without copies");
    assert_eq!(unread().await, [1, 1, 1, 0]);
    let received = store.inbox(&ann).await.messages.remove(0).message;
    assert_eq!((received.to_agent.as_str(), received.is_cc), ("human", false));
    assert_eq!(unread().await, [1, 0, 1, 0], "each reads for themselves");
    assert!(!db.history(project, &HistoryQuery::default()).await.unwrap()[0].read, "the sender waits for the owner");

    let answer = NewMessage { reply_to: Some(asked.id), ..message("mara", "Green") };
    let answer = db.send(&ann, project, answer).await.unwrap().message;
    assert_eq!((answer.from_agent.as_str(), unread().await), ("human/ann", [0, 0, 0, 0]), "nobody answers it twice");
    assert!(db.history(project, &HistoryQuery::default()).await.unwrap()[0].read);
    assert_eq!(store.inbox_texts(&ben).await, [""; 0]);

    store.inbox(&mara).await;
    let asked = store.send(&mara, "human", "Which size?").await.unwrap().id;
    let passed_on = NewMessage { reply_to: Some(asked), ..message("ann", "Can you take this?") };
    db.send(&Caller::owner(), project, passed_on).await.unwrap();
    assert_eq!(unread().await, [1, 2, 1, 0], "only an answer to the sender counts");
    db.send(&ben, project, NewMessage { reply_to: Some(asked), ..message("mara", "Large") }).await.unwrap();
    assert_eq!(unread().await, [0, 1, 0, 0]);
    let note = store.send(&ann, "human", "For Olga").await.unwrap().id;
    db.send(&ben, project, NewMessage { reply_to: Some(note), ..message("ann", "I saw it") }).await.unwrap();
    assert_eq!(unread().await[0], 1, "a message of a person is not shared");
    store.inbox(&ann).await;
    store.inbox(&Caller::owner()).await;

    store.inbox(&mara).await;
    let copied = NewMessage { cc: vec!["ann".to_owned()], ..message("human", "And this?") };
    db.send(&mara, project, copied).await.unwrap();
    store.send(&ann, "human", "For Olga").await.unwrap();
    assert_eq!(unread().await, [2, 1, 1, 0], "a copy stays one delivery, and a person writes to the owner alone");
}

#[tokio::test]
async fn changed_role_applies_at_once_to_tokens_and_sessions() {
    let store = owned_board().await;
    let (db, owner, task) = (&store.db, &Caller::owner(), store.task("A task").await);
    let person = db.add_person(owner, new_person("ann", PersonRole::Member)).await.unwrap();
    let token = db.create_person_token(owner, person.id, NewPersonToken::default()).await.unwrap();
    let secret = db.open_browser_session(person.id, None, None).await.unwrap().unwrap();
    let callers = async || [db.caller(&token).await.unwrap().unwrap(), db.use_browser_session(&secret).await.unwrap().unwrap()];
    for caller in callers().await {
        db.add_comment(&caller, &task, "As a member", None).await.unwrap();
    }
    let mara = store.member("mara", &[Role::Builder]).await;
    let asked = db.initiate_handshake(owner, &store.project, "The plan", vec!["mara".to_owned(), "ann".to_owned()]).await.unwrap().id;
    store.inbox(&mara).await;
    db.acknowledge(&mara, asked).await.unwrap();

    let unanswered = store.send(&mara, "ann", "Which colour?").await.unwrap().id;
    let (seq, mut revocations) = (db.latest(), db.token_revocations());
    revocations.mark_unchanged();
    let changed = db.change_person_role(owner, person.id, PersonRole::Viewer).await.unwrap();
    assert_eq!(changed, Person { role: PersonRole::Viewer, ..person.clone() });
    assert!(revocations.has_changed().unwrap(), "open streams ask again");
    for caller in callers().await {
        assert_eq!(code(db.add_comment(&caller, &task, "As a viewer", None).await), "person-role");
    }
    let events = store.since(seq).await;
    assert!(events.contains(&PersonEvent::RoleChanged { person: "ann".to_owned(), role: PersonRole::Viewer }.into()));
    assert!(events.contains(&HandshakeEvent::Completed { handshake: asked }.into()), "a viewer cannot acknowledge");
    assert_eq!(store.inbox_texts(&mara).await, [format!("[UNDELIVERED] human/ann is gone; your message #{unanswered} was not read")]);
    assert_eq!(code(store.send(&mara, "ann", "Hello").await), "unknown-agent");
    assert_eq!(code(db.register(&store.invite(), &store.project, named("ann", &[]), None).await), "name-taken", "a viewer keeps their name");

    let seq = db.latest();
    assert_eq!(db.change_person_role(owner, person.id, PersonRole::Viewer).await.unwrap(), changed);
    let refused = async |caller: &Caller, id, role| code(db.change_person_role(caller, id, role).await);
    assert_eq!(refused(owner, OWNER, PersonRole::Member).await, "invalid");
    assert_eq!(refused(owner, person.id, PersonRole::Owner).await, "invalid");
    assert_eq!(refused(owner, 99, PersonRole::Member).await, "not-found");
    assert_eq!(refused(&callers().await[0], person.id, PersonRole::Member).await, "person-role");
    assert_eq!(db.latest(), seq, "nothing changed");

    db.change_person_role(owner, person.id, PersonRole::Member).await.unwrap();
    for caller in callers().await {
        db.add_comment(&caller, &task, "As a member again", None).await.unwrap();
    }
}

#[tokio::test]
async fn viewer_changes_nothing() {
    let store = owned_board().await;
    let task = store.task("A task").await;
    let run = store.agent(&task, domain::runs::agent_kind::AgentKind::Coder).await.run;
    let (db, project, vera) = (&store.db, &store.project, join(&store, "vera", PersonRole::Viewer).await);
    let seq = db.latest();
    let update = TaskUpdate::default();
    let codes = [
        code(db.create_project(&vera, domain::wire::NewProject { title: "x".to_owned(), ..Default::default() }, probe()).await),
        code(db.create_task(&vera, project, new_task("x")).await),
        code(db.add_comment(&vera, &task, "x", None).await),
        code(db.move_task(&vera, &task, MoveRequest::to(Status::Backlog), EvidenceResult::Nothing).await),
        code(db.update_task(&vera, &task, update, EvidenceResult::Nothing).await),
        code(db.start_task(&vera, &task).await),
        code(db.reorder_task(&vera, &task, NewPlace::default()).await),
        code(db.stop_task(&vera, &task).await),
        code(db.approve_plan(&vera, project).await),
        code(db.verify_task(&vera, &task, None).await),
        code(db.send(&vera, project, message("human", "x")).await),
        code(db.check_inbox(&vera, project, None).await),
        code(db.register(&vera, project, named("vera", &[]), None).await),
        code(db.stop_run(&vera, &run).await),
        code(db.message_run(&vera, &run, "x").await),
        code(db.record_landing(&vera, project, landing("a1", "a1")).await),
        code(db.record_undone_landing(&vera, project, 1).await),
        code(db.record_publication(&vera, project, publication("a1")).await),
        code(db.request_preview(&vera, &PreviewSubject::Task(task.clone())).await),
        code(db.stop_preview(&vera, &PreviewSubject::Task(task.clone())).await),
        code(db.create_invite_token(&vera, project).await),
        code(db.revoke_browser_session(&vera, 1).await),
        code(db.add_person(&vera, new_person("ben", PersonRole::Member)).await),
    ];
    assert_eq!(codes, ["person-role"; 23]);
    assert_eq!(db.latest(), seq);
}

#[tokio::test]
async fn only_the_owner_manages_persons_tokens_and_sessions_of_others() {
    let store = owned_board().await;
    let (db, project, ann) = (&store.db, &store.project, join(&store, "ann", PersonRole::Member).await);
    let Caller::Person(PersonCaller { id, .. }) = ann else { panic!("not a person") };
    db.open_browser_session(OWNER, None, None).await.unwrap();
    db.open_browser_session(id, None, None).await.unwrap();
    let of = async |caller: &Caller| -> Vec<i64> { db.browser_sessions(caller).await.unwrap().iter().map(|session| session.person_id).collect() };
    assert_eq!((of(&Caller::owner()).await, of(&ann).await), (vec![OWNER, id], vec![id]));
    assert_eq!(code(db.browser_sessions(&Caller::Runner).await), "human-only");
    assert_eq!(code(db.revoke_browser_session(&ann, 1).await), "not-found", "the owner's");
    db.revoke_browser_session(&ann, 2).await.unwrap();

    let codes = [
        code(db.add_person(&ann, new_person("ben", PersonRole::Member)).await),
        code(db.change_person_role(&ann, id, PersonRole::Member).await),
        code(db.remove_person(&ann, id).await),
        code(db.create_person_token(&ann, id, NewPersonToken::default()).await),
        code(db.replace_own_token(&ann, &new_token()).await),
        code(db.create_agent_token(&ann, project, named("mara", &[]), TokenTerms::default()).await),
        code(db.create_invite_token(&ann, project).await),
    ];
    assert_eq!(codes, ["person-role"; 7]);
    assert_eq!(code(db.create_person_token(&Caller::owner(), OWNER, NewPersonToken::default()).await), "invalid", "it stands in a file");
    let token = new_token();
    assert_eq!(db.replace_own_token(&Caller::owner(), &token).await.unwrap(), 1, "the owner's session");
    assert_eq!(db.caller(&token).await.unwrap(), Some(Caller::owner()));
}

#[tokio::test]
async fn removed_person_has_no_access_and_stays_in_the_history() {
    let store = owned_board().await;
    let (db, owner) = (&store.db, &Caller::owner());
    let person = db.add_person(owner, new_person("ann", PersonRole::Member)).await.unwrap();
    let token = db.create_person_token(owner, person.id, NewPersonToken::default()).await.unwrap();
    let secret = db.open_browser_session(person.id, None, None).await.unwrap().unwrap();
    let ann = db.caller(&token).await.unwrap().unwrap();
    assert_eq!(db.use_browser_session(&secret).await.unwrap().as_ref(), Some(&ann));
    let task = store.task("A task").await;
    db.add_comment(&ann, &task, "Hello", None).await.unwrap();
    let mara = store.member("mara", &[Role::Builder]).await;
    let asked = db.initiate_handshake(owner, &store.project, "The plan", vec!["mara".to_owned(), "ann".to_owned()]).await.unwrap().id;
    store.inbox(&mara).await;
    db.acknowledge(&mara, asked).await.unwrap();

    let unanswered = store.send(&mara, "ann", "Which colour?").await.unwrap().id;
    let (seq, mut revocations) = (db.latest(), db.token_revocations());
    revocations.mark_unchanged();
    db.remove_person(owner, person.id).await.unwrap();
    assert!(revocations.has_changed().unwrap());
    assert_eq!((db.caller(&token).await.unwrap(), db.use_browser_session(&secret).await.unwrap()), (None, None));
    assert!(db.open_browser_session(person.id, None, None).await.unwrap().is_none(), "a link that was not used");
    let events = store.since(seq).await;
    assert!(events.contains(&PersonEvent::Removed { person: "ann".to_owned() }.into()));
    assert!(events.contains(&HandshakeEvent::Completed { handshake: asked }.into()), "the handshake no longer waits for them");
    assert_eq!(db.comments(&task).await.unwrap()[0].author_name.as_deref(), Some("human/ann"));
    assert_eq!(store.inbox_texts(&mara).await, [format!("[UNDELIVERED] human/ann is gone; your message #{unanswered} was not read")]);
    assert_eq!(code(store.send(&mara, "ann", "Hello").await), "unknown-agent");
    for gone in [person.id, 99] {
        assert_eq!(code(db.remove_person(owner, gone).await), "not-found");
        assert_eq!(code(db.create_person_token(owner, gone, NewPersonToken::default()).await), "not-found");
    }
    assert_eq!(code(db.remove_person(owner, OWNER).await), "invalid");

    let again = db.add_person(owner, new_person("Ann", PersonRole::Viewer)).await.unwrap();
    assert_eq!((again.id, again.name.as_str(), again.role), (person.id, "ann", PersonRole::Viewer), "the same person");
    assert_eq!(db.caller(&token).await.unwrap(), None);
}
