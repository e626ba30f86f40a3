//! Requests about the audit log, and the filter of its page.

use domain::audit::{AuditCheck, AuditKind, AuditRow};
use domain::id::ProjectId;
use domain::wire::List;
use gloo_net::http::Request;

use super::{Client, Failure};

/// The part of the audit log to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AuditFilter {
    pub(crate) kind: Option<AuditKind>,
    /// A participant.
    pub(crate) actor: Option<String>,
    pub(crate) project: Option<ProjectId>,
    /// `token:` or `browser:`, and the start of its hash.
    pub(crate) credential: Option<String>,
}

impl AuditFilter {
    /// Reads it from an address. `is_name` tells whether a text needs no escaping in one.
    pub(crate) fn parse(parameter: impl Fn(&str) -> Option<String>, is_name: impl Fn(&str) -> bool) -> Self {
        let is_credential = |text: &String| text.split_once(':').is_some_and(|(kind, digits)| is_name(kind) && is_name(digits));
        Self {
            kind: parameter("kind").and_then(|kind| kind.parse().ok()),
            actor: parameter("actor").filter(|name| is_name(name)),
            project: parameter("project").and_then(|project| project.parse().ok()),
            credential: parameter("credential").filter(is_credential),
        }
    }

    /// The parameters of the address, and of the request, that have a value.
    pub(crate) fn parameters(&self) -> Vec<(&'static str, String)> {
        let kind = self.kind.map(|kind| ("kind", kind.to_string()));
        let actor = self.actor.clone().map(|actor| ("actor", actor));
        let project = self.project.as_ref().map(|project| ("project", project.to_string()));
        let credential = self.credential.clone().map(|credential| ("credential", credential));
        kind.into_iter().chain(actor).chain(project).chain(credential).collect()
    }
}

impl Client {
    /// The newest rows, or those before the row `before`.
    pub(crate) async fn audit(self, filter: AuditFilter, before: Option<i64>) -> Result<List<AuditRow>, Failure> {
        let mut query = filter.parameters();
        query.extend(before.map(|before| ("before", before.to_string())));
        self.finish(Request::get("/api/audit").query(query.iter().map(|(name, value)| (*name, value.as_str())))).await
    }

    pub(crate) async fn check_audit(self) -> Result<AuditCheck, Failure> {
        self.get("/api/audit/check").await
    }
}
