//! Indexes of the war room: what is frequent reads neither finished work nor other repositories.

use domain::warroom::knowledge::KnowledgeState;
use domain::warroom::raid_log::Priority;

use crate::team::agent::rename::MOVES;
use crate::tests::engine::index::plan;
use crate::tests::store::Store;
use crate::warroom::agent_activity::row as activity;
use crate::warroom::battle_plan::row as battle_plan;
use crate::warroom::briefing::row::{ASSIGNED_TASKS, INTEL, OPEN_TASKS, TRAPS};
use crate::warroom::claim::row::{ANY_WAIT, CLAIMS, EXTERNAL, HELD, ONE, WAITS, near_sql};
use crate::warroom::debrief::{row as debrief, write as debrief_writes};
use crate::warroom::formation::INDEPENDENT;
use crate::warroom::freshness::{row as freshness, write as freshness_writes};
use crate::warroom::handover::row::{PAGE, UNREAD, WAITING};
use crate::warroom::handover::write::MARK_READ;
use crate::warroom::heat_map::row as heat_map;
use crate::warroom::knowledge::files::PENDING;
use crate::warroom::knowledge::row as knowledge;
use crate::warroom::lead::row::party;
use crate::warroom::old_task::{row as old_tasks, write as old_task_writes};
use crate::warroom::oracle::row as oracle;
use crate::warroom::oracle::write::{COUNT, REMOVE_OLD};
use crate::warroom::raid_log::row::list_sql;
use crate::warroom::result::row as result;
use crate::warroom::trigger::DUE_ONE;
use crate::warroom::trigger::row as triggers;
use crate::warroom::trigger::write as trigger_writes;
use crate::warroom::workload::row::AVAILABLE;
use crate::warroom::zone::row::{OF_PROJECT, PLANNED};
use crate::warroom::zone::write::REMOVE;

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
        (WAITING, "waiting_handovers (project_id=?)"),
        (MARK_READ, "unread_handovers (project_id=? AND agent_name=? AND id<?)"),
        (OPEN_TASKS, "(project_id=?"),
        (ASSIGNED_TASKS, "assigned_to=?"),
    ] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index) && !plan.contains("SCAN h"), "{statement}: {plan}");
    }
}

#[tokio::test]
async fn orders_that_ended_cost_nothing() {
    let store = Store::board().await;
    for statement in [triggers::ACTIVE, triggers::ONE_ACTIVE, triggers::STOPPING, triggers::HOT, triggers::DUE, trigger_writes::OWED] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains("INDEX active_triggers"), "{statement}: {plan}");
    }
    let ended = plan(&store, triggers::ENDED).await;
    assert!(ended.contains("INDEX ended_triggers (project_id=?)") && !ended.contains("TEMP B-TREE"), "{ended}");
    for statement in [triggers::AT_WORK, trigger_writes::LIVE, trigger_writes::OF_AGENT, DUE_ONE] {
        let plan = plan(&store, statement).await;
        assert!(!plan.contains("SCAN t\n") && !plan.contains("SCAN a\n"), "{statement}: {plan}");
    }
}

#[tokio::test]
async fn activity_and_old_tasks_cost_what_is_open() {
    let store = Store::board().await;
    for (statement, index) in [
        (activity::BY_ASSIGNEE, "tasks_by_assignee (project_id=?"),
        (activity::ASSIGNED, "tasks_by_assignee (project_id=? AND assigned_to=?)"),
        (activity::OF_RUN, "SEARCH r USING INDEX"),
        (old_tasks::UNREVIEWED, "tasks_unreviewed (project_id=?)"),
        (old_task_writes::MARK, "(project_id=? AND status=?)"),
        (AVAILABLE, "(project_id=? AND status=?)"),
    ] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index), "{statement}: {plan}");
    }
}

#[tokio::test]
async fn claims_are_read_for_one_repository() {
    let store = Store::board().await;
    for (statement, table) in [(CLAIMS, "claims"), (WAITS, "claim_waits")] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains("git_dir=?") && !plan.contains(&format!("SCAN {table}")), "{plan}");
    }
    for (statement, indexes) in [
        (near_sql(4).as_str(), &["(git_dir=? AND key=?)", "(git_dir=? AND key>? AND key<?)", "claimed_patterns (git_dir=?)"][..]),
        (ONE, &["(git_dir=? AND key=?)"]),
        (HELD, &["claims_by_agent (project_id=? AND agent_name=?)"]),
        (ANY_WAIT, &["(git_dir=?)"]),
        (party::HELD, &["claims_by_agent (project_id=? AND agent_name=?)"]),
        (party::PLANNED, &["assigned_to=?"]),
        (freshness::OF_RUN, &["(run_id=?)"]),
        (freshness_writes::CUT, &["(run_id=? AND path=?)"]),
        (freshness_writes::FORGET, &["(run_id=?)"]),
    ] {
        let plan = plan(&store, statement).await;
        assert!(indexes.iter().all(|index| plan.contains(index)) && !plan.contains("SCAN c"), "{statement}: {plan}");
    }
    let plan = plan(&store, EXTERNAL).await;
    assert!(!plan.contains("SCAN a\n") && plan.contains("SEARCH a USING INDEX"), "agents are found by name: {plan}");
}

#[tokio::test]
async fn results_and_debriefs_are_read_without_a_scan() {
    let store = Store::board().await;
    for statement in [
        battle_plan::ALL_ACTIVE,
        result::NEWEST,
        result::ATTEMPTS,
        result::VERDICTS,
        result::LAST_COMMENT,
        result::HELD,
        debrief::OF_PROJECT,
        debrief::FILED,
        debrief::OPEN,
        debrief::WAITING,
        debrief_writes::END,
    ] {
        let plan = plan(&store, statement).await;
        // A scan of an index of open tasks is small.
        assert!(
            plan.lines().all(|line| !line.starts_with("SCAN ") || line.contains("tasks_open") || line == "SCAN CONSTANT ROW"),
            "{plan}\n{statement}"
        );
    }
    let newest = plan(&store, result::NEWEST).await;
    assert!(newest.contains("task_results_by_task (task_id=?)") && !newest.contains("TEMP B-TREE"), "{newest}");
}

#[tokio::test]
async fn archived_and_resolved_knowledge_costs_only_who_asks_for_it() {
    let store = Store::board().await;
    for (statement, index) in [
        (knowledge::LIVE.to_owned(), "live_knowledge"),
        (knowledge::OF_TOPIC.to_owned(), "live_knowledge"),
        (knowledge::LIVE_OF_KIND.to_owned(), "live_knowledge_in_order (project_id=? AND kind=?)"),
        (knowledge::COUNT_LIVE.to_owned(), "live_knowledge"),
        (knowledge::unread_sql(), "live_knowledge"),
        (knowledge::count_unread_sql(), "live_knowledge"),
        (knowledge::page_sql(None, Some(KnowledgeState::Live)), "live_knowledge_in_order (project_id=? AND kind=? AND id<?)"),
        (knowledge::page_sql(None, Some(KnowledgeState::Closed)), "closed_knowledge (project_id=? AND kind=? AND id<?)"),
        (PENDING.to_owned(), "unstored_knowledge"),
        (TRAPS.to_owned(), "live_knowledge_in_order (project_id=? AND kind=?)"),
        (INTEL.to_owned(), "live_knowledge_in_order (project_id=? AND kind=?)"),
    ] {
        let plan = plan(&store, &statement).await;
        let is_bounded =
            plan.lines().all(|line| !line.starts_with("SCAN knowledge") && !line.starts_with("SCAN k") || line.contains("unstored_knowledge"));
        assert!(plan.contains(index) && is_bounded, "{statement}: {plan}");
    }
}

#[tokio::test]
async fn formation_costs_what_is_open() {
    let store = Store::board().await;
    let plan = plan(&store, INDEPENDENT).await;
    let (tasks, dependencies) = ("INDEX tasks_by_project (project_id=? AND status=?)", "SEARCH d USING ");
    assert!(plan.contains(tasks) && plan.contains(dependencies) && !plan.contains("SCAN "), "{plan}");
}

#[tokio::test]
async fn answered_questions_to_oracles_cost_only_who_lists_them() {
    let store = Store::board().await;
    for (statement, index) in [
        (oracle::PAGE, "oracle_questions_by_project (project_id=? AND id<?)"),
        (oracle::OPEN, "open_oracle_questions (project_id=? AND asker=? AND oracle=?)"),
        (oracle::OPEN_OF_TASK, "oracle_questions_by_task (task_id=? AND answered_at=?)"),
        (oracle::ANSWERED_SINCE, "oracle_questions_by_task (task_id=? AND answered_at>?)"),
        (oracle::NOTE, "oracle_notes (task_id=? AND topic=?)"),
        (oracle::USE, "(project_id=?"),
        (COUNT, "(project_id=? AND name=?)"),
        (REMOVE_OLD, "oracle_questions_removable (asked_at<?)"),
    ] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{statement}: {plan}");
    }
}

#[tokio::test]
async fn zones_of_other_projects_cost_nothing() {
    let store = Store::board().await;
    for statement in [OF_PROJECT, REMOVE] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains("(project_id=?") && !plan.contains("TEMP B-TREE"), "{statement}: {plan}");
    }
}

#[tokio::test]
async fn zones_of_tasks_cost_only_those_tasks() {
    let store = Store::board().await;
    let plan = plan(&store, &format!("{PLANNED}'TASK-001', 'TASK-002')")).await;
    assert!(plan.contains("(id=?)") && !plan.contains("SCAN tasks"), "{plan}");
}

/// History costs a rename nothing. The lists without an index of their own hold few rows for each project.
#[tokio::test]
async fn rename_reads_no_history() {
    let store = Store::board().await;
    for statement in MOVES {
        let plan = plan(&store, statement).await;
        for table in ["deliveries", "claims", "claim_waits", "hats", "handshakes", "handshake_acks", "handovers", "triggers", "knowledge", "minions"]
        {
            assert!(!plan.contains(&format!("SCAN {table}\n")), "{statement}: {plan}");
        }
    }
}

#[tokio::test]
async fn heat_map_reads_open_tasks_and_the_last_that_ended() {
    let store = Store::board().await;
    for (statement, index) in [
        (heat_map::open_sql(), "tasks_"),
        (heat_map::ended_sql(), "tasks_finished (project_id=? AND status=? AND updated_at>?)"),
        (heat_map::CLAIMED.to_owned(), "claims_by_agent (project_id=?)"),
    ] {
        let plan = plan(&store, &statement).await;
        assert!(plan.contains(index) && !plan.contains("SCAN tasks\n") && !plan.contains("SCAN r") && !plan.contains("SCAN v"), "{plan}");
    }
    let ended = plan(&store, &heat_map::ended_sql()).await;
    assert!(!ended.contains("TEMP B-TREE"), "the newest come first from the index: {ended}");
}
