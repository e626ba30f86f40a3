//! The allow-list against a full environment, locked by snapshots.

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
fn only_the_listed_variables_pass() {
    insta::assert_snapshot!(
        names(scrub(parent(FULL))),
        @"PATH HOME LC_ALL HTTPS_PROXY ANTHROPIC_API_KEY ANTHROPIC_BASE_URL CLAUDE_CONFIG_DIR"
    );
}

#[test]
fn a_cloud_providers_variables_pass_only_with_that_provider() {
    let with = |value| [FULL, &[("CLAUDE_CODE_USE_BEDROCK", value)]].concat();
    assert!(names(scrub(parent(&with("1")))).contains("AWS_SECRET_ACCESS_KEY"));
    assert!(!names(scrub(parent(&with("")))).contains("AWS_SECRET_ACCESS_KEY"));
}

#[test]
fn a_jail_is_claimed_only_by_the_user() {
    assert!(!names(scrub(parent(FULL))).contains("IS_SANDBOX"));
    assert_eq!(names(scrub(parent(&[("IS_SANDBOX", "1")]))), "IS_SANDBOX");
}

#[test]
fn a_desktop_program_finds_the_screen_and_nothing_else() {
    let [agent, desktop] = [names(scrub(parent(FULL))), names(scrub_for_desktop(parent(FULL)))];
    assert_eq!(desktop.strip_prefix(&agent), Some(" DISPLAY XDG_RUNTIME_DIR"));
}

#[test]
fn names_that_are_not_text_are_left_out() {
    use std::os::unix::ffi::OsStringExt;
    assert_eq!(scrub([(OsString::from_vec(vec![0xFF]), OsString::new())]), []);
}

#[test]
fn additions_override_in_order_and_keep_our_own_names() {
    let configured = [("RUST_LOG", "debug"), ("BASH_MAX", "9"), ("PORT", "1"), ("VIBE_RELAY_RUN_ID", "x"), ("CLAUDECODE", "1")];
    let configured = configured.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let additions = Additions { marker: "RUN-001.ab", port: Some(4001), backend: &[("BASH_MAX", "1"), ("BACKGROUND", "0")], configured: &configured };
    insta::assert_snapshot!(serde_json::to_string(&additions.variables()).unwrap(),
        @r#"{"BACKGROUND":"0","BASH_MAX":"9","PORT":"4001","RUST_LOG":"debug","VIBE_RELAY_RUN_ID":"RUN-001.ab"}"#);
}

#[test]
fn markers_differ_for_equal_run_ids() {
    let run = RunId::new(1);
    assert_eq!(marker(&run, Uuid::nil()), "RUN-001.00000000000000000000000000000000");
    assert_ne!(marker(&run, Uuid::new_v4()), marker(&run, Uuid::new_v4()));
}
