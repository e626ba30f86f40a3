//! The allow-list applied to a full environment, locked by snapshots.

use super::*;

fn names(variables: Vec<(OsString, OsString)>) -> String {
    let names: Vec<String> = variables.into_iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.join(" ")
}

fn parent(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

const FULL: &[(&str, &str)] = &[
    ("PATH", "/usr/bin"),
    ("HOME", "/home/ada"),
    ("LC_ALL", "C.UTF-8"),
    ("HTTPS_PROXY", "http://proxy"),
    ("ANTHROPIC_API_KEY", "key"),
    ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"),
    ("CLAUDE_CONFIG_DIR", "/home/ada/.claude"),
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ("CLAUDE_CODE_SESSION_ID", "3db98857"),
    ("CLAUDE_CODE_CHILD_SESSION", "1"),
    ("CLAUDE_CODE_MESSAGING_SOCKET", "/run/x"),
    ("VIBE_RELAY_TOKEN", "secret"),
    ("VIBE_RELAY_RUN_ID", "RUN-009.x"),
    ("AWS_SECRET_ACCESS_KEY", "secret"),
    ("GITHUB_TOKEN", "secret"),
    ("PORT", "80"),
    ("DISPLAY", ":0"),
    ("XDG_RUNTIME_DIR", "/run/user/1"),
];

#[test]
fn only_listed_variables_pass() {
    insta::assert_snapshot!(
        names(filter_env(parent(FULL))),
        @"PATH HOME LC_ALL HTTPS_PROXY ANTHROPIC_API_KEY ANTHROPIC_BASE_URL CLAUDE_CONFIG_DIR"
    );
}

#[test]
fn provider_variables_pass_only_when_selected() {
    let with = |value| [FULL, &[("CLAUDE_CODE_USE_BEDROCK", value)]].concat();
    assert!(names(filter_env(parent(&with("1")))).contains("AWS_SECRET_ACCESS_KEY"));
    assert!(!names(filter_env(parent(&with("")))).contains("AWS_SECRET_ACCESS_KEY"));
}

#[test]
fn only_the_user_can_claim_a_sandbox() {
    assert!(!names(filter_env(parent(FULL))).contains("IS_SANDBOX"));
    assert_eq!(names(filter_env(parent(&[("IS_SANDBOX", "1")]))), "IS_SANDBOX");
}

#[test]
fn check_gets_no_sign_in_and_no_keys() {
    let full = || parent(&[FULL, &[("SSH_AUTH_SOCK", "/run/keys"), ("CLAUDE_CODE_USE_BEDROCK", "1")]].concat());
    let agent = names(filter_env(full()));
    assert!(agent.contains("ANTHROPIC_API_KEY") && agent.contains("SSH_AUTH_SOCK") && agent.contains("AWS_SECRET_ACCESS_KEY"), "{agent}");
    assert_eq!(names(filter_env_for_check(full())), "PATH HOME LC_ALL HTTPS_PROXY");
}

#[test]
fn desktop_program_gets_only_screen_variables_more() {
    let [agent, desktop] = [names(filter_env(parent(FULL))), names(filter_env_for_desktop(parent(FULL)))];
    assert_eq!(desktop.strip_prefix(&agent), Some(" DISPLAY XDG_RUNTIME_DIR"));
}

#[test]
fn names_that_are_not_utf8_are_removed() {
    use std::os::unix::ffi::OsStringExt;
    assert_eq!(filter_env([(OsString::from_vec(vec![0xFF]), OsString::new())]), []);
}

#[test]
fn configured_variables_override_backend_but_not_ours() {
    let configured = [("RUST_LOG", "debug"), ("BASH_MAX", "9"), ("PORT", "1"), ("VIBE_RELAY_RUN_ID", "x"), ("CLAUDECODE", "1")];
    let configured = configured.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let run_env = RunEnv { marker: "RUN-001.ab", port: Some(4001), backend: &[("BASH_MAX", "1"), ("BACKGROUND", "0")], configured: &configured };
    insta::assert_snapshot!(serde_json::to_string(&run_env.variables()).unwrap(),
        @r#"{"BACKGROUND":"0","BASH_MAX":"9","COMPOSE_PROJECT_NAME":"run-001-ab","PORT":"4001","RUST_LOG":"debug","VIBE_RELAY_RUN_ID":"RUN-001.ab"}"#);
}

#[test]
fn equal_run_ids_get_different_markers() {
    let run = RunId::new(1);
    assert_eq!(marker(&run, Uuid::nil()), "RUN-001.00000000000000000000000000000000");
    assert_ne!(marker(&run, Uuid::new_v4()), marker(&run, Uuid::new_v4()));
}
