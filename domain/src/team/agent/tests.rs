//! The wire format of agents, roles and registrations.

use super::*;
use crate::runs::agent_kind::AgentKind;

#[test]
fn only_an_active_trusted_agent_with_the_role_is_lead() {
    let agent = Agent {
        project_id: ProjectId::new(1),
        name: "platform/mara".to_owned(),
        team: Some("platform".to_owned()),
        roles: vec![Role::Lead, Role::Pen],
        class: AgentClass::Lead,
        lead_role: Some(LeadRole::Commander),
        zone: None,
        model: None,
        transport: Transport::Terminal,
        description: None,
        status: Some("Writes".to_owned()),
        trusted: true,
        run_id: None,
        task_id: Some(TaskId::new(2)),
        context_left: None,
        context: None,
        context_reported_at: None,
        health: Health::Stale,
        connected: false,
        unread: 2,
        registered_at: Timestamp::from_milliseconds(1_769_850_300_000),
        last_seen: None,
        last_inbox_check: None,
        left_at: None,
    };
    assert!(agent.is_lead());
    assert!(!Agent { trusted: false, ..agent.clone() }.is_lead());
    assert!(!Agent { left_at: Some(agent.registered_at), ..agent.clone() }.is_lead());
    assert!(!Agent { roles: vec![Role::Pen], ..agent.clone() }.is_lead());
    assert!(!Agent { class: AgentClass::Coder, ..agent.clone() }.is_lead(), "the class that it named restricts it");
    let text = serde_json::to_string(&agent).unwrap();
    assert_eq!(serde_json::from_str::<Agent>(&text).unwrap(), agent);
    insta::assert_snapshot!(text, @r#"{"project_id":"PROJ-001","name":"platform/mara","team":"platform","roles":["lead","pen"],"class":"lead","lead_role":"commander","transport":"terminal","description":null,"status":"Writes","trusted":true,"run_id":null,"task_id":"TASK-002","context_left":null,"context":null,"context_reported_at":null,"health":"stale","connected":false,"unread":2,"registered_at":"2026-01-31T09:05:00.000Z","last_seen":null,"last_inbox_check":null,"left_at":null}"#);
}

#[test]
fn roles_are_ten_and_four_older_names() {
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
    assert_eq!(
        roles.join(" "),
        "lead builder fixer tester reviewer productionalizer pen shipper researcher coder maintainer demoer deliverer pusher"
    );
    let by_kind: Vec<String> = AgentKind::ALL.iter().map(|phase| format!("{phase} {}", Role::from(*phase))).collect();
    assert_eq!(by_kind, ["planner lead", "coder coder", "reviewer reviewer", "orchestrator lead", "oracle researcher"]);
}

#[test]
fn registration_requires_only_a_name() {
    let minimal: Registration = serde_json::from_str(r#"{"name": "mara"}"#).unwrap();
    assert_eq!(minimal, Registration { name: "mara".to_owned(), ..Registration::default() });
    assert!(serde_json::from_str::<Registration>(r#"{"name": "mara", "trusted": true}"#).is_err());
    assert!(serde_json::from_str::<Registration>(r#"{"name": "mara", "roles": ["boss"]}"#).is_err());
}
