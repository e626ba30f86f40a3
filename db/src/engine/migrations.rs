//! The migrations of this version, in the order in which they run. Must not know who opens the database.
//!
//! The list is written by hand: the macro of sqlx that reads the folder would compile SQLite a second time, for the compiler.

use std::sync::LazyLock;

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// The files of `migrations/`, with their number and name.
const FILES: [(i64, &str, &str); 1] = [(1, "schema", include_str!("../../migrations/0001_schema.sql"))];

pub(crate) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let migration = |(version, name, sql): (i64, &'static str, &'static str)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(FILES.map(migration).into())
});

#[cfg(test)]
mod tests {
    use std::fs;

    use super::FILES;

    #[test]
    fn every_file_of_the_folder_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let mut files: Vec<String> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, FILES.map(|(version, name, _)| format!("{version:04}_{name}.sql")));
        for ((_, _, sql), file) in FILES.iter().zip(&files) {
            assert_eq!(*sql, fs::read_to_string(format!("{folder}/{file}")).unwrap());
        }
    }
}
