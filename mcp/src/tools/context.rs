//! The tools of shared context: sessions, their messages, and memory.
//!
//! It must not know the tools of other areas.

mod memory;
mod session;

use db::Caller;
use serde_json::Value;

use super::definition::ToolDefinition;
use crate::call::Call;
use crate::reply::Answer;

pub(super) const TOOLS: &[&[ToolDefinition]] = &[memory::TOOLS, session::TOOLS, session::message::TOOLS, session::search::TOOLS];

impl Call {
    /// Answers a managed agent in few words, and others with the JSON that clients of shared-context-server know.
    fn shared_context(&self, brief: impl FnOnce() -> String, data: Value) -> Answer {
        match self.caller {
            Caller::Run(_) => Answer::new(brief(), data),
            Caller::Person(_) | Caller::Runner | Caller::Agent(_) | Caller::Invite(_) => Answer::new(data.to_string(), data),
        }
    }
}
