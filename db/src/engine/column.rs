//! Reads columns of a row as ids, times, closed vocabularies, counts and JSON. Must not know any table.

use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::error::{Error, Result};

/// Reads an id, a time or a value of a closed vocabulary.
pub(crate) fn parsed<T>(row: &SqliteRow, column: &str) -> Result<T>
where
    T: std::str::FromStr,
    Error: From<T::Err>,
{
    Ok(row.try_get::<&str, _>(column)?.parse()?)
}

/// Reads an id, a time or a value of a closed vocabulary from a column that may be NULL.
pub(crate) fn optional<T>(row: &SqliteRow, column: &str) -> Result<Option<T>>
where
    T: std::str::FromStr,
    Error: From<T::Err>,
{
    Ok(row.try_get::<Option<&str>, _>(column)?.map(str::parse).transpose()?)
}

/// Reads JSON from a column that may be NULL.
pub(crate) fn json<T: DeserializeOwned>(row: &SqliteRow, column: &str) -> Result<Option<T>> {
    row.try_get::<Option<&str>, _>(column)?.map(|text| Ok(serde_json::from_str(text)?)).transpose()
}

/// Reads a list that holds one item per line.
pub(crate) fn lines<'row>(row: &'row SqliteRow, column: &str) -> Result<impl Iterator<Item = &'row str>> {
    Ok(row.try_get::<Option<&str>, _>(column)?.into_iter().flat_map(str::lines))
}

/// Reads a count.
pub(crate) fn count(row: &SqliteRow, column: &str) -> Result<u32> {
    Ok(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default())
}
