//! The board as an agent reads it: all tasks of the project, or its own.

use std::collections::BTreeMap;

use db::Caller;
use domain::comment::Comment;
use domain::id::{ProjectId, TaskId};
use domain::task::{Card, Phase, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::Call;
use crate::reply::{Answer, Failure};
use crate::{show, tools::arguments};

/// The most bytes of a page, as text and again as JSON. Clients put more than about 100 kB into a file instead of the conversation.
const PAGE_BYTES: usize = 36_000;
/// How many of a task's last comments a board shows.
const COMMENTS: u32 = 2;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetBoard {
    /// For a person with several projects.
    #[schemars(with = "Option<String>")]
    project_id: Option<ProjectId>,
    /// The last task id of the previous page.
    #[schemars(with = "Option<String>")]
    after: Option<TaskId>,
}

pub(crate) async fn get_board(call: Call, arguments: GetBoard) -> Result<Answer, Failure> {
    call.db.admit_reader(&call.caller).await?;
    let board = call.db.board(&call.project(arguments.project_id).await?).await?;
    let mut comments: BTreeMap<TaskId, Vec<Comment>> = BTreeMap::new();
    for comment in call.db.last_comments(&board.project.id, COMMENTS).await? {
        comments.entry(comment.task_id.clone()).or_default().push(comment);
    }
    let project = &board.project;
    let counts: Vec<String> = board.counts().into_iter().filter(|(_, count)| *count > 0).map(|(status, count)| format!("{count} {status}")).collect();
    let mut text =
        format!("{} {} ({}): {}. Project branch {}.\n", project.id, project.title, project.status, counts.join(", "), project.integration_branch);
    let after = arguments.after.as_ref().map_or(0, TaskId::number);
    let page = page(board.cards.iter().filter(|card| card.id.number() > after), |card| comments.get(&card.id).map_or(&[], Vec::as_slice));
    text += &page.text;
    if let Some(next) = &page.next {
        text += &format!("More tasks follow: call get_board with after={next}.\n");
    }
    let data = json!({
        "project": {"id": project.id, "title": project.title, "status": project.status, "branch": project.integration_branch, "base": project.base_branch},
        "tasks": page.tasks,
        "next": page.next,
    });
    Ok(Answer { text, data })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetMyTasks {
    #[schemars(schema_with = "arguments::phase")]
    #[serde(default)]
    phase: Option<Phase>,
}

/// A run's own task; for a person the one their client was started for, else all that are in progress.
pub(crate) async fn get_my_tasks(call: Call, arguments: GetMyTasks) -> Result<Answer, Failure> {
    call.db.admit_reader(&call.caller).await?;
    let mut cards = Vec::new();
    if let Some(own) = &call.scope {
        cards.push(call.db.card(own).await?);
    } else {
        for project in call.db.projects().await? {
            cards.extend(call.db.board(&project.id).await?.cards.into_iter().filter(|card| card.status == Status::InProgress));
        }
    }
    let works = |phase: Phase| matches!(&call.caller, Caller::Run(run) if run.phase == phase);
    cards.retain(|card| arguments.phase.is_none_or(|phase| card.phase == phase || works(phase)));
    let page = page(cards.iter(), |_| &[]);
    let text = if cards.is_empty() { "No task.\n".to_owned() } else { page.text };
    Ok(Answer { text, data: json!({"tasks": page.tasks}) })
}

struct Page {
    text: String,
    tasks: Vec<Value>,
    /// The last task that is shown, when there are more.
    next: Option<TaskId>,
}

fn page<'a>(cards: impl Iterator<Item = &'a Card>, comments: impl Fn(&Card) -> &'a [Comment]) -> Page {
    let mut page = Page { text: String::new(), tasks: Vec::new(), next: None };
    let mut bytes = 0;
    let mut last: Option<&Card> = None;
    for card in cards {
        let comments = comments(card);
        let (text, task) = (show::lines(card, comments), show::data(card, comments));
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
