//! Oracles that the runner starts: their task, which is open while a question is, their answers and notes, and what they cost.

use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::usage::Usage;
use domain::team::agent::MANAGED;
use domain::team::message::NewMessage;
use domain::warroom::knowledge::{KnowledgeKind, NewKnowledge};
use domain::warroom::oracle::{NewOracleQuestion, OracleQuestion};
use domain::warroom::zone::NewZone;

use crate::tests::external_agents::message;
use crate::tests::store::{Agent, Store, code};
use crate::{Asked, Caller, Result, RunEnd};

async fn zone(store: &Store, name: &str, oracle: Option<&str>) {
    let new = NewZone { name: name.to_owned(), paths: vec![format!("{name}/")], oracle: oracle.map(str::to_owned), ..NewZone::default() };
    store.db.set_zone(&Caller::owner(), &store.project, new).await.unwrap();
}

fn about(zone: &str, question: &str) -> NewOracleQuestion {
    NewOracleQuestion { zones: vec![zone.to_owned()], question: question.to_owned() }
}

async fn try_ask(store: &Store, by: &Caller, zone: &str, question: &str, notes: Vec<i64>) -> Result<Asked> {
    store.db.ask_oracle(by, &store.project, about(zone, question), notes).await
}

async fn question(store: &Store, by: &Caller, question: &str) -> OracleQuestion {
    // An agent reads its messages before it sends one.
    store.inbox(by).await;
    try_ask(store, by, "audio", question, Vec::new()).await.unwrap().questions.remove(0)
}

async fn answer(store: &Store, oracle: &Agent, to: &str, question: i64, text: &str) -> Result<()> {
    let new = NewMessage { reply_to: Some(question), ..message(to, text) };
    store.db.send(&oracle.caller, &store.project, new).await.map(drop)
}

/// Brings what waits for an oracle into its conversation, as its prompt does.
async fn prompt(store: &Store, oracle: &Agent) {
    let waiting = store.db.run_inbox(&oracle.run).await.unwrap().messages;
    store.db.run_inbox_delivered(&oracle.run, "the prompt", waiting).await.unwrap();
    store.db.record_echo(&oracle.run, "the prompt").await.unwrap();
}

async fn read_again(store: &Store, id: i64) -> OracleQuestion {
    store.db.oracle_questions(&store.project, Some(id + 1), 1).await.unwrap().remove(0)
}

/// A board with a coder that asked the managed oracle of the zone audio.
async fn asked() -> (Store, Agent, OracleQuestion, TaskId) {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    zone(&store, "audio", Some(MANAGED)).await;
    let question = question(&store, &coder.caller, "Who frees the buffer?").await;
    let oracle = question.task_id.clone().unwrap();
    (store, coder, question, oracle)
}

#[tokio::test]
async fn question_opens_the_task_and_its_last_answer_finishes_it() {
    let (store, coder, first, task) = asked().await;
    let card = store.card(&task).await;
    assert_eq!((card.phase, card.status, card.title.as_str()), (AgentKind::Oracle, Status::Backlog, "Questions about the zone audio"));
    assert_eq!(first.oracle, format!("oracle-{task}"));
    let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
    prompt(&store, &oracle).await;
    let second = question(&store, &coder.caller, "And when?").await;
    assert_eq!(second.task_id.as_ref(), Some(&task), "each zone has one");
    answer(&store, &oracle, "coder-TASK-001", first.id, "Too early").await.unwrap_err();
    store.inbox(&oracle.caller).await;
    answer(&store, &oracle, "coder-TASK-001", first.id, "The mixer: audio/mix.rs:40").await.unwrap();
    assert_eq!(
        store.db.oracle_progress(&store.db.run(&oracle.run).await.unwrap()).await.unwrap(),
        crate::OracleProgress { open: 1, has_answered: true }
    );
    let usage = Usage { cost_micro_usd: 700, input_tokens: 900, output_tokens: 100, context_tokens: Some(5_000), ..Usage::default() };
    store.db.run_usage(&oracle.run, usage).await.unwrap();
    answer(&store, &oracle, "coder-TASK-001", second.id, "At the end").await.unwrap();
    assert_eq!(store.status(&task).await, Status::InProgress, "its run goes on");
    store.finish(&oracle).await;
    assert_eq!(store.status(&task).await, Status::Done);
    let [used] = store.db.oracle_use(&store.project).await.unwrap().try_into().unwrap();
    assert_eq!((used.questions, used.answers, used.from_notes, used.context_tokens), (2, 2, 0, 5_000));
    assert_eq!((used.tokens, used.cost_micro_usd, used.task_id.as_ref()), (1_000, 700, Some(&task)));
    assert_eq!(store.db.snapshot().await.unwrap().spent[&store.project].cost_micro_usd, 700, "it counts for the budget");
    let third = question(&store, &coder.caller, "Why?").await;
    assert_eq!((third.task_id.as_ref(), store.status(&task).await), (Some(&task), Status::Backlog), "the same task opens again");
    store.check_fold().await;
}

#[tokio::test]
async fn question_that_arrives_late_waits_for_the_next_run_of_the_session() {
    let (store, coder, first, task) = asked().await;
    let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
    prompt(&store, &oracle).await;
    answer(&store, &oracle, "coder-TASK-001", first.id, "The mixer").await.unwrap();
    let second = question(&store, &coder.caller, "And when?").await;
    store.finish(&oracle).await;
    assert_eq!(store.status(&task).await, Status::InProgress);
    let session = store.db.last_session(&task, AgentKind::Oracle).await.unwrap();
    assert_eq!(session, Some(format!("session of {}", oracle.run)));
    let next = store.agent_at(&task, AgentKind::Oracle, "later").await;
    let briefing = store.db.oracle_briefing(&next.run, true).await.unwrap();
    assert_eq!(briefing.questions.iter().map(|question| question.id).collect::<Vec<_>>(), [second.id]);
    assert_eq!((briefing.zone.as_str(), briefing.read.as_deref()), ("audio", Some("tip")), "what its session knows");
}

#[tokio::test]
async fn last_words_answer_the_only_question_that_was_received() {
    let (store, coder, first, task) = asked().await;
    let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
    let said = async |words: &str| store.db.answer_in_words(&oracle.caller, words).await.unwrap();
    assert!(!said("Hello").await, "it has not read the question");
    prompt(&store, &oracle).await;
    let second = question(&store, &coder.caller, "And when?").await;
    assert!(!said(" ").await && said("The mixer frees it.").await);
    assert_eq!(read_again(&store, first.id).await.answer.unwrap().text, "The mixer frees it.");
    assert!(!said("The mixer frees it.").await, "the other has not arrived");
    assert!(read_again(&store, second.id).await.answer.is_none());
    assert!(!store.db.answer_in_words(&coder.caller, "I do").await.unwrap(), "only an oracle answers");
    store.inbox(&coder.caller).await;
}

#[tokio::test]
async fn same_question_is_answered_from_notes_while_they_hold() {
    let (store, coder, first, task) = asked().await;
    let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
    prompt(&store, &oracle).await;
    assert!(store.db.oracle_notes(&store.project, &about("audio", "Who frees the buffer?")).await.unwrap().is_empty());
    answer(&store, &oracle, "coder-TASK-001", first.id, "The mixer").await.unwrap();
    store.finish(&oracle).await;
    let notes = store.db.oracle_notes(&store.project, &about("audio/mix.rs", " who frees the BUFFER")).await.unwrap();
    let [note] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!((note.question, note.sha.as_str(), note.paths[0].as_str()), (first.id, "tip", "audio/**"));
    let mara = store.member("mara", &[]).await;
    let again = try_ask(&store, &mara, "audio", "who frees the buffer", vec![note.question]).await.unwrap().questions.remove(0);
    let given = again.answer.clone().unwrap();
    assert_eq!((given.text.as_str(), given.noted_at), ("The mixer", Some(read_again(&store, first.id).await.answer.unwrap().answered_at)));
    assert_eq!(store.status(&task).await, Status::Done, "nothing is started");
    assert_eq!(store.inbox_texts(&mara).await, ["The mixer"]);
    let newest = store.db.oracle_notes(&store.project, &about("audio", "Who frees the buffer?")).await.unwrap();
    assert_eq!((newest[0].question, newest[0].sha.as_str()), (again.id, "tip"), "it is as old as the first");
    let used = store.db.oracle_use(&store.project).await.unwrap().remove(0);
    assert_eq!((used.questions, used.answers, used.from_notes), (2, 2, 1));
    // A file of the zone changed, so that no note holds.
    let changed = question(&store, &coder.caller, "Who frees the buffer?").await;
    assert!(changed.answer.is_none());
    assert_eq!(store.status(&task).await, Status::Backlog);
}

#[tokio::test]
async fn oracle_that_fails_to_the_end_tells_its_askers() {
    let (store, coder, first, task) = asked().await;
    for attempt in 1..=3 {
        assert!(read_again(&store, first.id).await.answer.is_none(), "before attempt {attempt}");
        let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
        let end = RunEnd { failure: Some(FailureClass::Crashed), error: Some("killed".to_owned()), ..RunEnd::new(EndClass::Failed, 3) };
        store.db.end_run(&oracle.run, end).await.unwrap();
    }
    let given = read_again(&store, first.id).await.answer.unwrap();
    let begins = "The expert could not answer: 3 attempts failed; the last: ";
    assert!(given.failed && given.text.starts_with(begins) && given.text.contains("(killed)"), "{}", given.text);
    assert_eq!(store.inbox_texts(&coder.caller).await, [given.text]);
    let card = store.card(&task).await;
    assert_eq!((card.status, card.attention), (Status::Done, None), "the next question tries again");
    assert!(store.db.oracle_notes(&store.project, &about("audio", "Who frees the buffer?")).await.unwrap().is_empty(), "it is not a note");
    assert_eq!(store.db.oracle_use(&store.project).await.unwrap()[0].answers, 0);
    store.check_fold().await;
}

#[tokio::test]
async fn askers_are_told_when_their_oracle_is_cancelled_or_dismissed() {
    let (store, coder, first, task) = asked().await;
    store.cancel(&task, "obsolete").await;
    assert!(read_again(&store, first.id).await.answer.unwrap().text.contains(&format!("its task {task} was cancelled")));
    let back = store.move_to(&Caller::owner(), &task, Status::Backlog).await;
    assert_eq!(code(back), "illegal-move", "only a question brings it back");
    let second = question(&store, &coder.caller, "Why?").await;
    assert_eq!(store.status(&task).await, Status::Backlog);
    zone(&store, "audio", Some("human")).await;
    assert!(read_again(&store, second.id).await.answer.unwrap().text.contains("the zone audio has another expert now"));
    assert_eq!(store.status(&task).await, Status::Done);
    zone(&store, "audio", Some(MANAGED)).await;
    let third = question(&store, &coder.caller, "Really?").await;
    assert_eq!(third.task_id.as_ref(), Some(&task), "it is the same oracle");
    store.db.remove_zone(&Caller::owner(), &store.project, "audio").await.unwrap();
    assert!(read_again(&store, third.id).await.answer.unwrap().failed);
    store.check_fold().await;
}

#[tokio::test]
async fn oracle_reads_what_is_new_before_it_answers() {
    let (store, _coder, first, task) = asked().await;
    let mara = store.member("mara", &[]).await;
    let intel = async |topic: &str| {
        let new = NewKnowledge {
            kind: KnowledgeKind::Intel,
            topic: topic.to_owned(),
            body: "It leaks".to_owned(),
            evidence: "src/lib.rs:1".to_owned(),
            paths: Vec::new(),
        };
        store.db.write_knowledge(&mara, &store.project, new).await.unwrap();
    };
    intel("deps").await;
    let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
    let topics = async |continues| {
        let read = store.db.oracle_briefing(&oracle.run, continues).await.unwrap().knowledge;
        read.into_iter().map(|item| item.topic).collect::<Vec<_>>()
    };
    assert_eq!(topics(false).await, ["deps"]);
    assert_eq!(topics(false).await, ["deps"], "a new session knows nothing");
    prompt(&store, &oracle).await;
    intel("port").await;
    assert_eq!(store.db.unread_required_knowledge(&oracle.caller).await.unwrap(), 1);
    assert_eq!(code(answer(&store, &oracle, "coder-TASK-001", first.id, "The mixer").await), "unread-knowledge");
    store.db.read_knowledge(&oracle.caller, &store.project, None).await.unwrap();
    answer(&store, &oracle, "coder-TASK-001", first.id, "The mixer").await.unwrap();
    assert_eq!(code(store.db.ask_question(&oracle.caller, "Why?", Vec::new(), None).await), "not-your-role");
}

#[tokio::test]
async fn asker_that_has_left_gets_the_answer_and_the_next_one_a_note() {
    let (store, _coder, first, task) = asked().await;
    store.cancel(&TaskId::new(1), "obsolete").await;
    let oracle = store.agent_at(&task, AgentKind::Oracle, "tip").await;
    prompt(&store, &oracle).await;
    answer(&store, &oracle, "coder-TASK-001", first.id, "The mixer").await.unwrap();
    store.finish(&oracle).await;
    assert_eq!(store.db.oracle_notes(&store.project, &about("audio", "Who frees the buffer?")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn bad_question_to_a_managed_oracle_is_refused() {
    let (store, coder, _first, task) = asked().await;
    let mara = store.member("mara", &[]).await;
    assert_eq!(code(try_ask(&store, &mara, "audio", " ", Vec::new()).await), "invalid");
    assert_eq!(code(store.db.oracle_notes(&store.project, &about("docs", "Why?")).await), "no-zone");
    assert_eq!(code(store.db.oracle_notes(&ProjectId::new(99), &about("audio", "Why?")).await), "not-found");
    assert_eq!(code(store.send(&mara, "zone/audio", "Hello").await), "managed-oracle", "nobody would read it");
    assert_eq!(code(store.move_to(&Caller::Runner, &task, Status::Done).await), "questions-open");
    // A question that waits says why.
    let open = question(&store, &coder.caller, "Who frees the buffer?").await;
    assert!(open.waits.is_none() && !store.db.are_settled(&[open.id]).await.unwrap());
    store.db.set_wait_reasons(vec![(task.clone(), Some(WaitReason::Paused))]).await.unwrap();
    assert_eq!(read_again(&store, open.id).await.waits.as_deref(), Some("paused by a human"));
    assert!(store.db.are_settled(&[open.id]).await.unwrap());
    store.finish(&coder).await;
    store.db.archive_project(&Caller::owner(), &store.project).await.unwrap();
    let archived = try_ask(&store, &mara, "audio", "Why?", Vec::new()).await.unwrap().questions.remove(0);
    assert_eq!((archived.answer, store.status(&task).await), (None, Status::Backlog), "no agent starts there");
}
