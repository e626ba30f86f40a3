//! `vibe-relay report`: what happened since a time, and what you should do next. Must not know what counts: the board composes the report.

use std::path::Path;
use std::time::Duration;

use domain::board::report::{ProjectReport, Report, SentBack, TaskTitle};
use domain::runs::usage::consumption;
use domain::time::Timestamp;
use domain::wire::ServerInfo;

use crate::client::Client;
use crate::error::CliError;
use crate::output;
use crate::runs::parking;

/// The start of a report: a time, or a span before now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Time(Timestamp),
    Ago(Duration),
}

impl std::str::FromStr for Since {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let unit = |unit, seconds: u64| given.strip_suffix(unit).and_then(|count| count.parse::<u64>().ok()?.checked_mul(seconds));
        let span = unit('m', 60).or_else(|| unit('h', 3600)).or_else(|| unit('d', 24 * 3600));
        let time =
            || given.parse().map(Self::Time).map_err(|_| "expected a span such as 30m, 8h or 2d, or a time such as 2026-01-31T09:05:00Z".into());
        span.map_or_else(time, |seconds| Ok(Self::Ago(Duration::from_secs(seconds))))
    }
}

/// Runs the command.
///
/// # Errors
/// When the board is not running.
pub(crate) async fn run(config: Option<&Path>, since: Since) -> Result<(), CliError> {
    let since = match since {
        Since::Time(time) => time,
        Since::Ago(span) => db::now().before(span),
    };
    let client = Client::find(config)?;
    let report: Report = client.get(&format!("/api/report?since={since}")).await?;
    let server: ServerInfo = client.get("/api/server").await?;
    output::data(&report, |report| lines(report, parking::obstacles(&server)).into_iter().for_each(output::line));
    Ok(())
}

/// The report in lines: first what you can do, then what happened.
fn lines(report: &Report, obstacles: Vec<String>) -> Vec<String> {
    let spent = consumption(report.usage.cost_micro_usd, report.usage.tokens()).map(|spent| format!(", {spent} spent")).unwrap_or_default();
    let mut lines = vec![format!("From {} to {}{spent}", report.since, report.until)];
    lines.extend(obstacles);
    if report.is_empty() {
        lines.push("Nothing happened, and nothing waits for you.".to_owned());
    }
    report.projects.iter().for_each(|project| add_project(&mut lines, project));
    lines
}

fn add_project(lines: &mut Vec<String>, project: &ProjectReport) {
    let complete = if project.completed { ", complete" } else { "" };
    let spent = consumption(project.usage.cost_micro_usd, project.usage.tokens()).map(|spent| format!(", {spent}")).unwrap_or_default();
    lines.push(format!("\n{} {}{complete}{spent}", project.project_id, project.title));
    if let Some(ready) = &project.ready_to_land {
        let size = ready.diff.map(|diff| format!(" ({})", diff.sentence())).unwrap_or_default();
        lines.push(format!("  Ready to land on {}{size}: vibe-relay land {}", ready.base_branch, project.project_id));
    }
    if project.planned_tasks > 0 {
        lines.push(format!("  A plan of {} tasks awaits your approval: vibe-relay project approve {}", project.planned_tasks, project.project_id));
    }
    let needs_you = project.needs_you.iter().map(|needs| format!("{}: {}. {}", name(&needs.task), needs.action.sentence(), needs.reason));
    add_section(lines, "Needs you", needs_you);
    add_section(lines, "Sent back", project.sent_back.iter().map(sent_back));
    add_section(lines, "Finished", project.finished.iter().map(name));
    let waits = project.waits.iter().map(|wait| {
        let named: Vec<&str> = wait.tasks.iter().map(|task| task.as_str()).collect();
        let rest = if wait.total as usize > named.len() { ", …" } else { "" };
        format!("{}: {}{rest} ({})", wait.reason, named.join(", "), wait.total)
    });
    add_section(lines, "Waits", waits);
}

fn add_section(lines: &mut Vec<String>, heading: &str, items: impl ExactSizeIterator<Item = String>) {
    if items.len() > 0 {
        lines.push(format!("  {heading} ({})", items.len()));
        lines.extend(items.map(|item| format!("    {item}")));
    }
}

fn name(task: &TaskTitle) -> String {
    format!("{} {}", task.task_id, task.title)
}

fn sent_back(sent_back: &SentBack) -> String {
    let times = if sent_back.times > 1 { format!(" {} times, last", sent_back.times) } else { String::new() };
    let reason = sent_back.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{},{times} by {}{reason}", name(&sent_back.task), sent_back.by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_is_a_span_or_a_time() {
        let parse = |given: &str| given.parse::<Since>();
        assert_eq!(parse("8h"), Ok(Since::Ago(Duration::from_secs(8 * 3600))));
        assert_eq!(parse("30m"), Ok(Since::Ago(Duration::from_secs(1800))));
        assert_eq!(parse("2026-01-31T09:05:00Z"), Ok(Since::Time("2026-01-31T09:05:00.000Z".parse().unwrap())));
        for wrong in ["", "8", "h", "-1h", "8 h", "99999999999999999999d", "yesterday"] {
            assert!(parse(wrong).unwrap_err().contains("30m, 8h or 2d"), "{wrong}");
        }
    }

    #[test]
    fn report_is_readable_without_the_board() {
        let report = serde_json::json!({
            "since": "2026-01-31T01:05:00.000Z", "until": "2026-01-31T09:05:00.000Z", "parked": [],
            "usage": {"turns": 9, "input_tokens": 100, "output_tokens": 20, "cost_micro_usd": 1_250_000},
            "projects": [{
                "project_id": "PROJ-001", "title": "Site", "completed": true,
                "planned_tasks": 4, "ready_to_land": {"base_branch": "main", "diff": {"files": 3, "added": 40, "removed": 2}},
                "needs_you": [{"task_id": "TASK-003", "title": "Menu", "kind": "needs_input", "reason": "Which colour?", "action": "answer"}],
                "finished": [{"task_id": "TASK-001", "title": "Footer"}],
                "sent_back": [{
                    "task_id": "TASK-002", "title": "Header", "times": 2, "by": "reviewer-TASK-002", "at": "2026-01-31T04:05:00.000Z", "reason": "No test"
                }],
                "waits": [{"reason": "blocked by other tasks", "total": 1, "tasks": ["TASK-004"]}],
                "usage": {"turns": 9, "input_tokens": 100, "output_tokens": 20, "cost_micro_usd": 1_250_000}
            }]
        });
        insta::assert_snapshot!(lines(&serde_json::from_value(report).unwrap(), Vec::new()).join("\n"), @r"
        From 2026-01-31T01:05:00.000Z to 2026-01-31T09:05:00.000Z, $1.25 spent

        PROJ-001 Site, complete, $1.25
          Ready to land on main (3 files, +40 −2): vibe-relay land PROJ-001
          A plan of 4 tasks awaits your approval: vibe-relay project approve PROJ-001
          Needs you (1)
            TASK-003 Menu: answer the question. Which colour?
          Sent back (1)
            TASK-002 Header, 2 times, last by reviewer-TASK-002: No test
          Finished (1)
            TASK-001 Footer
          Waits (1)
            blocked by other tasks: TASK-004 (1)
        ");
    }
}
