//! The state of a card as its reader sees it: who has to act, the glyph and tone that say so, and the facts below the title. Pure.
//!
//! Must not know how a card is drawn.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::project::summary::ProjectSummary;
use domain::board::status::{HeldBy, Status};
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::consumption;
use domain::time::Timestamp;

use crate::components::badge::{Tone, cancel_label, phase_label};
use crate::components::glyph::Glyph;
use crate::components::inline_code::sentence;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CardState {
    Ready,
    Blocked,
    /// Goes on by itself.
    Waiting,
    Held,
    Working,
    /// Asks the person.
    Question,
    /// Stopped with something that only the person can settle.
    Failed,
    InReview,
    /// Waits for the review of a person.
    YourReview,
    Approved,
    Done,
    Cancelled,
}

impl CardState {
    pub(crate) fn of(card: &Card) -> Self {
        if let Some(attention) = &card.attention {
            return Self::of_attention(attention.kind);
        }
        match (card.status, &card.run, &card.wait_reason) {
            (Status::Done, ..) => Self::Done,
            (Status::Cancelled, ..) => Self::Cancelled,
            (_, Some(run), _) if run.phase == AgentKind::Reviewer => Self::InReview,
            (_, Some(_), _) => Self::Working,
            (_, _, Some(WaitReason::AwaitingLead { .. })) => Self::YourReview,
            (Status::InReview, ..) if card.approved_sha.is_some() => Self::Approved,
            (_, _, Some(WaitReason::Assigned { .. })) if card.status == Status::InProgress => Self::Working,
            (_, _, Some(WaitReason::BlockedBy { .. } | WaitReason::PlanUnfinished { .. })) => Self::Blocked,
            _ if card.held_by.is_some() => Self::Held,
            (Status::InReview, ..) => Self::InReview,
            (_, _, None) => Self::Ready,
            (_, _, Some(_)) => Self::Waiting,
        }
    }

    const fn of_attention(kind: AttentionKind) -> Self {
        match kind {
            AttentionKind::NeedsInput
            | AttentionKind::Permission
            | AttentionKind::Interrupted
            | AttentionKind::Budget
            | AttentionKind::DependencyCancelled
            | AttentionKind::AssigneeUnresponsive
            | AttentionKind::AssigneeRemoved
            | AttentionKind::OftenUpdated => Self::Question,
            AttentionKind::ProtectedPaths | AttentionKind::Review => Self::YourReview,
            AttentionKind::Failed
            | AttentionKind::ReviewLimit
            | AttentionKind::NoProgress
            | AttentionKind::Conflict
            | AttentionKind::EmptyPlan
            | AttentionKind::Repository
            | AttentionKind::Setup
            | AttentionKind::Checks
            | AttentionKind::PullRequest
            | AttentionKind::NoOutcome => Self::Failed,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Blocked => "blocked",
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Working => "working",
            Self::Question => "question",
            Self::Failed => "failed",
            Self::InReview => "review",
            Self::YourReview => "your-review",
            Self::Approved => "approved",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// The words for the state, for a screen reader and for the panel.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Ready => "Ready",
            Self::Blocked => "Blocked",
            Self::Waiting => "Waiting",
            Self::Held => "Held",
            Self::Working => "At work",
            Self::Question => "Asks you",
            Self::Failed => "Needs you",
            Self::InReview => "In review",
            Self::YourReview => "Waits for your review",
            Self::Approved => "Approved",
            Self::Done => "Done",
            Self::Cancelled => "Cancelled",
        }
    }

    pub(crate) const fn tone(self) -> Tone {
        match self {
            Self::Ready | Self::Blocked | Self::Waiting | Self::Held | Self::Cancelled => Tone::Neutral,
            Self::Working => Tone::Live,
            Self::Question | Self::YourReview => Tone::Warn,
            Self::Failed => Tone::Bad,
            Self::InReview => Tone::Info,
            Self::Approved | Self::Done => Tone::Good,
        }
    }

    pub(crate) const fn glyph(self) -> Glyph {
        match self {
            Self::Ready => Glyph::Ring,
            Self::Blocked => Glyph::DashedRing,
            Self::Waiting => Glyph::Clock,
            Self::Held => Glyph::Pause,
            Self::Working => Glyph::Working,
            Self::Question => Glyph::Question,
            Self::Failed => Glyph::Failed,
            Self::InReview => Glyph::HalfRing,
            Self::YourReview => Glyph::Look,
            Self::Approved => Glyph::CheckRing,
            Self::Done => Glyph::Done,
            Self::Cancelled => Glyph::Struck,
        }
    }

    /// Whether there is submitted work to read.
    pub(crate) const fn has_submission(self) -> bool {
        matches!(self, Self::InReview | Self::YourReview | Self::Approved)
    }

    /// Whether only the person can go on.
    pub(crate) const fn needs_person(self) -> bool {
        matches!(self, Self::Question | Self::Failed | Self::YourReview)
    }
}

/// The line below the title: why the task waits, or who works on it, and its cost. `time` words a moment for the reader, and `elsewhere` an
/// agent of another project that the task waits for.
pub(crate) fn meta(card: &Card, time: impl Fn(Timestamp) -> String, elsewhere: Option<String>) -> String {
    let state = CardState::of(card);
    let cost = consumption(card.cost_micro_usd, card.tokens);
    let kind = phase_label(card.run.as_ref().map_or(card.phase, |run| run.phase));
    let head = match state {
        CardState::Done if card.is_merged() => format!("Merged {}", time(card.updated_at)),
        CardState::Done => format!("Done {}", time(card.updated_at)),
        CardState::Cancelled => card.cancel_reason.map_or("Cancelled", |reason| cancel_label(reason).0).to_owned(),
        CardState::Approved if card.awaits_pull_request() => "Open on its host".to_owned(),
        CardState::Approved => "Merges next".to_owned(),
        _ if card.run.as_ref().is_some_and(|run| run.stopping) => format!("{kind} is stopping"),
        CardState::Working if card.run.is_none() => card.wait_reason.as_ref().map_or_else(String::new, |why| waiting(why, &time)),
        CardState::Working | CardState::Question | CardState::Failed | CardState::YourReview => kind.to_owned(),
        CardState::InReview if card.run.is_some() => kind.to_owned(),
        _ => match (&card.wait_reason, card.held_by) {
            (_, Some(HeldBy::Human)) => "Held by you".to_owned(),
            (_, Some(HeldBy::Plan)) => "Starts with the plan".to_owned(),
            (_, Some(HeldBy::Stop)) => "Stopped".to_owned(),
            (_, Some(HeldBy::Takeover)) => "Taken over by you".to_owned(),
            (Some(why), None) => elsewhere.unwrap_or_else(|| waiting(why, &time)),
            (None, None) if card.status == Status::InReview => "Reviewer starts next".to_owned(),
            (None, None) => "Starts next".to_owned(),
        },
    };
    // The role is said where it differs from what the column suggests.
    let role = match card.phase {
        AgentKind::Planner | AgentKind::Orchestrator if head != kind => Some(phase_label(card.phase).to_owned()),
        _ => None,
    };
    let near = card.near_limit.as_ref().filter(|_| card.attention.is_none()).map(|limit| limit.sentence());
    let protected = card.protected_paths.as_ref().map(|change| format!("changes {}", change.named()));
    role.into_iter().chain([head]).chain(cost).chain(near).chain(protected).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The agent of another project that a task waits for, in words. None if it waits for nothing else, or for an agent of its own project, which
/// its board shows.
pub(crate) fn busy_elsewhere(card: &Card, projects: &[ProjectSummary]) -> Option<String> {
    let Some(WaitReason::KindLimitReached { phase }) = &card.wait_reason else { return None };
    let busy = projects.iter().flat_map(|summary| {
        let agents = summary.agents.iter().filter(|agent| agent.phase == *phase);
        agents.map(move |agent| (&summary.project, agent))
    });
    let busy: Vec<_> = busy.collect();
    let (project, agent) = busy.first().filter(|_| busy.iter().all(|(project, _)| project.id != card.project_id))?;
    Some(format!("Waits for the {phase} of {} in {}", agent.task_id, project.title))
}

/// Words a wait reason for a card, with the reader's own time.
pub(crate) fn waiting(why: &WaitReason, time: impl Fn(Timestamp) -> String) -> String {
    match why {
        WaitReason::BlockedBy { tasks } => format!("After {}", tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")),
        WaitReason::Backoff { until, after } => format!("Retries at {} ({})", time(*until), after.sentence()),
        WaitReason::Parked { reason, until: Some(until) } => {
            format!("{}, continues at {}", sentence(reason.sentence()).trim_end_matches('.'), time(*until))
        }
        why => sentence(&why.sentence()).trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests;
