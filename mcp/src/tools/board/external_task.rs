//! Tools for external agents, which list tasks by stage and move them to the next.
//!
//! It must not know which stages are reachable.

use std::collections::BTreeMap;

use db::CardFilter;
use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::TaskUpdate;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::{Agent, Health, is_short_for};
use domain::warroom::agent_activity::warning as activity_warning;
use domain::warroom::context_left::Condition;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::format;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::board::task::{assignment_warning, collect_evidence, task_answer};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::Managed;

/// The most pages of cards that one call reads.
const MAX_PAGES: usize = 3;

/// Clients may also call it get_tasks.
pub(in crate::tools) const LIST_TASKS: &str = "list_tasks";

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: LIST_TASKS,
        description: "Call this to find work or to see who has it: open and failed tasks with stage and assignee. Warns about unresponsive assignees.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, list_tasks),
    },
    ToolDefinition {
        name: "update_task",
        description: "Call this to move a task to its next stage. Assignee: in_progress, review, failed. Lead: assigned, completed, or in_progress for rework; stale, obsolete or ready for a task that an ended session left. `result` is stored.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience { managed: Managed::NOBODY, human: true, external: External::Everyone, invite: false },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, update_task),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListTasks {
    /// A stage, for example assigned. Omit it for all open and failed tasks.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    status: Option<Stage>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    assigned_to: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    zone: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
    /// The last task id of the previous page.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    after: Option<TaskId>,
}

async fn list_tasks(call: Call, given: ListTasks) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    // A lead decides about failed tasks, so they are listed with the open ones.
    let open = CardFilter { or_failed: given.status.is_none(), ..CardFilter::open(project.clone()) };
    let statuses = given.status.map_or(open.statuses.clone(), |stage| stage.statuses().to_vec());
    let matches = |card: &Card| {
        let assignee = card.contributors.assigned_to.as_deref();
        given.status.is_none_or(|stage| Stage::of(card) == stage)
            && given.assigned_to.as_ref().is_none_or(|wanted| assignee.is_some_and(|assignee| is_short_for(wanted, assignee)))
    };
    if let Some(zone) = &given.zone
        && call.db.zones(&project).await?.iter().all(|known| known.name != *zone)
    {
        return Err(Refusal::invalid("zone", format!("there is no zone {zone}"), "Call get_zones for the zones of the project.").into());
    }
    let filter = CardFilter { statuses, after: given.after, ..open };
    let (mut cards, zones, read_to) = read_matching(&call, &project, filter, given.zone.as_deref(), matches).await?;
    let mut agents: BTreeMap<String, Agent> = call.db.agents(&project).await?.into_iter().map(|agent| (agent.name.clone(), agent)).collect();
    for name in cards.iter().filter_map(|card| card.contributors.assigned_to.as_ref()) {
        if !agents.contains_key(name)
            && let Ok(departed) = call.db.agent(&project, name).await
        {
            agents.insert(name.clone(), departed);
        }
    }
    let used_up = call.db.reported_context(&call.caller).await?.context_use.filter(|own| own.condition() != Condition::Healthy);
    if used_up.is_some() {
        let light = call.db.light_tasks(&project).await?;
        cards.sort_by_key(|card| !light.contains(&card.id));
    }
    let page = page::cards(cards.iter(), |card| {
        let (mut text, mut data) = (format::line(card, Stage::of(card).as_str()), format::data(card, &[]));
        if let Some(zones) = zones.get(&card.id) {
            text += &format!("  {}\n", format::zones(zones));
            data["zones"] = json!(zones);
        }
        (text, data)
    });
    let warnings: Vec<String> = cards.iter().take(page.tasks.len()).filter_map(|card| warning(card, &agents)).collect();
    let order = used_up.map(|own| format!("Light tasks come first, because {} % of your context is left.\n", own.percent_left()));
    let mut text = if cards.is_empty() { "No tasks.\n".to_owned() } else { order.unwrap_or_default() + &page.text };
    for warning in &warnings {
        text += &format!("WARNING: {warning}\n");
    }
    let next = page.next.or(read_to);
    if let Some(next) = &next {
        text += &format!("More tasks follow: call list_tasks with after={next}.\n");
    }
    Ok(Answer::new(text, json!({"tasks": page.tasks, "warnings": warnings, "next": next})))
}

/// The zones of tasks, by name.
type Zones = BTreeMap<TaskId, Vec<String>>;

/// Reads the first cards that match with their zones, and the last card that was read if more follow. Reads at most [`MAX_PAGES`] pages, so that a rare stage
/// among many finished tasks costs no more than a common one.
async fn read_matching(
    call: &Call,
    project: &ProjectId,
    mut filter: CardFilter,
    zone: Option<&str>,
    matches: impl Fn(&Card) -> bool,
) -> Result<(Vec<Card>, Zones, Option<TaskId>), Failure> {
    let (mut cards, mut zones) = (Vec::new(), Zones::new());
    let page = usize::try_from(filter.limit).unwrap_or(usize::MAX);
    for _ in 0..MAX_PAGES {
        let read = call.db.cards(&filter).await?;
        let is_last = read.len() < page;
        filter.after = read.last().map(|card| card.id.clone());
        let mut read: Vec<Card> = read.into_iter().filter(&matches).collect();
        let ids: Vec<TaskId> = read.iter().map(|card| card.id.clone()).collect();
        zones.append(&mut call.db.zones_of_tasks(project, &ids).await?);
        read.retain(|card| zone.is_none_or(|zone| zones.get(&card.id).is_some_and(|own| own.iter().any(|own| own == zone))));
        cards.append(&mut read);
        if is_last {
            return Ok((cards, zones, None));
        }
        if cards.len() >= page {
            break;
        }
    }
    Ok((cards, zones, filter.after))
}

/// Warns about a task in progress whose assignee left or is unresponsive.
fn warning(card: &Card, agents: &BTreeMap<String, Agent>) -> Option<String> {
    let assignee = card.contributors.assigned_to.as_ref().filter(|_| card.status == Status::InProgress)?;
    let agent = agents.get(assignee);
    let gone = agent.is_none_or(|agent| agent.left_at.is_some() || agent.health == Health::Dead);
    let since = agent.and_then(|agent| agent.left_at.or(agent.last_seen)).map(|since| format!(" since {}", since.clock())).unwrap_or_default();
    gone.then(|| format!("{} is in progress, but its assignee {assignee} is gone{since}", card.id))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateTask {
    #[schemars(with = "String")]
    task_id: TaskId,
    #[schemars(schema_with = "arguments::stage")]
    #[serde(default, deserialize_with = "arguments::given")]
    status: Option<Stage>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    assigned_to: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    result: Option<String>,
}

async fn update_task(call: Call, given: UpdateTask) -> Result<Answer, Failure> {
    // A stage that moves nothing needs no evidence, like a move to the backlog.
    let card = call.db.card(&given.task_id).await?;
    let to = given.status.and_then(|stage| stage.target_status(&card)).unwrap_or(Status::Backlog);
    let evidence = collect_evidence(&call, &given.task_id, to).await?;
    let assigns = given.assigned_to.is_some();
    let update = TaskUpdate { stage: given.status, assigned_to: given.assigned_to, result: given.result };
    let task = call.db.update_task(&call.caller, &given.task_id, update, evidence).await?;
    let mut answer = task_answer(&call.caller, &task);
    let size = if assigns { assignment_warning(&call, &task).await? } else { None };
    for warning in [activity_warning(task.card.activity_count), size].into_iter().flatten() {
        answer.text += &format!("\n{warning}");
    }
    Ok(answer)
}
