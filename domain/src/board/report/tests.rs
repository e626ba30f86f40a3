//! The content of reports, and what they leave out.

use super::*;
use crate::board::attention::Attention;
use crate::board::project::tests::{card, project};
use crate::runs::agent_kind::AgentKind;

fn at(minute: i64) -> Timestamp {
    Timestamp::from_milliseconds(1_769_850_300_000 + minute * 60_000)
}

fn event(seq: i64, task: Option<u64>, actor: Actor, event: impl Into<Event>) -> Envelope {
    Envelope {
        seq,
        at: at(seq),
        project_id: Some(ProjectId::new(1)),
        task_id: task.map(TaskId::new),
        run_id: None,
        actor,
        event: event.into(),
        card: None,
        project: None,
    }
}

fn moved(seq: i64, task: u64, from: Status, to: Status, reason: Option<&str>) -> Envelope {
    event(seq, Some(task), Actor::Agent(format!("reviewer-TASK-{task:03}")), TaskEvent::Moved { from, to, reason: reason.map(str::to_owned) })
}

fn compose(facts: ReportFacts) -> Report {
    Report::compose(at(0), at(600), &ReportFacts { projects: vec![project()], ..facts })
}

/// The report of the only project.
fn only(facts: ReportFacts) -> ProjectReport {
    let mut report = compose(facts);
    assert_eq!(report.projects.len(), 1);
    report.projects.remove(0)
}

#[test]
fn quiet_project_is_not_listed() {
    let report = compose(ReportFacts::default());
    assert!(report.is_empty());
    assert_eq!((report.usage, report.since, report.until), (UsageSums::default(), at(0), at(600)));
}

#[test]
fn unlanded_work_is_ready_to_land() {
    let id = ProjectId::new(1);
    let ready = |integration_head: Option<&str>, landed_sha: Option<&str>, merged: bool| {
        let owned = |sha: Option<&str>| sha.map(str::to_owned);
        let project = Project { integration_head: owned(integration_head), landed_sha: owned(landed_sha), ..project() };
        let merged = if merged { [id.clone()].into() } else { BTreeSet::new() };
        let facts = ReportFacts { projects: vec![project], merged, ..ReportFacts::default() };
        Report::compose(at(0), at(600), &facts).projects.first().is_some_and(|project| project.ready_to_land.is_some())
    };
    assert!(ready(Some("b"), Some("a"), true) && ready(Some("b"), None, true));
    assert!(!ready(Some("b"), Some("b"), true) && !ready(Some("b"), None, false));
}

#[test]
fn each_attention_comes_with_its_one_action() {
    let needing = |number, attention| Card { attention: Some(attention), ..card(number, AgentKind::Coder, Status::InProgress) };
    let long = "word ".repeat(100);
    let needing_attention =
        vec![needing(1, Attention::new(AttentionKind::NeedsInput, "Which colour?")), needing(2, Attention::new(AttentionKind::Failed, long))];
    let report = only(ReportFacts { needing_attention, ..ReportFacts::default() });
    let listed: Vec<_> = report.needs_you.iter().map(|needs| (needs.task.task_id.as_str(), needs.action, needs.reason.chars().count())).collect();
    assert_eq!(listed[0], ("TASK-001", AttentionAction::Answer, 13));
    assert_eq!((listed[1].0, listed[1].1), ("TASK-002", AttentionAction::Retry));
    assert!(listed[1].2 <= REASON_CHARACTERS);
}

#[test]
fn task_sent_back_twice_is_listed_once_with_the_last_reason() {
    use Status::{Done, InProgress, InReview};
    let events = vec![
        moved(1, 1, InReview, InProgress, Some("No test")),
        moved(2, 2, InReview, InProgress, Some("Wrong file")),
        moved(3, 1, InReview, InProgress, Some("The test fails")),
        moved(4, 2, InReview, Done, None),
        moved(5, 3, InReview, Done, None),
        moved(6, 3, Done, InProgress, None),
    ];
    let tasks = [(1, InProgress), (2, Done), (3, InProgress)].map(|(number, status)| (TaskId::new(number), (format!("Task {number}"), status)));
    let report = only(ReportFacts { events, tasks: tasks.into(), ..ReportFacts::default() });
    let listed: Vec<_> = report.sent_back.iter().map(|sent| (sent.task.task_id.as_str(), sent.times, sent.at, sent.reason.as_deref())).collect();
    assert_eq!(listed, [("TASK-002", 1, at(2), Some("Wrong file")), ("TASK-001", 2, at(3), Some("The test fails")), ("TASK-003", 1, at(6), None)]);
    let finished: Vec<_> = report.finished.iter().map(|task| task.task_id.as_str()).collect();
    assert_eq!(finished, ["TASK-002"], "one that was reopened is not finished");
}

#[test]
fn reopened_project_is_not_complete() {
    let completed = event(1, None, Actor::Runner, ProjectEvent::Completed {});
    let reopened = event(2, None, Actor::Owner, ProjectEvent::Reopened {});
    assert!(only(ReportFacts { events: vec![completed.clone()], ..ReportFacts::default() }).completed);
    assert!(compose(ReportFacts { events: vec![completed, reopened], ..ReportFacts::default() }).projects.is_empty());
}

#[test]
fn waits_are_grouped_by_reason() {
    let waiting = |number, reason| WaitingTask { id: TaskId::new(number), project_id: ProjectId::new(1), reason };
    let mut tasks: Vec<_> = (1..=12).map(|number| waiting(number, WaitReason::Held { by: HeldBy::Human })).collect();
    tasks.push(waiting(13, WaitReason::BlockedBy { tasks: vec![TaskId::new(1)] }));
    tasks.push(waiting(14, WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }));
    tasks.push(waiting(15, WaitReason::NeedsAttention));
    tasks.push(waiting(16, WaitReason::Held { by: HeldBy::Plan }));
    let report = only(ReportFacts { waiting: tasks, ..ReportFacts::default() });
    let groups: Vec<_> = report.waits.iter().map(|wait| (wait.reason.as_str(), wait.total, wait.tasks.len())).collect();
    assert_eq!(groups, [("held until someone presses Start", 12, 10), ("blocked by other tasks", 2, 2)]);
    assert_eq!(report.planned_tasks, 1);
}

#[test]
fn usage_is_summed_over_projects() {
    let spent = |cost_micro_usd| UsageSums { cost_micro_usd, ..UsageSums::default() };
    let projects = vec![Project { id: ProjectId::new(2), ..project() }, project()];
    let usage = [(ProjectId::new(1), spent(2)), (ProjectId::new(2), spent(3))].into();
    let report = Report::compose(at(0), at(600), &ReportFacts { projects, usage, ..ReportFacts::default() });
    let costs: Vec<_> = report.projects.iter().map(|project| (project.project_id.as_str(), project.usage.cost_micro_usd)).collect();
    assert_eq!((costs, report.usage.cost_micro_usd), (vec![("PROJ-001", 2), ("PROJ-002", 3)], 5));
}
