//! The one place for labels and colours of states: statuses, stages, roles, attention, run results and goals.
//!
//! Must not decide anything: `domain` knows which moves are legal.

pub(crate) mod card_state;
pub(crate) mod check;
pub(crate) mod preview;
pub(crate) mod team;
pub(crate) mod warroom;

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::comment::AuthorRole;
use domain::board::goal::{GoalStatus, Progress};
use domain::board::project::ProjectStatus;
use domain::board::stage::Stage;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::runs::agent_kind::AgentKind;
use domain::runs::diff::FileChange;
use domain::runs::failure::EndClass;
use leptos::prelude::*;

/// A colour of the style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Neutral,
    Info,
    Live,
    Good,
    Warn,
    Bad,
}

impl Tone {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::Info => "info",
            Self::Live => "live",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// The name of a column.
pub(crate) const fn status_label(status: Status) -> &'static str {
    match status {
        Status::Backlog => "To do",
        Status::InProgress => "In progress",
        Status::InReview => "In review",
        Status::Done => "Done",
        Status::Cancelled => "Cancelled",
    }
}

pub(crate) const fn status_tone(status: Status) -> Tone {
    match status {
        Status::Backlog | Status::Cancelled => Tone::Neutral,
        Status::InProgress => Tone::Live,
        Status::InReview => Tone::Info,
        Status::Done => Tone::Good,
    }
}

/// The columns of the board, from left to right. The last one has the cancelled tasks below.
pub(crate) const COLUMNS: [&[Status]; 4] = [&[Status::Backlog], &[Status::InProgress], &[Status::InReview], &[Status::Done, Status::Cancelled]];

/// The columns of open tasks.
pub(crate) const OPEN_COLUMNS: [&[Status]; 3] = [&[Status::Backlog], &[Status::InProgress], &[Status::InReview]];

/// The status of a task that nobody has started. A person may change the order of these tasks.
pub(crate) const UNSTARTED: Status = Status::Backlog;

/// Whether new tasks start in this column.
pub(crate) const fn takes_new_tasks(status: Status) -> bool {
    matches!(status, Status::Backlog)
}

/// Whether a column shows only its heading until someone opens it.
pub(crate) const fn is_folded(status: Status) -> bool {
    matches!(status, Status::Cancelled)
}

const fn stage_badge(stage: Stage) -> (&'static str, Tone) {
    match stage {
        Stage::Pending => ("Held", Tone::Neutral),
        Stage::Assigned => ("Queued", Tone::Neutral),
        Stage::Ready => ("Ready", Tone::Info),
        Stage::Blocked => ("Blocked", Tone::Neutral),
        Stage::InProgress => ("Working", Tone::Live),
        Stage::Review => ("In review", Tone::Info),
        Stage::Approved => ("Approved", Tone::Good),
        Stage::Completed | Stage::Closed => ("Done", Tone::Good),
        Stage::Verified => ("Verified", Tone::Good),
        Stage::Failed => ("Failed", Tone::Bad),
        Stage::Stale => ("Stuck", Tone::Bad),
        Stage::Abandoned => ("Abandoned", Tone::Neutral),
        Stage::Obsolete => ("No longer needed", Tone::Neutral),
    }
}

pub(crate) const fn attention_label(kind: AttentionKind) -> &'static str {
    match kind {
        AttentionKind::Failed => "failed",
        AttentionKind::ReviewLimit => "stalled",
        AttentionKind::NoProgress => "no progress",
        AttentionKind::NeedsInput => "question",
        AttentionKind::Conflict => "conflict",
        AttentionKind::Budget => "budget",
        AttentionKind::EmptyPlan => "empty plan",
        AttentionKind::DependencyCancelled => "dependency cancelled",
        AttentionKind::Repository => "repository",
        AttentionKind::Setup => "setup failed",
        AttentionKind::Checks => "checks not run",
        AttentionKind::NoOutcome => "no result",
        AttentionKind::AssigneeUnresponsive => "agent unresponsive",
        AttentionKind::AssigneeRemoved => "agent removed",
        AttentionKind::OftenUpdated => "many updates",
        AttentionKind::ProtectedPaths => "protected paths",
        AttentionKind::Review => "your review",
        AttentionKind::Permission => "permission",
        AttentionKind::Interrupted => "interrupted",
        AttentionKind::PullRequest => "pull request",
    }
}

pub(crate) const fn phase_label(phase: AgentKind) -> &'static str {
    match phase {
        AgentKind::Planner => "Planner",
        AgentKind::Coder => "Coder",
        AgentKind::Reviewer => "Reviewer",
        AgentKind::Orchestrator => "Orchestrator",
        AgentKind::Oracle => "Expert",
    }
}

pub(crate) const fn phase_tone(phase: AgentKind) -> Tone {
    match phase {
        AgentKind::Planner => Tone::Warn,
        AgentKind::Coder => Tone::Live,
        AgentKind::Reviewer => Tone::Info,
        AgentKind::Orchestrator => Tone::Good,
        AgentKind::Oracle => Tone::Info,
    }
}

pub(crate) const fn author_label(author: AuthorRole) -> &'static str {
    match author {
        AuthorRole::Planner => phase_label(AgentKind::Planner),
        AuthorRole::Coder => phase_label(AgentKind::Coder),
        AuthorRole::Reviewer => phase_label(AgentKind::Reviewer),
        AuthorRole::Orchestrator => phase_label(AgentKind::Orchestrator),
        AuthorRole::Oracle => phase_label(AgentKind::Oracle),
        AuthorRole::Human => "You",
        AuthorRole::Runner => "Runner",
        AuthorRole::Agent => "Agent",
    }
}

pub(crate) const fn author_tone(author: AuthorRole) -> Tone {
    match author {
        AuthorRole::Planner => phase_tone(AgentKind::Planner),
        AuthorRole::Coder => phase_tone(AgentKind::Coder),
        AuthorRole::Reviewer => phase_tone(AgentKind::Reviewer),
        AuthorRole::Orchestrator => phase_tone(AgentKind::Orchestrator),
        AuthorRole::Oracle => phase_tone(AgentKind::Oracle),
        AuthorRole::Agent => Tone::Live,
        AuthorRole::Human | AuthorRole::Runner => Tone::Neutral,
    }
}

pub(crate) const fn end_badge(end: EndClass) -> (&'static str, Tone) {
    match end {
        EndClass::Finished => ("Finished", Tone::Good),
        EndClass::AwaitingAnswer => ("Asked you", Tone::Warn),
        EndClass::Stopped => ("Stopped", Tone::Neutral),
        EndClass::Failed => ("Failed", Tone::Bad),
        EndClass::Parked => ("Parked", Tone::Neutral),
        EndClass::NotSetUp => ("Setup failed", Tone::Bad),
        EndClass::Limited => ("Reached a limit", Tone::Warn),
    }
}

pub(crate) const fn goal_badge(status: GoalStatus) -> (&'static str, Tone) {
    match status {
        GoalStatus::Open => ("Open", Tone::Neutral),
        GoalStatus::Active => ("Active", Tone::Live),
        GoalStatus::PendingVerify => ("Awaiting sign-off", Tone::Warn),
        GoalStatus::Verified => ("Verified", Tone::Good),
    }
}

/// The progress of a goal, such as `1 of 4 verified, 2 more done`.
pub(crate) fn progress_label(progress: Progress) -> String {
    let Progress { linked, completed, verified, .. } = progress;
    match linked {
        0 => "No tasks yet".to_owned(),
        _ if completed > verified => format!("{verified} of {linked} verified, {} more done", completed - verified),
        _ => format!("{verified} of {linked} verified"),
    }
}

pub(crate) const fn project_badge(status: ProjectStatus) -> (&'static str, Tone) {
    match status {
        ProjectStatus::Active => ("Active", Tone::Info),
        ProjectStatus::Complete => ("Complete", Tone::Good),
    }
}

pub(crate) const fn change_label(change: FileChange) -> &'static str {
    match change {
        FileChange::Added => "new",
        FileChange::Removed => "removed",
        FileChange::Modified => "",
        FileChange::Renamed => "renamed",
        FileChange::ModeChanged => "mode",
    }
}

pub(crate) const fn cancel_label(reason: CancelReason) -> (&'static str, &'static str) {
    match reason {
        CancelReason::Abandoned => ("Abandoned", "Tasks that depend on it will need your decision."),
        CancelReason::Failed => ("Failed", "Tasks that depend on it will need your decision."),
        CancelReason::Obsolete => ("No longer needed", "Tasks that depend on it continue as if it were done."),
        CancelReason::Duplicate => ("Duplicate", "Tasks that depend on it continue as if it were done."),
    }
}

/// The badge of a card: attention first, then the state of the run, then the stage.
pub(crate) fn card_badge(card: &Card) -> (String, Tone) {
    if let Some(attention) = &card.attention {
        return (format!("Needs you: {}", attention_label(attention.kind)), Tone::Warn);
    }
    match &card.run {
        Some(run) if run.stopping => ("Stopping".to_owned(), Tone::Neutral),
        Some(run) if run.phase != card.phase => (format!("{} working", phase_label(run.phase)), Tone::Live),
        None if card.held_by == Some(HeldBy::Takeover) && card.status.is_open() => ("Taken over".to_owned(), Tone::Live),
        None if card.held_by == Some(HeldBy::Stop) && card.status.is_open() => ("Stopped".to_owned(), Tone::Neutral),
        _ => {
            let (label, tone) = match (Stage::of(card), &card.contributors.assigned_to) {
                (Stage::Assigned, Some(_)) => ("Assigned", Tone::Info),
                (stage, _) => stage_badge(stage),
            };
            (label.to_owned(), tone)
        }
    }
}

#[component]
pub(crate) fn Badge(#[prop(into)] label: String, tone: Tone) -> impl IntoView {
    view! { <span class="badge" data-tone=tone.as_str()>{label}</span> }
}

#[component]
pub(crate) fn Role(phase: AgentKind) -> impl IntoView {
    view! { <span class="role" data-tone=phase_tone(phase).as_str()>{phase_label(phase)}</span> }
}
