//! The review rounds of a task. Must not decide what follows when they repeat.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::comment::Comment;
use domain::board::review::Verdict;
use domain::board::review_round::ReviewRound;
use domain::board::task::Task;
use domain::id::TaskId;

use crate::board::comment::row as comments;
use crate::board::task::row as tasks;
use crate::engine::open::Db;
use crate::error::Result;

/// Comments of a task among which a review shows those of the latest runs.
const MAX_COMMENTS: u32 = 20;

/// The stored facts about the review of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewFacts {
    pub task: Task,
    /// The rounds in which it was sent back, the oldest first.
    pub rounds: Vec<ReviewRound>,
    pub verdict: Option<Verdict>,
    /// The newest comments, the oldest first.
    pub comments: Vec<Comment>,
}

impl Db {
    /// Reads what a person reads about a task before they decide its review.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn review_facts(&self, id: &TaskId) -> Result<ReviewFacts> {
        let mut connection = self.readers.acquire().await?;
        let task = tasks::task(&mut connection, id).await?;
        let rounds = row::list(&mut connection, id).await?;
        let verdict = row::last_verdict(&mut connection, id).await?;
        let comments = comments::last_of_task(&mut connection, id, MAX_COMMENTS).await?;
        Ok(ReviewFacts { task, rounds, verdict, comments })
    }

    /// Lists the rounds in which a task was sent back, the oldest first.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn review_rounds(&self, id: &TaskId) -> Result<Vec<ReviewRound>> {
        let mut connection = self.readers.acquire().await?;
        tasks::card(&mut connection, id).await?;
        row::list(&mut connection, id).await
    }
}
