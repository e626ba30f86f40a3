//! Leads and their reach. Leads are agents, which `team/agent` stores.

pub(crate) mod row;
