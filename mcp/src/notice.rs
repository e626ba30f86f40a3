//! Notices: what an agent should know and did not ask for, at the end of its next tool result.
//!
//! Nothing else reaches a model in the middle of a turn. What was said is remembered in memory alone, and said again when a call is
//! repeated: after a restart something may be said twice, never not at all.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use db::{Caller, Db, RunCaller};
use domain::board::comment::{AuthorRole, Comment};
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use domain::runs::run::Run;
use domain::team::message::Unread;
use domain::text::excerpt;
use serde::Serialize;

use crate::handler::CHECK_INBOX;
use crate::push::stream::unread;

/// How many comments are told at once; the thread holds the others.
const MOST: usize = 5;
/// How much of a comment is told, in characters.
const EXCERPT: usize = 300;
/// How many agents are remembered. Far more than can be at work; who was told longest ago goes first.
const AGENTS: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Notice {
    /// Somebody else wrote in the thread of the run's task.
    Comment { task: TaskId, author_role: AuthorRole, content: String },
    /// The person wrote to this run itself.
    Message { content: String },
    /// More comments than are told at once.
    More { task: TaskId, count: usize },
    /// Messages that the agent has not been given.
    Unread { count: u32, from: Vec<String> },
    /// The person ended this run.
    Stopped,
}

impl Notice {
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Comment { task, author_role, content } => format!("new comment by {author_role} on {task}: {content}"),
            Self::Message { content } => format!("message from the person: {content}"),
            Self::More { task, count } => format!("{count} more new comments: call get_task with {task}"),
            Self::Unread { count, from } => {
                let messages = if *count == 1 { "message" } else { "messages" };
                format!("{count} unread {messages} from {}: call {CHECK_INBOX}", from.join(", "))
            }
            Self::Stopped => "this run was stopped by the person: end your turn now".to_owned(),
        }
    }
}

/// A place in the log, the newest comment by then, and what waited in the inbox.
#[derive(Debug, Clone, Default)]
struct Seen {
    seq: Seq,
    /// None before the agent was told anything.
    comment: Option<u64>,
    unread: Unread,
}

/// Up to where an agent has been told.
#[derive(Debug)]
struct Told {
    /// Before its last call: where a repetition of that call, whose answer was lost, begins again.
    before: Seen,
    now: Seen,
    call: Option<String>,
}

/// Whom notices are for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Reader {
    Run(u64),
    Agent(ProjectId, String),
}

/// What each agent has been told.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<HashMap<Reader, Told>>);

impl Notices {
    /// What happened around the caller since it was last told, for a result that it gets now. The person looks at the board.
    ///
    /// `inbox_was_read`: the result is itself what waited in the caller's inbox.
    pub(crate) async fn take(&self, db: &Db, caller: &Caller, inbox_was_read: bool) -> db::Result<Vec<Notice>> {
        let (reader, call) = match caller {
            Caller::Run(run) => (Reader::Run(run.run_id.number()), run.call_id.clone()),
            Caller::Agent(agent) => (Reader::Agent(agent.project_id.clone(), agent.name.clone()), agent.call_id.clone()),
            Caller::Human | Caller::Runner | Caller::Invite(_) => return Ok(Vec::new()),
        };
        let before = self.before(&reader, call.as_deref());
        let mut now = Seen { seq: db.latest(), ..before.clone() };
        let mut notices = Vec::new();
        let is_news = now.seq != before.seq;
        if let (true, Caller::Run(run)) = (is_news, caller) {
            let Some(news) = around(db, run, &mut now).await? else { return Ok(Vec::new()) };
            notices = news;
        }
        if inbox_was_read {
            // The answer is what would be told. Whatever waits after it is new, also what came since the answer was made: the next call
            // looks again.
            now.unread = Unread::default();
            now.seq = before.seq;
        } else {
            if is_news {
                now.unread = unread(db, caller).await?;
            }
            if now.unread.count > 0 && (now.unread.urgent || now.unread != before.unread) {
                notices.insert(0, Notice::Unread { count: now.unread.count, from: now.unread.senders.clone() });
            }
        }
        self.remember(reader, Told { before, now, call });
        Ok(notices)
    }

    fn before(&self, reader: &Reader, call: Option<&str>) -> Seen {
        let told = self.told();
        let Some(told) = told.get(reader) else { return Seen::default() };
        let repeated = call.is_some() && told.call.as_deref() == call;
        if repeated { told.before.clone() } else { told.now.clone() }
    }

    fn remember(&self, reader: Reader, now: Told) {
        let mut told = self.told();
        told.insert(reader, now);
        if told.len() > AGENTS {
            let oldest = told.iter().min_by_key(|(_, told)| told.now.seq).map(|(reader, _)| reader.clone());
            told.retain(|reader, _| Some(reader) != oldest.as_ref());
        }
    }

    fn told(&self) -> MutexGuard<'_, HashMap<Reader, Told>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is new in the thread of a run's task; nothing at all for a run that is over, whose refusal says all that it may know.
async fn around(db: &Db, caller: &RunCaller, seen: &mut Seen) -> db::Result<Option<Vec<Notice>>> {
    let run = db.run(&caller.run_id).await?;
    if !run.is_live() {
        return Ok(None);
    }
    let comments = db.comments(&caller.task_id).await?;
    let messages: Vec<String> = db.undelivered(&caller.run_id).await?.into_iter().map(|message| message.content).collect();
    let told = seen.comment.replace(comments.last().map_or(0, |comment| comment.id.number()));
    Ok(Some(news(&run, &comments, &messages, told)))
}

/// What is new for `run`, which has been told of the comments up to number `told`, or of those that were there when it began.
fn news(run: &Run, comments: &[Comment], messages: &[String], told: Option<u64>) -> Vec<Notice> {
    let is_new = |comment: &&Comment| match told {
        Some(told) => comment.id.number() > told,
        None => comment.created_at > run.started_at,
    };
    let new: Vec<&Comment> = comments.iter().filter(is_new).filter(|comment| comment.run_id.as_ref() != Some(&run.id)).collect();
    let left_out = new.len().saturating_sub(MOST);
    let mut notices: Vec<Notice> = new
        .into_iter()
        .skip(left_out)
        .map(|comment| {
            let content = excerpt(&comment.content, EXCERPT);
            // A message to the run joins the thread too; it is told once, as what it is.
            if comment.author_role == AuthorRole::Human && messages.contains(&comment.content) {
                Notice::Message { content }
            } else {
                Notice::Comment { task: comment.task_id.clone(), author_role: comment.author_role, content }
            }
        })
        .collect();
    if left_out > 0 {
        notices.push(Notice::More { task: run.task_id.clone(), count: left_out });
    }
    if run.stop_requested_at.is_some() {
        notices.push(Notice::Stopped);
    }
    notices
}
