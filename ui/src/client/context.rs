//! Requests about context sessions and the memory of agents.

use domain::context::memory::{MemoryEntry, MemoryPatch, MemorySummary, OwnedMemory};
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSession, ContextSessionId, NewContextSession, NewSessionMessage, SessionMessage};
use domain::id::{ProjectId, TaskId};
use domain::wire::{ContextUse, FoundMessage, List, SessionThread};
use gloo_net::http::{Method, Request};
use serde::de::IgnoredAny;

use super::{Client, Empty, Failure, project_path, task_path};

/// A part of the thread of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadPart {
    Newest,
    /// The last messages before this one.
    Before(i64),
    /// The first messages after this one.
    After(i64),
    /// The newest messages of this visibility. Those of others are among them for the owner of the board, and the event log says so.
    Hidden(Visibility),
}

impl Client {
    pub(crate) async fn uses_context(self, project: ProjectId) -> Result<bool, Failure> {
        let known: ContextUse = self.get(&project_path(&project, "/context")).await?;
        Ok(known.messages || known.memory)
    }

    pub(crate) async fn context_sessions(self, project: ProjectId, after: i64) -> Result<List<ContextSession>, Failure> {
        self.get(&project_path(&project, &format!("/context-sessions?closed=true&after={after}"))).await
    }

    pub(crate) async fn context_session(self, session: ContextSessionId) -> Result<ContextSession, Failure> {
        self.get(&format!("/api/context-sessions/{session}")).await
    }

    /// The session in which a task takes part.
    pub(crate) async fn context_session_of(self, task: TaskId) -> Result<ContextSession, Failure> {
        self.get(&task_path(&task, "/context-session")).await
    }

    pub(crate) async fn create_context_session(self, project: ProjectId, new: NewContextSession) -> Result<ContextSession, Failure> {
        self.send(Method::POST, &project_path(&project, "/context-sessions"), &new).await
    }

    pub(crate) async fn close_context_session(self, session: ContextSessionId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &format!("/api/context-sessions/{session}/close"), &Empty {}).await
    }

    pub(crate) async fn session_thread(self, session: ContextSessionId, part: ThreadPart) -> Result<SessionThread, Failure> {
        let query = match part {
            ThreadPart::Newest => String::new(),
            ThreadPart::Before(id) => format!("?before={id}"),
            ThreadPart::After(id) => format!("?after={id}"),
            ThreadPart::Hidden(visibility) => format!("?limit=200&visibility={visibility}"),
        };
        self.get(&format!("/api/context-sessions/{session}/messages{query}")).await
    }

    pub(crate) async fn add_session_message(self, session: ContextSessionId, new: NewSessionMessage) -> Result<SessionMessage, Failure> {
        self.send(Method::POST, &format!("/api/context-sessions/{session}/messages"), &new).await
    }

    /// Messages of a session with these words, the best match first.
    pub(crate) async fn search_session(self, session: ContextSessionId, words: &str) -> Result<List<FoundMessage>, Failure> {
        self.finish(Request::get(&format!("/api/context-sessions/{session}/search")).query([("q", words)])).await
    }

    /// The newest entries, or those before the entry `before`.
    pub(crate) async fn memory(self, project: ProjectId, before: Option<i64>) -> Result<List<OwnedMemory<MemorySummary>>, Failure> {
        let query = before.map(|before| format!("?before={before}")).unwrap_or_default();
        self.get(&project_path(&project, &format!("/memory{query}"))).await
    }

    pub(crate) async fn memory_entry(self, id: i64) -> Result<OwnedMemory<MemoryEntry>, Failure> {
        self.get(&format!("/api/memory/{id}")).await
    }

    pub(crate) async fn edit_memory(self, id: i64, patch: MemoryPatch) -> Result<IgnoredAny, Failure> {
        self.send(Method::PATCH, &format!("/api/memory/{id}"), &patch).await
    }

    pub(crate) async fn delete_memory(self, id: i64) -> Result<IgnoredAny, Failure> {
        self.send(Method::DELETE, &format!("/api/memory/{id}"), &Empty {}).await
    }
}
