//! Parking: stored suspensions of agent starts, which survive a restart.

use domain::runs::backoff::backoff;
use domain::runs::parking::{ParkReason, Parking, ParkingEvent};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::caller::Caller;
use crate::engine::column::{count, parsed};
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

impl Db {
    /// Parks every agent until `until`, or changes the time of an existing parking with this reason.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn park(&self, parking: Parking) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let changed = sqlx::query(
                    "INSERT INTO parkings (reason, until, detail) VALUES ($1, $2, $3)
                     ON CONFLICT (reason) DO UPDATE SET until = excluded.until, detail = excluded.detail
                     WHERE until <> excluded.until OR detail <> excluded.detail",
                )
                .bind(parking.reason.as_str())
                .bind(parking.until.to_string())
                .bind(&parking.detail)
                .execute(&mut tx.connection)
                .await?;
                if changed.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                } else {
                    tx.record(&Caller::Runner, ParkingEvent::Parked { parking });
                }
                Ok(())
            })
        })
        .await
    }

    /// Parks every agent for a reason that only a probe can show to be over: for 10 seconds at first, longer after every failed probe, at
    /// most 5 minutes. While it lasts, further failures change nothing, because their runs began before it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn park_with_backoff(&self, reason: ParkReason, detail: String) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let known = sqlx::query("SELECT * FROM parkings WHERE reason = $1").bind(reason.as_str()).fetch_optional(&mut tx.connection).await?;
                let mut failed_probes = 1;
                if let Some(row) = known {
                    if !parking_of(&row)?.has_expired(tx.now) {
                        tx.skip_event(NoEventReason::NothingChanged);
                        return Ok(());
                    }
                    failed_probes = count(&row, "failed_probes")?.saturating_add(1);
                }
                let parking = Parking { reason, until: tx.now.after(backoff(failed_probes, 0)), detail };
                sqlx::query(
                    "INSERT INTO parkings (reason, until, detail, failed_probes) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (reason) DO UPDATE SET until = excluded.until, detail = excluded.detail, failed_probes = excluded.failed_probes",
                )
                .bind(reason.as_str())
                .bind(parking.until.to_string())
                .bind(&parking.detail)
                .bind(i64::from(failed_probes))
                .execute(&mut tx.connection)
                .await?;
                tx.record(&Caller::Runner, ParkingEvent::Parked { parking });
                Ok(())
            })
        })
        .await
    }

    /// Ends the parking with this reason.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn resume(&self, reason: ParkReason) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let deleted = sqlx::query("DELETE FROM parkings WHERE reason = $1").bind(reason.as_str()).execute(&mut tx.connection).await?;
                if deleted.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                } else {
                    tx.record(&Caller::Runner, ParkingEvent::Resumed { reason });
                }
                Ok(())
            })
        })
        .await
    }

    /// Lists the current parkings.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn parkings(&self) -> Result<Vec<Parking>> {
        let rows = sqlx::query("SELECT * FROM parkings ORDER BY reason").fetch_all(&self.readers).await?;
        rows.iter().map(parking_of).collect()
    }
}

fn parking_of(row: &SqliteRow) -> Result<Parking> {
    Ok(Parking { reason: parsed(row, "reason")?, until: parsed(row, "until")?, detail: row.try_get("detail")? })
}
