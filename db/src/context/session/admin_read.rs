//! Records that an agent read messages of others that are for readers with the admin permission.

use domain::audit::{AuditKind, DONE};
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSession, SessionMessage};

use crate::caller::Caller;
use crate::engine::act::Act;
use crate::engine::open::Db;

impl Db {
    /// Records it in the audit log if there are such messages among those that are returned.
    pub(super) fn record_admin_read<'m>(&self, caller: &Caller, session: &ContextSession, mut read: impl Iterator<Item = &'m SessionMessage>) {
        let Caller::Agent(agent) = caller else { return };
        if !read.any(|message| message.visibility == Visibility::AdminOnly && message.sender != agent.name) {
            return;
        }
        let act = Act::current().unwrap_or_else(|| Act::by_nobody("server"));
        self.record_fact(AuditKind::Read, &act, Some(caller), Some(session.id.as_str()), DONE);
    }
}
