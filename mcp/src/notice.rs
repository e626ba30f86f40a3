//! Notices: hints appended to an agent's next tool result, because nothing else reaches a model during a turn.
//!
//! The position of each agent is only kept in memory, so after a restart a notice may repeat, but none is lost. It must not know any tool
//! except the one that reads the inbox.

mod changed_files;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use db::{Caller, Db, ReportedContext, RunCaller};
use domain::board::comment::{AuthorRole, Comment};
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use domain::runs::run::Run;
use domain::team::message::Unread;
use domain::text::excerpt;
use domain::time::Timestamp;
use domain::warroom::context_left::Condition;
use domain::warroom::transport::Transport;
use serde::Serialize;

use self::changed_files::SeenFiles;
use crate::handler::CHECK_INBOX;
use crate::push::stream::unread;

/// The most comments in one result. The thread has the others.
const MAX_COMMENTS: usize = 5;
/// The most characters of a comment.
const MAX_EXCERPT: usize = 300;
/// The most agents whose position is kept, which is far more than can run. The oldest is dropped first.
const MAX_TRACKED: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Notice {
    /// Another author commented on the run's task.
    Comment { task: TaskId, author_role: AuthorRole, content: String },
    /// The human sent a message to this run.
    Message { content: String },
    /// More comments than fit.
    More { task: TaskId, count: usize },
    /// Messages that were not delivered to the agent.
    Unread { count: u32, from: Vec<String> },
    /// Intel and traps that an oracle has not read.
    UnreadKnowledge { count: u64 },
    /// At most half, or less than a quarter, of the agent's context is left.
    ContextLeft { percent: u64, condition: Condition },
    /// The agent's report about its context is older than its class allows.
    ReportDue,
    /// Files that the agent claims, or of its zones, changed since it loaded them.
    ChangedFiles { count: u32 },
    /// The human stopped this run.
    Stopped,
}

impl Notice {
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Comment { task, author_role, content } => format!("new comment by {author_role} on {task}: {content}"),
            Self::Message { content } => format!("message from the human: {content}"),
            Self::More { task, count } => format!("{count} more new comments: call get_task with {task}"),
            Self::Unread { count, from } => {
                let messages = if *count == 1 { "message" } else { "messages" };
                format!("{count} unread {messages} from {}: call {CHECK_INBOX}", from.join(", "))
            }
            Self::UnreadKnowledge { count } => {
                let items = if *count == 1 { "item" } else { "items" };
                format!("{count} unread {items} of intel and traps: call read_intel, because send is refused until then")
            }
            Self::ContextLeft { percent, condition: Condition::Critical } => {
                format!("{percent} % of your context is left (critical): finish, and write down in a comment what the next agent needs")
            }
            Self::ContextLeft { percent, condition } => format!("{percent} % of your context is left ({condition}): take light tasks only"),
            Self::ReportDue => "your report about your context is old: call set_context, because send is refused until then".to_owned(),
            Self::ChangedFiles { count } => {
                let (files, them) = if *count == 1 { ("file", "it") } else { ("files", "them") };
                format!("{count} {files} changed since you last loaded {them}: call check_freshness")
            }
            Self::Stopped => "the human stopped this run: end your turn now".to_owned(),
        }
    }
}

/// A position in the log, with the newest comment and the unread messages at that time.
#[derive(Debug, Clone, Default)]
struct Position {
    seq: Seq,
    /// None before the agent's first notice.
    comment: Option<u64>,
    unread: Unread,
    /// How much an oracle has to read.
    knowledge: u64,
    /// The condition of an agent that reports its context, and the report that was due.
    condition: Option<Condition>,
    due: Option<Timestamp>,
    files: SeenFiles,
}

/// The position up to which an agent got notices.
#[derive(Debug)]
struct NoticeCursor {
    /// The position before its last call, for a repetition of that call after its answer was lost.
    before: Position,
    now: Position,
    call: Option<String>,
}

/// The agent that notices are for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Recipient {
    Run(u64),
    Agent(ProjectId, String),
}

/// The positions of all agents.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<HashMap<Recipient, NoticeCursor>>);

impl Notices {
    /// Returns the notices for the caller's current result. The human gets none, because the board shows everything.
    ///
    /// `inbox_was_read`: the result contains the caller's unread messages.
    pub(crate) async fn take(&self, db: &Db, caller: &Caller, inbox_was_read: bool) -> db::Result<Vec<Notice>> {
        let (reader, call) = match caller {
            Caller::Run(run) => (Recipient::Run(run.run_id.number()), run.call_id.clone()),
            Caller::Agent(agent) => (Recipient::Agent(agent.project_id.clone(), agent.name.clone()), agent.call_id.clone()),
            Caller::Person(_) | Caller::Runner | Caller::Invite(_) => return Ok(Vec::new()),
        };
        let before = self.before(&reader, call.as_deref());
        let mut now = Position { seq: db.latest(), ..before.clone() };
        let mut notices = Vec::new();
        let is_news = now.seq != before.seq;
        if let (true, Caller::Run(run)) = (is_news, caller) {
            let Some(news) = thread_notices(db, run, &mut now).await? else { return Ok(Vec::new()) };
            notices = news;
        }
        if inbox_was_read {
            // The result contains the messages. The next call looks again, because others may have arrived since.
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
        if is_news {
            now.knowledge = db.unread_required_knowledge(caller).await?;
            if now.knowledge > before.knowledge {
                notices.push(Notice::UnreadKnowledge { count: now.knowledge });
            }
        }
        let reported = db.reported_context(caller).await?;
        notices.extend(context_notices(&reported, db::now(), &mut now));
        // Without a report, nobody knows when the agent loaded a file.
        if let (Caller::Agent(agent), Some(_)) = (caller, reported.last_report) {
            notices.extend(now.files.check(db, agent, db::now()).await);
        }
        self.remember(reader, NoticeCursor { before, now, call });
        Ok(notices)
    }

    fn before(&self, reader: &Recipient, call: Option<&str>) -> Position {
        let seen = self.cursors();
        let Some(seen) = seen.get(reader) else { return Position::default() };
        let repeated = call.is_some() && seen.call.as_deref() == call;
        if repeated { seen.before.clone() } else { seen.now.clone() }
    }

    fn remember(&self, reader: Recipient, now: NoticeCursor) {
        let mut seen = self.cursors();
        seen.insert(reader, now);
        if seen.len() > MAX_TRACKED {
            let oldest = seen.iter().min_by_key(|(_, seen)| seen.now.seq).map(|(reader, _)| reader.clone());
            seen.retain(|reader, _| Some(reader) != oldest.as_ref());
        }
    }

    fn cursors(&self) -> MutexGuard<'_, HashMap<Recipient, NoticeCursor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the notices about the context of an agent that reports it, each once when its threshold is crossed. A daemon is not reminded of its
/// report, because the program that starts it sends the reports.
fn context_notices(reported: &ReportedContext, at: Timestamp, seen: &mut Position) -> Vec<Notice> {
    let left = reported.context_use.map(|given| (given.percent_left(), given.condition()));
    let before = std::mem::replace(&mut seen.condition, left.map(|(_, condition)| condition));
    let crossed = left.filter(|(_, condition)| *condition != Condition::Healthy && before.is_none_or(|before| before < *condition));
    let report = reported.last_report.filter(|report| reported.transport == Some(Transport::Terminal) && report.is_due(at)).map(|report| report.at);
    let is_newly_due = report.is_some() && std::mem::replace(&mut seen.due, report) != report;
    let crossed = crossed.map(|(percent, condition)| Notice::ContextLeft { percent, condition });
    crossed.into_iter().chain(is_newly_due.then_some(Notice::ReportDue)).collect()
}

/// Returns the notices about the run's task. None for a run that has ended, whose refusal says enough.
async fn thread_notices(db: &Db, caller: &RunCaller, seen: &mut Position) -> db::Result<Option<Vec<Notice>>> {
    let run = db.run(&caller.run_id).await?;
    if !run.is_live() {
        return Ok(None);
    }
    let comments = db.comments(&caller.task_id).await?;
    let messages: Vec<String> = db.undelivered(&caller.run_id).await?.into_iter().map(|message| message.content).collect();
    let seen = seen.comment.replace(comments.last().map_or(0, |comment| comment.id.number()));
    Ok(Some(news(&run, &comments, &messages, seen)))
}

/// Returns the notices for `run`, which has seen the comments up to number `seen`, or those written before it started.
fn news(run: &Run, comments: &[Comment], messages: &[String], seen: Option<u64>) -> Vec<Notice> {
    let is_new = |comment: &&Comment| match seen {
        Some(seen) => comment.id.number() > seen,
        None => comment.created_at > run.started_at,
    };
    let new: Vec<&Comment> = comments.iter().filter(is_new).filter(|comment| comment.run_id.as_ref() != Some(&run.id)).collect();
    let left_out = new.len().saturating_sub(MAX_COMMENTS);
    let mut notices: Vec<Notice> = new
        .into_iter()
        .skip(left_out)
        .map(|comment| {
            let content = excerpt(&comment.content, MAX_EXCERPT);
            // A message to the run is a comment as well, and it is announced once, as a message.
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
