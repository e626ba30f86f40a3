//! Names, what they may stand for, and signs of life.

use super::*;

#[test]
fn names_carry_their_team() {
    assert_eq!(full_name("mara", None).unwrap(), "mara");
    assert_eq!(full_name("mara", Some("platform")).unwrap(), "platform/mara");
    assert_eq!(full_name("platform/mara", None).unwrap(), "platform/mara");
    assert_eq!(full_name("platform/mara", Some("platform")).unwrap(), "platform/mara");
}

#[test]
fn names_of_others_and_odd_names_are_refused() {
    for bad in ["", " ", "a b", "a/b/c", "/a", "a/", "all", "human", "runner", "team/human", "coder-TASK-001", "a\0", "a\n", "é", &"x".repeat(81)] {
        assert!(full_name(bad, None).is_err(), "{bad:?}");
    }
    assert!(full_name("a/b", Some("other")).is_err());
}

#[test]
fn kept_names_are_refused_in_any_case_and_as_teams() {
    for bad in [
        "All",
        "global",
        "Global",
        "x/GLOBAL",
        "HUMAN",
        "Runner",
        "human/x",
        "RUNNER/x",
        "x/All",
        "Coder-task-012",
        "CODER-TASK-012",
        "coder-TASK-012/x",
        "x/Planner-Task-1",
    ] {
        assert_eq!(full_name(bad, None).map_err(|refusal| refusal.code()), Err("invalid"), "{bad}");
    }
    for good in ["humane", "allan", "globally", "runner-up", "coder", "coder-1"] {
        full_name(good, None).unwrap();
    }
}

#[test]
fn a_short_name_means_the_own_teams_before_whoever_is_called_just_so() {
    let names = ["mara", "blue/mara", "red/mara"];
    let meant = ["red/tom", "green/tom", "ida"].map(|speaker| resolve("mara", speaker, &names).unwrap());
    assert_eq!(meant, ["red/mara", "mara", "mara"]);
    assert_eq!(resolve("blue/mara", "red/tom", &names).unwrap(), "blue/mara");
    assert!(have_same_short_name("Mara", "red/mara") && have_same_short_name("blue/mara", "red/mara") && !have_same_short_name("mara", "mara/red"));
}

#[test]
fn a_short_name_means_the_only_one_or_the_own_teams() {
    let names = ["blue/mara", "red/mara", "blue/ole", "ida"];
    assert_eq!(resolve("ole", "ida", &names).unwrap(), "blue/ole");
    assert_eq!(resolve("red/mara", "ida", &names).unwrap(), "red/mara");
    assert_eq!(resolve("mara", "red/tom", &names).unwrap(), "red/mara");
    assert_eq!(resolve("mara", "ida", &names).unwrap_err().code(), "ambiguous-agent");
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let names = ["blue/mara", "ole", "coder-TASK-002"];
    let refusal = resolve("marra", "ida", &names).unwrap_err();
    assert_eq!(refusal, Refusal::UnknownAgent { name: "marra".to_owned(), nearest: vec!["blue/mara".to_owned()] });
    assert_eq!(resolve("zzz", "ida", &names).unwrap_err(), Refusal::UnknownAgent { name: "zzz".to_owned(), nearest: Vec::new() });
}

#[test]
fn the_nearest_name_is_found_in_another_case() {
    let names = ["tess", "Blue/Mara", HUMAN, EVERYONE];
    for (given, meant) in [("TESS", "tess"), ("Tes", "tess"), ("mara", "Blue/Mara"), ("ALL", EVERYONE), ("Human", HUMAN)] {
        let refusal = resolve(given, "ida", &names).unwrap_err();
        let Refusal::UnknownAgent { nearest, .. } = refusal else { panic!("{given}: {refusal}") };
        assert_eq!(nearest.first().map(String::as_str), Some(meant), "{given}");
    }
}

#[test]
fn health_turns_at_two_and_at_ten_minutes() {
    let beat = Timestamp::from_milliseconds(1_000_000);
    let after = |seconds| Health::of(Some(beat), beat.after(Duration::from_secs(seconds)));
    assert_eq!(Health::of(None, beat), Health::Unknown);
    assert_eq!([after(0), after(119), after(120), after(599), after(600)], {
        use Health::{Dead, Healthy, Stale};
        [Healthy, Healthy, Stale, Stale, Dead]
    });
}

#[test]
fn who_is_not_connected_is_given_up_after_ten_minutes_in_which_it_could_be_heard() {
    let minute = |minute: u64| Timestamp::from_milliseconds(0).after(Duration::from_secs(minute * 60));
    let lost_at = |last_beat: Option<u64>, asked, listening| Health::unresponsive_at(last_beat.map(minute), minute(asked), minute(listening));
    assert_eq!(lost_at(Some(20), 25, 0), minute(30), "when it looks dead, whatever was asked of it since");
    assert_eq!(lost_at(None, 25, 0), minute(35), "one that was never there is waited for");
    assert_eq!(lost_at(Some(20), 25, 60), minute(70), "nobody listened before");
    assert_eq!(lost_at(None, 25, 60), minute(70));
}

#[test]
fn an_agent_is_written_like_this_and_leads_only_while_it_is_there_and_vouched_for() {
    let agent = Agent {
        project_id: ProjectId::new(1),
        name: "platform/mara".to_owned(),
        team: Some("platform".to_owned()),
        roles: vec![Role::Lead, Role::Pen],
        description: None,
        status: Some("Writes".to_owned()),
        trusted: true,
        run_id: None,
        task_id: Some(TaskId::new(2)),
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
    let text = serde_json::to_string(&agent).unwrap();
    assert_eq!(serde_json::from_str::<Agent>(&text).unwrap(), agent);
    insta::assert_snapshot!(text, @r#"{"project_id":"PROJ-001","name":"platform/mara","team":"platform","roles":["lead","pen"],"description":null,"status":"Writes","trusted":true,"run_id":null,"task_id":"TASK-002","health":"stale","connected":false,"unread":2,"registered_at":"2026-01-31T09:05:00.000Z","last_seen":null,"last_inbox_check":null,"left_at":null}"#);
}

#[test]
fn the_roles_are_the_ten_and_the_four_older_ones() {
    let roles: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
    assert_eq!(
        roles.join(" "),
        "lead builder fixer tester reviewer productionalizer pen shipper researcher coder maintainer demoer deliverer pusher"
    );
    let of: Vec<String> = AgentKind::ALL.iter().map(|phase| format!("{phase} {}", Role::from(*phase))).collect();
    assert_eq!(of, ["planner lead", "coder coder", "reviewer reviewer", "orchestrator lead"]);
}

#[test]
fn registering_needs_a_name_alone_and_nothing_unknown() {
    let least: Registration = serde_json::from_str(r#"{"name": "mara"}"#).unwrap();
    assert_eq!(least, Registration { name: "mara".to_owned(), ..Registration::default() });
    assert!(serde_json::from_str::<Registration>(r#"{"name": "mara", "trusted": true}"#).is_err());
    assert!(serde_json::from_str::<Registration>(r#"{"name": "mara", "roles": ["boss"]}"#).is_err());
}
