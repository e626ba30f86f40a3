//! Filters the environment variables that a started program receives.
//!
//! It is an allow-list: any other variable stays with the server. Pure; it must not read the process's own environment.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use domain::id::{ProjectId, RunId};
use uuid::Uuid;

use crate::backend;

/// The variable that marks every process of a run, to find processes that escaped the process tree.
pub const MARKER: &str = "VIBE_RELAY_RUN_ID";

/// The name under which Docker Compose groups containers. Runs that work on the same repository would otherwise share it.
const COMPOSE_PROJECT: &str = "COMPOSE_PROJECT_NAME";

const NAMES: &[&str] = &[
    // The user and the terminal.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TMPDIR",
    "TERM",
    KEYS,
    // Proxies and certificates.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
];

const PREFIXES: &[&str] = &["LC_"];

/// The socket of the program that holds the person's keys.
const KEYS: &str = "SSH_AUTH_SOCK";

/// Variables that a desktop program needs to find the user's screen.
const DESKTOP_NAMES: &[&str] = &["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "BROWSER"];
const DESKTOP_PREFIXES: &[&str] = &["XDG_"];

/// Returns the variables of `parent` that an agent or a probe may inherit, in the same order.
pub fn filter_env(parent: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let parent: Vec<_> = parent.into_iter().collect();
    let provider = parent.iter().any(|(name, value)| has_prefix(name, &[backend::PROVIDER_PREFIX]) && !value.is_empty());
    let passes = |name: &OsStr| {
        is_named(name, NAMES)
            || is_named(name, backend::INHERITED_VARIABLES)
            || has_prefix(name, PREFIXES)
            || has_prefix(name, backend::INHERITED_PREFIXES)
            || (provider && has_prefix(name, backend::PROVIDER_VARIABLE_PREFIXES))
    };
    parent.into_iter().filter(|(name, _)| passes(name)).collect()
}

/// Returns the variables of `parent` that a check may inherit: no sign-in to a model's service, and no keys of the person.
pub fn filter_env_for_check(parent: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr| (is_named(name, NAMES) && name != KEYS) || has_prefix(name, PREFIXES);
    parent.into_iter().filter(|(name, _)| passes(name)).collect()
}

/// As [`filter_env`], with the variables that a desktop program needs.
pub fn filter_env_for_desktop(parent: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let parent: Vec<_> = parent.into_iter().collect();
    let desktop = |name: &OsStr| is_named(name, DESKTOP_NAMES) || has_prefix(name, DESKTOP_PREFIXES);
    let mut kept = filter_env(parent.iter().cloned());
    kept.extend(parent.into_iter().filter(|(name, _)| desktop(name)));
    kept
}

/// Variables with which `git` and `gh` find the person's credentials and keys.
const PUBLISHING_NAMES: &[&str] = &["GITHUB_TOKEN", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_CONFIG_GLOBAL", "GNUPGHOME"];
const PUBLISHING_PREFIXES: &[&str] = &["GH_"];

/// Variables that keep `git` and `gh` from asking at a terminal, and from transports that are programs.
pub(crate) const WITHOUT_QUESTIONS: &[(&str, &str)] =
    &[("GIT_TERMINAL_PROMPT", "0"), ("GH_PROMPT_DISABLED", "1"), ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")];

/// As [`filter_env_for_desktop`], with the variables that give `git` and `gh` the person's credentials.
pub fn filter_env_for_publishing(parent: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let parent: Vec<_> = parent.into_iter().collect();
    let publishing = |name: &OsStr| is_named(name, PUBLISHING_NAMES) || has_prefix(name, PUBLISHING_PREFIXES);
    let mut kept = filter_env_for_desktop(parent.iter().cloned());
    kept.extend(parent.into_iter().filter(|(name, _)| publishing(name)));
    kept
}

/// Returns the variables of `parent` that a person named for the agents of a project. Ours stay reserved.
pub fn named(names: &[String], parent: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let passes = |name: &OsStr| names.iter().any(|named| name == named.as_str() && !is_reserved(named));
    parent.into_iter().filter(|(name, _)| passes(name)).collect()
}

/// The variables that a run adds to the inherited ones. They are written to the run's folder, so they contain nothing inherited: a key in
/// the server's environment never reaches the disk.
#[derive(Debug, Clone, Copy)]
pub struct RunEnv<'a> {
    /// See [`marker`].
    pub marker: &'a str,
    /// The port leased for the run's own servers.
    pub port: Option<u16>,
    /// Variables that the agent program needs, see [`backend::Launch`].
    pub backend: &'a [(&'a str, &'a str)],
    /// `agents.{phase}.env` of the configuration. It may override `backend`, but not our own variables.
    pub configured: &'a BTreeMap<String, String>,
}

impl RunEnv<'_> {
    pub fn variables(&self) -> BTreeMap<String, String> {
        let mut variables = BTreeMap::from([(COMPOSE_PROJECT.to_owned(), compose_project(self.marker))]);
        variables.extend(self.backend.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let configured = self.configured.iter().filter(|(name, _)| !is_reserved(name));
        variables.extend(configured.map(|(name, value)| (name.clone(), value.clone())));
        if let Some(port) = self.port {
            variables.insert("PORT".to_owned(), port.to_string());
        }
        variables.insert(MARKER.to_owned(), self.marker.to_owned());
        variables
    }
}

/// Returns the marker of a run. Unlike the run's id it is unique on the machine, where another database may have the same `RUN-001`.
pub fn marker(run: &RunId, unique: Uuid) -> String {
    format!("{run}.{}", unique.simple())
}

/// Returns the marker of a command of a project other than an agent: `kind` says for what it runs.
pub fn command_marker(kind: &'static str, project: &ProjectId, unique: Uuid) -> String {
    format!("{kind}-{project}.{}", unique.simple())
}

/// Compose accepts lowercase letters, digits, dashes and underscores.
fn compose_project(marker: &str) -> String {
    marker.to_lowercase().replace('.', "-")
}

/// Whether the configuration must not set the variable, because it is ours or a running agent passes it to its children.
fn is_reserved(name: &str) -> bool {
    name.starts_with("VIBE_RELAY_") || backend::is_reserved_variable(name)
}

fn is_named(name: &OsStr, names: &[&str]) -> bool {
    names.iter().any(|known| name == *known)
}

fn has_prefix(name: &OsStr, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

#[cfg(test)]
mod tests;
