//! Indexes: frequent queries do not scan a table.

mod messages;

use domain::board::activity::Topic;
use domain::id::TaskId;
use domain::warroom::raid_log::Priority;
use sqlx::{AssertSqlSafe, Row};

use crate::board::activity;
use crate::board::attention::row::NEEDING_ATTENTION;
use crate::board::card;
use crate::board::comment;
use crate::board::dependency::write as dependency;
use crate::board::finished::row as finished;
use crate::board::goal::row as goal;
use crate::board::needs_you::row as needs_you;
use crate::board::plan as plan_board;
use crate::board::project::{archive, row as projects, summary};
use crate::board::replay;
use crate::board::report;
use crate::board::review_round;
use crate::board::search::row as search;
use crate::board::statistics;
use crate::board::task::order;
use crate::board::task::row::{CARD, SCHEDULED};
use crate::board::task::write::moves;
use crate::consequences::task_changed;
use crate::context::memory::{row as memory, write as memory_writes};
use crate::context::session::row::{self as sessions, Part};
use crate::context::session::write as session_writes;
use crate::engine::audit::chain;
use crate::engine::event_log;
use crate::figures;
use crate::runs::publication::issue;
use crate::runs::{checkpoint, land, limit, snapshot, usage};
use crate::team::agent::{general, row as agent};
use crate::team::handshake::row as handshake;
use crate::team::message::{read, removable, write};
use crate::team::token::{self, list as tokens};
use crate::team::webhook;
use crate::tests::store::Store;
use crate::warroom::battle_plan::row as battle_plan;
use crate::warroom::context_left::row as context_left;
use crate::warroom::party::row as party;
use crate::warroom::raid_log::{row as raid_log, write as raid_log_writes};
use crate::{ActivityQuery, CardFilter};

pub(in crate::tests) async fn plan(store: &Store, statement: &str) -> String {
    let rows = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"))).fetch_all(&store.db.readers).await.unwrap();
    rows.iter().map(|row| row.get::<String, _>("detail")).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn agents_and_their_tasks_use_indexes() {
    let store = Store::board().await;
    let statements = [
        ("agents_present", "SELECT name FROM agents WHERE project_id = 'PROJ-001' AND left_at IS NULL ORDER BY name"),
        (
            "tasks_by_assignee",
            "SELECT id FROM tasks WHERE project_id = 'PROJ-001' AND assigned_to = 'ben' AND status IN ('backlog', 'in_progress', 'in_review')",
        ),
        ("minions_by_run", "UPDATE minions SET status = 'failed' WHERE run_id = 'RUN-001' AND status = 'spawned'"),
        ("agents_by_name_nocase", "SELECT name FROM agents WHERE project_id = 'PROJ-001' AND lower(name) = lower('Ben') AND name <> 'Ben'"),
        // Tokens of runs stay, so these would cost more with each run that ended.
        ("tokens_by_person", "DELETE FROM tokens WHERE person_id = 1"),
        ("tokens_by_person", "DELETE FROM tokens WHERE kind = 'companion' AND person_id = 1"),
        ("calls_by_age", "DELETE FROM calls WHERE created_at < '2026-01-31T09:05:00.000Z'"),
    ];
    for (index, statement) in statements {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index), "{statement}\n{plan}");
    }
}

/// Frequent statements never scan all tasks, agents, runs or events, finished ones included.
#[tokio::test]
async fn no_daily_statement_scans_what_grows() {
    let store = Store::board().await;
    let filter = CardFilter { assigned_to: Some("ben".to_owned()), ..CardFilter::open(store.project.clone()) };
    let of_goal = CardFilter { goal: Some("GOAL-001".parse().unwrap()), ..CardFilter::of_project(store.project.clone()) };
    let statements = [
        checkpoint::row::OF_TASK.to_owned(),
        card::OPEN_PROJECTS.to_owned(),
        task_changed::DEPENDENTS.to_owned(),
        format!("SELECT t.id FROM tasks t {}", task_changed::COMPLETION),
        format!("SELECT t.id FROM tasks t {}", task_changed::CHILDREN),
        dependency::REACHABLE.to_owned(),
        goal::PROGRESS.to_owned(),
        goal::PROGRESS_OF_PROJECT.to_owned(),
        format!("{CARD} {}", card::OPEN_CARDS),
        format!("{CARD} {}", card::FINISHED_PAGE),
        finished::FINISHED_SUMS.to_owned(),
        usage::BY_KIND.to_owned(),
        usage::BY_DAY.to_owned(),
        usage::BY_TASK.to_owned(),
        card::OPEN_COUNTS.to_owned(),
        format!("{CARD} {}", filter.condition()),
        format!("{CARD} {}", of_goal.condition()),
        format!("{SCHEDULED} {}", snapshot::ACTIVE),
        snapshot::ACTIVE_PROJECTS.to_owned(),
        snapshot::REFERENCED.to_owned(),
        snapshot::SPENT.to_owned(),
        snapshot::LIMITS.to_owned(),
        limit::write::FLAGGED.to_owned(),
        snapshot::ASSIGNEES.to_owned(),
        agent::PRESENT.to_owned(),
        party::TASKS_OF_PRESENT.to_owned(),
        context_left::REPORTED.to_owned(),
        read::page_sql(),
        read::blocking_sql(),
        read::UNREAD.to_owned(),
        read::UNDELIVERED.to_owned(),
        write::BROADCAST.to_owned(),
        write::SHARED.to_owned(),
        write::ANSWERED.to_owned(),
        write::MISSED.to_owned(),
        write::MARK_READ.to_owned(),
        write::RESET.to_owned(),
        handshake::PENDING.to_owned(),
        comment::row::LAST_OF_TASK.to_owned(),
        review_round::row::LAST_VERDICT.to_owned(),
        format!("{CARD} {}", plan_board::HELD),
        moves::PLAN_WAITS.to_owned(),
        format!("{CARD} {}", order::OPEN),
        format!("{CARD} {}", land::WAITING),
        format!("{CARD} {}", land::BROUGHT),
        format!("{CARD} {}", land::OPEN),
        issue::TO_CLOSE.to_owned(),
        issue::OF_ISSUE.to_owned(),
        summary::OPEN.to_owned(),
        summary::AT_WORK.to_owned(),
        summary::last_event_sql(),
        needs_you::PLANS.to_owned(),
        needs_you::TO_LAND.to_owned(),
        needs_you::OVER_LIMIT.to_owned(),
        needs_you::MESSAGES.to_owned(),
        replay::RANGE.to_owned(),
        replay::BEGINNING.to_owned(),
        replay::CARDS.to_owned(),
        event_log::OF_PROJECT.to_owned(),
        statistics::CONSUMED.to_owned(),
        statistics::FINISHED.to_owned(),
        projects::REMOVABLE.to_owned(),
        archive::LIVE_RUNS.to_owned(),
        archive::TAKEN_OVER.to_owned(),
        search::candidates_sql(),
        format!("{} (1, 2, 3)", search::TEXTS),
        search::finding::candidates_sql(),
        format!("{} (1, 2, 3)", search::finding::TEXTS),
        sessions::OF_PLAN.to_owned(),
        sessions::list_sql(true, false),
        sessions::list_sql(false, true),
        sessions::messages_sql(&Part::Before(1), 4),
        sessions::messages_sql(&Part::OfSender("mara"), 4),
        sessions::messages_sql(&Part::Between(crate::now(), crate::now()), 4),
        sessions::messages_sql(&Part::After(1), 4),
        sessions::HIDDEN.to_owned(),
        sessions::HIDDEN_AFTER.to_owned(),
        sessions::IN_USE.to_owned(),
        sessions::COUNTS.to_owned(),
        sessions::audiences_sql(3),
        sessions::candidates_sql(4),
        session_writes::WITH_AUDIENCE.to_owned(),
        memory::BY_KEY.to_owned(),
        memory::OF_OWNER.to_owned(),
        memory::OWN.to_owned(),
        memory::COUNT.to_owned(),
        memory::OF_PROJECT.to_owned(),
        memory::BY_ID.to_owned(),
        memory_writes::EXPIRED.to_owned(),
        tokens::GIVEN.to_owned(),
        tokens::OF_RUNS.to_owned(),
        tokens::BY_NAME.to_owned(),
        general::REACHES_ALL.to_owned(),
        general::HOME.to_owned(),
        general::IS_GENERAL.to_owned(),
        token::EXPIRED.to_owned(),
        battle_plan::ANY_ACTIVE.to_owned(),
        battle_plan::ACTIVE.to_owned(),
        battle_plan::OF_PROJECT.to_owned(),
        battle_plan::WITH_STATUS.to_owned(),
        raid_log::list_sql(Priority::ALL, false),
        raid_log::list_sql(&[Priority::High, Priority::Critical], true),
        raid_log_writes::ROUTINE_TEXTS.to_owned(),
        activity::sql(&ActivityQuery::default()),
        activity::sql(&ActivityQuery { topic: Some(Topic::Failures), ..ActivityQuery::default() }),
        activity::sql(&ActivityQuery { task: Some(TaskId::new(1)), ..ActivityQuery::default() }),
    ];
    // An index of open tasks, live runs or pending handshakes is small whatever is finished: going through it is meant.
    let small = [
        "tasks_open",
        "tasks_schedulable",
        "tasks_runnable",
        "tasks_by_assignee",
        "tasks_with_attention",
        "tasks_with_checkout",
        "tasks_to_land",
        "one_live_run",
        "handshakes_pending",
        "tokens_given",
    ];
    let grows = [
        "tasks",
        "t",
        "agents",
        "a",
        "agent_runs",
        "r",
        "events",
        "comments",
        "verdicts",
        "c",
        "dependencies",
        "d",
        "contributions",
        "h",
        "messages",
        "m",
        "told",
        "deliveries",
        "search_documents",
        "search_vocabulary",
        "context_sessions",
        "s",
        "session_messages",
        "session_counts",
        "memories",
        "tokens",
        "battle_plans",
        "raid_log",
        "l",
        "k",
        "usage_by_day",
        "finished_by_day",
    ];
    for statement in statements {
        for line in plan(&store, &statement).await.lines() {
            let scanned = line.strip_prefix("SCAN ").and_then(|rest| rest.split_whitespace().next());
            let is_small = small.iter().any(|index| line.ends_with(index));
            assert!(scanned.is_none_or(|table| is_small || !grows.contains(&table)), "{line}\n{statement}");
            // `IS NOT NULL` on an indexed column reads every row that has a value.
            assert!(!line.contains(">?)") || line.contains("=?"), "{line}\n{statement}");
        }
    }
}

/// A report reads the events of its period and what is open.
#[tokio::test]
async fn report_reads_nothing_that_grows_with_finished_work() {
    let store = Store::board().await;
    let events = event_log::of_kinds_sql(&["task_moved"]);
    let statements = [
        ("range", report::RANGE.to_owned(), "SEARCH events"),
        ("events", events, "SEARCH events USING INTEGER PRIMARY KEY (rowid>?)"),
        ("attention", format!("{CARD} {}", NEEDING_ATTENTION), "USING INDEX tasks_with_attention"),
        ("waits", report::WAITING.to_owned(), "USING INDEX tasks_open"),
        ("consumption", report::CONSUMED.to_owned(), "SEARCH events USING INTEGER PRIMARY KEY (rowid>?)"),
        ("plan of a notification", webhook::PLANNED.to_owned(), "USING INDEX tasks_by_parent (parent_task_id=? AND status=?)"),
        ("comment", report::LAST_COMMENT.to_owned(), "USING INDEX comments_by_task (task_id=?)"),
    ];
    for (name, statement, expected) in statements {
        let plan = plan(&store, &statement).await;
        assert!(plan.contains(expected), "{name}\n{plan}");
        // A query without a table scans one constant row.
        let scans = plan.lines().filter(|line| line.starts_with("SCAN ") && *line != "SCAN CONSTANT ROW");
        let small = ["tasks_open", "tasks_with_attention", "one_live_run"];
        for scan in scans {
            assert!(small.iter().any(|index| scan.ends_with(index)), "{name}\n{plan}");
        }
    }
}

#[tokio::test]
async fn open_and_failed_cards_are_read_without_other_finished_ones() {
    let store = Store::board().await;
    let filter = CardFilter { or_failed: true, ..CardFilter::open(store.project.clone()) };
    let plan = plan(&store, &format!("{CARD} {}", filter.condition())).await;
    assert!(plan.contains("tasks_failed (project_id=?)") && !plan.contains("tasks_by_project_and_age"), "{plan}");
}

#[tokio::test]
async fn counts_completion_and_rounds_use_the_index_made_for_them() {
    let store = Store::board().await;
    let progress = plan(&store, goal::PROGRESS).await;
    assert!(progress.contains("USING COVERING INDEX tasks_by_goal") && !progress.contains("TEMP B-TREE"), "{progress}");
    let list = plan(&store, &format!("{CARD} {}", CardFilter::of_project(store.project.clone()).condition())).await;
    assert!(list.contains("tasks_by_project_and_age") && !list.contains("LIST SUBQUERY 1\nUSE TEMP B-TREE"), "{list}");
    let completion = plan(&store, &format!("SELECT t.id FROM tasks t {}", task_changed::COMPLETION)).await;
    assert!(completion.contains("tasks_runnable") && completion.contains("tasks_with_attention"), "{completion}");
    let children = plan(&store, &format!("SELECT t.id FROM tasks t {}", task_changed::CHILDREN)).await;
    assert!(children.contains("tasks_by_parent ") && children.contains("tasks_by_parent_and_age"), "{children}");
    let page = plan(&store, &format!("{CARD} {}", card::FINISHED_PAGE)).await;
    assert!(page.contains("tasks_finished ") && !page.contains("TEMP B-TREE FOR ORDER BY\nSEARCH"), "{page}");
}

#[tokio::test]
async fn retention_finds_what_it_may_remove_without_reading_what_stays() {
    let store = Store::board().await;
    let statements = [
        ("deliveries_read_broadcasts", removable::DELIVERIES),
        ("messages_removable", removable::MESSAGES),
        ("messages_replies", "SELECT 1 FROM messages WHERE reply_to = 7"),
        ("runs_with_folder", "SELECT id FROM agent_runs WHERE run_dir IS NOT NULL AND dir_removed_at IS NULL ORDER BY task_id"),
        ("USING INDEX tasks_open", figures::COSTLIEST),
        ("SCAN events", figures::OLDEST_EVENT),
        ("INTEGER PRIMARY KEY", "SELECT seq FROM events WHERE seq < 9 ORDER BY seq LIMIT 3"),
    ];
    for (index, statement) in statements {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index), "{statement}\n{plan}");
    }
}

/// A page of the audit log and its retention read a bounded part of it, through its numbers.
#[tokio::test]
async fn audit_log_is_read_by_number() {
    let store = Store::board().await;
    let page = plan(&store, &chain::page_sql()).await;
    assert!(page.contains("SEARCH audit USING INTEGER PRIMARY KEY") && !page.contains("TEMP B-TREE") && !page.contains("SCAN audit"), "{page}");
    let oldest = plan(&store, chain::OLDEST).await;
    assert!(!oldest.contains("TEMP B-TREE"), "{oldest}");
    let removal = plan(&store, chain::REMOVE).await;
    assert!(removal.contains("SEARCH audit USING INTEGER PRIMARY KEY"), "{removal}");
}
