//! Whether Claude Code is usable on this machine, and what a person can do where it is not.

use std::path::Path;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::SandboxTier;

use super::environment::{CREDENTIALS, SANDBOX};
use crate::process::probe;

/// Versions before this one let a repository run programs without asking.
const MIN_VERSION: [u32; 3] = [2, 1, 128];
const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

/// Looks for a reason that would make every agent fail: the program refuses root, or nobody is signed in.
///
/// # Errors
/// The reason, with what was found.
pub async fn check_sign_in(program: &Path, config: &Config, tier: SandboxTier) -> Result<(), (ParkReason, String)> {
    // A program that only imitates Claude Code, such as the scripted agent, needs no sign-in.
    if program.file_name().is_none_or(|name| name != "claude") {
        return Ok(());
    }
    // A run in a jail sets the variable.
    if tier == SandboxTier::None && nix::unistd::geteuid().is_root() && std::env::var_os(SANDBOX).is_none() {
        let detail = "vibe-relay runs as root, and Claude Code does not work unattended as root outside a sandbox.";
        return Err((ParkReason::RootRefused, detail.to_owned()));
    }
    if config.agents.each().iter().any(|agent| CREDENTIALS.iter().any(|name| agent.env.contains_key(*name))) {
        return Ok(());
    }
    let Ok(answer) = probe(program, &["auth", "status"], PROBE_TIMEOUT).await else { return Ok(()) };
    if is_signed_out(&answer.stdout) {
        return Err((ParkReason::SignedOut, format!("`{} auth status` reports that nobody is signed in.", program.display())));
    }
    Ok(())
}

/// A warning about a version that works but should be updated. `text` is the program's answer to `--version`.
pub fn version_warning(numbers: [u32; 3], text: &str) -> Option<String> {
    let is_old = text.contains("Claude Code") && numbers < MIN_VERSION;
    is_old.then(|| format!("{text} has known security holes; update it with `npm install -g @anthropic-ai/claude-code`"))
}

/// The steps that resolve a reason which is this program's own.
pub fn parking_hint(reason: ParkReason) -> Option<&'static str> {
    match reason {
        ParkReason::SignedOut => Some("Run `claude` in a terminal and sign in, or set ANTHROPIC_API_KEY before `vibe-relay serve`."),
        ParkReason::ProgramMissing => Some("Install it with `npm install -g @anthropic-ai/claude-code`, or set its path in \"agent_command\"."),
        ParkReason::RootRefused => {
            Some("Run vibe-relay as an ordinary user; inside a container or another sandbox set IS_SANDBOX=1 before `vibe-relay serve`.")
        }
        ParkReason::NoCredit => Some("See https://console.anthropic.com/settings/billing, or sign in with another account."),
        ParkReason::RateLimited
        | ParkReason::Sandbox
        | ParkReason::McpNotConnected
        | ParkReason::ServiceUnreachable
        | ParkReason::DiskFull
        | ParkReason::SystemLimit => None,
    }
}

/// Only a clear "no" counts, because another version may answer in another form.
fn is_signed_out(answer: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(answer).is_ok_and(|status| status["loggedIn"] == false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_no_counts_as_signed_out() {
        assert!(is_signed_out(r#"{"loggedIn":false,"authMethod":"none"}"#));
        for answer in [r#"{"loggedIn":true}"#, r#"{"signedIn":false}"#, r#"{"loggedIn":"no"}"#, "not signed in", ""] {
            assert!(!is_signed_out(answer), "{answer}");
        }
    }

    #[test]
    fn only_old_versions_of_the_real_program_are_warned_about() {
        assert!(version_warning([2, 1, 127], "2.1.127 (Claude Code)").is_some());
        assert_eq!(version_warning([2, 1, 128], "2.1.128 (Claude Code)"), None);
        assert_eq!(version_warning([0, 1, 0], "vibe-relay 0.1.0"), None);
    }

    #[test]
    fn hints_exist_for_the_programs_own_reasons_alone() {
        let hinted: Vec<&str> = ParkReason::ALL.iter().filter(|reason| parking_hint(**reason).is_some()).map(|reason| reason.as_str()).collect();
        assert_eq!(hinted, ["signed_out", "no_credit", "program_missing", "root_refused"]);
    }
}
