//! Tasks that are left from a session that ended.

pub(crate) mod row;
pub(crate) mod write;
