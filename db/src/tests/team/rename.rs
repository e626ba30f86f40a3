//! Renames: what moves with the name, what stays, and which names are refused.

use domain::board::status::Status;
use domain::context::memory::NewMemoryEntry;
use domain::runs::agent_kind::AgentKind;
use domain::team::message::NewMessage;
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::zone::NewZone;

use crate::tests::external_agents::{Crew, assigned, call, completed, crew, manifest, message, message_texts, named, stage, submit};
use crate::tests::store::{Store, code, new_task, refusal};
use crate::{Caller, Db, Result};

async fn rename(store: &Store, by: &Caller, name: &str, new: &str) -> Result<String> {
    Ok(store.db.rename_agent(by, &store.project, name, new).await?.name)
}

/// The columns in which a row has this value.
async fn columns_with(store: &Store, value: &str) -> Vec<String> {
    let columns = "SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1, 2";
    let columns: Vec<(String, String)> = sqlx::query_as(columns).fetch_all(&store.db.readers).await.unwrap();
    let mut found = Vec::new();
    for (table, column) in columns.iter().filter(|(table, _)| !table.starts_with("search_words")) {
        let select = sqlx::AssertSqlSafe(format!("SELECT 1 FROM {table} WHERE {column} = $1 LIMIT 1"));
        let row: Option<i64> = sqlx::query_scalar(select).bind(value).fetch_optional(&store.db.readers).await.unwrap();
        found.extend(row.map(|_| format!("{table}.{column}")));
    }
    found
}

/// The caller of a token after a rename.
async fn now(db: &Db, token: &str) -> Caller {
    db.caller(token).await.unwrap().unwrap()
}

#[tokio::test]
async fn everything_live_moves_with_the_name() {
    let store = Store::board().await;
    store.plan_battle().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    let token = store.db.create_agent_token(&Caller::owner(), &store.project, named("ben", &[]), Default::default()).await.unwrap();
    let ben = now(&store.db, &token).await;
    let task = assigned(&store, "Search", "ben").await;
    stage(&store, &ben, &task, domain::board::stage::Stage::InProgress).await.unwrap();
    store.inbox(&ben).await;
    let path = |text: &str| text.parse().unwrap();
    store.db.claim_file(&ben, &store.project, &path("src/a.rs")).await.unwrap();
    store.db.claim_file(&lena, &store.project, &path("src/b.rs")).await.unwrap();
    store.db.claim_file(&ben, &store.project, &path("src/b.rs")).await.unwrap();
    let zone = NewZone { name: "audio".to_owned(), paths: vec!["audio/".to_owned()], owner: Some("ben".to_owned()), oracle: Some("ben".to_owned()) };
    store.db.set_zone(&lena, &store.project, zone).await.unwrap();
    store.db.write_note(&ben, &store.project, "Ports differ", false).await.unwrap();
    store.db.hand_over(&ben, &store.project, manifest("Half done")).await.unwrap();
    store.inbox(&lena).await;
    let kept = store.send(&lena, "ben", "Read").await.unwrap();
    store.inbox(&ben).await;
    store.send(&ben, "lena", "Yes").await.unwrap();
    store.inbox(&lena).await;
    store.send(&lena, "ben", "Unread").await.unwrap();
    let seq = store.db.latest();

    assert_eq!(rename(&store, &ben, "ben", "ben-audio").await.unwrap(), "ben-audio");
    assert_eq!(store.kinds_since(seq).await, ["task_assigned", "agent_renamed"]);
    assert!(store.db.agent(&store.project, "ben").await.is_err());
    let ben = now(&store.db, &token).await;
    assert_eq!(ben.name().as_deref(), Some("ben-audio"), "the token goes on");
    assert_eq!(store.card(&task).await.contributors.assigned_to.as_deref(), Some("ben-audio"));
    let claims = store.db.claims(&store.project, Some("ben-audio")).await.unwrap();
    assert_eq!((claims.claims.len(), claims.waits.len()), (1, 1));
    let zones = store.db.zones(&store.project).await.unwrap();
    assert_eq!((zones[0].owner.as_deref(), zones[0].oracle.as_deref()), (Some("ben-audio"), Some("ben-audio")));
    let note = store.db.write_note(&ben, &store.project, "And hosts", false).await.unwrap();
    assert!(note.body.contains("Ports differ") && note.topic == "ben-audio", "{note:?}");
    let inbox = store.inbox(&ben).await;
    assert_eq!(message_texts(&inbox), ["Unread"]);
    let reply = NewMessage { reply_to: Some(kept.id), ..message("lena", "As I said") };
    store.db.send(&ben, &store.project, reply).await.unwrap();
    // The former name is still understood, and still reserved.
    store.inbox(&lena).await;
    assert_eq!(store.send(&lena, "ben", "And you").await.unwrap().to_agent, "ben-audio");
    store.inbox(&ben).await;
    submit(&store, &assigned(&store, "Sort", "ben").await, &ben).await;
    assert_eq!(code(store.db.register(&store.invite(), &store.project, named("ben", &[]), None).await), "name-taken");
    assert_eq!(code(store.db.register(&store.invite(), &store.project, named("BEN", &[]), None).await), "name-taken");
    // Only history still has the former name.
    let left = columns_with(&store, "ben").await;
    let history = ["audit.actor", "deliveries.recipient", "events.actor", "former_names.former", "messages.from_agent", "messages.to_agent"];
    assert_eq!(left, history);
    store.check_fold().await;
}

#[tokio::test]
async fn renamed_builder_may_not_verify_its_own_work() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = completed(&store, "Search", &crew).await;
    let Crew { lena, tess, .. } = crew;
    rename(&store, &lena, "ben", "zed").await.unwrap();
    let zed = Caller::Agent(crate::AgentCaller {
        project_id: store.project.clone(),
        name: "zed".to_owned(),
        permissions: Default::default(),
        call_id: None,
    });
    assert_eq!(code(store.db.verify_task(&zed, &task, None).await), "not-independent");
    store.db.verify_task(&tess, &task, None).await.unwrap();
    assert_eq!(store.status(&task).await, Status::Done);
    store.check_fold().await;
}

#[tokio::test]
async fn name_that_another_has_or_had_is_refused() {
    let store = Store::board().await;
    let Crew { lena, ben, tess } = crew(&store).await;
    store.guest("red/eve").await;
    store.leaves(&tess, "tess").await;
    let run = store.task("One").await;
    let coder = store.agent(&run, AgentKind::Coder).await;
    rename(&store, &lena, "ben", "zed").await.unwrap();
    let zed = Caller::Agent(crate::AgentCaller {
        project_id: store.project.clone(),
        name: "zed".to_owned(),
        permissions: Default::default(),
        call_id: None,
    });
    let before = store.dump().await;
    for (new, expected) in [
        ("lena", "name-taken"),
        ("Lena", "name-taken"),
        ("blue/lena", "name-taken"),
        ("eve", "name-taken"),
        ("tess", "name-taken"),
        ("human", "invalid"),
        ("all", "invalid"),
        ("runner", "invalid"),
        ("coder-TASK-001", "invalid"),
        ("a b", "invalid"),
        ("", "invalid"),
        ("a/b/c", "invalid"),
        (&"x".repeat(81), "invalid"),
    ] {
        assert_eq!(code(rename(&store, &zed, "zed", new).await), expected, "{new}");
    }
    assert_eq!(code(rename(&store, &lena, "lena", "ben").await), "name-taken", "a former name stays reserved");
    assert_eq!(code(rename(&store, &zed, "lena", "kim").await), "lead-only");
    assert_eq!(code(rename(&store, &ben, "ben", "kim").await), "not-registered", "the former caller is gone");
    assert_eq!(code(rename(&store, &lena, "coder-TASK-001", "kim").await), "invalid");
    assert_eq!(code(rename(&store, &coder.caller, "zed", "kim").await), "lead-only");
    assert_eq!(code(rename(&store, &lena, "nobody", "kim").await), "unknown-agent");
    assert_eq!(store.dump().await, before);
    // Only the spelling, a team, and back.
    assert_eq!(rename(&store, &zed, "zed", "zed").await.unwrap(), "zed");
    for (old, new) in [("zed", "Zed"), ("Zed", "red/zed"), ("zed", "zoe"), ("red/zoe", "red/ben")] {
        rename(&store, &Caller::owner(), old, new).await.unwrap();
    }
    assert_eq!(refusal(rename(&store, &Caller::owner(), "nobody", "x").await).code(), "unknown-agent");
    store.check_fold().await;
}

#[tokio::test]
async fn repeated_rename_changes_nothing_and_memory_moves() {
    let store = Store::board().await;
    let token = store.db.create_agent_token(&Caller::owner(), &store.project, named("ben", &[]), Default::default()).await.unwrap();
    let ben = now(&store.db, &token).await;
    let new = NewMemoryEntry {
        key: "port".to_owned(),
        value: serde_json::json!(8080),
        session_id: None,
        scope: None,
        expires_in: None,
        metadata: Default::default(),
        overwrite: true,
    };
    store.db.set_memory(&ben, new).await.unwrap();
    rename(&store, &call(&ben, "1"), "ben", "ole").await.unwrap();
    let ole = now(&store.db, &token).await;
    let seq = store.db.latest();
    assert_eq!(rename(&store, &call(&ole, "1"), "ben", "ole").await.unwrap(), "ole", "the answer may have been lost");
    assert_eq!(store.db.latest(), seq);
    assert_eq!(store.db.memory(&ole, "port", None).await.unwrap().value, serde_json::json!(8080));
    let class = Some(AgentClass::Oracle);
    store.db.register(&ole, &store.project, domain::team::agent::Registration { class, ..named("ole", &[]) }, None).await.unwrap();
    let task = store.db.create_task(&Caller::owner(), &store.project, new_task("One")).await.unwrap();
    assert_eq!(task.card.contributors.assigned_to, None);
}
