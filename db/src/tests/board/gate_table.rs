//! Stage permissions: all combinations of stage and caller, checked against a table written by hand.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::stage::Stage;
use domain::board::task::TaskUpdate;
use domain::board::task::refusal::TaskRefusal;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::evidence::EvidenceResult;

use crate::engine::tx::NoEventReason;
use crate::tests::external_agents::crew;
use crate::tests::store::{Store, evidence, new_task, refusal};
use crate::{Caller, Error};

/// Legal target stages per stage for the assignee, a lead, another trusted agent, an untrusted agent and the human.
/// Letters: a(ssigned), p (in progress), r(eview), f(ailed), c(ompleted), v(erified).
const LEGAL: &[(Stage, [&str; 5])] = &[
    (Stage::Pending, ["p", "a", "", "", "apf"]),
    (Stage::Assigned, ["p", "a", "", "", "apf"]),
    (Stage::Ready, ["", "a", "", "", "apf"]),
    (Stage::Blocked, ["p", "a", "", "", "apf"]),
    (Stage::InProgress, ["rf", "", "", "", "rfc"]),
    (Stage::Review, ["", "pc", "", "", "pfc"]),
    (Stage::Approved, ["", "pc", "", "", "pfc"]),
    (Stage::Completed, ["pv", "pv", "pv", "", "pv"]),
    (Stage::Verified, ["p", "p", "p", "", "p"]),
    (Stage::Closed, ["", "", "", "", "p"]),
    (Stage::Failed, ["", "a", "", "", "a"]),
    (Stage::Stale, ["rf", "", "", "", "rfc"]),
    (Stage::Abandoned, ["", "", "", "", ""]),
    (Stage::Obsolete, ["", "", "", "", ""]),
];

/// Moves that the table allows but the task forbids, because it is held or the caller contributed to it.
const REFUSED_FOR_ANOTHER_REASON: &[(Stage, &str, &str)] = &[
    (Stage::Pending, "p", "not-now"),
    (Stage::Completed, "p", "not-independent"),
    (Stage::Completed, "v", "not-independent"),
    (Stage::Verified, "p", "not-independent"),
];

const ASKED: [(&str, Stage); 6] =
    [("a", Stage::Assigned), ("p", Stage::InProgress), ("r", Stage::Review), ("f", Stage::Failed), ("c", Stage::Completed), ("v", Stage::Verified)];

/// Forces a task into a stage.
async fn force(store: &Store, task: &TaskId, stage: Stage) {
    let (task, stalled) = (task.clone(), serde_json::to_string(&Attention::new(AttentionKind::ReviewLimit, "")).unwrap());
    let blocked = serde_json::to_string(&WaitReason::BlockedBy { tasks: vec![TaskId::new(9)] }).unwrap();
    let set = match stage {
        Stage::Pending => "status = 'backlog', held_by = 'human'".to_owned(),
        Stage::Assigned => "status = 'backlog'".to_owned(),
        Stage::Ready => "status = 'backlog', assigned_to = NULL".to_owned(),
        Stage::Blocked => format!("status = 'backlog', wait_reason = '{blocked}'"),
        Stage::InProgress => "status = 'in_progress'".to_owned(),
        Stage::Review => "status = 'in_review'".to_owned(),
        Stage::Approved => "status = 'in_review', approved_sha = 'head'".to_owned(),
        Stage::Completed => "status = 'done'".to_owned(),
        Stage::Verified => "status = 'done', verified_by = 'ida'".to_owned(),
        Stage::Closed => "status = 'done', phase = 'planner'".to_owned(),
        Stage::Failed => "status = 'cancelled', cancel_reason = 'failed'".to_owned(),
        Stage::Stale => format!("status = 'in_progress', attention = '{stalled}'"),
        Stage::Abandoned => "status = 'cancelled', cancel_reason = 'abandoned'".to_owned(),
        Stage::Obsolete => "status = 'cancelled', cancel_reason = 'obsolete'".to_owned(),
    };
    let work = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            let nothing = "phase = 'coder', held_by = NULL, wait_reason = NULL, attention = NULL, cancel_reason = NULL, approved_sha = NULL,
                           assigned_to = 'ben', verified_by = NULL";
            sqlx::query("DELETE FROM contributions").execute(&mut tx.connection).await?;
            sqlx::query("DELETE FROM hats").execute(&mut tx.connection).await?;
            for set in [nothing, &set] {
                let sql = format!("UPDATE tasks SET {set} WHERE id = $1");
                sqlx::query(sqlx::AssertSqlSafe(sql)).bind(task.as_str()).execute(&mut tx.connection).await?;
            }
            Ok(())
        })
    });
    work.await.unwrap();
}

#[tokio::test]
async fn stage_permissions_match_the_written_table() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let callers = [crew.ben, crew.lena, crew.tess, store.guest("rob").await, Caller::owner()];
    let task = store.db.create_task(&Caller::owner(), &store.project, new_task("One")).await.unwrap().card.id;
    for stage in Stage::ALL {
        let (_, legal) = LEGAL.iter().find(|(known, _)| known == stage).unwrap();
        // A refused update leaves everything as the next one needs it.
        let mut unchanged = None;
        for (caller, legal) in callers.iter().zip(legal) {
            for (letter, to) in ASKED {
                let before = match unchanged.take() {
                    Some(before) => before,
                    None => {
                        force(&store, &task, *stage).await;
                        assert_eq!(Stage::of(&store.card(&task).await), *stage);
                        store.dump().await
                    }
                };
                let found = if to == Stage::Review { evidence() } else { EvidenceResult::Nothing };
                // Supply a comment or an assignee to the moves that need one.
                let assigned_to = (to == Stage::Assigned).then(|| "tess".to_owned());
                let update = TaskUpdate { stage: Some(to), assigned_to, result: judged(to, *stage).then(|| "Because".to_owned()) };
                let done = store.db.update_task(caller, &task, update, found).await;
                let what = format!("{} makes it {to} from {stage}: {:?}", caller.name().unwrap(), done.as_ref().map(|task| task.card.status));
                let own = caller == &callers[0];
                let other = REFUSED_FOR_ANOTHER_REASON.iter().find(|(from, asked, _)| own && from == stage && *asked == letter);
                match done {
                    Ok(_) => assert!(legal.contains(letter) && other.is_none(), "{what}"),
                    Err(Error::Refused(refused)) => {
                        check_refused(&refused, legal, letter, other.map(|(_, _, code)| *code), &what);
                        assert_eq!(store.dump().await, before, "{what}");
                        unchanged = Some(before);
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
}

/// Returns whether a move to `to` carries a comment.
fn judged(to: Stage, from: Stage) -> bool {
    let submitted = matches!(from, Stage::Review | Stage::Approved | Stage::Completed | Stage::Verified | Stage::Closed);
    matches!(to, Stage::Completed | Stage::Verified) || (to == Stage::InProgress && submitted)
}

#[track_caller]
fn check_refused(refused: &Refusal, legal: &str, letter: &str, other: Option<&str>, what: &str) {
    if let Some(other) = other {
        assert_eq!(refused.code(), other, "{what}");
        return;
    }
    assert!(!legal.contains(letter), "{what}: {refused}");
    let code = refused.code();
    assert!(["illegal-stage", "not-assignee", "lead-only", "unverified"].contains(&code), "{what}: {refused}");
    if let Refusal::Task(TaskRefusal::IllegalStage { from, next, .. }) = refused {
        let named: Vec<&str> = ASKED.iter().filter(|(_, stage)| next.contains(stage)).map(|(letter, _)| *letter).collect();
        // Reassignment is not another stage.
        let wanted: Vec<&str> = ASKED.iter().filter(|(letter, stage)| legal.contains(letter) && stage != from).map(|(letter, _)| *letter).collect();
        assert_eq!(named, wanted, "{what}: the refusal names other stages than the list");
    }
}

#[tokio::test]
async fn refusal_names_who_may_act() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let rob = store.guest("rob").await;
    let task = store.db.create_task(&Caller::owner(), &store.project, new_task("One")).await.unwrap().card.id;
    let says = async |caller: &Caller, from: Stage, to: Stage| {
        force(&store, &task, from).await;
        let update = TaskUpdate { stage: Some(to), ..TaskUpdate::default() };
        refusal(store.db.update_task(caller, &task, update, EvidenceResult::Nothing).await).to_string()
    };
    let refusals = [
        says(&crew.lena, Stage::Assigned, Stage::InProgress).await,
        says(&rob, Stage::Assigned, Stage::InProgress).await,
        says(&crew.tess, Stage::InProgress, Stage::Failed).await,
        says(&crew.ben, Stage::Review, Stage::Completed).await,
        says(&rob, Stage::Review, Stage::InProgress).await,
        says(&rob, Stage::Completed, Stage::Verified).await,
        says(&crew.ben, Stage::InProgress, Stage::Verified).await,
        says(&crew.ben, Stage::Obsolete, Stage::Assigned).await,
        says(&crew.lena, Stage::Review, Stage::Ready).await,
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r"
    making it in_progress requires the assignee, and TASK-001 is assigned to ben
    making it in_progress requires the assignee, and TASK-001 is assigned to ben
    making it failed requires the assignee, and TASK-001 is assigned to ben
    making it completed requires a lead, and ben is not one
    rob joined with an invite token, but making it in_progress requires a trusted agent
    rob joined with an invite token, but making it verified requires a trusted agent
    ben may not change TASK-001 from in_progress to verified
    ben may not change TASK-001 from obsolete to assigned
    lena may not change TASK-001 from review to ready
    ");
}
