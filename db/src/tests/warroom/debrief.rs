//! Debriefs, and what keeps a session from ending.

use domain::board::stage::Stage;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::warroom::battle_plan::{BattlePlanStatus, NewBattlePlan};
use domain::warroom::debrief::{Debrief, MAX_DEBRIEF_BYTES, NewDebrief};
use domain::warroom::raid_log::{NewRaidLogEntry, Priority};

use crate::tests::external_agents::{assigned, call, crew, stage, submit};
use crate::tests::store::{Store, code, new_task, refusal};
use crate::{BattlePlanQuery, Caller, RaidLogQuery, Result};

async fn debrief(store: &Store, by: &Caller, summary: impl Into<String>) -> Result<Debrief> {
    store.db.debrief(by, &store.project, NewDebrief { summary: summary.into() }).await
}

#[tokio::test]
async fn session_ends_once_its_tasks_are_closed_and_a_debrief_is_filed() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let end = async |by: &Caller| store.db.end_session(by, &store.project).await;
    let zone = NewBattlePlan { plan: "Mixer".to_owned(), zone: Some("audio".to_owned()), ..NewBattlePlan::default() };
    store.db.set_battle_plan(&crew.lena, &store.project, zone).await.unwrap();
    let held = store.db.create_task(&Caller::owner(), &store.project, new_task("Later")).await.unwrap().card.id;
    let mut tasks = Vec::new();
    for _ in 0..12 {
        tasks.push(assigned(&store, "Search", "ben").await);
    }
    let before = store.dump().await;
    let named: Vec<&str> = tasks.iter().take(10).map(TaskId::as_str).collect();
    let expected = format!("BLOCKED: the session cannot end, because 12 tasks are still open: {} and 2 more", named.join(", "));
    assert_eq!(refusal(end(&crew.lena).await).to_string(), expected);
    assert_eq!(store.dump().await, before, "nothing was written");
    for task in &tasks[1..] {
        stage(&store, &crew.ben, task, Stage::InProgress).await.unwrap();
        stage(&store, &crew.ben, task, Stage::Failed).await.unwrap();
    }
    assert_eq!(code(end(&crew.lena).await), "session-has-open-tasks");
    submit(&store, &tasks[0], &crew.ben).await;
    assert_eq!(code(end(&crew.lena).await), "session-has-open-tasks", "a task in review is open");
    store.db.close_task(&crew.lena, &tasks[0], EvidenceResult::Nothing).await.unwrap();
    for by in [&crew.lena, &Caller::owner()] {
        assert_eq!(code(end(by).await), "debrief-missing");
    }
    assert_eq!(code(end(&crew.ben).await), "lead-only");
    let filed = debrief(&store, &crew.lena, "Search is found").await.unwrap();
    assert_eq!((filed.author.as_str(), filed.session_ended_at), ("lena", None));
    for priority in [Priority::Low, Priority::High] {
        let entry = NewRaidLogEntry { entry: "Reading".to_owned(), priority: Some(priority) };
        store.db.log_raid(&crew.ben, &store.project, entry).await.unwrap();
    }
    let ended = end(&crew.lena).await.unwrap();
    assert_eq!((ended.plans, ended.log_entries, ended.waiting), (vec![1, 2], 1, vec![held]));
    let completed = BattlePlanQuery { status: Some(BattlePlanStatus::Completed), ..BattlePlanQuery::default() };
    assert_eq!(store.db.battle_plans(&store.project, &completed).await.unwrap().len(), 2);
    let entries = store.db.raid_log(&Caller::owner(), &store.project, &RaidLogQuery::default()).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.priority).collect::<Vec<_>>(), [Priority::High]);
    // The debrief of an earlier session is none of the next, which needs a plan again.
    assert_eq!(code(end(&crew.lena).await), "debrief-missing");
    assert_eq!(code(store.db.create_task(&crew.lena, &store.project, new_task("Next")).await), "no-battle-plan");
    debrief(&store, &crew.lena, "Nothing").await.unwrap();
    end(&Caller::owner()).await.unwrap();
    let kept = store.db.debriefs(&store.project, None, 9).await.unwrap();
    assert_eq!(
        kept.iter().map(|kept| (kept.summary.as_str(), kept.session_ended_at.is_some())).collect::<Vec<_>>(),
        [("Nothing", true), ("Search is found", true)]
    );
    assert_eq!(store.db.debriefs(&store.project, Some(kept[0].id), 1).await.unwrap()[0].id, filed.id);
    store.check_fold().await;
}

#[tokio::test]
async fn debrief_is_filed_by_leads_as_a_bounded_text() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let before = store.dump().await;
    for bad in [String::new(), " ".to_owned(), "a\0".to_owned(), "x".repeat(MAX_DEBRIEF_BYTES + 1), "x".repeat(1 << 20)] {
        assert_eq!(code(debrief(&store, &crew.lena, bad).await), "invalid");
    }
    for by in [&crew.ben, &crew.tess] {
        assert_eq!(code(debrief(&store, by, "Mine").await), "lead-only");
    }
    assert_eq!(code(debrief(&store, &store.guest("rob").await, "Mine").await), "unverified");
    let unknown = "PROJ-099".parse().unwrap();
    assert_eq!(code(store.db.debrief(&crew.lena, &unknown, NewDebrief { summary: "x".to_owned() }).await), "not-found");
    assert_eq!(code(store.db.end_session(&crew.lena, &unknown).await), "not-found");
    assert_eq!(code(store.db.debriefs(&unknown, None, 1).await), "not-found");
    assert!(store.db.debriefs(&store.project, None, 1).await.unwrap().is_empty());
    assert_ne!(before, store.dump().await, "only the guest was added");
    let once = call(&crew.lena, "1");
    let first = debrief(&store, &once, "Search is found").await.unwrap();
    assert_eq!(debrief(&store, &once, "Search is found").await.unwrap(), first, "a repeated call files one debrief");
}
