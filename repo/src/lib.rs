//! repo.
