//! The machinery of the store: opening the file, the single writer, transactions, the event log. Must not know any noun of the product.

pub(crate) mod act;
pub(crate) mod audit;
pub(crate) mod backup;
pub(crate) mod caller_cache;
pub(crate) mod checkpoint;
pub(crate) mod column;
pub(crate) mod dialect;
pub(crate) mod event_log;
pub(crate) mod feed;
pub(crate) mod hooks;
pub(crate) mod idempotent;
pub(crate) mod inspect;
pub(crate) mod lanes;
pub(crate) mod lock;
pub(crate) mod migrations;
pub(crate) mod open;
pub(crate) mod presence;
pub(crate) mod rate_limit;
pub(crate) mod restore;
pub(crate) mod tx;
pub(crate) mod vocabulary;
pub(crate) mod writer;
