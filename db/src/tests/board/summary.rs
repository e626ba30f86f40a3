//! Summaries of projects: what they count, and that they agree with the list of what needs the human.

use domain::board::attention::AttentionKind;
use domain::board::project::summary::{ProjectSummary, TaskCounts};
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::Usage;
use domain::wire::NewProject;

use crate::board::attention::row::NEEDING_ATTENTION;
use crate::board::needs_you::row as needs_you;
use crate::board::project::{row as projects, summary as list};
use crate::board::task::row::CARD;
use crate::tests::engine::index::plan;
use crate::tests::store::{Store, code, landing, probe};
use crate::{Caller, LandingFacts};

async fn summary(store: &Store) -> ProjectSummary {
    let mut all = store.db.project_summaries(&Caller::owner(), false).await.unwrap();
    all.retain(|summary| summary.project.id == store.project);
    all.remove(0)
}

#[tokio::test]
async fn summary_counts_no_cancelled_task_and_says_who_works() {
    let store = Store::board().await;
    store.db.create_project(&Caller::owner(), NewProject { title: "Other".to_owned(), ..NewProject::default() }, probe()).await.unwrap();
    let tasks =
        [store.task("Done").await, store.task("Cancelled").await, store.task("At work").await, store.task("Fails").await, store.task("Waits").await];
    store.complete(&tasks[0]).await;
    store.cancel(&tasks[1], "obsolete").await;
    let agent = store.agent(&tasks[2], AgentKind::Coder).await;
    store.db.run_usage(&agent.run, Usage { cost_micro_usd: 70, ..Usage::default() }).await.unwrap();
    store.db.request_attention(&tasks[3], AttentionKind::Failed, "3 attempts failed").await.unwrap();
    let found = summary(&store).await;
    assert_eq!(found.tasks, TaskCounts { total: 4, done: 1, needs_you: 1, at_work: 1, in_review: 0 });
    assert_eq!((found.needs_you, found.planned_tasks, found.cost_micro_usd, found.ready_to_land), (1, 0, 70, Some(1)));
    assert_eq!(found.agents.iter().map(|agent| agent.title.as_str()).collect::<Vec<_>>(), ["At work"]);
    let told = found.last_event.unwrap();
    assert_eq!(told.sentence, "The runner asked for a person on TASK-004: 3 attempts failed");
    let spending = store.db.spending().await.unwrap();
    assert_eq!((spending.today_micro_usd, spending.per_hour_micro_usd), (70, 70 * 60), "a run counts as a minute old at least");
}

#[tokio::test]
async fn landing_is_a_lasting_part_of_the_project() {
    let store = Store::board().await;
    let tasks = [store.task("One").await, store.task("Two").await];
    store.complete(&tasks[0]).await;
    let tip = store.project().await.integration_head.unwrap();
    let landed = store.db.record_landing(&Caller::owner(), &store.project, landing(&tip, "after")).await.unwrap().landed.unwrap();
    assert_eq!((landed.base_branch.as_str(), landed.sha.as_str(), landed.before_sha.as_str(), landed.tip.clone()), ("main", "after", "base", tip));
    assert_eq!((landed.tasks, landed.commits, landed.by.to_string()), (1, 3, "human".to_owned()));
    let found = summary(&store).await;
    assert_eq!((found.ready_to_land, found.project.landed.as_ref()), (None, Some(&landed)));
    assert_eq!(store.db.board(&store.project).await.unwrap().board.project.landed, Some(landed.clone()));
    store.check_fold().await;

    store.complete(&tasks[1]).await;
    let found = summary(&store).await;
    assert_eq!((found.ready_to_land, found.project.landed), (Some(1), Some(landed)), "only what no landing brought");
    let tip = store.project().await.integration_head.unwrap();
    let again = store.db.record_landing(&Caller::owner(), &store.project, landing(&tip, "later")).await.unwrap().landed.unwrap();
    assert_eq!((again.id, again.tasks, again.sha.as_str()), (2, 1, "later"));
    let facts = store.db.landing_facts(&store.project, Some(1)).await.unwrap();
    let brought = |facts: &LandingFacts| facts.tasks.iter().map(|card| card.id.clone()).collect::<Vec<_>>();
    assert_eq!((brought(&facts), facts.landings.iter().map(|landing| landing.id).collect::<Vec<_>>()), (vec![tasks[0].clone()], vec![2, 1]));
    assert_eq!(brought(&store.db.landing_facts(&store.project, None).await.unwrap()), []);
    assert_eq!(code(store.db.landing_facts(&store.project, Some(3)).await), "not-found");
}

/// Each statement of the list reads what is open, and rows of which a project has a few.
#[tokio::test]
async fn list_of_projects_reads_nothing_that_grows_with_finished_work() {
    let store = Store::board().await;
    let statements = [
        ("current projects", projects::CURRENT.to_owned(), "INDEX landings_by_project (project_id=?)"),
        ("archived projects", projects::ARCHIVED.to_owned(), "INDEX landings_by_project (project_id=?)"),
        ("open tasks", list::OPEN.to_owned(), "(project_id=? AND status=?)"),
        ("done tasks", list::DONE.to_owned(), "SCAN finished_sums"),
        ("costs", list::COSTS.to_owned(), "SCAN usage_by_kind"),
        ("agents at work", list::AT_WORK.to_owned(), "INDEX one_live_run"),
        ("last event", list::last_event_sql(), "INDEX events_by_project (project_id=?)"),
        ("attention", format!("{CARD} {NEEDING_ATTENTION}"), "INDEX tasks_with_attention"),
        ("plans", needs_you::PLANS.to_owned(), "INDEX tasks_runnable"),
        ("to land", needs_you::TO_LAND.to_owned(), "SCAN finished_sums"),
        ("over a limit", needs_you::OVER_LIMIT.to_owned(), "INDEX tasks_open"),
        ("messages", needs_you::MESSAGES.to_owned(), "INDEX deliveries_unread"),
    ];
    // A project has two sums, and one of usage for each kind of agent.
    let small = ["p", "finished_sums", "usage_by_kind", "newest", "CONSTANT"];
    let small_indexes = ["tasks_open", "tasks_runnable", "tasks_with_attention", "one_live_run"];
    for (name, statement, expected) in statements {
        let plan = plan(&store, &statement).await;
        assert!(plan.contains(expected), "{name}\n{plan}");
        for scan in plan.lines().filter_map(|line| line.strip_prefix("SCAN ")) {
            let is_small = small.contains(&scan.split(' ').next().unwrap()) || small_indexes.iter().any(|index| scan.ends_with(index));
            assert!(is_small, "{name}\n{plan}");
        }
    }
}
