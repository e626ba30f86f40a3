//! Orders by trigger words: who may give them, what each does, and how they end.

use std::time::Duration;

use domain::board::attention::AttentionKind;
use domain::board::needs_you::Decision;
use domain::board::status::HeldBy;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::hand_over::HandOverReason;
use domain::warroom::raid_log::Priority;
use domain::warroom::trigger::{TriggerEnd, TriggerWord};

use crate::testing::set_time;
use crate::tests::external_agents::{assigned, crew, message};
use crate::tests::store::{Store, code};
use crate::{Caller, RaidLogQuery, Result, Sent, now};

async fn give(store: &Store, by: &Caller, to: &str, content: &str) -> Result<Sent> {
    store.db.send(by, &store.project, message(to, content)).await
}

/// The words of the active orders with their targets, newest first.
async fn active(store: &Store) -> Vec<String> {
    let listed = store.db.triggers(&store.project).await.unwrap().active;
    listed.iter().map(|one| [one.word.as_str(), one.target.as_deref().unwrap_or_default()].join(" ").trim().to_owned()).collect()
}

#[tokio::test]
async fn order_to_stop_makes_agents_hand_over_and_lets_nothing_start_until_it_is_withdrawn() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let (task, waiting) = (store.task("Search").await, store.task("Sort").await);
    let coder = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    let sent = give(&store, &crew.lena, "all", "moon_crash: the disk is full").await.unwrap();
    let order = sent.trigger.unwrap();
    assert_eq!((order.word, order.target, order.note.as_deref(), order.end), (TriggerWord::MoonCrash, None, Some("the disk is full"), None));
    assert!(sent.message.content.starts_with("moon_crash: the disk is full\n\n(moon_crash: Record what you know with fenix_down now"));
    assert_eq!(store.kinds_since(seq).await, ["message_sent", "trigger_given", "run_hand_over_requested", "raid_logged"]);
    let reason = HandOverReason::Ordered { word: TriggerWord::MoonCrash, by: "lena".to_owned() };
    assert_eq!(store.db.run(&coder.run).await.unwrap().hand_over, Some(reason));
    assert_eq!(store.db.triggers(&store.project).await.unwrap().at_work, 1);
    let log = store.db.raid_log(&Caller::owner(), &store.project, &RaidLogQuery::default()).await.unwrap();
    assert_eq!((log[0].entry.as_str(), log[0].priority), ("Order: moon_crash: the disk is full", Priority::Critical));

    assert_eq!(code(store.reserve(&waiting, AgentKind::Coder, "a1").await), "stopped-by-order");
    for by in [&crew.lena, &Caller::owner()] {
        assert_eq!(code(store.db.assign_task(by, &waiting, Some("ben".to_owned()), None).await), "stopped-by-order");
    }
    assert_eq!(store.db.snapshot().await.unwrap().stop_orders[&store.project], (TriggerWord::MoonCrash, "lena".to_owned()));
    give(&store, &crew.lena, "all", "moon_crash").await.unwrap();
    assert_eq!(active(&store).await, ["moon_crash"], "a repeated order stays the first one");
    store.end(&coder.run, EndClass::Parked, None).await;
    assert_eq!(store.db.triggers(&store.project).await.unwrap().at_work, 0, "it is known when all have ended");

    let withdraw = async |by: &Caller, word| store.db.withdraw_trigger(by, &store.project, word, None).await;
    assert_eq!(code(withdraw(&crew.ben, TriggerWord::MoonCrash).await), "lead-only");
    assert_eq!(code(withdraw(&crew.lena, TriggerWord::Retreat).await), "order-not-active");
    assert_eq!(withdraw(&crew.lena, TriggerWord::MoonCrash).await.unwrap().end, Some(TriggerEnd::Withdrawn));
    assert_eq!(code(withdraw(&crew.lena, TriggerWord::MoonCrash).await), "order-not-active");
    assert!(active(&store).await.is_empty());
    store.reserve(&waiting, AgentKind::Coder, "a1").await.unwrap();
}

#[tokio::test]
async fn order_by_another_than_a_lead_changes_nothing() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let before = store.dump().await;
    for by in [&crew.ben, &coder.caller] {
        for text in ["rally", "moon_crash", "sitrep lena", "stand_down lena: go"] {
            assert_eq!(code(give(&store, by, "all", text).await), "order-needs-a-lead", "{text}");
        }
    }
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn word_in_a_sentence_a_quote_or_code_is_no_order() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    for text in ["rally the others tomorrow", "> retreat", "`moon_crash`", "```\nmoon_crash\n```", "We may need moon_crash."] {
        for by in [&crew.lena, &Caller::owner()] {
            store.inbox(&crew.lena).await;
            assert_eq!(give(&store, by, "all", text).await.unwrap().trigger, None, "{text}");
        }
    }
    assert!(active(&store).await.is_empty());
}

#[tokio::test]
async fn order_is_refused_for_the_wrong_recipient() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let before = store.dump().await;
    for (to, text, expected) in [
        ("ben", "rally", "order-is-for-all"),
        ("ben", "hot_zone audio", "order-is-for-all"),
        ("all", "sitrep", "order-without-agent"),
        ("ben", "sitrep lena", "order-for-another"),
        ("human", "sitrep", "order-to-a-person"),
        ("all", "sitrep zoe", "unknown-agent"),
        ("all", "hot_zone ../etc", "invalid"),
    ] {
        let refused = code(give(&store, &crew.lena, to, text).await);
        assert_eq!(refused, expected, "{text} to {to}");
    }
    assert_eq!(store.dump().await, before, "nothing was written");
}

#[tokio::test]
async fn stand_down_holds_the_task_and_fenix_down_does_not() {
    let store = Store::board().await;
    let (one, two) = (store.task("Search").await, store.task("Sort").await);
    let (first, second) = (store.agent(&one, AgentKind::Coder).await, store.agent(&two, AgentKind::Coder).await);
    let order = give(&store, &Caller::owner(), "coder-TASK-001", "stand_down").await.unwrap().trigger.unwrap();
    assert_eq!((order.target.as_deref(), order.end), (Some("coder-TASK-001"), Some(TriggerEnd::Done)));
    give(&store, &Caller::owner(), "all", "fenix_down coder-TASK-002").await.unwrap();
    assert!(active(&store).await.is_empty(), "both are done when they are given");
    for run in [&first.run, &second.run] {
        assert!(matches!(store.db.run(run).await.unwrap().hand_over, Some(HandOverReason::Ordered { .. })));
        store.end(run, EndClass::Parked, None).await;
    }
    assert_eq!((store.card(&one).await.held_by, store.card(&two).await.held_by), (Some(HeldBy::Stop), None));
    store.check_fold().await;
}

#[tokio::test]
async fn agent_that_leaves_a_sitrep_without_an_answer_is_removed_after_half_an_hour() {
    let start = now();
    let minutes = |minutes: u64| start.after(Duration::from_secs(minutes * 60));
    set_time(start);
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "Search", "ben").await;
    store.db.claim_file(&crew.ben, &store.project, &"src/lib.rs".parse().unwrap()).await.unwrap();
    let order = give(&store, &crew.lena, "ben", "sitrep").await.unwrap().trigger.unwrap();
    assert_eq!(order.due_at, Some(minutes(30)));
    assert_eq!(store.db.snapshot().await.unwrap().due_triggers, [(order.id, minutes(30))]);
    set_time(minutes(29));
    store.db.expire_trigger(order.id).await.unwrap();
    assert_eq!(active(&store).await, ["sitrep ben"], "it still has time");
    set_time(minutes(30));
    store.db.expire_trigger(order.id).await.unwrap();
    let listed = store.db.triggers(&store.project).await.unwrap();
    assert_eq!((listed.active.len(), listed.ended[0].end), (0, Some(TriggerEnd::Unanswered)));
    assert!(store.db.agent(&store.project, "ben").await.unwrap().left_at.is_some());
    assert!(store.db.claims(&store.project, None).await.unwrap().claims.is_empty());
    let card = store.card(&task).await;
    assert_eq!(card.contributors.assigned_to, None);
    let asked = card.attention.clone().unwrap();
    for choice in ["Assign the task to another agent", "predecessor=ben", "assess", "press Finish"] {
        assert!(asked.detail.contains(choice), "{}", asked.detail);
    }
    assert_eq!((asked.kind, asked.agent.as_deref()), (AttentionKind::AssigneeRemoved, Some("ben")));
    let inbox = store.db.needs_you(&Caller::owner()).await.unwrap();
    let item = inbox.items.iter().find(|item| item.task_id.as_ref() == Some(&task)).unwrap();
    let Decision::Attention { choices, agent, .. } = &item.decision else { panic!("{item:?}") };
    assert_eq!((choices.as_slice(), agent.as_deref()), (asked.choices(card.status), Some("ben")));
    store.check_fold().await;
}

#[tokio::test]
async fn each_sign_of_life_answers_a_sitrep() {
    let start = now();
    set_time(start);
    let store = Store::board().await;
    let crew = crew(&store).await;
    let ask = async || give(&store, &crew.lena, "ben", "sitrep").await.unwrap().trigger.unwrap().id;
    ask().await;
    store.db.check_inbox(&crew.ben, &store.project, None).await.unwrap();
    give(&store, &crew.ben, "lena", "All is well.").await.unwrap();
    assert!(active(&store).await.is_empty(), "a message is an answer at once");
    store.db.check_inbox(&crew.lena, &store.project, None).await.unwrap();
    let second = ask().await;
    set_time(start.after(Duration::from_secs(60)));
    store.db.check_inbox(&crew.ben, &store.project, None).await.unwrap();
    set_time(start.after(Duration::from_secs(31 * 60)));
    store.db.expire_trigger(second).await.unwrap();
    assert_eq!(store.db.triggers(&store.project).await.unwrap().ended[0].end, Some(TriggerEnd::Done), "it read its inbox");
    assert!(store.db.agent(&store.project, "ben").await.unwrap().left_at.is_none());
    let task = store.task("Search").await;
    store.agent(&task, AgentKind::Coder).await;
    let managed = give(&store, &Caller::owner(), "coder-TASK-001", "sitrep").await.unwrap().trigger.unwrap();
    assert_eq!((managed.due_at, managed.end), (None, Some(TriggerEnd::Done)), "the runner watches agents that it started");
}
