//! The one place for words and colours of states: statuses, stages, roles, attention, ends of runs.
//!
//! Must not decide anything: which moves are legal is in `domain`.

pub(crate) mod among;

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::comment::AuthorRole;
use domain::board::project::ProjectStatus;
use domain::board::stage::Stage;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::runs::agent_kind::AgentKind;
use domain::runs::diff::FileChange;
use domain::runs::failure::EndClass;
use leptos::prelude::*;

/// A family of colours, as the style sheet knows them.
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
pub(crate) const fn status_word(status: Status) -> &'static str {
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

/// What an empty column says.
pub(crate) const fn status_empty(status: Status) -> &'static str {
    match status {
        Status::Backlog => "Nothing waits. Press n to add a task.",
        Status::InProgress => "No one is at work.",
        Status::InReview => "Nothing to judge.",
        Status::Done => "Finished work shows up here.",
        Status::Cancelled => "Nothing was given up.",
    }
}

/// Whether a column without cards is drawn as a narrow strip.
pub(crate) const fn status_folds(status: Status) -> bool {
    matches!(status, Status::Cancelled)
}

const fn stage_look(stage: Stage) -> (&'static str, Tone) {
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
        Stage::Obsolete => ("Obsolete", Tone::Neutral),
    }
}

pub(crate) const fn attention_word(kind: AttentionKind) -> &'static str {
    match kind {
        AttentionKind::Failed => "failed",
        AttentionKind::ReviewLimit => "no progress",
        AttentionKind::WaitingPermission => "permission",
        AttentionKind::NeedsInput => "question",
        AttentionKind::Conflict => "conflict",
        AttentionKind::ChecksFailed => "checks failed",
        AttentionKind::Budget => "budget",
        AttentionKind::EmptyPlan => "empty plan",
        AttentionKind::DependencyCancelled => "dependency given up",
        AttentionKind::Repository => "repository",
        AttentionKind::NoOutcome => "no result",
        AttentionKind::AssigneeUnresponsive => "agent silent",
    }
}

pub(crate) const fn phase_word(phase: AgentKind) -> &'static str {
    match phase {
        AgentKind::Planner => "Planner",
        AgentKind::Coder => "Coder",
        AgentKind::Reviewer => "Reviewer",
        AgentKind::Orchestrator => "Orchestrator",
    }
}

const fn phase_tone(phase: AgentKind) -> Tone {
    match phase {
        AgentKind::Planner => Tone::Warn,
        AgentKind::Coder => Tone::Live,
        AgentKind::Reviewer => Tone::Info,
        AgentKind::Orchestrator => Tone::Good,
    }
}

pub(crate) const fn author_word(author: AuthorRole) -> &'static str {
    match author {
        AuthorRole::Planner => phase_word(AgentKind::Planner),
        AuthorRole::Coder => phase_word(AgentKind::Coder),
        AuthorRole::Reviewer => phase_word(AgentKind::Reviewer),
        AuthorRole::Orchestrator => phase_word(AgentKind::Orchestrator),
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
        AuthorRole::Agent => Tone::Live,
        AuthorRole::Human | AuthorRole::Runner => Tone::Neutral,
    }
}

pub(crate) const fn end_look(end: EndClass) -> (&'static str, Tone) {
    match end {
        EndClass::Finished => ("Finished", Tone::Good),
        EndClass::AwaitingAnswer => ("Asked you", Tone::Warn),
        EndClass::Stopped => ("Stopped", Tone::Neutral),
        EndClass::Failed => ("Failed", Tone::Bad),
        EndClass::Parked => ("Parked", Tone::Neutral),
    }
}

pub(crate) const fn project_look(status: ProjectStatus) -> (&'static str, Tone) {
    match status {
        ProjectStatus::Active => ("Active", Tone::Info),
        ProjectStatus::Complete => ("Complete", Tone::Good),
    }
}

pub(crate) const fn change_word(change: FileChange) -> &'static str {
    match change {
        FileChange::Added => "new",
        FileChange::Removed => "removed",
        FileChange::Modified => "",
        FileChange::Renamed => "renamed",
        FileChange::ModeChanged => "mode",
    }
}

pub(crate) const fn cancel_word(reason: CancelReason) -> (&'static str, &'static str) {
    match reason {
        CancelReason::Abandoned => ("Not wanted any more", "Tasks that build on it ask you what to do."),
        CancelReason::Failed => ("Could not be done", "Tasks that build on it ask you what to do."),
        CancelReason::Obsolete => ("No longer needed", "Tasks that build on it go on as if it were done."),
        CancelReason::Duplicate => ("Done elsewhere", "Tasks that build on it go on as if it were done."),
    }
}

/// The one badge of a card: what a person must settle comes first, then what became of its run, then the stage.
pub(crate) fn card_look(card: &Card) -> (String, Tone) {
    if let Some(attention) = &card.attention {
        return (format!("Needs you: {}", attention_word(attention.kind)), Tone::Warn);
    }
    match &card.run {
        Some(run) if run.stopping => ("Stopping".to_owned(), Tone::Neutral),
        Some(run) if run.phase != card.phase => (format!("{} at work", phase_word(run.phase)), Tone::Live),
        None if card.held_by == Some(HeldBy::Stop) && card.status.is_open() => ("Stopped".to_owned(), Tone::Neutral),
        _ => {
            let (word, tone) = match (Stage::of(card), &card.contributors.assigned_to) {
                (Stage::Assigned, Some(_)) => ("Assigned", Tone::Info),
                (stage, _) => stage_look(stage),
            };
            (word.to_owned(), tone)
        }
    }
}

#[component]
pub(crate) fn Badge(#[prop(into)] word: String, tone: Tone) -> impl IntoView {
    view! { <span class="badge" data-tone=tone.as_str()>{word}</span> }
}

#[component]
pub(crate) fn Role(phase: AgentKind) -> impl IntoView {
    view! { <span class="role" data-tone=phase_tone(phase).as_str()>{phase_word(phase)}</span> }
}
