//! Tools that list the cards of a project, or the caller's own.
//!
//! It must not know how a card is worded.

use std::collections::BTreeMap;

use db::{Caller, CardFilter};
use domain::board::card::Card;
use domain::board::comment::Comment;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, route};
use crate::format;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, EVERY_KIND, Managed, Need};

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "get_board",
        description: "Call this to see every task of the project with status, dependencies, wait reason and last comments.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(EVERY_KIND).unlisted_for(CODER_ONLY), human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_board),
    },
    ToolDefinition {
        name: "get_my_tasks",
        description: "Call this to find the tasks you work on. A managed agent has one; an external agent sees those assigned to it.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never), human: true, external: External::Everyone, invite: false },
        identity_arguments: &[],
        route: |definition| route(definition, get_my_tasks),
    },
];

/// The number of last comments that a board shows of each task.
const LAST_COMMENTS: u32 = 2;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetBoard {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
    /// Only tasks after this one.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    after: Option<TaskId>,
}

async fn get_board(call: Call, arguments: GetBoard) -> Result<Answer, Failure> {
    let project = &call.db.project(&call.project(arguments.project).await?).await?;
    let cards = call.db.cards(&CardFilter { after: arguments.after, ..CardFilter::of_project(project.id.clone()) }).await?;
    let range = cards.first().map(|card| &card.id).zip(cards.last().map(|card| &card.id));
    let mut comments: BTreeMap<TaskId, Vec<Comment>> = BTreeMap::new();
    for comment in call.db.last_comments(&project.id, range, LAST_COMMENTS).await? {
        comments.entry(comment.task_id.clone()).or_default().push(comment);
    }
    let counts: Vec<String> = call.db.card_counts(&project.id).await?.into_iter().map(|(status, count)| format!("{count} {status}")).collect();
    let mut text =
        format!("{} {} ({}): {}. Project branch {}.\n", project.id, project.title, project.status, counts.join(", "), project.integration_branch);
    let of = |card: &Card| comments.get(&card.id).map_or(&[][..], Vec::as_slice);
    let page = page::cards(cards.iter(), |card| (format::lines(card, of(card)), format::data(card, of(card))));
    text += &page.text;
    if let Some(next) = &page.next {
        text += &format!("More tasks follow: call get_board with after={next}.\n");
    }
    let data = json!({
        "project": {"id": project.id, "title": project.title, "status": project.status, "branch": project.integration_branch, "base": project.base_branch},
        "tasks": page.tasks,
        "next": page.next,
    });
    Ok(Answer::new(text, data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetMyTasks {
    #[schemars(schema_with = "arguments::phase")]
    #[serde(default, deserialize_with = "arguments::given")]
    phase: Option<AgentKind>,
    /// The last task id of the previous page.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    after: Option<TaskId>,
}

/// A run has one task. An external agent gets the open tasks assigned to it. The human gets the task of the client, or all in progress.
async fn get_my_tasks(call: Call, arguments: GetMyTasks) -> Result<Answer, Failure> {
    let mut cards = Vec::new();
    if let Caller::Agent(agent) = &call.caller {
        let own = CardFilter { assigned_to: Some(agent.name.clone()), after: arguments.after.clone(), ..CardFilter::open(agent.project_id.clone()) };
        cards = call.db.cards(&own).await?;
    } else if let Some(own) = &call.scope {
        cards.push(call.db.card(own).await?);
    } else {
        for project in call.db.projects().await? {
            let statuses = vec![Status::InProgress];
            cards.extend(call.db.cards(&CardFilter { statuses, after: arguments.after.clone(), ..CardFilter::of_project(project.id) }).await?);
        }
    }
    let is_own_kind = |phase: AgentKind| matches!(&call.caller, Caller::Run(run) if run.phase == phase);
    let after = arguments.after.as_ref().map_or(0, TaskId::number);
    cards.retain(|card| card.id.number() > after && arguments.phase.is_none_or(|phase| card.phase == phase || is_own_kind(phase)));
    // Tasks of several projects are sorted, too, because the next page starts after an id.
    cards.sort_unstable_by_key(|card| card.id.number());
    let page = page::cards(cards.iter(), |card| (format::lines(card, &[]), format::data(card, &[])));
    let mut text = if cards.is_empty() { "No tasks.\n".to_owned() } else { page.text };
    if let Some(next) = &page.next {
        text += &format!("More tasks follow: call get_my_tasks with after={next}.\n");
    }
    Ok(Answer::new(text, json!({"tasks": page.tasks, "next": page.next})))
}
