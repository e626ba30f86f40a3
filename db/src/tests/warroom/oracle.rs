//! Questions to oracles: whom they reach, which reply is the answer, how it is delivered, and what is counted.

use std::time::Duration;

use domain::runs::agent_kind::AgentKind;
use domain::team::message::NewMessage;
use domain::team::role::Role;
use domain::warroom::context_left::ContextReport;
use domain::warroom::oracle::{NewOracleQuestion, OracleQuestion};
use domain::warroom::zone::NewZone;

use crate::tests::external_agents::{call, message};
use crate::tests::store::{Store, code};
use crate::{Asked, Caller, Pruned, Result, RetentionLimits};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn zone(store: &Store, name: &str, oracle: Option<&str>) {
    let new = NewZone { name: name.to_owned(), paths: vec![format!("{name}/")], oracle: oracle.map(str::to_owned), ..NewZone::default() };
    store.db.set_zone(&Caller::owner(), &store.project, new).await.unwrap();
}

async fn ask_about(store: &Store, by: &Caller, zones: &[&str], question: &str) -> Result<Asked> {
    let zones = zones.iter().map(|zone| (*zone).to_owned()).collect();
    store.db.ask_oracle(by, &store.project, NewOracleQuestion { zones, question: question.to_owned() }, Vec::new()).await
}

async fn reply(store: &Store, by: &Caller, to: &str, question: &OracleQuestion, text: &str) -> i64 {
    let new = NewMessage { reply_to: Some(question.id), ..message(to, text) };
    store.db.send(by, &store.project, new).await.unwrap().message.id
}

/// Every question as `ID asker → oracle (zones): answer`, oldest first.
async fn questions(store: &Store) -> Vec<String> {
    let mut all = store.db.oracle_questions(&store.project, None, 50).await.unwrap();
    all.reverse();
    let shown = all.iter().map(|question| {
        let answer = question.answer.as_ref().map_or("-".to_owned(), |answer| format!("{} {:?}", answer.text, answer.context_tokens));
        format!("{} → {} ({}): {answer}", question.asker, question.oracle, question.zones.join(" "))
    });
    shown.collect()
}

#[tokio::test]
async fn question_reaches_the_oracle_and_its_reply_is_the_answer() {
    let store = Store::board().await;
    let ivy = store.member("ivy", &[]).await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    zone(&store, "audio", Some("ivy")).await;
    let seq = store.db.latest();
    let asked = ask_about(&store, &call(&coder.caller, "1"), &["audio/mix.rs"], "Who frees the buffer?").await.unwrap();
    let [question] = asked.questions.as_slice() else { panic!("{asked:?}") };
    assert_eq!((question.oracle.as_str(), question.zones.as_slice(), asked.away.len()), ("ivy", &["audio".to_owned()][..], 0));
    assert_eq!(store.kinds_since(seq).await, ["message_sent", "oracle_asked"]);
    let seq = store.db.latest();
    assert_eq!(ask_about(&store, &call(&coder.caller, "1"), &["audio/mix.rs"], "Who frees the buffer?").await.unwrap(), asked, "a repeated call");
    let again = ask_about(&store, &coder.caller, &["audio"], "Who frees the buffer?").await.unwrap();
    assert_eq!((again.questions, store.db.latest()), (asked.questions.clone(), seq), "it waits already");
    assert!(!store.db.are_settled(&[question.id]).await.unwrap());
    let read = store.inbox_texts(&ivy).await;
    assert!(read[0].starts_with("Question about the zone audio. ") && read[0].ends_with("\n\nWho frees the buffer?"), "{read:?}");
    let report = ContextReport { context: "Audio".to_owned(), tokens_used: Some(80_000), tokens_limit: Some(200_000) };
    store.db.set_context(&ivy, &store.project, report).await.unwrap();
    // Neither a message without the question, nor a reply of or to someone else, is the answer.
    let mara = store.member("mara", &[]).await;
    store.send(&ivy, "coder-TASK-001", "One moment").await.unwrap();
    store.db.send(&ivy, &store.project, NewMessage { reply_to: Some(question.id), ..message("mara", "Do you know?") }).await.unwrap();
    store.inbox(&mara).await;
    assert_eq!(code(store.db.send(&mara, &store.project, NewMessage { reply_to: Some(question.id), ..message("ivy", "I do") }).await), "invalid");
    let seq = store.db.latest();
    let answer = reply(&store, &ivy, "coder-TASK-001", question, "The mixer: audio/mix.rs:40").await;
    assert_eq!(store.kinds_since(seq).await, ["message_sent", "oracle_answered"]);
    reply(&store, &ivy, "coder-TASK-001", question, "Or the pool").await;
    assert!(store.db.are_settled(&[question.id]).await.unwrap());
    assert_eq!(questions(&store).await, ["coder-TASK-001 → ivy (audio): The mixer: audio/mix.rs:40 Some(80000)"], "the first reply counts");
    let [used] = store.db.oracle_use(&store.project).await.unwrap().try_into().unwrap();
    assert_eq!((used.questions, used.answers, used.answer_bytes, used.context_tokens), (1, 1, 26, 80_000));
    let taken = store.db.take_answers(&coder.caller, vec![question.id]).await.unwrap();
    assert_eq!(taken[0].answer.as_ref().map(|taken| (taken.message_id, taken.text.as_str())), Some((answer, "The mixer: audio/mix.rs:40")));
    assert_eq!(
        store.inbox_texts(&coder.caller).await,
        ["One moment", "(The mixer: audio/mix.rs:40)", "Or the pool"],
        "shown once, and once more until confirmed"
    );
    zone(&store, "audio", None).await;
    assert_eq!(store.db.oracle_use(&store.project).await.unwrap()[0].answers, 1, "a changed zone keeps its counts");
}

#[tokio::test]
async fn taken_answer_is_read_once_its_response_arrived() {
    let store = Store::board().await;
    let (ivy, mara, eve) = (store.member("ivy", &[]).await, store.member("mara", &[]).await, store.member("eve", &[]).await);
    zone(&store, "audio", Some("ivy")).await;
    let question = ask_about(&store, &mara, &["audio"], "Why?").await.unwrap().questions.remove(0);
    store.inbox(&ivy).await;
    let seq = store.db.latest();
    assert_eq!(store.db.take_answers(&mara, vec![question.id]).await.unwrap(), std::slice::from_ref(&question), "no answer yet");
    assert_eq!(store.db.latest(), seq);
    store.db.rename_agent(&Caller::owner(), &store.project, "ivy", "iris").await.unwrap();
    assert_eq!(questions(&store).await, ["mara → iris (audio): -"], "an open question follows the name of its oracle");
    store.db.rename_agent(&Caller::owner(), &store.project, "iris", "ivy").await.unwrap();
    let answer = reply(&store, &ivy, "mara", &question, "Because").await;
    assert!(store.db.take_answers(&eve, vec![question.id]).await.unwrap().is_empty(), "the question of another agent");
    store.db.take_answers(&mara, vec![question.id]).await.unwrap();
    assert_eq!(store.db.unread(&store.project, "mara").await.unwrap().count, 0, "it does not block send");
    store.db.confirm_inbox(&mara, vec![answer]).await.unwrap();
    assert!(store.inbox_texts(&mara).await.is_empty());
    store.db.take_answers(&mara, vec![question.id]).await.unwrap();
    assert!(store.inbox_texts(&mara).await.is_empty(), "a repeated call shows it without delivering it again");
}

#[tokio::test]
async fn question_across_zones_goes_to_each_oracle_once() {
    let store = Store::board().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    store.member("ivy", &[]).await;
    let oda = store.member("oda", &[]).await;
    for (name, oracle) in [("audio", "ivy"), ("mixer", "ivy"), ("core", "oda"), ("shop", "human")] {
        zone(&store, name, Some(oracle)).await;
    }
    store.leaves(&oda, "oda").await;
    let asked = ask_about(&store, &lena, &["core", "audio/a.rs", "mixer", "shop"], "Who calls whom?").await.unwrap();
    assert_eq!(asked.away, ["oda"], "a trusted agent that left reads it when it is back");
    assert_eq!(questions(&store).await, ["lena → human (shop): -", "lena → ivy (audio mixer): -", "lena → oda (core): -"]);
    let of_human = asked.questions.iter().find(|question| question.oracle == "human").unwrap();
    reply(&store, &Caller::owner(), "all", of_human, "Ask the code").await;
    assert_eq!(questions(&store).await[0], "lena → human (shop): Ask the code None");
    let used: Vec<_> = store.db.oracle_use(&store.project).await.unwrap().into_iter().map(|used| (used.zone, used.questions, used.answers)).collect();
    let expected =
        [("audio", 1, 0), ("core", 1, 0), ("mixer", 1, 0), ("shop", 1, 1)].map(|(zone, asked, answered)| (zone.to_owned(), asked, answered));
    assert_eq!(used, expected);
    let page = store.db.oracle_questions(&store.project, Some(of_human.id + 1), 1).await.unwrap();
    assert_eq!(page.iter().map(|question| question.id).collect::<Vec<_>>(), [of_human.id]);
}

#[tokio::test]
async fn bad_question_is_refused_and_changes_nothing() {
    let store = Store::board().await;
    let (ivy, mara) = (store.member("ivy", &[]).await, store.member("mara", &[]).await);
    zone(&store, "audio", Some("ivy")).await;
    zone(&store, "docs", None).await;
    let before = store.dump().await;
    let long = "x".repeat(4_001);
    for (by, zones, question, expected) in [
        (&mara, vec!["audio"], " ", "invalid"),
        (&mara, vec!["audio"], long.as_str(), "invalid"),
        (&mara, vec![], "Why?", "invalid"),
        (&mara, vec!["docs"], "Why?", "zone-without-oracle"),
        (&mara, vec!["README.md"], "Why?", "no-zone"),
        (&mara, vec!["../etc"], "Why?", "claim-outside"),
        (&ivy, vec!["audio"], "Why?", "own-zone"),
        (&store.invite(), vec!["audio"], "Why?", "not-registered"),
    ] {
        assert_eq!(code(ask_about(&store, by, &zones, question).await), expected, "{zones:?}");
    }
    assert_eq!(store.dump().await, before);
    store.send(&ivy, "mara", "Read this").await.unwrap();
    assert_eq!(code(ask_about(&store, &mara, &["audio"], "Why?").await), "unread", "as for send");
    let unknown = domain::id::ProjectId::new(99);
    assert_eq!(code(store.db.oracle_questions(&unknown, None, 1).await), "not-found");
    assert_eq!(code(store.db.oracle_use(&unknown).await), "not-found");
}

#[tokio::test]
async fn old_questions_between_agents_go_and_the_counts_of_zones_stay() {
    let store = Store::board().await;
    let (ivy, mara) = (store.member("ivy", &[]).await, store.member("mara", &[]).await);
    for (name, oracle) in [("audio", "ivy"), ("video", "human")] {
        zone(&store, name, Some(oracle)).await;
    }
    let asked = ask_about(&store, &mara, &["audio"], "Answered").await.unwrap();
    store.inbox(&ivy).await;
    reply(&store, &ivy, "mara", &asked.questions[0], "Here").await;
    store.inbox(&mara).await;
    ask_about(&store, &mara, &["audio"], "Open").await.unwrap();
    ask_about(&store, &mara, &["video"], "To a person").await.unwrap();
    ask_about(&store, &Caller::owner(), &["audio"], "By a person").await.unwrap();
    let limits = RetentionLimits { keep: DAY, max_events: u32::MAX };
    assert_eq!(store.db.prune(limits).await.unwrap(), Pruned::default(), "they are young");
    store.backdate("UPDATE oracle_questions SET asked_at = $1 WHERE $2 = ''", DAY * 2, "").await;
    ask_about(&store, &mara, &["audio"], "Young").await.unwrap();
    assert_eq!(store.db.prune(limits).await.unwrap(), Pruned { oracle_questions: 2, ..Pruned::default() });
    assert_eq!(questions(&store).await, ["mara → human (video): -", "human → ivy (audio): -", "mara → ivy (audio): -"]);
    let used = store.db.oracle_use(&store.project).await.unwrap();
    assert_eq!(used.iter().map(|used| used.questions).sum::<u32>(), 5, "{used:?}");
}
