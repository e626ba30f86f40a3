//! Words a briefing. Everything but the handover of the predecessor is shortened, because other tools show it in full.

use domain::text::excerpt;
use domain::warroom::briefing::Briefing;
use domain::warroom::handover::Handover;
use domain::warroom::knowledge::KnowledgeKind;
use domain::warroom::party::PartyMember;

/// The most characters of the plan, of a log entry and of a title, and the most agents that are named.
const MAX_PLAN: usize = 1_500;
const MAX_ENTRY: usize = 200;
const MAX_TITLE: usize = 80;
const MAX_AGENTS: usize = 20;

pub(super) fn text(briefing: &Briefing, party: &[PartyMember]) -> String {
    let mut parts = Vec::new();
    if let Some(handover) = &briefing.handover {
        parts.push(handover_text(handover));
    }
    parts.push(match &briefing.plan {
        Some(plan) => format!("Plan by {} (get_battle_plan shows it in full):\n{}", plan.author, shortened(&plan.plan)),
        None => "There is no active battle plan.".to_owned(),
    });
    let orders = briefing.triggers.iter().map(|order| {
        let words = [Some(order.word.as_str()), order.target.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(" ");
        format!("{words}, by {}: {}", order.author, order.word.meaning())
    });
    parts.extend(section("Active orders:", orders));
    let log = briefing.log.iter().map(|entry| format!("[{} {}] {}", entry.priority, entry.author, excerpt(&entry.entry, MAX_ENTRY)));
    parts.extend(section("Raid log, high and critical:", log));
    let tasks = briefing.tasks.iter().map(|task| format!("{} [{}] {}", task.id, task.status, excerpt(&task.title, MAX_TITLE)));
    parts.extend(section("Open tasks:", tasks));
    let topics = |kind| {
        let of_kind = briefing.knowledge.iter().filter(move |one| one.kind == kind);
        of_kind.map(|one| format!("{}: {}", one.topic, one.excerpt))
    };
    parts.extend(section("Traps (read_intel shows each in full):", topics(KnowledgeKind::Trap)));
    parts.extend(section("Unread intel (call read_intel):", topics(KnowledgeKind::Intel)));
    let held = briefing.claims.claims.iter().map(|claim| format!("{} is yours", claim.path));
    let waits = briefing.claims.waits.iter().map(|wait| format!("you wait for {}", wait.path));
    parts.extend(section("Files:", held.chain(waits)));
    let agents = party.iter().take(MAX_AGENTS).map(|member| {
        let left = member.agent.context_left.map(|left| format!(", {}", left.condition)).unwrap_or_default();
        format!("{} ({}{left})", member.agent.name, member.agent.class)
    });
    parts.extend(section("Present (party_status shows more):", agents));
    let waiting = briefing.waiting.iter().map(|waiting| format!("{} at {}", waiting.agent, waiting.created_at));
    parts.extend(section("Handovers without a successor (cold_start with predecessor continues one):", waiting));
    parts.join("\n\n")
}

/// The title with its lines; nothing if there are none.
fn section(title: &str, lines: impl Iterator<Item = String>) -> Option<String> {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { None } else { Some(format!("{title}\n{}", lines.join("\n"))) }
}

fn handover_text(handover: &Handover) -> String {
    let files: Vec<&str> = handover.files.iter().map(|file| file.path.as_str()).collect();
    let mut text = format!("Handover by {}, {}. It is shown only now.", handover.agent, handover.created_at);
    if !files.is_empty() {
        text += &format!("\nRead first: {}", files.join(", "));
    }
    if !handover.manifest.is_empty() {
        text += "\n";
        text += &handover.manifest;
    }
    text
}

/// The beginning of a plan, with its lines.
fn shortened(plan: &str) -> String {
    let mut kept: String = plan.chars().take(MAX_PLAN).collect();
    if kept.len() < plan.len() {
        kept.push('…');
    }
    kept
}
