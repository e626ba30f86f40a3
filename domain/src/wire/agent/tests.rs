//! Bodies read what scripts send, and nothing that they did not mean.

use serde::de::DeserializeOwned;

use super::*;

fn refused<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn bodies_need_only_what_matters() {
    let token = NewToken { agent: "mara".into(), roles: vec![Role::Builder, Role::Pen], team: Some("platform".into()), description: None };
    assert_eq!(serde_json::from_str::<NewToken>(r#"{"agent": "mara", "roles": ["builder", "pen"], "team": "platform"}"#).unwrap(), token);
    assert_eq!(serde_json::from_str::<ReadInbox>("{}").unwrap(), ReadInbox { ack: None });
    assert_eq!(serde_json::from_str::<Notes>("{}").unwrap(), Notes { notes: None });
    let handshake = NewHandshake { message: "Begin".into(), agents: Vec::new() };
    assert_eq!(serde_json::from_str::<NewHandshake>(r#"{"message": "Begin"}"#).unwrap(), handshake);
    let answer = serde_json::to_string(&CreatedToken { token: "ab".into(), connect: "claude".into() }).unwrap();
    insta::assert_snapshot!(answer, @r#"{"token":"ab","connect":"claude"}"#);
}

#[test]
fn unknown_fields_and_words_are_refused() {
    let unknown = [
        refused::<NewToken>(r#"{"agent": "mara", "roles": [], "trusted": true}"#),
        refused::<RemoveAgent>(r#"{"name": "mara", "force": true}"#),
        refused::<ReadInbox>(r#"{"upto": 1}"#),
        refused::<NewHandshake>(r#"{"message": "Begin", "to": []}"#),
        refused::<SetSpawnPolicy>(r#"{"scope": "global", "enabled": true, "max_minions": 1, "by": "x"}"#),
        refused::<Notes>(r#"{"note": "x"}"#),
        refused::<RejectVerification>(r#"{"reason": "x", "status": "done"}"#),
        refused::<Assign>(r#"{"assigned_to": "mara", "hat": "builder"}"#),
        refused::<LinkGoal>(r#"{"goal_id": null, "goal": "x"}"#),
    ];
    assert!(unknown.iter().all(|error| error.contains("unknown field")), "{unknown:?}");
    assert!(refused::<NewToken>(r#"{"agent": "mara", "roles": ["boss"]}"#).contains("unknown variant `boss`"));
    assert!(refused::<SetSpawnPolicy>(r#"{"scope": "global", "enabled": true, "max_minions": -1}"#).contains("-1"));
    assert!(refused::<LinkGoal>(r#"{"goal_id": "TASK-001"}"#).contains("GOAL-001"));
}

#[test]
fn nothing_is_taken_away_by_forgetting_it() {
    assert!(refused::<Assign>("{}").contains("missing field `assigned_to`"));
    assert!(refused::<LinkGoal>("{}").contains("missing field `goal_id`"));
    assert_eq!(serde_json::from_str::<Assign>(r#"{"assigned_to": null}"#).unwrap(), Assign { assigned_to: None, role_hat: None });
    assert_eq!(serde_json::from_str::<LinkGoal>(r#"{"goal_id": null}"#).unwrap(), LinkGoal { goal_id: None });
    let named = r#"{"assigned_to": "mara", "role_hat": "fixer"}"#;
    assert_eq!(serde_json::from_str::<Assign>(named).unwrap(), Assign { assigned_to: Some("mara".into()), role_hat: Some(Role::Fixer) });
    assert_eq!(serde_json::from_str::<LinkGoal>(r#"{"goal_id": "GOAL-002"}"#).unwrap(), LinkGoal { goal_id: Some(GoalId::new(2)) });
}
