//! Search: every text is found, follows its edits and goes with it; the filter stands before the limit; hostile queries are only words.

use domain::board::comment::Comment;
use domain::board::search::{SearchHit, SearchKind};
use domain::board::task::{TaskPatch, TaskUpdate};
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::runs::failure::{EndClass, FailureClass};
use domain::team::message::NewMessage;
use domain::team::role::Role;
use domain::wire::NewProject;

use crate::tests::external_agents::message;
use crate::tests::store::{MAX_ATTEMPTS, Store, code, new_task, probe};
use crate::{Caller, RunEnd, SearchQuery};

impl Store {
    async fn search_in(&self, text: &str, project: Option<&ProjectId>) -> Vec<SearchHit> {
        let query = SearchQuery { text: text.to_owned(), project: project.cloned(), limit: 20 };
        self.db.search(&Caller::owner(), &query).await.unwrap()
    }

    /// The ids of what is found, the best first.
    async fn search(&self, text: &str) -> Vec<String> {
        self.search_in(text, None).await.into_iter().map(|hit| hit.id).collect()
    }

    async fn says(&self, task: &TaskId, text: &str) -> Comment {
        self.db.add_comment(&Caller::owner(), task, text, None).await.unwrap()
    }

    async fn other_project(&self) -> ProjectId {
        self.db.create_project(&Caller::owner(), NewProject { title: "Other".to_owned(), ..NewProject::default() }, probe()).await.unwrap().id
    }
}

/// The words of a hit that are marked in its excerpt.
fn marked(hit: &SearchHit) -> Vec<String> {
    let part = |start: u32, end: u32| hit.excerpt.chars().skip(start as usize).take((end - start) as usize).collect();
    hit.highlights.iter().map(|mark| part(mark.start, mark.end)).collect()
}

#[tokio::test]
async fn every_kind_of_text_is_found_with_typing_errors() {
    let store = Store::board().await;
    let task = store.task("Rename the passkeys").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let comment = store.says(&task, "The thermostat needs a **recalibration** first").await;
    let eve = store.member("eve", &[]).await;
    store.db.send(&eve, &store.project, NewMessage { task_id: Some(task.clone()), ..message("human", "Which lighthouse?") }).await.unwrap();
    let end = RunEnd {
        failure: Some(FailureClass::Crashed),
        error: Some("The compiler found a hippopotamus".to_owned()),
        ..RunEnd::new(EndClass::Failed, MAX_ATTEMPTS)
    };
    store.db.end_run(&coder.run, end).await.unwrap();

    let one = async |text: &str| {
        let mut found = store.search_in(text, None).await;
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    };
    let hit = one("passkyes").await;
    assert_eq!((hit.kind, hit.id.as_str(), hit.title_highlights.len(), hit.author.as_deref()), (SearchKind::Task, task.as_str(), 1, Some("human")));
    let hit = one("recalbration termostat").await;
    assert_eq!((hit.kind, hit.id.as_str(), hit.task_id.as_ref()), (SearchKind::Comment, comment.id.as_str(), Some(&task)));
    assert_eq!((marked(&hit), hit.author.as_deref()), (vec!["thermostat".to_owned(), "recalibration".to_owned()], Some("human")));
    let hit = one("lighthouse").await;
    assert_eq!((hit.kind, hit.author.as_deref(), hit.task_id), (SearchKind::Message, Some("eve"), Some(task.clone())));
    let hit = one("hipopotamus").await;
    assert_eq!((hit.kind, hit.id.as_str(), hit.task_title.as_deref()), (SearchKind::Run, coder.run.as_str(), Some("Rename the passkeys")));
    assert_eq!(store.search("zebra").await, [""; 0]);
}

#[tokio::test]
async fn index_follows_edits_and_removals() {
    let store = Store::board().await;
    let task = store.task("Paint the giraffe").await;
    let patch = TaskPatch { title: Some("Paint the crocodile".to_owned()), description: Some("With varnish".to_owned()), ..TaskPatch::default() };
    store.db.edit_task(&Caller::owner(), &task, patch).await.unwrap();
    assert_eq!((store.search("giraffe").await, store.search("crocodile varnish").await), (vec![], vec![task.to_string()]));
    let comment = store.says(&task, "A first kangaroo").await;
    store.db.edit_comment(&Caller::owner(), &comment.id, "A second wallaby").await.unwrap();
    assert_eq!((store.search("kangaroo").await, store.search("wallaby").await), (vec![], vec![comment.id.to_string()]));
    store.db.remove_comment(&Caller::owner(), &comment.id).await.unwrap();
    assert_eq!(store.search("wallaby").await, [""; 0]);
    let update = TaskUpdate { result: Some("It has an armadillo now".to_owned()), ..TaskUpdate::default() };
    store.db.update_task(&store.member("mara", &[Role::Lead]).await, &task, update, EvidenceResult::Nothing).await.unwrap();
    assert_eq!(store.search("armadillo").await, [task.to_string()]);
    // A refused write leaves no words.
    assert_eq!(code(store.db.add_comment(&Caller::owner(), &TaskId::new(404), "Pangolin", None).await), "not-found");
    assert_eq!(store.search("pangolin").await, [""; 0]);
}

#[tokio::test]
async fn best_match_comes_first_and_titles_before_texts() {
    let store = Store::board().await;
    let mentioned = store.task("Something else").await;
    let titled = store.task("Retry the payment").await;
    let comment = store.says(&mentioned, "Retry the payment soon").await;
    let swapped = store.says(&mentioned, "The payment needs another retry").await;
    let begun = store.says(&mentioned, "The payments are retryable").await;
    let expected = [titled.to_string(), comment.id.to_string(), swapped.id.to_string(), begun.id.to_string()];
    assert_eq!(store.search("retry the payment").await, expected);
    store.says(&mentioned, "Rety the payent").await;
    assert_eq!(store.search("retry the payment").await.len(), 5, "errors in the text are found like errors in the query");
    assert_eq!(store.search("TASK-002").await, [""; 0], "ids are not texts");
}

#[tokio::test]
async fn filter_stands_before_the_limit() {
    let store = Store::board().await;
    let elsewhere = store.other_project().await;
    let hidden = store.db.create_task(&Caller::owner(), &elsewhere, new_task("The oldest quokka")).await.unwrap().card.id;
    let task = store.task("Many").await;
    for _ in 0..200 {
        store.says(&task, "One more quokka").await;
    }
    let found = store.search_in("quokka", Some(&elsewhere)).await;
    assert_eq!(found.iter().map(|hit| (hit.id.as_str(), hit.project_title.as_str())).collect::<Vec<_>>(), [(hidden.as_str(), "Other")]);
    assert_eq!(store.search_in("quokka", Some(&store.project)).await.len(), 20);
    let missing = SearchQuery { text: "quokka".to_owned(), project: Some(ProjectId::new(404)), limit: 20 };
    assert_eq!(code(store.db.search(&Caller::owner(), &missing).await), "not-found");
}

#[tokio::test]
async fn words_of_which_only_some_stand_together_are_found() {
    let store = Store::board().await;
    let task = store.task("Alpha beta gamma").await;
    for _ in 0..3 {
        store.task("Delta epsilon").await;
    }
    assert_eq!(store.search("alpha beta epsilon gamma").await.first(), Some(&task.to_string()));
    assert_eq!(store.search("alpha xylophone").await, [""; 0], "one of two words is too few");
}

#[tokio::test]
async fn hostile_queries_are_only_words() {
    let store = Store::board().await;
    store.task("NEAR and or not").await;
    store.task("検索 and שלום with a 🚀").await;
    let long = "payment ".repeat(200_000);
    let hostile = [
        "",
        " ",
        "\"",
        "\"\"\"",
        "NEAR(",
        "a NEAR/2 b",
        "AND OR NOT *",
        "words:near",
        "^near",
        "near*",
        "-near",
        "{x}: y",
        "%_%",
        "'; DROP TABLE tasks --",
        "\0",
        "\u{202e}near",
        "(((((",
        long.as_str(),
    ];
    for text in hostile {
        let _found = store.search(text).await;
    }
    assert_eq!(store.search("\"near\" AND (or*").await.len(), 1);
    for text in ["検索", "שלום", "🚀", "検"] {
        assert_eq!(store.search(text).await, ["TASK-002"], "{text}");
    }
}

#[tokio::test]
async fn words_of_later_writes_are_found_by_the_next_search() {
    let store = Store::board().await;
    let task = store.task("One").await;
    for word in ["aardvark", "albatross", "alligator"] {
        assert_eq!(store.search(word).await, [""; 0]);
        let comment = store.says(&task, word).await;
        assert_eq!(store.search(&word[1..]).await, [comment.id.to_string()], "{word} without its first letter");
    }
}
