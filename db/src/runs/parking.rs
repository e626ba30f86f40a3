//! Parking: stored suspensions of agent starts, which survive a restart.

pub(crate) mod write;

use domain::runs::parking::{ParkReason, Parking, ParkingEvent};
use domain::time::Timestamp;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::caller::Caller;
use crate::engine::column::{count, parsed};
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

impl Db {
    /// Parks every agent until `until` because a check found that no agent can start, or changes the time of an existing parking.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn park_after_check(&self, reason: ParkReason, detail: String, until: Timestamp) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let (since, failed_probes) = parking(tx, reason).await?.map_or((tx.now, 0), |known| (known.since, known.failed_probes));
                store(tx, Parking { reason, since, until, detail, failed_probes }).await
            })
        })
        .await
    }

    /// Parks every agent because a run ended for `reason`: until `limited_until`, or else for a time that grows with every run in a row. While
    /// the parking lasts, further failures only prolong a limit, because their runs began before it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn park_after_run(&self, reason: ParkReason, detail: String, limited_until: Option<Timestamp>) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let known = parking(tx, reason).await?;
                if let Some(known) = known.as_ref().filter(|known| known.needs_probe() && !known.has_expired(tx.now)) {
                    let until = limited_until.map_or(known.until, |limited_until| limited_until.max(known.until));
                    return store(tx, Parking { until, ..known.clone() }).await;
                }
                let since = known.as_ref().map_or(tx.now, |known| known.since);
                let failed_probes = known.map_or(0, |known| known.failed_probes).saturating_add(1);
                let until = limited_until.unwrap_or_else(|| tx.now.after(reason.pause(failed_probes)));
                store(tx, Parking { reason, since, until, detail, failed_probes }).await
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
                if !write::resume(tx, &Caller::Runner, reason).await? {
                    tx.skip_event(NoEventReason::NothingChanged);
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

async fn parking(tx: &mut Tx, reason: ParkReason) -> Result<Option<Parking>> {
    let row = sqlx::query("SELECT * FROM parkings WHERE reason = $1").bind(reason.as_str()).fetch_optional(&mut tx.connection).await?;
    row.as_ref().map(parking_of).transpose()
}

async fn store(tx: &mut Tx, parking: Parking) -> Result<()> {
    let changed = sqlx::query(
        "INSERT INTO parkings (reason, since, until, detail, failed_probes) VALUES ($1, $5, $2, $3, $4)
         ON CONFLICT (reason) DO UPDATE SET until = excluded.until, detail = excluded.detail, failed_probes = excluded.failed_probes
         WHERE until <> excluded.until OR detail <> excluded.detail OR failed_probes <> excluded.failed_probes",
    )
    .bind(parking.reason.as_str())
    .bind(parking.until.to_string())
    .bind(&parking.detail)
    .bind(i64::from(parking.failed_probes))
    .bind(parking.since.to_string())
    .execute(&mut tx.connection)
    .await?;
    if changed.rows_affected() == 0 {
        tx.skip_event(NoEventReason::NothingChanged);
    } else {
        tx.record(&Caller::Runner, ParkingEvent::Parked { parking });
    }
    Ok(())
}

fn parking_of(row: &SqliteRow) -> Result<Parking> {
    Ok(Parking {
        reason: parsed(row, "reason")?,
        since: parsed(row, "since")?,
        until: parsed(row, "until")?,
        detail: row.try_get("detail")?,
        failed_probes: count(row, "failed_probes")?,
    })
}
