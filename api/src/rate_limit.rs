//! Counts requests against the limits of their caller. Must not know a route.

use axum::Extension;
use axum::body::HttpBody;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use db::{Act, Caller};
use domain::rate_limit::Cost;

use crate::error::{Error, Result};
use crate::state::AppState;

/// Counts a request by its method and the announced size of its body.
///
/// # Errors
/// When the caller has to wait.
pub(crate) fn count_request(state: &AppState, caller: &Caller, act: &Act, request: &Request) -> Result<()> {
    let writes = u32::from(!request.method().is_safe());
    // A body without an announced size is at most as large as the limit of all.
    let bytes = request.body().size_hint().exact().unwrap_or_default();
    let cost = Cost { writes, searches: 0, bytes: u32::try_from(bytes).unwrap_or(u32::MAX) };
    Ok(state.db.spend(caller, act, cost)?)
}

/// Counts the request of a handler as a search.
pub(crate) struct CountedSearch;

impl FromRequestParts<AppState> for CountedSearch {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Error> {
        if let (Some(Extension(caller)), Some(Extension(act))) = (extension::<Caller>(parts), extension::<Act>(parts)) {
            state.db.spend(&caller, &act, Cost { searches: 1, ..Cost::default() })?;
        }
        Ok(Self)
    }
}

fn extension<T: Clone + Send + Sync + 'static>(parts: &Parts) -> Option<Extension<T>> {
    parts.extensions.get::<T>().cloned().map(Extension)
}
