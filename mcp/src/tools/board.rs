//! The board as an agent reads it: all tasks of the project, or its own.

use std::collections::BTreeMap;

use db::Caller;
use domain::board::card::Card;
use domain::board::comment::Comment;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::show;
use crate::tools::arguments::{self, InProject};

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "get_board",
            "Use it to see the whole project: every task with status, role, dependencies, why it waits, and its last comments shortened. A long board comes in pages: pass `after` as the answer says.",
            Effect::Reads,
            get_board,
        ),
        tool(
            "get_my_tasks",
            "Use it to find the task you work on: its id, status and why. A run has exactly one, an agent from outside what is assigned to it; `phase` keeps only tasks of that role.",
            Effect::Reads,
            get_my_tasks,
        ),
    ]
}

/// How many of a task's last comments a board shows.
const COMMENTS: u32 = 2;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetBoard {
    #[serde(default, alias = "project_id")]
    project: InProject,
    /// The last task id of the previous page.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    after: Option<TaskId>,
}

async fn get_board(call: Call, arguments: GetBoard) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let board = call.db.board(&call.project(arguments.project.0).await?).await?;
    let mut comments: BTreeMap<TaskId, Vec<Comment>> = BTreeMap::new();
    for comment in call.db.last_comments(&board.project.id, COMMENTS).await? {
        comments.entry(comment.task_id.clone()).or_default().push(comment);
    }
    let project = &board.project;
    let counts: Vec<String> = board.counts().into_iter().filter(|(_, count)| *count > 0).map(|(status, count)| format!("{count} {status}")).collect();
    let mut text =
        format!("{} {} ({}): {}. Project branch {}.\n", project.id, project.title, project.status, counts.join(", "), project.integration_branch);
    let after = arguments.after.as_ref().map_or(0, TaskId::number);
    let of = |card: &Card| comments.get(&card.id).map_or(&[][..], Vec::as_slice);
    let page =
        page::cards(board.cards.iter().filter(|card| card.id.number() > after), |card| (show::lines(card, of(card)), show::data(card, of(card))));
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

/// A run's own task; of an agent from outside what is assigned to it; for a person the one their client was started for, else all that are
/// in progress.
async fn get_my_tasks(call: Call, arguments: GetMyTasks) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let mut cards = Vec::new();
    if let Caller::Agent(agent) = &call.caller {
        let open = |card: &Card| card.status.is_open() && card.contributors.assigned_to.as_deref() == Some(agent.name.as_str());
        cards.extend(call.db.board(&agent.project_id).await?.cards.into_iter().filter(open));
    } else if let Some(own) = &call.scope {
        cards.push(call.db.card(own).await?);
    } else {
        for project in call.db.projects().await? {
            cards.extend(call.db.board(&project.id).await?.cards.into_iter().filter(|card| card.status == Status::InProgress));
        }
    }
    let works = |phase: AgentKind| matches!(&call.caller, Caller::Run(run) if run.phase == phase);
    let after = arguments.after.as_ref().map_or(0, TaskId::number);
    cards.retain(|card| card.id.number() > after && arguments.phase.is_none_or(|phase| card.phase == phase || works(phase)));
    // Those of several projects too: a page goes on after an id.
    cards.sort_unstable_by_key(|card| card.id.number());
    let page = page::cards(cards.iter(), |card| (show::lines(card, &[]), show::data(card, &[])));
    let mut text = if cards.is_empty() { "No task.\n".to_owned() } else { page.text };
    if let Some(next) = &page.next {
        text += &format!("More tasks follow: call get_my_tasks with after={next}.\n");
    }
    Ok(Answer::new(text, json!({"tasks": page.tasks, "next": page.next})))
}
