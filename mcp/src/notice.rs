//! Notices: what a running agent should know and did not ask for, at the end of its next tool result.
//!
//! Nothing else reaches a model in the middle of a turn. What was said is remembered in memory alone, and said again when a call is
//! repeated: after a restart something may be said twice, never not at all.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use db::{Db, RunCaller};
use domain::comment::{AuthorRole, Comment};
use domain::event::Seq;
use domain::id::TaskId;
use domain::run::Run;
use domain::text::excerpt;
use serde::Serialize;

/// How many comments are told at once; the thread holds the others.
const MOST: usize = 5;
/// How much of a comment is told, in characters.
const EXCERPT: usize = 300;
/// How many runs are remembered. Far more than can be at work; the oldest go first.
const RUNS: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Notice {
    /// Somebody else wrote in the thread of the run's task.
    Comment { task: TaskId, author_role: AuthorRole, content: String },
    /// The person wrote to this run itself.
    Message { content: String },
    /// More comments than are told at once.
    More { task: TaskId, count: usize },
    /// The person ended this run.
    Stopped,
}

impl Notice {
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Comment { task, author_role, content } => format!("new comment by {author_role} on {task}: {content}"),
            Self::Message { content } => format!("message from the person: {content}"),
            Self::More { task, count } => format!("{count} more new comments: call get_task with {task}"),
            Self::Stopped => "this run was stopped by the person: end your turn now".to_owned(),
        }
    }
}

/// A place in the log, and the newest comment by then.
#[derive(Debug, Clone, Copy)]
struct Seen {
    seq: Seq,
    comment: u64,
}

/// Up to where a run has been told.
#[derive(Debug)]
struct Told {
    /// Before its last call: where a repetition of that call, whose answer was lost, begins again.
    before: Option<Seen>,
    now: Seen,
    call: Option<String>,
}

/// What each run has been told, by the number of the run.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    told: Mutex<BTreeMap<u64, Told>>,
}

impl Notices {
    /// What happened around the run since it was last told.
    pub(crate) async fn take(&self, db: &Db, caller: &RunCaller) -> db::Result<Vec<Notice>> {
        let before = self.before(caller);
        let seq = db.latest();
        if let Some(seen) = before.filter(|seen| seen.seq == seq) {
            self.remember(caller, before, seen);
            return Ok(Vec::new());
        }
        let run = db.run(&caller.run_id).await?;
        if !run.is_live() {
            // Its refusal says all that it may know.
            return Ok(Vec::new());
        }
        let comments = db.comments(&caller.task_id).await?;
        let messages: Vec<String> = db.undelivered(&caller.run_id).await?.into_iter().map(|message| message.content).collect();
        let comment = comments.last().map_or(0, |comment| comment.id.number());
        self.remember(caller, before, Seen { seq, comment });
        Ok(news(&run, &comments, &messages, before.map(|seen| seen.comment)))
    }

    fn before(&self, caller: &RunCaller) -> Option<Seen> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.get(&caller.run_id.number())?;
        let repeated = caller.call_id.is_some() && told.call == caller.call_id;
        if repeated { told.before } else { Some(told.now) }
    }

    fn remember(&self, caller: &RunCaller, before: Option<Seen>, now: Seen) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(caller.run_id.number(), Told { before, now, call: caller.call_id.clone() });
        if told.len() > RUNS {
            told.pop_first();
        }
    }
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
