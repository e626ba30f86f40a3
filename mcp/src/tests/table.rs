//! Which callers see which tools, what a list costs, and what the tools look like on the wire.

use db::{AgentCaller, Caller, InviteCaller, RunCaller};
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use rmcp::model::Tool;

use crate::tools::{self, definition::Standing};

pub(super) fn run(phase: AgentKind) -> Caller {
    let (run_id, task_id, project_id) = (RunId::new(1), TaskId::new(1), ProjectId::new(1));
    Caller::Run(RunCaller { run_id, task_id, project_id, phase, call_id: None })
}

pub(super) fn outside(name: &str) -> Caller {
    Caller::Agent(AgentCaller { project_id: ProjectId::new(1), name: name.to_owned(), call_id: None })
}

/// The columns of `docs/tools.md`, in its order.
fn columns() -> Vec<(&'static str, Caller, Standing)> {
    let none = Standing::default();
    let phases = AgentKind::ALL.iter().map(|phase| (phase.as_str(), run(*phase), Standing::default()));
    phases
        .chain([
            ("untrusted", outside("mara"), none),
            ("trusted", outside("mara"), Standing { is_trusted: true, is_lead: false }),
            ("lead", outside("mara"), Standing { is_trusted: true, is_lead: true }),
            ("invite", Caller::Invite(InviteCaller { project_id: ProjectId::new(1), call_id: None }), none),
            ("human", Caller::owner(), none),
        ])
        .collect()
}

fn visible_to(caller: &Caller, standing: Standing) -> Vec<Tool> {
    tools::visible_to(caller, standing, &tools::routes())
}

#[test]
fn each_caller_sees_its_tools() {
    let mut table = String::new();
    for (name, caller, standing) in columns() {
        let tools = visible_to(&caller, standing);
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        table += &format!("{name}: {}\n", names.join(" "));
    }
    insta::assert_snapshot!(table, @"
    planner: add_comment ask_human check_inbox complete_task create_goal create_subtasks create_task declare_contract get_board get_history get_my_tasks get_task goal_status link_task_to_goal list_contracts send update_task_status who
    coder: ack_handshake add_comment ask_human check_inbox declare_contract get_board get_history get_my_tasks get_task list_contracts log_minion send update_task_status who
    reviewer: ack_handshake add_comment check_inbox get_board get_history get_my_tasks get_task list_contracts send update_task_status who
    orchestrator: add_comment ask_human check_inbox complete_task create_goal create_subtasks create_task get_board get_history get_my_tasks get_task goal_status handshake_status initiate_handshake link_task_to_goal list_contracts reject_verification send update_task_status verify_goal verify_task who
    untrusted: ack_handshake add_comment check_inbox declare_contract deregister get_board get_history get_my_tasks get_task goal_status list_contracts list_tasks ping register send set_status submit_for_review update_task who
    trusted: ack_handshake add_comment check_inbox create_goal create_task declare_contract deregister get_board get_history get_my_tasks get_spawn_policy get_task goal_status list_contracts list_tasks log_minion ping register reject_verification send set_status submit_for_review update_task verify_task who
    lead: ack_handshake add_comment approve_task assign_role_hat check_inbox create_goal create_subtasks create_task declare_contract deregister get_board get_history get_my_tasks get_spawn_policy get_task goal_status handshake_status hat_history initiate_handshake link_task_to_goal list_contracts list_tasks log_minion ping register reject_task reject_verification send set_spawn_policy set_status submit_for_review update_task verify_goal verify_task who
    invite: register who
    human: ack_handshake add_comment approve_task assign_role_hat check_inbox complete_task create_goal create_subtasks create_task declare_contract deregister get_board get_history get_my_tasks get_spawn_policy get_task goal_status handshake_status hat_history initiate_handshake link_task_to_goal list_contracts list_tasks log_minion ping reject_task reject_verification send set_spawn_policy submit_for_review update_task update_task_status verify_goal verify_task who
    ");
}

#[test]
fn external_agents_are_not_offered_pipeline_roles() {
    for (name, caller, standing) in columns().into_iter().filter(|(name, ..)| *name != "invite") {
        let tools = visible_to(&caller, standing);
        let comment = tools.iter().find(|tool| tool.name == "add_comment").unwrap();
        assert_eq!(comment.input_schema["properties"].get("author_role").is_none(), matches!(caller, Caller::Agent(_)), "{name}");
        assert!(comment.input_schema["properties"].get("content").is_some(), "{name}");
    }
}

#[test]
fn agent_tool_with_the_humans_token_is_refused_with_a_hint() {
    for tool in ["register", "set_status"] {
        let hint = tools::refusal(&Caller::owner(), tool).hint();
        assert!(hint.contains("ask the human for a token of your own: vibe-relay token new --agent NAME --role ROLE."), "{tool}: {hint}");
    }
    assert!(tools::refusal(&Caller::owner(), "ask_human").hint().starts_with("Your tools are "));
}

/// A model pays for the list in every conversation. A token is about four bytes of JSON.
#[test]
fn each_list_costs_few_tokens() {
    for (name, max_tools, max_tokens) in [
        ("planner", 20, 2_500),
        ("coder", 15, 2_000),
        ("reviewer", 15, 2_000),
        ("orchestrator", 24, 3_000),
        ("untrusted", 25, 2_000),
        ("trusted", 35, 3_000),
        ("lead", 40, 3_500),
        ("invite", 2, 500),
        ("human", 40, 5_000),
    ] {
        let (_, caller, standing) = columns().into_iter().find(|(column, ..)| *column == name).unwrap();
        let tools = visible_to(&caller, standing);
        let tokens = serde_json::to_string(&crate::handler::private(tools.clone())).unwrap().len() / 4;
        assert!(tools.len() <= max_tools && tokens <= max_tokens, "the {} tools of {name} cost {tokens} tokens", tools.len());
    }
}

#[test]
fn every_tool_is_defined_once_and_seen() {
    for tool in tools::routes().list_all() {
        assert!(
            columns().iter().any(|(_, caller, standing)| visible_to(caller, *standing).iter().any(|seen| seen.name == tool.name)),
            "{} is never listed",
            tool.name
        );
        let description = tool.description.unwrap();
        assert!(description.len() <= 300 && description.starts_with("Call this "), "{}: {} bytes", tool.name, description.len());
    }
    for (name, caller, _) in columns() {
        for tool in tools::table() {
            let hint = tools::refusal(&caller, tool.name).hint();
            assert!(tools::is_allowed(&caller, tool.name) || hint.contains(if name == "invite" { "register" } else { "get_board" }), "{hint}");
        }
    }
    assert_eq!(tools::table().count(), tools::routes().list_all().len());
}

#[test]
fn identity_arguments_are_optional() {
    for definition in tools::table() {
        let tool = tools::routes().get(definition.name).unwrap().clone();
        for argument in definition.identity_arguments {
            assert!(tool.input_schema["properties"].get(*argument).is_some(), "{} does not take {argument}", definition.name);
            let required = tool.input_schema.get("required").and_then(|required| required.as_array()).cloned().unwrap_or_default();
            assert!(!required.iter().any(|name| name == argument), "{} needs {argument}", definition.name);
        }
    }
}

/// Agents of other systems know these parameters, so the names must not change.
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
        let schema = tools::routes().get(tool).unwrap_or_else(|| panic!("tool {tool} does not exist")).input_schema.clone();
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
