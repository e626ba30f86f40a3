//! The board as an agent reads it: all tasks of the project, or its own.

use std::collections::BTreeMap;

use db::Caller;
use domain::comment::Comment;
use domain::id::TaskId;
use domain::task::{Card, Phase, Status};
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
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

/// The most bytes of a page, as text and again as JSON. Clients put more than about 100 kB into a file instead of the conversation.
const PAGE_BYTES: usize = 36_000;
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
    call.db.admit_reader(&call.caller).await?;
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
    let page = page(board.cards.iter().filter(|card| card.id.number() > after), |card| (show::lines(card, of(card)), show::data(card, of(card))));
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
    phase: Option<Phase>,
}

/// A run's own task; of an agent from outside what is assigned to it; for a person the one their client was started for, else all that are
/// in progress.
async fn get_my_tasks(call: Call, arguments: GetMyTasks) -> Result<Answer, Failure> {
    call.db.admit_reader(&call.caller).await?;
    let mut cards = Vec::new();
    if let Caller::Agent(agent) = &call.caller {
        let open = |card: &Card| card.status.is_open() && card.hands.assigned_to.as_deref() == Some(agent.name.as_str());
        cards.extend(call.db.board(&agent.project_id).await?.cards.into_iter().filter(open));
    } else if let Some(own) = &call.scope {
        cards.push(call.db.card(own).await?);
    } else {
        for project in call.db.projects().await? {
            cards.extend(call.db.board(&project.id).await?.cards.into_iter().filter(|card| card.status == Status::InProgress));
        }
    }
    let works = |phase: Phase| matches!(&call.caller, Caller::Run(run) if run.phase == phase);
    cards.retain(|card| arguments.phase.is_none_or(|phase| card.phase == phase || works(phase)));
    let page = page(cards.iter(), |card| (show::lines(card, &[]), show::data(card, &[])));
    let text = if cards.is_empty() { "No task.\n".to_owned() } else { page.text };
    Ok(Answer::new(text, json!({"tasks": page.tasks})))
}

/// As many cards as fit into one answer.
pub(super) struct Page {
    pub(super) text: String,
    pub(super) tasks: Vec<Value>,
    /// The last task that is shown, when there are more.
    pub(super) next: Option<TaskId>,
}

/// `shown` is a card as text and as JSON.
pub(super) fn page<'a>(cards: impl Iterator<Item = &'a Card>, shown: impl Fn(&Card) -> (String, Value)) -> Page {
    let mut page = Page { text: String::new(), tasks: Vec::new(), next: None };
    let mut bytes = 0;
    let mut last: Option<&Card> = None;
    for card in cards {
        let (text, task) = shown(card);
        let size = task.to_string().len();
        if let Some(last) = last
            && (page.text.len() + text.len() > PAGE_BYTES || bytes + size > PAGE_BYTES)
        {
            page.next = Some(last.id.clone());
            break;
        }
        page.text += &text;
        page.tasks.push(task);
        bytes += size;
        last = Some(card);
    }
    page
}
