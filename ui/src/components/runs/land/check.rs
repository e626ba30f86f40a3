//! The facts that decide about a landing, in words: the review, the base branch, the person's checkout and what stays open. Pure.
//!
//! Must not know how a fact is drawn, and must not decide whether landing is allowed: `domain` does.

use domain::runs::evidence::short;
use domain::runs::land::preview::{CheckoutEffect, LandingPreview, LandingTask, LandingWay};

use crate::components::badge::Tone;
use crate::components::badge::team::reviewer_label;

/// Paths or commits that a fact names.
const MAX_NAMED: usize = 5;

/// One fact about a landing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LandCheck {
    /// Good if nothing is to be done, neutral if it is only worth knowing, bad if it blocks the landing.
    pub(crate) tone: Tone,
    pub(crate) fact: String,
    pub(crate) detail: String,
}

impl LandCheck {
    fn new(tone: Tone, fact: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { tone, fact: fact.into(), detail: detail.into() }
    }
}

/// The facts about what would land now. Those that block it come first.
pub(crate) fn checks(preview: &LandingPreview) -> Vec<LandCheck> {
    let known = [review(&preview.tasks), Some(way(preview)), Some(checkout(preview)), Some(open(preview.open_total))];
    let mut checks: Vec<LandCheck> = known.into_iter().flatten().collect();
    checks.sort_by_key(|check| check.tone != Tone::Bad);
    checks
}

fn review(tasks: &[LandingTask]) -> Option<LandCheck> {
    let without = tasks.iter().filter(|task| task.contributors.approved_by.is_none()).count();
    match (tasks.len(), without) {
        (0, _) => None,
        (_, 0) => Some(LandCheck::new(Tone::Good, "Every task was reviewed", reviewers(tasks))),
        _ => Some(LandCheck::new(Tone::Warn, format!("{} without a review", counted(without, "task")), reviewers(tasks))),
    }
}

/// The reviewers, each with the number of tasks that they approved.
fn reviewers(tasks: &[LandingTask]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for name in tasks.iter().filter_map(|task| task.contributors.approved_by.as_deref()) {
        let name = reviewer_label(name);
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts.iter().map(|(name, count)| format!("{count} by {name}")).collect::<Vec<_>>().join(", ")
}

fn way(preview: &LandingPreview) -> LandCheck {
    let (from, to) = (&preview.from_branch, &preview.to_branch);
    let (base, tip) = (short(&preview.change.base), short(&preview.change.tip));
    match &preview.change.way {
        LandingWay::FastForward {} => LandCheck::new(Tone::Good, format!("{to} has not moved"), format!("Fast-forward from {base} to {tip}")),
        LandingWay::Merge {} => {
            LandCheck::new(Tone::Good, format!("{to} has moved, without a conflict"), format!("A merge commit joins it with {from}"))
        }
        LandingWay::Conflict { paths } => LandCheck::new(
            Tone::Bad,
            format!("{to} and {from} changed the same lines"),
            format!("{}. Create a task that merges {to} into its branch, then land again.", named(paths)),
        ),
        LandingWay::Returns { returning } => LandCheck::new(
            Tone::Warn,
            format!("{} would return to {to}", counted(returning.commits.len().max(1), "removed commit")),
            format!("They were removed from {to} after the project began, and {from} still contains them."),
        ),
        LandingWay::Unapproved { commits } => LandCheck::new(
            Tone::Bad,
            format!("{} on {from} without an approval", counted(commits.len(), "commit")),
            format!(
                "{}. Set {from} back to its last merge and land again, or merge it into {to} by hand.",
                named(&commits.iter().map(|commit| format!("{} {}", short(&commit.sha), commit.subject)).collect::<Vec<_>>())
            ),
        ),
        LandingWay::Landed {} => LandCheck::new(Tone::Good, format!("{to} already has the work"), "Landing records it."),
    }
}

fn checkout(preview: &LandingPreview) -> LandCheck {
    let to = &preview.to_branch;
    match &preview.change.checkout {
        CheckoutEffect::Untouched {} => LandCheck::new(Tone::Good, "Your checkout stays as it is", format!("It is on a branch other than {to}")),
        CheckoutEffect::Updated {} => {
            LandCheck::new(Tone::Good, "Your checkout gets the new files", "Your own changes are in other files and are kept")
        }
        CheckoutEffect::Blocked { files } => LandCheck::new(
            Tone::Bad,
            format!("Your checkout has changes in {} that landing would overwrite", counted(files.paths().count(), "file")),
            format!("{} Then land again.", files.steps()),
        ),
        CheckoutEffect::Elsewhere { path } => {
            LandCheck::new(Tone::Bad, format!("{to} is checked out in another folder"), format!("Switch {path} to another branch, then land again."))
        }
    }
}

fn open(total: u32) -> LandCheck {
    match total {
        0 => LandCheck::new(Tone::Good, "No open tasks remain", "The project is finished"),
        1 => LandCheck::new(Tone::Neutral, "1 task remains open", "It continues and can land later"),
        total => LandCheck::new(Tone::Neutral, format!("{total} tasks remain open"), "They continue and can land later"),
    }
}

/// A number with its noun: `1 task`, `4 tasks`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn named(names: &[String]) -> String {
    let mut listed: Vec<String> = names.iter().take(MAX_NAMED).cloned().collect();
    if names.len() > MAX_NAMED {
        listed.push(format!("and {} more", names.len() - MAX_NAMED));
    }
    listed.join(", ")
}

/// The share of added and removed lines in five squares, of which none is filled for a file without changed lines.
pub(crate) fn squares(added: u32, removed: u32) -> (usize, usize) {
    const SQUARES: u64 = 5;
    let (added, all) = (u64::from(added), u64::from(added) + u64::from(removed));
    if all == 0 {
        return (0, 0);
    }
    // Neither part vanishes as long as it has a line.
    let least = u64::from(added > 0);
    let most = SQUARES - u64::from(all > added);
    let green = ((added * SQUARES + all / 2) / all).clamp(least, most);
    (usize::try_from(green).unwrap_or(0), usize::try_from(SQUARES - green).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use domain::board::card::Contributors;
    use domain::id::TaskId;
    use domain::runs::agent_kind::AgentKind;
    use domain::runs::diff::DiffSize;
    use domain::runs::land::blocking::BlockingFiles;
    use domain::runs::land::preview::LandingChange;

    use super::*;

    fn task(number: u64, approved_by: Option<&str>) -> LandingTask {
        LandingTask {
            id: TaskId::new(number),
            title: String::new(),
            phase: AgentKind::Coder,
            contributors: Contributors { approved_by: approved_by.map(str::to_owned), ..Contributors::default() },
            commits: Some(1),
            cost_micro_usd: 0,
        }
    }

    fn preview(way: LandingWay, checkout: CheckoutEffect, tasks: Vec<LandingTask>, open_total: u32) -> LandingPreview {
        let size = DiffSize { files: 1, added: 1, removed: 0 };
        let change = LandingChange {
            base: "c41f0aa11".to_owned(),
            tip: "1b7d9e222".to_owned(),
            way,
            checkout,
            commits_total: 1,
            commits: Vec::new(),
            size,
            files: Vec::new(),
        };
        LandingPreview {
            from_branch: "vibe-relay/PROJ-001".to_owned(),
            to_branch: "main".to_owned(),
            change,
            cost_micro_usd: 0,
            tasks,
            open_total,
            open: Vec::new(),
            landings: Vec::new(),
            landing: None,
        }
    }

    fn lines(preview: &LandingPreview) -> Vec<String> {
        checks(preview).into_iter().map(|check| format!("{}: {} ({})", check.tone.as_str(), check.fact, check.detail)).collect()
    }

    #[test]
    fn clear_landing_has_only_good_facts() {
        let tasks = vec![task(2, Some("reviewer-TASK-002")), task(3, Some("human")), task(4, Some("reviewer-TASK-004"))];
        let preview = preview(LandingWay::FastForward {}, CheckoutEffect::Updated {}, tasks, 0);
        assert!(!preview.is_blocked() && preview.has_work());
        assert_eq!(
            lines(&preview),
            [
                "good: Every task was reviewed (2 by the reviewer, 1 by you)",
                "good: main has not moved (Fast-forward from c41f0aa to 1b7d9e2)",
                "good: Your checkout gets the new files (Your own changes are in other files and are kept)",
                "good: No open tasks remain (The project is finished)",
            ]
        );
    }

    #[test]
    fn blocking_facts_come_first_and_say_what_to_do() {
        let paths = (1..=7).map(|number| format!("f{number}")).collect::<Vec<_>>();
        let files = BlockingFiles { changed: paths, untracked: vec!["new".to_owned()], ..BlockingFiles::default() };
        let preview = preview(LandingWay::Conflict { paths: vec!["a".to_owned()] }, CheckoutEffect::Blocked { files }, vec![task(2, None)], 2);
        assert!(preview.is_blocked());
        assert_eq!(
            lines(&preview),
            [
                "bad: main and vibe-relay/PROJ-001 changed the same lines (a. Create a task that merges main into its branch, then land again.)",
                "bad: Your checkout has changes in 8 files that landing would overwrite (Commit or stash f1, f2, f3, f4, f5, and 2 more. Move new \
                 away. Then land again.)",
                "warn: 1 task without a review ()",
                "neutral: 2 tasks remain open (They continue and can land later)",
            ]
        );
    }

    #[test]
    fn squares_show_every_part_that_has_a_line() {
        assert_eq!(
            [(0, 0), (9, 0), (0, 3), (128, 4), (1, 500), (5, 5)].map(|(added, removed)| squares(added, removed)),
            [(0, 0), (5, 0), (0, 5), (4, 1), (1, 4), (3, 2),]
        );
    }
}
