//! The sign-in of Claude Code, as far as it is known without a request to the model's service, which would cost money.
//!
//! Pure, except for the question to the program itself. A secret is never repeated.

use std::path::Path;

use domain::config::Config;
use serde_json::Value;

use super::environment::{CREDENTIALS, PROVIDER_PREFIX, SERVICE_VARIABLE};
use super::probe::PROBE_TIMEOUT;
use crate::process::probe;

/// How keys and tokens of Anthropic begin.
const KEY_PREFIX: &str = "sk-ant-";
const MIN_KEY: usize = 40;

/// The knowledge about a sign-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInState {
    /// An account whose sign-in the program carried out.
    Account(String),
    /// Something that only a request would prove.
    Unverified(String),
    /// The service will refuse it.
    Malformed { problem: String, fix: String },
}

/// Returns what is known about the sign-in of agents. Those of a kind with credentials of its own are judged by them.
pub async fn sign_in_state(program: &Path, config: &Config) -> SignInState {
    let inherited = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    for agent in config.agents.each() {
        let service = agent.env.get(SERVICE_VARIABLE).cloned().or_else(|| inherited(SERVICE_VARIABLE));
        let found = CREDENTIALS.iter().find_map(|name| Some((*name, agent.env.get(*name)?)));
        if let Some(state @ SignInState::Malformed { .. }) = found.map(|(name, value)| judge(name, value, service.as_deref())) {
            return state;
        }
    }
    let service = inherited(SERVICE_VARIABLE);
    let answer = probe(program, &["auth", "status"], PROBE_TIMEOUT).await.map(|answer| answer.stdout).unwrap_or_default();
    state(&answer, service.as_deref(), inherited)
}

/// The meaning of an answer of `auth status`.
fn state(answer: &str, service: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> SignInState {
    if let Some((name, value)) = CREDENTIALS.iter().find_map(|name| Some((*name, variable(name)?))) {
        return judge(name, &value, service);
    }
    let Ok(status) = serde_json::from_str::<Value>(answer) else {
        return SignInState::Unverified("the program did not say how it is signed in; run `claude` once to see it".to_owned());
    };
    let text = |key: &str| status[key].as_str().filter(|text| !text.is_empty());
    match text("authMethod") {
        Some("third_party") => SignInState::Unverified(format!(
            "the models of {} are used, whose credentials are not checked here; run `claude` once to see that they work",
            text("apiProvider").unwrap_or("a cloud provider"),
        )),
        Some("api_key" | "api_key_helper") => SignInState::Unverified(format!(
            "a key from {} is used; only a request shows whether it is accepted, so run `claude` once to see that it works",
            text("apiKeySource").unwrap_or("the settings"),
        )),
        Some(method) if status["loggedIn"] == true => {
            let account = text("email").map(|email| format!(" as {email}")).unwrap_or_default();
            let expiry = text("loginExpiresAt").map(|time| format!(", until {time}")).unwrap_or_default();
            SignInState::Account(format!("signed in with {method}{account}{expiry}"))
        }
        _ => SignInState::Unverified(format!("the program did not say how it is signed in; variables such as {PROVIDER_PREFIX}… may do it")),
    }
}

/// Judges a credential by its form. A service of one's own decides itself which credentials it accepts.
fn judge(name: &str, value: &str, service: Option<&str>) -> SignInState {
    if let Some(service) = service {
        return SignInState::Unverified(format!("{name} is set for {service}; only a request shows whether it is accepted"));
    }
    let is_formed = value.starts_with(KEY_PREFIX) && value.len() >= MIN_KEY;
    match name {
        // A bearer token of a gateway may have any form.
        "ANTHROPIC_AUTH_TOKEN" => SignInState::Unverified(format!("{name} is set; only a request shows whether it is accepted")),
        _ if !is_formed => SignInState::Malformed {
            problem: format!(
                "{name} is set, but it is not an Anthropic key: those begin with {KEY_PREFIX} and have at least {MIN_KEY} characters, and this \
                 one has {}",
                value.chars().count(),
            ),
            fix: "set a key from https://console.anthropic.com/settings/keys or a token from `claude setup-token`, or unset the variable and sign \
                 in with `claude`"
                .to_owned(),
        },
        _ => SignInState::Unverified(format!(
            "{name} is set and has the form of a key; only a request shows whether it is accepted, so run `claude` once to see that it works"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

    #[test]
    fn form_of_a_credential_tells_what_is_known() {
        let kind = |state: &SignInState| match state {
            SignInState::Account(_) => "account",
            SignInState::Unverified(_) => "unverified",
            SignInState::Malformed { .. } => "malformed",
        };
        for (name, value, service, expected) in [
            ("ANTHROPIC_API_KEY", "dummy", None, "malformed"),
            ("ANTHROPIC_API_KEY", "sk-ant-", None, "malformed"),
            ("ANTHROPIC_API_KEY", KEY, None, "unverified"),
            ("ANTHROPIC_API_KEY", "dummy", Some("http://127.0.0.1:9"), "unverified"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "dummy", None, "malformed"),
            ("CLAUDE_CODE_OAUTH_TOKEN", KEY, None, "unverified"),
            ("ANTHROPIC_AUTH_TOKEN", "anything", None, "unverified"),
        ] {
            let found = judge(name, value, service);
            assert_eq!(kind(&found), expected, "{name}={value} at {service:?}");
            assert!(!format!("{found:?}").contains(KEY), "the secret is not repeated");
        }
    }

    /// Answers of version 2.1.330, shortened.
    #[test]
    fn answers_of_the_program_are_understood() {
        let nothing = |_: &str| None;
        let account = r#"{"loggedIn":true,"authMethod":"claude.ai","email":"ann@example.org","loginExpiresAt":null}"#;
        assert_eq!(state(account, None, nothing), SignInState::Account("signed in with claude.ai as ann@example.org".to_owned()));
        let says = |answer: &str, words: &str| match state(answer, None, nothing) {
            SignInState::Unverified(text) => assert!(text.contains(words), "{text}"),
            other => panic!("{other:?}"),
        };
        says(r#"{"loggedIn":true,"authMethod":"third_party","apiProvider":"bedrock"}"#, "the models of bedrock");
        says(r#"{"loggedIn":true,"authMethod":"api_key","apiKeySource":"apiKeyHelper"}"#, "a key from apiKeyHelper");
        says("{}", "did not say");
        says("not signed in", "did not say");
        let key = |name: &str| (name == "ANTHROPIC_API_KEY").then(|| "dummy".to_owned());
        let answer = r#"{"loggedIn":true,"authMethod":"api_key","apiKeySource":"ANTHROPIC_API_KEY"}"#;
        assert!(matches!(state(answer, None, key), SignInState::Malformed { .. }), "the program calls any key signed in");
    }
}
