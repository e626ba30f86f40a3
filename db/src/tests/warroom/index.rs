//! Indexes of the war room: what is frequent reads neither finished work nor other repositories.

use domain::warroom::raid_log::Priority;

use crate::tests::engine::index::plan;
use crate::tests::store::Store;
use crate::warroom::briefing::row::{ASSIGNED_TASKS, OPEN_TASKS};
use crate::warroom::claim::row::{CLAIMS, EXTERNAL, WAITS};
use crate::warroom::handover::row::{PAGE, UNREAD, WAITING};
use crate::warroom::handover::write::MARK_READ;
use crate::warroom::raid_log::row::list_sql;

#[tokio::test]
async fn raid_log_is_read_in_the_order_of_an_index() {
    let store = Store::board().await;
    for (by_author, index) in [
        (false, "raid_log_by_priority (project_id=? AND priority=? AND id<?)"),
        (true, "raid_log_by_author (project_id=? AND author=? AND priority=? AND id<?)"),
    ] {
        let plan = plan(&store, &list_sql(&[Priority::Critical], by_author)).await;
        assert!(plan.contains(index) && !plan.split(index).next().unwrap().contains("TEMP B-TREE"), "{plan}");
    }
}

#[tokio::test]
async fn handovers_and_briefings_are_read_by_index() {
    let store = Store::board().await;
    for (statement, index) in [
        (PAGE, "handovers_by_project"),
        (UNREAD, "unread_handovers (project_id=? AND agent_name=?)"),
        (WAITING, "unread_handovers (project_id=?)"),
        (MARK_READ, "unread_handovers (project_id=? AND agent_name=? AND id<?)"),
        (OPEN_TASKS, "(project_id=?"),
        (ASSIGNED_TASKS, "assigned_to=?"),
    ] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index) && !plan.contains("SCAN h"), "{statement}: {plan}");
    }
}

#[tokio::test]
async fn claims_are_read_for_one_repository() {
    let store = Store::board().await;
    for (statement, table) in [(CLAIMS, "claims"), (WAITS, "claim_waits")] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains("git_dir=?") && !plan.contains(&format!("SCAN {table}")), "{plan}");
    }
    let plan = plan(&store, EXTERNAL).await;
    assert!(!plan.contains("SCAN a\n") && plan.contains("SEARCH a USING INDEX"), "agents are found by name: {plan}");
}
