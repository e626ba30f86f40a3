//! The machinery of the store: opening the file, the single writer, transactions, the event log. It knows no noun of the product.

pub(crate) mod checkpoint;
pub(crate) mod dialect;
pub(crate) mod event_log;
pub(crate) mod idempotent;
pub(crate) mod lock;
pub(crate) mod open;
pub(crate) mod tx;
pub(crate) mod writer;
