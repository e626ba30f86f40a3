//! Which role sees which tool, and what the tools look like on the wire.

use db::{Caller, RunCaller};
use domain::id::{ProjectId, RunId, TaskId};
use domain::task::Phase;
use rmcp::model::Tool;

use crate::tools;

pub(super) fn run(phase: Phase) -> Caller {
    let (run_id, task_id, project_id) = (RunId::new(1), TaskId::new(1), ProjectId::new(1));
    Caller::Run(RunCaller { run_id, task_id, project_id, phase, call_id: None })
}

fn seen_by(caller: &Caller) -> Vec<Tool> {
    tools::routes().list_all().into_iter().filter(|tool| tools::may(caller, &tool.name)).collect()
}

#[test]
fn each_role_sees_its_tools() {
    let mut callers: Vec<(&str, Caller)> = Phase::ALL.iter().map(|phase| (phase.as_str(), run(*phase))).collect();
    callers.push(("person", Caller::Human));
    let mut table = String::new();
    for (name, caller) in callers {
        let tools = seen_by(&caller);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        table += &format!("{name}: {}\n", names.join(" "));
        let size = serde_json::to_string(&tools).unwrap().len();
        let most = if name == "coder" || name == "reviewer" { 4_000 } else { 6_000 };
        assert!(size <= most, "the tools of a {name} take {size} bytes");
    }
    insta::assert_snapshot!(table, @"
    planner: add_comment ask_human complete_task create_subtasks create_task get_board get_my_tasks get_task update_task_status
    coder: add_comment ask_human get_board get_my_tasks get_task update_task_status
    reviewer: add_comment get_board get_my_tasks get_task update_task_status
    orchestrator: add_comment ask_human complete_task create_subtasks create_task get_board get_my_tasks get_task update_task_status
    person: add_comment complete_task create_subtasks create_task get_board get_my_tasks get_task update_task_status
    ");
}

#[test]
fn every_tool_has_a_row_and_every_row_a_tool() {
    let everyone: Vec<Caller> = Phase::ALL.iter().map(|phase| run(*phase)).chain([Caller::Human]).collect();
    for tool in tools::routes().list_all() {
        assert!(everyone.iter().any(|caller| tools::may(caller, &tool.name)), "{} is seen by nobody", tool.name);
        let description = tool.description.unwrap();
        assert!(description.len() <= 300 && description.starts_with("Use it "), "{}: {} bytes", tool.name, description.len());
    }
    for caller in &everyone {
        for row in tools::TABLE {
            assert!(tools::routes().has_route(row.tool), "{} is in the table and not a tool", row.tool);
            assert!(tools::may(caller, row.tool) || tools::refusal(caller, row.tool).hint().contains("get_board"));
        }
    }
}

#[test]
fn the_tools_on_the_wire() {
    let lines: Vec<String> = tools::routes().list_all().iter().map(|tool| serde_json::to_string(tool).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
