//! How a person wants a task retried. Must not know how a session or a worktree is kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::evidence::Sha;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// Which session the next agent works in.
    RetrySession, "session" {
        /// The last one of its kind.
        Continue = "continue",
        /// A new one, which knows only what the board says.
        Fresh = "fresh",
    }
}

vocabulary! {
    /// Which files the next agent works on.
    RetryTree, "tree" {
        /// The worktree as it is.
        Current = "current",
        /// A new worktree from the project branch. A rescue ref keeps the content of the old one.
        Base = "base",
    }
}

/// `POST /api/tasks/{id}/retry`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryOptions {
    /// The default is continue.
    #[serde(default)]
    pub session: Option<RetrySession>,
    /// The default is current.
    #[serde(default)]
    pub tree: Option<RetryTree>,
    /// A checkpoint of one of the task's runs, instead of `tree`: the next agent works on its files, by default in a fresh session. A rescue
    /// ref keeps the content of the worktree.
    #[serde(default)]
    pub checkpoint: Option<Sha>,
    /// Another model for this and later runs; empty for the configured one.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub model: Option<String>,
    /// A comment that the next agent reads.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub note: Option<String>,
}

impl RetryOptions {
    /// Whether the next run works in a new worktree.
    pub fn replaces_tree(&self) -> bool {
        self.tree == Some(RetryTree::Base) || self.checkpoint.is_some()
    }

    /// Whether the next run begins a new session. An agent that remembers later files would be misled by those of a checkpoint.
    pub fn begins_session(&self) -> bool {
        self.session.map_or(self.checkpoint.is_some(), |session| session == RetrySession::Fresh)
    }

    /// Whether the next run differs from a plain retry, so that it cannot be a live one.
    pub fn changes_run(&self) -> bool {
        self.begins_session() || self.replaces_tree()
    }
}
