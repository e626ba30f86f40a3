//! Which role sees which tool, and what the tools look like on the wire.

use db::{AgentCaller, Caller, InviteCaller, RunCaller};
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use rmcp::model::Tool;

use crate::tools;

pub(super) fn run(phase: AgentKind) -> Caller {
    let (run_id, task_id, project_id) = (RunId::new(1), TaskId::new(1), ProjectId::new(1));
    Caller::Run(RunCaller { run_id, task_id, project_id, phase, call_id: None })
}

pub(super) fn outside(name: &str) -> Caller {
    Caller::Agent(AgentCaller { project_id: ProjectId::new(1), name: name.to_owned(), call_id: None })
}

/// Everybody for whom the table has a column, in the order of the page that is made of it.
fn columns() -> Vec<(&'static str, Caller)> {
    let phases = AgentKind::ALL.iter().map(|phase| (phase.as_str(), run(*phase)));
    phases
        .chain([
            ("outside", outside("mara")),
            ("room", Caller::Invite(InviteCaller { project_id: ProjectId::new(1), call_id: None })),
            ("person", Caller::Human),
        ])
        .collect()
}

fn seen_by(caller: &Caller) -> Vec<Tool> {
    tools::seen_by(caller, &tools::routes())
}

#[test]
fn each_role_sees_its_tools() {
    let mut table = String::new();
    for (name, caller) in columns() {
        let tools = seen_by(&caller);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        table += &format!("{name}: {}\n", names.join(" "));
    }
    insta::assert_snapshot!(table, @"
    planner: add_comment ask_human check_inbox complete_task create_goal create_subtasks create_task declare_contract get_board get_history get_my_tasks get_task goal_status link_task_to_goal list_contracts send update_task_status who
    coder: ack_handshake add_comment ask_human check_inbox declare_contract get_board get_history get_my_tasks get_task list_contracts log_minion send update_task_status who
    reviewer: ack_handshake add_comment check_inbox get_board get_history get_my_tasks get_task list_contracts send update_task_status who
    orchestrator: add_comment ask_human check_inbox complete_task create_goal create_subtasks create_task get_board get_history get_my_tasks get_task goal_status handshake_status initiate_handshake link_task_to_goal list_contracts reject_verification send update_task_status verify_goal verify_task who
    outside: ack_handshake add_comment approve_task assign_role_hat check_inbox create_goal create_subtasks create_task declare_contract deregister get_board get_history get_my_tasks get_spawn_policy get_task goal_status handshake_status hat_history initiate_handshake link_task_to_goal list_contracts list_tasks log_minion ping register reject_task reject_verification send set_spawn_policy set_status submit_for_review update_task verify_goal verify_task who
    room: register who
    person: ack_handshake add_comment approve_task assign_role_hat check_inbox complete_task create_goal create_subtasks create_task declare_contract deregister get_board get_history get_my_tasks get_spawn_policy get_task goal_status handshake_status hat_history initiate_handshake link_task_to_goal list_contracts list_tasks log_minion ping reject_task reject_verification send set_spawn_policy submit_for_review update_task update_task_status verify_goal verify_task who
    ");
}

/// The roles of the pipeline are asked of those who have one.
#[test]
fn who_comes_from_outside_is_asked_for_no_role_of_the_pipeline() {
    for (name, caller) in columns().into_iter().filter(|(name, _)| *name != "room") {
        let tools = seen_by(&caller);
        let comment = tools.iter().find(|tool| tool.name == "add_comment").unwrap();
        assert_eq!(comment.input_schema["properties"].get("author_role").is_none(), name == "outside", "{name}");
        assert!(comment.input_schema["properties"].get("content").is_some(), "{name}");
    }
}

/// Whoever takes the person's token for its own is told how to get one.
#[test]
fn what_only_agents_do_is_refused_to_the_person_with_the_way_to_a_token() {
    for tool in ["register", "set_status"] {
        let hint = tools::refusal(&Caller::Human, tool).hint();
        assert!(hint.contains("ask the person for a token of your own: vibe-relay token new --agent NAME --role ROLE."), "{tool}: {hint}");
    }
    assert!(tools::refusal(&Caller::Human, "ask_human").hint().starts_with("Your tools are "));
}

/// What a list of tools costs before any work: a model pays for it in every conversation.
#[test]
fn each_list_is_short() {
    for (name, most_tools, most_bytes) in [
        ("planner", 20, 11_000),
        ("coder", 15, 8_000),
        ("reviewer", 15, 8_000),
        ("orchestrator", 24, 12_000),
        ("outside", 40, 20_000),
        ("room", 2, 2_000),
        ("person", 40, 20_000),
    ] {
        let (_, caller) = columns().into_iter().find(|(column, _)| *column == name).unwrap();
        let tools = seen_by(&caller);
        let bytes = serde_json::to_string(&crate::handler::private(tools.clone())).unwrap().len();
        assert!(tools.len() <= most_tools && bytes <= most_bytes, "the {} tools of {name} take {bytes} bytes", tools.len());
    }
}

#[test]
fn every_tool_has_a_row_and_every_row_a_tool() {
    for tool in tools::routes().list_all() {
        assert!(columns().iter().any(|(_, caller)| tools::may(caller, &tool.name)), "{} is seen by nobody", tool.name);
        let description = tool.description.unwrap();
        assert!(description.len() <= 300 && description.starts_with("Use it "), "{}: {} bytes", tool.name, description.len());
    }
    for (name, caller) in columns() {
        for row in tools::TABLE {
            assert!(tools::routes().has_route(row.tool), "{} is in the table and not a tool", row.tool);
            let hint = tools::refusal(&caller, row.tool).hint();
            assert!(tools::may(&caller, row.tool) || hint.contains(if name == "room" { "register" } else { "get_board" }), "{hint}");
        }
    }
    assert_eq!(tools::TABLE.len(), tools::routes().list_all().len());
}

/// A tool takes the names that the table says, and needs none of them.
#[test]
fn every_identity_is_an_argument_that_may_be_left_out() {
    for row in tools::TABLE {
        let tool = tools::routes().get(row.tool).unwrap().clone();
        for argument in row.identity {
            assert!(tool.input_schema["properties"].get(*argument).is_some(), "{} does not take {argument}", row.tool);
            let required = tool.input_schema.get("required").and_then(|required| required.as_array()).cloned().unwrap_or_default();
            assert!(!required.iter().any(|name| name == argument), "{} needs {argument}", row.tool);
        }
    }
}

/// The parameters of the tools as agents of other systems know them: whoever comes from there finds the same names.
#[test]
fn known_parameters_keep_their_names() {
    for (tool, parameters) in [
        ("register", "agent_name role description team token"),
        ("set_status", "agent_name status"),
        ("send", "from_agent to_agent message cc task_id reply_to"),
        ("check_inbox", "agent_name"),
        ("get_history", "count task_id"),
        ("deregister", "agent_name"),
        ("who", ""),
        ("create_task", "creator title description assigned_to project role_hat"),
        ("update_task", "agent_name task_id status assigned_to result"),
        ("list_tasks", "status assigned_to project"),
        ("assign_role_hat", "agent_name task_id role"),
        ("hat_history", "project"),
        ("initiate_handshake", "from_agent message agents"),
        ("ack_handshake", "agent_name handshake_id"),
        ("handshake_status", "handshake_id"),
        ("ping", "agent_name"),
        ("submit_for_review", "agent_name task_id summary files_changed test_results"),
        ("approve_task", "agent_name task_id notes"),
        ("reject_task", "agent_name task_id reason"),
        ("declare_contract", "agent_name name type spec project"),
        ("list_contracts", "project owner type"),
        ("set_spawn_policy", "agent_name scope enabled max_minions"),
        ("get_spawn_policy", "agent_name"),
        ("log_minion", "agent_name task_description status result"),
        ("create_goal", "creator title description project"),
        ("link_task_to_goal", "agent_name task_id goal_id"),
        ("goal_status", "goal_id"),
        ("verify_task", "agent_name task_id notes"),
        ("reject_verification", "agent_name task_id reason"),
        ("verify_goal", "agent_name goal_id notes"),
    ] {
        let schema = tools::routes().get(tool).unwrap_or_else(|| panic!("there is no {tool}")).input_schema.clone();
        for parameter in parameters.split_whitespace() {
            assert!(schema["properties"].get(parameter).is_some(), "{tool} does not take {parameter}");
        }
    }
}

#[test]
fn the_tools_on_the_wire() {
    let lines: Vec<String> = tools::routes().list_all().iter().map(|tool| serde_json::to_string(tool).unwrap()).collect();
    insta::assert_snapshot!(lines.join("\n"));
}
