//! Ends parkings. Must not decide when.

use domain::runs::parking::{ParkReason, ParkingEvent};

use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Ends the parking with this reason. Returns whether there was one.
pub(crate) async fn resume(tx: &mut Tx, caller: &Caller, reason: ParkReason) -> Result<bool> {
    let deleted = sqlx::query("DELETE FROM parkings WHERE reason = $1").bind(reason.as_str()).execute(&mut tx.connection).await?;
    let existed = deleted.rows_affected() > 0;
    if existed {
        tx.record(caller, ParkingEvent::Resumed { reason });
    }
    Ok(existed)
}
