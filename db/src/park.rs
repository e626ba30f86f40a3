//! Parking: reasons that keep every agent from being started, stored so that a restart does not forget them.

use domain::event::Event;
use domain::park::{ParkReason, Parking};
use domain::time::Timestamp;
use sqlx::Row;

use crate::caller::Caller;
use crate::error::Result;
use crate::open::Db;
use crate::task::read::parsed;
use crate::tx::Quiet;

impl Db {
    /// Parks every agent until `until`, or moves the time when they are parked for this reason already.
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
                    tx.quiet(Quiet::NothingChanged);
                } else {
                    tx.record(&Caller::Runner, Event::AgentsParked { parking });
                }
                Ok(())
            })
        })
        .await
    }

    /// Lets agents start again as far as this reason goes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn resume(&self, reason: ParkReason) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let gone = sqlx::query("DELETE FROM parkings WHERE reason = $1").bind(reason.as_str()).execute(&mut tx.connection).await?;
                if gone.rows_affected() == 0 {
                    tx.quiet(Quiet::NothingChanged);
                } else {
                    tx.record(&Caller::Runner, Event::AgentsResumed { reason });
                }
                Ok(())
            })
        })
        .await
    }

    /// Why agents are parked now.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn parkings(&self) -> Result<Vec<Parking>> {
        let rows = sqlx::query("SELECT * FROM parkings ORDER BY reason").fetch_all(&self.readers).await?;
        rows.iter()
            .map(|row| Ok(Parking { reason: parsed(row, "reason")?, until: parsed::<Timestamp>(row, "until")?, detail: row.try_get("detail")? }))
            .collect()
    }
}
