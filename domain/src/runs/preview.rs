//! Previews: the app of a project, which runs on the files of a task or of the project branch so that a person can try it.
//!
//! Must not know how it is started. The command is a part of the profile.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::status::Status;
use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::refusal::category::refusals;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The end of a log that is kept with a failure, in characters.
const FAILURE_CHARACTERS: usize = 600;

vocabulary! {
    /// How far a preview is.
    PreviewState, "preview state" {
        /// Its files are prepared, or its app does not answer yet.
        Starting = "starting",
        /// Its app answers.
        Running = "running",
        /// It was asked to end.
        Stopping = "stopping",
        /// It ended on its own, or could not start.
        Failed = "failed",
    }
}

/// A preview as its card or project shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preview {
    pub state: PreviewState,
    pub started_at: Timestamp,
    /// The ports that it leases: `PORT`, and `PORT_2` if another one was free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// The address at which a browser on this machine finds its app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The reason why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Preview {
    /// A preview that a person asks for now.
    pub fn requested(now: Timestamp) -> Self {
        Self { state: PreviewState::Starting, started_at: now, ports: Vec::new(), address: None, failure: None }
    }

    /// The same preview after it failed, with the end of `why`.
    #[must_use]
    pub fn failed(self, why: &str) -> Self {
        let why = why.trim();
        let skipped = why.chars().count().saturating_sub(FAILURE_CHARACTERS);
        let end: String = why.chars().skip(skipped).collect();
        Self { state: PreviewState::Failed, ports: Vec::new(), address: None, failure: Some(end), ..self }
    }

    /// Whether it has or gets a process.
    pub fn is_live(&self) -> bool {
        self.state != PreviewState::Failed
    }

    /// The same preview after its command was started with these ports.
    #[must_use]
    pub fn started(self, subject: &PreviewSubject, ports: Vec<u16>) -> Self {
        Self { address: ports.first().map(|port| format!("http://{}:{port}/", subject.host())), ports, ..self }
    }
}

/// The files on which an app runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PreviewSubject {
    /// The checkout of a task.
    Task(TaskId),
    /// A checkout of the project branch.
    Project(ProjectId),
}

impl PreviewSubject {
    /// The name of its host. Browsers lead names below `localhost` to this machine, and send the cookies of the board to none of them.
    pub fn host(&self) -> String {
        format!("{}.localhost", self.name().to_lowercase())
    }

    /// The id of the task or of the project.
    pub fn name(&self) -> String {
        match self {
            Self::Task(id) => id.to_string(),
            Self::Project(id) => id.to_string(),
        }
    }
}

/// Replaces `{port}` and `{port_2}` in a command line.
pub fn with_ports(line: &str, ports: &[u16]) -> String {
    let port = |place: usize| ports.get(place).map(u16::to_string).unwrap_or_default();
    line.replace("{port}", &port(0)).replace("{port_2}", &port(1))
}

events! {
    /// A change of a preview.
    PreviewEvent {
        /// A person asked for the app.
        Requested "preview_requested" {}
        /// The command of the app was started, with a port.
        Started "preview_started" { port: u16 }
        /// The app answers.
        Answered "preview_answered" { port: u16 }
        /// The app was ended by a person, after a time without a connection, or with the removal of its files.
        Ended "preview_ended" { why: String }
        /// The app ended on its own, or could not start.
        Failed "preview_failed" { why: String }
    }
}

impl PreviewEvent {
    /// Words the event; `subject` is the task or the project.
    pub(crate) fn sentence(&self, subject: &str) -> String {
        match self {
            Self::Requested {} => format!("opened the app of {subject}"),
            Self::Started { port } => format!("started the app of {subject} with the port {port}"),
            Self::Answered { port } => format!("saw that the app of {subject} answers at port {port}"),
            Self::Ended { why } => format!("ended the app of {subject}: {why}"),
            Self::Failed { .. } => format!("saw that the app of {subject} failed"),
        }
    }
}

refusals! {
    /// Why an app is not started.
    PreviewRefusal {
        #[error("the profile of {project} has no command that starts its app")]
        NoCommand { project: ProjectId } => Unprocessable "no-preview",
        #[error("{task} has the status {status}, and no checkout in which its app could run")]
        NoFiles { task: TaskId, status: Status } => Conflict "no-files",
        #[error("no task is merged into the branch of {project} yet")]
        NothingMerged { project: ProjectId } => Conflict "nothing-merged",
        #[error("no app of {name} is running")]
        NotRunning { name: String } => Conflict "no-preview-running",
    }
}

impl PreviewRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NoCommand { project } => {
                format!("Set it in the settings of the project, or with `vibe-relay profile edit {project} --preview COMMAND`.")
            }
            Self::NoFiles { .. } => {
                "Open the app while a coder works on the task or while its work is in review; later, open the app of the project.".to_owned()
            }
            Self::NothingMerged { .. } => "Open the app of a task, or wait until one is merged.".to_owned(),
            Self::NotRunning { .. } => "Start it first.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preview_has_a_host_of_its_own() {
        let preview = Preview::requested(Timestamp::from_milliseconds(0)).started(&PreviewSubject::Task(TaskId::new(4)), vec![4001, 4002]);
        assert_eq!(preview.address.as_deref(), Some("http://task-004.localhost:4001/"));
        assert_eq!(PreviewSubject::Project(ProjectId::new(1)).host(), "proj-001.localhost");
    }

    #[test]
    fn ports_replace_their_placeholders() {
        assert_eq!(with_ports("npm run dev -- --port {port} --hmr {port_2}", &[4001, 4002]), "npm run dev -- --port 4001 --hmr 4002");
        assert_eq!(with_ports("serve", &[4001]), "serve");
    }

    #[test]
    fn failure_keeps_the_end_of_a_log_and_no_port() {
        let preview = Preview { ports: vec![4001], ..Preview::requested(Timestamp::from_milliseconds(0)) };
        let failed = preview.failed(&format!("{}\nError: no module", "line\n".repeat(500)));
        assert!(
            failed
                .failure
                .as_ref()
                .is_some_and(|why| why.ends_with("Error: no module") && why.contains("line\n") && why.chars().count() == FAILURE_CHARACTERS)
        );
        assert!(!failed.is_live() && failed.ports.is_empty());
    }
}
