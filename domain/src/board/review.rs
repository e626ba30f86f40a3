//! The review of a task by a person: comments on lines, who may decide, and what an agent reads about work that is sent back.
//!
//! Must not read a repository: the caller brings the commented lines.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::board::card::Card;
use crate::board::comment::{AuthorRole, Comment};
use crate::board::status::Status;
use crate::board::transition::{Mover, rule};
use crate::id::TaskId;
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::runs::evidence::{EvidenceResult, HeadEvidence, Sha, short};
use crate::text;
use crate::time::Timestamp;

/// The maximum number of comments of one review.
pub const MAX_COMMENTS: usize = 200;
/// Characters of a commented line that the agent reads.
const MAX_QUOTE: usize = 300;

/// The version of a file that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The file before the changes.
    Old,
    /// The file with the changes.
    New,
}

/// A comment on one line of the changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LineComment {
    /// The path of the file on that side.
    pub path: String,
    /// From 1.
    pub line: u32,
    pub side: Side,
    /// The review round whose commit the old side shows; without it, the old side is the base.
    #[serde(default)]
    pub since: Option<u32>,
    /// The earlier commit that the comment is about; the commit of the review if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha: Option<Sha>,
    #[schema(value_type = crate::text_schema::Body)]
    pub text: String,
}

impl LineComment {
    /// The commit of the comment, if it is not `head`.
    pub fn earlier_than(&self, head: &Sha) -> Option<&Sha> {
        self.sha.as_ref().filter(|sha| *sha != head)
    }
}

/// `POST /api/tasks/{id}/review/send-back`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SendBack {
    /// The commit that the person read. Another one is refused.
    pub sha: Sha,
    /// The changes to make in general.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub words: Option<String>,
    #[serde(default)]
    pub comments: Vec<LineComment>,
}

impl SendBack {
    /// Checks the texts, because an agent needs at least one of them.
    ///
    /// # Errors
    /// Nothing is said, or a text is invalid.
    pub fn validate(&self) -> Result<(), GeneralRefusal> {
        let words = text::validate_optional_body("words", self.words.as_deref())?;
        if words.is_none() && self.comments.is_empty() {
            return Err(GeneralRefusal::invalid("words", "the review is empty", "Comment on a line, or write what to change."));
        }
        if self.comments.len() > MAX_COMMENTS {
            let problem = format!("there are {}, more than the {MAX_COMMENTS} allowed", self.comments.len());
            return Err(GeneralRefusal::invalid("comments", problem, "Send the most important ones first."));
        }
        self.comments.iter().try_for_each(|comment| text::validate_body("comments", &comment.text).map(drop))
    }

    /// The review as Markdown, as its reader and the coder get it. `quotes` are the commented lines, in the order of the comments.
    pub fn markdown(&self, quotes: &[Option<String>]) -> String {
        let words = self.words.as_deref().map(str::trim).filter(|words| !words.is_empty());
        let comments = self.comments.iter().zip(quotes.iter().map(Option::as_deref).chain(std::iter::repeat(None)));
        let comments = comments.map(|(comment, quote)| {
            let before = if comment.side == Side::Old { ", before the change" } else { "" };
            let earlier = comment.earlier_than(&self.sha).map(|sha| format!(" at the earlier commit {}", short(sha))).unwrap_or_default();
            let place = format!("`{}:{}`{before}{earlier}:", comment.path.replace(['`', '\n'], " "), comment.line);
            // Indented code needs no fence, which the line could close.
            let quote = quote.map(|quote| format!("\n\n    {}", quote.chars().take(MAX_QUOTE).collect::<String>()));
            format!("{place}{}\n\n{}", quote.unwrap_or_default(), comment.text.trim())
        });
        let head = match self.comments.len() {
            0 => None,
            1 => Some(format!("One comment on {}:", short(&self.sha))),
            count => Some(format!("{count} comments on {}:", short(&self.sha))),
        };
        words.map(str::to_owned).into_iter().chain(head).chain(comments).collect::<Vec<_>>().join("\n\n")
    }
}

/// A reviewer's or a person's judgement of one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verdict {
    /// Whether the commit was approved; otherwise it was sent back.
    pub approved: bool,
    pub sha: Sha,
    pub by: Actor,
    pub created_at: Timestamp,
}

/// Selects what the coder and the reviewer of the latest runs said, from comments in their order.
pub fn latest_words(mut comments: Vec<Comment>) -> Vec<Comment> {
    let of = |comment: &Comment| (comment.author_role, comment.run_id.clone());
    let latest = |role| comments.iter().rev().find(|comment| comment.author_role == role).map(of);
    let kept: Vec<_> = [AuthorRole::Coder, AuthorRole::Reviewer, AuthorRole::Agent].into_iter().filter_map(latest).collect();
    comments.retain(|comment| kept.contains(&of(comment)));
    comments
}

/// The decisions that a person may take about the work under review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Decisions {
    pub approve: bool,
    pub send_back: bool,
    /// Why one of them is not possible, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

impl Decisions {
    /// The decisions about a task at the commit `head`, for a person who may work on the board or only read.
    pub fn of(card: &Card, head: Option<&Sha>, may_work: bool) -> Self {
        let awaits_person = card.attention.as_ref().is_some_and(|attention| attention.kind.is_review());
        let is_legal = |to| card.status == Status::InReview && rule(card.phase, card.status, to, Mover::Human).is_some();
        let is_approved = head.is_some() && card.approved_sha.as_ref() == head && !awaits_person;
        let why_not = if !may_work {
            Some("You may read this review, but not decide it.")
        } else if head.is_none() {
            Some("There is no commit to review yet.")
        } else if is_approved && card.status == Status::InReview {
            Some("It is approved and will be merged.")
        } else {
            match card.status {
                Status::InReview => None,
                Status::Backlog => Some("Work on it has not started."),
                Status::InProgress => Some("Its coder is working. You can decide when the work is submitted."),
                Status::Done => Some("It is done."),
                Status::Cancelled => Some("It is cancelled."),
            }
        };
        let may_decide = may_work && head.is_some();
        Self {
            approve: may_decide && !is_approved && is_legal(Status::Done),
            send_back: may_decide && is_legal(Status::InProgress),
            why_not: why_not.map(str::to_owned),
        }
    }
}

refusals! {
    /// Why a review may not be decided.
    ReviewRefusal {
        #[error("{task} is now at {}, but the review is of {}", head.as_deref().map_or("no commit", short), short(shown))]
        Outdated { task: TaskId, shown: Sha, head: Option<Sha> } => Conflict "review-outdated",
    }
}

impl ReviewRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Outdated { .. } => "Reload the review, read what changed since, then decide again. Your comments are kept.".to_owned(),
        }
    }

    /// Refuses a decision about another commit than the current one.
    ///
    /// # Errors
    /// The evidence is about another commit than `shown`.
    pub fn require_current(task: &TaskId, shown: &Sha, found: &EvidenceResult) -> Result<(), Self> {
        let head = match found {
            EvidenceResult::Head(HeadEvidence { sha, .. }) => Some(sha.clone()),
            EvidenceResult::Evidence(evidence) => Some(evidence.head.clone()),
            EvidenceResult::Nothing => None,
        };
        if head.as_ref() == Some(shown) {
            return Ok(());
        }
        Err(Self::Outdated { task: task.clone(), shown: shown.clone(), head })
    }
}

#[cfg(test)]
mod tests;
