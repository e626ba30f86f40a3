//! Whether Claude Code is usable on this machine, and what a person can do where it is not.

use std::path::Path;
use std::time::Duration;

use domain::config::Config;
use domain::runs::parking::ParkReason;
use domain::runs::sandbox::SandboxTier;

use super::environment::{CREDENTIALS, SANDBOX};
use crate::process::{Version, probe, version};

/// Versions before this one let a repository run programs without asking.
const MIN_VERSION: [u32; 3] = [2, 1, 128];
/// The version that the tests drive. Its format is known; that of newer ones may have moved.
pub const TESTED_VERSION: [u32; 3] = [2, 1, 330];
const UPDATE: &str = "npm install -g @anthropic-ai/claude-code";
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

/// Looks for a reason that would make every agent fail: the program refuses root, or nobody is signed in.
///
/// # Errors
/// The reason, with what was found.
pub async fn check_sign_in(program: &Path, config: &Config, tier: SandboxTier) -> Result<(), (ParkReason, String)> {
    if !needs_sign_in(program) {
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

/// Refuses a version that must not run agents. The program is asked once, and again when its file has changed.
///
/// # Errors
/// The found version, the oldest supported one, and the command that updates it.
pub async fn check_version(program: &Path) -> Result<(), String> {
    if !needs_sign_in(program) {
        return Ok(());
    }
    match version(program).await.map(|found| version_support(&found)) {
        Ok(VersionSupport::TooOld { problem, fix }) => Err(format!("{problem}; {fix}.")),
        // A program that prints none shows in the first run why it does not work.
        Ok(VersionSupport::Tested | VersionSupport::Newer { .. }) | Err(_) => Ok(()),
    }
}

/// Whether the program has a sign-in. One that only imitates Claude Code, such as the scripted agent, has none.
pub fn needs_sign_in(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == "claude")
}

/// How a version of the program is supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionSupport {
    Tested,
    Newer {
        problem: String,
        fix: String,
    },
    /// It must not run agents.
    TooOld {
        problem: String,
        fix: String,
    },
}

/// Judges the version of an agent program.
pub fn version_support(Version { numbers, text }: &Version) -> VersionSupport {
    if !text.contains("Claude Code") {
        return VersionSupport::Tested;
    }
    let dotted = |version: [u32; 3]| version.map(|number| number.to_string()).join(".");
    if *numbers < MIN_VERSION {
        let minimum = dotted(MIN_VERSION);
        return VersionSupport::TooOld {
            problem: format!("{text} has known security holes, and {minimum} is the oldest without them"),
            fix: format!("update it with `{UPDATE}`"),
        };
    }
    if *numbers > TESTED_VERSION {
        let tested = dotted(TESTED_VERSION);
        return VersionSupport::Newer {
            problem: format!("{text} is newer than {tested}, with which vibe-relay is tested"),
            fix: format!("if agents fail, install the tested one with `{UPDATE}@{tested}`"),
        };
    }
    VersionSupport::Tested
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
        | ParkReason::ProgramTooOld
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
    fn versions_outside_of_the_range_are_named_with_the_command_that_helps() {
        let judged = |numbers, text: &str| match version_support(&Version { numbers, text: text.to_owned() }) {
            VersionSupport::Tested => ("tested", String::new()),
            VersionSupport::Newer { fix, .. } => ("newer", fix),
            VersionSupport::TooOld { fix, .. } => ("too old", fix),
        };
        let (kind, detail) = judged([2, 1, 127], "2.1.127 (Claude Code)");
        assert!(kind == "too old" && detail.ends_with("`npm install -g @anthropic-ai/claude-code`"), "{detail}");
        assert_eq!(judged([2, 1, 128], "2.1.128 (Claude Code)").0, "tested");
        assert_eq!(judged(TESTED_VERSION, "2.1.330 (Claude Code)").0, "tested");
        let (kind, detail) = judged([2, 2, 0], "2.2.0 (Claude Code)");
        assert!(kind == "newer" && detail.ends_with("claude-code@2.1.330`"), "{detail}");
        assert_eq!(judged([0, 1, 0], "vibe-relay 0.1.0").0, "tested", "another program");
    }

    #[test]
    fn hints_exist_for_the_programs_own_reasons_alone() {
        let hinted: Vec<&str> = ParkReason::ALL.iter().filter(|reason| parking_hint(**reason).is_some()).map(|reason| reason.as_str()).collect();
        assert_eq!(hinted, ["signed_out", "no_credit", "program_missing", "root_refused"]);
    }
}
