//! Reads sums of usage. Must not change anything.

use domain::runs::usage::UsageSums;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::error::Result;

/// The usage of all projects on one day.
pub(crate) const SPENT_ON_DAY: &str = "SELECT CAST(COALESCE(SUM(turns), 0) AS BIGINT) AS turns,
    CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT) AS input_tokens, CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) AS output_tokens,
    CAST(COALESCE(SUM(cost_micro_usd), 0) AS BIGINT) AS cost_micro_usd
  FROM usage_by_day WHERE day = $1";

pub(crate) fn sums_of(row: &SqliteRow) -> Result<UsageSums> {
    Ok(UsageSums {
        turns: row.try_get("turns")?,
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
    })
}
