//! Labels and colours of the area *warroom*: classes of agents, the context that they have left, formations, claims, plans, handovers, orders,
//! questions, knowledge and the log.
//!
//! Must not decide anything.

use domain::warroom::battle_plan::{BattlePlanScope, BattlePlanStatus};
use domain::warroom::claim::ClaimMode;
use domain::warroom::class::AgentClass;
use domain::warroom::context_left::Condition;
use domain::warroom::formation::FormationName;
use domain::warroom::handover::Handover;
use domain::warroom::knowledge::{KnowledgeKind, KnowledgePlace};
use domain::warroom::raid_log::Priority;
use domain::warroom::trigger::{TriggerEnd, TriggerWord};

use super::Tone;
use crate::components::warroom::words::{Word, name_of};

pub(crate) fn class_label(class: AgentClass) -> &'static str {
    match class {
        AgentClass::Lead => "Lead",
        AgentClass::Coder => "Coder",
        AgentClass::Builder => "Builder",
        AgentClass::Oracle => name_of(Word::Expert),
        AgentClass::Recon => name_of(Word::Investigator),
    }
}

/// The size of a repository that decides a formation.
pub(crate) fn formation_label(formation: FormationName) -> &'static str {
    name_of(match formation {
        FormationName::Skirmish => Word::SmallRepository,
        FormationName::Dungeon => Word::MediumRepository,
        FormationName::Raid => Word::LargeRepository,
        FormationName::WorldBoss => Word::HugeRepository,
    })
}

/// Whether a question to an expert is answered.
pub(crate) const fn question_badge(is_answered: bool) -> (&'static str, Tone) {
    if is_answered { ("Answered", Tone::Good) } else { ("Waits", Tone::Live) }
}

/// The meaning of the context that is left.
pub(crate) const fn condition_badge(condition: Condition) -> (&'static str, Tone) {
    match condition {
        Condition::Healthy => ("enough", Tone::Good),
        Condition::Wounded => ("light tasks only", Tone::Warn),
        Condition::Critical => ("should hand over", Tone::Bad),
    }
}

/// The badge on the card of an agent whose context runs out.
pub(crate) const fn low_context_badge(condition: Condition) -> (&'static str, Tone) {
    match condition {
        Condition::Healthy => ("Plenty of context", Tone::Good),
        Condition::Wounded => ("Half its context left", Tone::Neutral),
        Condition::Critical => ("Little context left", Tone::Warn),
    }
}

/// The name and the meaning of a mode of claims.
pub(crate) const fn claim_mode_label(mode: ClaimMode) -> (&'static str, &'static str) {
    match mode {
        ClaimMode::Enforced => ("Refuse", "An agent cannot edit a file that another agent holds: it waits, or works elsewhere."),
        ClaimMode::Advisory => ("Warn", "An agent that edits a file held by another is warned and may continue. The changes may conflict."),
    }
}

/// The name and the meaning of a place for the files of knowledge.
pub(crate) const fn knowledge_place_label(place: KnowledgePlace) -> (&'static str, &'static str) {
    match place {
        KnowledgePlace::Beside => ("Beside the database", "Your checkout stays as it is. Agents read copies in their own."),
        KnowledgePlace::Repo => ("Also in your checkout", "In the folder .dead-drop. Only you can commit it."),
    }
}

/// The name and the meaning of the reach of a plan.
pub(crate) const fn scope_label(scope: BattlePlanScope) -> (&'static str, &'static str) {
    match scope {
        BattlePlanScope::Project => ("This project", "Its goals and the order of its work."),
        BattlePlanScope::General => ("All projects", "How agents are divided among them."),
        BattlePlanScope::Zone => ("Zone", "A named part of the repository."),
    }
}

pub(crate) const fn plan_badge(status: BattlePlanStatus) -> (&'static str, Tone) {
    match status {
        BattlePlanStatus::Active => ("Active", Tone::Live),
        BattlePlanStatus::Superseded => ("Replaced", Tone::Neutral),
        BattlePlanStatus::Completed => ("Completed", Tone::Good),
        BattlePlanStatus::Abandoned => ("Abandoned", Tone::Neutral),
        BattlePlanStatus::Obsolete => ("No longer needed", Tone::Neutral),
    }
}

/// The reason why a plan has this status.
pub(crate) const fn plan_end_label(status: BattlePlanStatus) -> &'static str {
    match status {
        BattlePlanStatus::Active => "It is what agents work on.",
        BattlePlanStatus::Superseded => "A newer plan replaced it.",
        BattlePlanStatus::Completed => "Its goals were met.",
        BattlePlanStatus::Abandoned => "Its goals were not met.",
        BattlePlanStatus::Obsolete => "The requirements changed.",
    }
}

/// Whether someone continued the work.
pub(crate) const fn handover_badge(handover: &Handover) -> (&'static str, Tone) {
    match (handover.automatic, handover.continued_at) {
        (true, _) => ("Recorded by the runner", Tone::Warn),
        (false, Some(_)) => ("Continued", Tone::Good),
        (false, None) => ("Waits for a successor", Tone::Neutral),
    }
}

/// How much an entry of the log matters.
pub(crate) const fn priority_badge(priority: Priority) -> (&'static str, Tone) {
    match priority {
        Priority::Low => ("Low", Tone::Neutral),
        Priority::Normal => ("Normal", Tone::Neutral),
        Priority::High => ("High", Tone::Warn),
        Priority::Critical => ("Critical", Tone::Bad),
    }
}

/// The name and the effect of an order.
pub(crate) const fn trigger_label(word: TriggerWord) -> (&'static str, &'static str) {
    match word {
        TriggerWord::Rally => ("Read your inbox", "All agents are asked to read their messages now."),
        TriggerWord::HotZone => ("Put a zone first", "Its tasks start before others until the order is withdrawn."),
        TriggerWord::Recon => ("Investigate", "One agent looks into a subject and reports."),
        TriggerWord::Sitrep => {
            ("Report", "One agent reports its progress. An agent in a terminal is removed if it does not answer within 30 minutes.")
        }
        TriggerWord::FenixDown => ("Start afresh", "One agent writes down what it knows and continues with an empty context."),
        TriggerWord::StandDown => ("Leave", "One agent stops, writes down what it knows and leaves."),
        TriggerWord::Retreat => ("Finish and stop", "All agents finish their turn and hand over. Nothing starts until the order is withdrawn."),
        TriggerWord::MoonCrash => ("Stop now", "All agents hand over at once. Nothing starts until the order is withdrawn."),
    }
}

pub(crate) const fn trigger_end_badge(end: TriggerEnd) -> (&'static str, Tone) {
    match end {
        TriggerEnd::Done => ("Done", Tone::Good),
        TriggerEnd::Withdrawn => ("Withdrawn", Tone::Neutral),
        TriggerEnd::Unanswered => ("Not answered", Tone::Bad),
    }
}

/// The items of a kind, one of them, and its colour.
pub(crate) const fn knowledge_label(kind: KnowledgeKind) -> (&'static str, &'static str, Tone) {
    match kind {
        KnowledgeKind::Intel => ("Findings", "Finding", Tone::Neutral),
        KnowledgeKind::Trap => ("Traps", "Trap", Tone::Warn),
        KnowledgeKind::Note => ("Notes", "Notes", Tone::Neutral),
    }
}

pub(crate) const fn knowledge_meaning(kind: KnowledgeKind) -> &'static str {
    match kind {
        KnowledgeKind::Intel => "Something that is confirmed and helps others.",
        KnowledgeKind::Trap => "A hazard that the next agent would meet too.",
        KnowledgeKind::Note => "Kept by one agent for itself and its successors.",
    }
}

/// How knowledge of a kind ends, in words.
pub(crate) struct ClosingLabel {
    pub(crate) verb: &'static str,
    pub(crate) done: &'static str,
    pub(crate) question: &'static str,
    pub(crate) explanation: &'static str,
}

pub(crate) const fn closing_label(kind: KnowledgeKind) -> ClosingLabel {
    match kind {
        KnowledgeKind::Trap => ClosingLabel {
            verb: "Resolve",
            done: "resolved",
            question: "How it was removed",
            explanation: "Agents are no longer warned about it. It can still be read among the closed ones.",
        },
        KnowledgeKind::Intel | KnowledgeKind::Note => ClosingLabel {
            verb: "Archive",
            done: "archived",
            question: "Why it no longer holds",
            explanation: "Agents no longer read it. It can still be read among the closed ones.",
        },
    }
}
