//! Which callers see which tools, what a list costs, and what the tools look like on the wire.

use db::{AgentCaller, Caller, FeaturesInUse, InviteCaller, PersonCaller, RunCaller};
use domain::id::{ProjectId, RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::team::person::PersonRole;
use domain::team::token::TokenReach;
use rmcp::model::Tool;

use crate::tools;
use crate::tools::definition::{Effect, ListingFacts};

pub(super) fn run(phase: AgentKind) -> Caller {
    let (run_id, task_id, project_id) = (RunId::new(1), TaskId::new(1), ProjectId::new(1));
    Caller::Run(RunCaller { run_id, task_id, project_id, phase, call_id: None })
}

pub(super) fn outside(name: &str) -> Caller {
    Caller::Agent(AgentCaller {
        project_id: ProjectId::new(1),
        name: name.to_owned(),
        permissions: domain::team::token::Permissions::default(),
        call_id: None,
    })
}

/// In a project that uses everything.
const EVERYTHING: ListingFacts = ListingFacts {
    is_trusted: false,
    is_lead: false,
    reach: TokenReach::Project,
    in_use: FeaturesInUse { goals: true, handshakes: true, claim_waits: true, external_agents: true, memory: true, raid_log: true, oracles: true },
};

/// The columns of `docs/tools.md`, in its order.
fn columns() -> Vec<(&'static str, Caller, ListingFacts)> {
    let none = ListingFacts::default();
    let phases = AgentKind::ALL.iter().map(|phase| (phase.as_str(), run(*phase), EVERYTHING));
    phases
        .chain([
            ("untrusted", outside("mara"), none),
            ("trusted", outside("mara"), ListingFacts { is_trusted: true, ..none }),
            ("lead", outside("mara"), ListingFacts { is_trusted: true, is_lead: true, ..none }),
            (
                "invite",
                Caller::Invite(InviteCaller {
                    project_id: ProjectId::new(1),
                    permissions: domain::team::token::Permissions::default(),
                    expires_at: None,
                    call_id: None,
                }),
                none,
            ),
            ("human", Caller::owner(), none),
            ("companion", Caller::Person(PersonCaller { id: 1, name: "owner".to_owned(), role: PersonRole::Owner, is_companion: true }), none),
        ])
        .collect()
}

fn visible_to(caller: &Caller, facts: ListingFacts) -> Vec<Tool> {
    tools::visible_to(caller, facts, &tools::routes())
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_ref()).collect()
}

#[test]
fn each_caller_sees_its_tools() {
    let mut table = String::new();
    for (name, caller, facts) in columns() {
        table += &format!("{name}: {}\n", names(&visible_to(&caller, facts)).join(" "));
    }
    insta::assert_snapshot!(table, @"
    planner: add_comment add_message ask_human ask_oracle check_inbox complete_task create_goal create_subtasks create_task declare_contract fenix_down get_board get_history get_memory get_raid_log get_session get_task goal_status link_task_to_goal list_contracts log_raid search_context send set_memory update_task_status who
    coder: ack_handshake add_comment add_message ask_human ask_oracle check_inbox declare_contract fenix_down get_memory get_task list_contracts release_file search_context send set_memory update_task_status
    reviewer: ack_handshake add_comment add_message check_inbox fenix_down get_board get_history get_memory get_session get_task list_contracts log_raid search_context send set_memory update_task_status who
    orchestrator: add_comment add_message ask_human ask_oracle check_inbox complete_task create_goal create_subtasks create_task fenix_down get_board get_history get_memory get_raid_log get_session get_task goal_status handshake_status initiate_handshake link_task_to_goal list_contracts log_raid reject_verification search_context send set_memory update_task_status verify_goal verify_task who
    oracle: check_inbox fenix_down read_intel send write_note
    untrusted: ack_handshake add_comment add_message archive_intel ask_oracle authenticate_agent check_activity check_freshness check_inbox claim_file close_session cold_start create_session declare_contract delete_memory deregister fenix_down get_battle_plan get_board get_claims get_history get_memory get_messages get_my_tasks get_raid_log get_session get_task get_zones goal_status list_contracts list_memory list_sessions list_tasks log_raid party_status ping read_intel refresh_token register release_file resolve_trap search_by_sender search_by_timerange search_context send set_context set_memory set_status submit_for_review submit_result update_task who write_intel write_note write_trap
    trusted: ack_handshake add_comment add_message archive_intel ask_oracle authenticate_agent check_activity check_freshness check_inbox claim_file close_session cold_start create_goal create_session create_task declare_contract delete_memory deregister fenix_down get_battle_plan get_board get_claims get_history get_memory get_messages get_my_tasks get_raid_log get_session get_spawn_policy get_task get_zones goal_status list_contracts list_memory list_sessions list_tasks log_minion log_raid party_status ping read_intel refresh_token register reject_verification release_file rename resolve_trap search_by_sender search_by_timerange search_context send set_context set_memory set_status submit_for_review submit_result update_task verify_task who write_intel write_note write_trap
    lead: ack_handshake add_comment add_message approve_task archive_intel ask_oracle assign_role_hat authenticate_agent check_activity check_freshness check_inbox claim_file close_session close_task cold_start create_goal create_session create_subtasks create_task debrief declare_contract delete_memory deregister end_session fenix_down get_battle_plan get_board get_claims get_heat_map get_history get_memory get_messages get_my_tasks get_raid_log get_session get_spawn_policy get_task get_zones goal_status handshake_status hat_history initiate_handshake link_task_to_goal list_contracts list_memory list_sessions list_tasks log_minion log_raid party_status ping propose_zones read_intel refresh_token register reject_task reject_verification release_file rename resolve_trap search_by_sender search_by_timerange search_context send set_battle_plan set_context set_memory set_spawn_policy set_status set_zone submit_for_review submit_result update_battle_plan_status update_task verify_goal verify_task wait_for who withdraw_trigger write_intel write_note write_trap
    invite: authenticate_agent register who
    human: ack_handshake add_comment add_message approve_task archive_intel ask_oracle assign_role_hat check_activity check_freshness check_inbox claim_file close_session close_task complete_task create_goal create_session create_subtasks create_task debrief declare_contract delete_memory deregister edit_task end_session get_battle_plan get_board get_claims get_heat_map get_history get_memory get_messages get_my_tasks get_raid_log get_session get_spawn_policy get_task get_zones goal_status handshake_status hat_history hold_task initiate_handshake link_task_to_goal list_contracts list_memory list_sessions list_tasks log_minion log_raid party_status ping propose_zones read_intel reject_task reject_verification release_file rename resolve_trap search_by_sender search_by_timerange search_context send set_battle_plan set_memory set_spawn_policy set_zone start_task steer_task submit_for_review submit_result update_battle_plan_status update_task update_task_status verify_goal verify_task wait_for who withdraw_trigger write_intel write_note write_trap
    companion: ack_handshake add_comment add_message archive_intel ask_oracle assign_role_hat check_activity check_freshness check_inbox claim_file close_session create_goal create_session create_subtasks create_task debrief declare_contract delete_memory deregister edit_task end_session get_battle_plan get_board get_claims get_heat_map get_history get_memory get_messages get_my_tasks get_raid_log get_session get_spawn_policy get_task get_zones goal_status handshake_status hat_history hold_task initiate_handshake link_task_to_goal list_contracts list_memory list_sessions list_tasks log_minion log_raid party_status ping propose_zones read_intel reject_task reject_verification release_file rename resolve_trap search_by_sender search_by_timerange search_context send set_battle_plan set_memory set_spawn_policy set_zone start_task steer_task submit_for_review submit_result update_battle_plan_status update_task update_task_status wait_for who withdraw_trigger write_intel write_note write_trap
    ");
}

#[test]
fn managed_agent_is_listed_a_tool_once_its_project_needs_it() {
    let none = FeaturesInUse::default();
    let features = [
        FeaturesInUse { goals: true, ..none },
        FeaturesInUse { handshakes: true, ..none },
        FeaturesInUse { claim_waits: true, ..none },
        FeaturesInUse { external_agents: true, ..none },
        FeaturesInUse { memory: true, ..none },
        FeaturesInUse { raid_log: true, ..none },
        FeaturesInUse { oracles: true, ..none },
    ];
    let mut table = String::new();
    for kind in AgentKind::ALL {
        let basic = visible_to(&run(*kind), ListingFacts::default());
        let more = |facts: ListingFacts| {
            let all = visible_to(&run(*kind), facts);
            names(&all).into_iter().filter(|name| !names(&basic).contains(name)).collect::<Vec<_>>().join(" ")
        };
        let [goals, handshakes, claim_waits, external_agents, memory, raid_log, oracles] =
            features.map(|in_use| more(ListingFacts { in_use, ..EVERYTHING }));
        table += &format!("{kind}: {}\n  goals: {goals}\n  handshakes: {handshakes}\n  claim waits: {claim_waits}\n", names(&basic).join(" "));
        table += &format!("  external agents: {external_agents}\n  memory: {memory}\n  raid log: {raid_log}\n  oracles: {oracles}\n");
    }
    insta::assert_snapshot!(table, @"
    planner: add_comment add_message ask_human check_inbox complete_task create_subtasks create_task declare_contract fenix_down get_board get_history get_session get_task list_contracts search_context send set_memory update_task_status who
      goals: create_goal goal_status link_task_to_goal
      handshakes: 
      claim waits: 
      external agents: 
      memory: get_memory
      raid log: get_raid_log log_raid
      oracles: ask_oracle
    coder: add_comment add_message ask_human check_inbox declare_contract fenix_down get_task list_contracts search_context send set_memory update_task_status
      goals: 
      handshakes: ack_handshake
      claim waits: release_file
      external agents: 
      memory: get_memory
      raid log: 
      oracles: ask_oracle
    reviewer: add_comment add_message check_inbox fenix_down get_board get_history get_session get_task list_contracts search_context send set_memory update_task_status who
      goals: 
      handshakes: ack_handshake
      claim waits: 
      external agents: 
      memory: get_memory
      raid log: log_raid
      oracles: 
    orchestrator: add_comment add_message ask_human check_inbox complete_task create_subtasks create_task fenix_down get_board get_history get_session get_task list_contracts search_context send set_memory update_task_status who
      goals: create_goal goal_status link_task_to_goal reject_verification verify_goal verify_task
      handshakes: 
      claim waits: 
      external agents: handshake_status initiate_handshake
      memory: get_memory
      raid log: get_raid_log log_raid
      oracles: ask_oracle
    oracle: check_inbox fenix_down read_intel send write_note
      goals: 
      handshakes: 
      claim waits: 
      external agents: 
      memory: 
      raid log: 
      oracles: 
    ");
}

/// A client can call only what it is listed, so texts that every run may read name no other tool.
#[test]
fn texts_for_a_coder_name_only_tools_that_it_is_always_listed() {
    let agents = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents");
    let listed = visible_to(&run(AgentKind::Coder), ListingFacts::default());
    let mut named = Vec::new();
    for file in
        ["coder.md", "reminder/coder.md", "reminder/hand_over.md", "reminder/ordered.md", "reminder/inbox.md", "reminder/more.md", "context/more.md"]
    {
        let text = std::fs::read_to_string(agents.join(file)).unwrap();
        let words: Vec<&str> = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_').collect();
        let tools = tools::table().map(|definition| definition.name).filter(|name| name.contains('_') && words.contains(name));
        named.extend(tools.map(|name| (file, name)));
    }
    assert!(named.contains(&("coder.md", "ask_human")) && named.contains(&("context/more.md", "search_context")), "{named:?}");
    named.retain(|(_, name)| !names(&listed).contains(name));
    assert!(named.is_empty(), "{named:?}");
}

#[test]
fn managed_agents_are_listed_no_arguments_that_their_token_says() {
    for kind in AgentKind::ALL {
        for tool in visible_to(&run(*kind), EVERYTHING) {
            for argument in ["project", "agent_name", "from_agent", "creator", "author_role"] {
                assert!(tool.input_schema["properties"].get(argument).is_none(), "{} lists {argument} to a {kind}", tool.name);
            }
        }
    }
}

#[test]
fn arguments_are_listed_to_managed_agents_where_they_are_used() {
    let listed = |facts: ListingFacts| {
        let tools = visible_to(&run(AgentKind::Planner), facts);
        let tool = tools.into_iter().find(|tool| tool.name == "create_task").unwrap();
        tool.input_schema["properties"].as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(listed(ListingFacts::default()), "depends_on description files parent_task_id phase title");
    assert_eq!(listed(EVERYTHING), "assigned_to depends_on description files goal_id parent_task_id phase role_hat title");
}

#[test]
fn each_kind_is_offered_its_own_moves() {
    let mut table = String::new();
    for kind in AgentKind::ALL {
        let tools = visible_to(&run(*kind), ListingFacts::default());
        // An oracle answers, and moves nothing.
        let Some(tool) = tools.iter().find(|tool| tool.name == "update_task_status") else { continue };
        table += &format!("{kind}: {} {}\n", tool.description.as_deref().unwrap(), serde_json::to_string(&tool.input_schema["properties"]).unwrap());
    }
    insta::assert_snapshot!(table, @r#"
    planner: Call this to finish your own task; complete_task does the same and takes a reason. {"status":{"enum":["done"],"type":"string"},"task_id":{"type":"string"}}
    coder: Call this last, when your work is committed: it submits the commit. {"status":{"enum":["in_review"],"type":"string"},"task_id":{"type":"string"}}
    reviewer: Call this last: done approves the commit; in_progress, after add_comment, sends it back to its coder. {"status":{"enum":["in_progress","done"],"type":"string"},"task_id":{"type":"string"}}
    orchestrator: Call this to cancel a task that the goal does not need. complete_task finishes your own. {"reason":{"enum":["failed","abandoned","obsolete","duplicate"],"type":"string"},"status":{"enum":["done","cancelled"],"type":"string"},"task_id":{"type":"string"}}
    "#);
}

#[test]
fn agents_are_not_offered_the_roles_of_others() {
    for (name, caller, facts) in columns().into_iter().filter(|(name, ..)| !["invite", "oracle"].contains(name)) {
        let tools = visible_to(&caller, facts);
        let comment = tools.iter().find(|tool| tool.name == "add_comment").unwrap();
        assert_eq!(comment.input_schema["properties"].get("author_role").is_some(), matches!(caller, Caller::Person(_)), "{name}");
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

/// An agent that works for a long time still has room for its work.
#[test]
fn list_of_a_coder_has_at_most_4_kb() {
    let list = crate::handler::private(visible_to(&run(AgentKind::Coder), EVERYTHING));
    assert!(serde_json::to_string(&list).unwrap().len() <= 4_000);
}

/// A model pays for the list in every conversation. A token is about four bytes of JSON.
#[test]
fn each_list_costs_few_tokens() {
    for (name, max_tools, max_tokens) in [
        ("planner", 26, 2_080),
        ("coder", 16, 980),
        ("reviewer", 18, 1_150),
        ("orchestrator", 31, 2_400),
        ("oracle", 5, 450),
        ("untrusted", 56, 5_600),
        ("trusted", 63, 6_300),
        ("lead", 83, 8_500),
        ("invite", 3, 600),
        ("human", 81, 9_000),
        ("companion", 76, 8_600),
    ] {
        let (_, caller, facts) = columns().into_iter().find(|(column, ..)| *column == name).unwrap();
        let tools = visible_to(&caller, facts);
        let tokens = serde_json::to_string(&crate::handler::private(tools.clone())).unwrap().len() / 4;
        assert!(tools.len() <= max_tools && tokens <= max_tokens, "the {} tools of {name} cost {tokens} tokens", tools.len());
    }
}

#[test]
fn every_tool_is_defined_once_and_seen() {
    for tool in tools::routes().list_all() {
        assert!(
            columns().iter().any(|(_, caller, facts)| visible_to(caller, *facts).iter().any(|seen| seen.name == tool.name)),
            "{} is never listed",
            tool.name
        );
        let description = tool.description.unwrap();
        assert!(description.len() <= 300 && description.starts_with("Call this "), "{}: {} bytes", tool.name, description.len());
    }
    for (name, caller, facts) in columns() {
        for tool in visible_to(&caller, facts) {
            let description = tool.description.unwrap();
            assert!(description.len() <= 300 && description.starts_with("Call this "), "{} for {name}: {description}", tool.name);
        }
        for tool in tools::table() {
            let hint = tools::refusal(&caller, tool.name).hint();
            let next = match name {
                "invite" => "register",
                "companion" if tool.effect == Effect::Decides => "They do it on the board",
                _ => "get_board",
            };
            assert!(tools::is_allowed(&caller, tool.name) || hint.contains(next), "{hint}");
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
        ("register", "agent_name agent_class lead_role zone model role description team token transport"),
        ("set_status", "agent_name status"),
        ("set_context", "agent_name context tokens_used tokens_limit"),
        ("fenix_down", "agent_name files manifest"),
        ("cold_start", "agent_name"),
        ("party_status", "agent_name"),
        ("send", "from_agent to_agent message cc task_id reply_to"),
        ("check_inbox", "agent_name"),
        ("get_history", "count task_id"),
        ("deregister", "agent_name"),
        ("rename", "agent_name new_name"),
        ("who", ""),
        ("create_task", "creator title description assigned_to project role_hat"),
        ("update_task", "agent_name task_id status assigned_to result"),
        ("list_tasks", "status assigned_to project zone"),
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
        ("authenticate_agent", "agent_id agent_type requested_permissions"),
        ("refresh_token", "current_token"),
        ("create_session", "purpose metadata"),
        ("get_session", "session_id"),
        ("add_message", "session_id content visibility metadata parent_message_id"),
        ("get_messages", "session_id visibility_filter limit offset"),
        ("search_by_sender", "session_id sender limit"),
        ("search_by_timerange", "session_id start_time end_time limit"),
        ("search_context", "session_id query fuzzy_threshold limit search_metadata search_scope"),
        ("set_memory", "key value session_id expires_in metadata overwrite"),
        ("get_memory", "key session_id"),
        ("list_memory", "session_id prefix limit"),
        ("set_battle_plan", "agent_name plan scope zone"),
        ("get_battle_plan", "status"),
        ("update_battle_plan_status", "agent_name plan_id status"),
        ("log_raid", "agent_name entry priority"),
        ("submit_result", "agent_name task_id result_file content"),
        ("close_task", "agent_name task_id"),
        ("debrief", "agent_name summary debrief_file"),
        ("end_session", "agent_name"),
        ("write_intel", "topic body evidence"),
        ("write_trap", "topic body evidence paths"),
        ("resolve_trap", "topic reason evidence"),
        ("archive_intel", "topic reason evidence"),
        ("write_note", "content replace"),
        ("read_intel", "topic"),
        ("withdraw_trigger", "agent_name word target"),
        ("set_zone", "agent_name name paths owner oracle"),
        ("get_zones", "path"),
        ("ask_oracle", "agent_name zone question"),
        ("get_raid_log", "priority count agent_name"),
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
