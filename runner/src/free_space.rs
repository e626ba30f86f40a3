//! Whether the disks of the checkouts and of the database have enough space to start another agent.
//!
//! It must not free any space.

use std::path::Path;

use domain::config::Config;
use repo::DiskSpace;

use crate::blocking::off_thread;

const MIB: u64 = 1024 * 1024;
/// The default minimum: so much, or this part of a small disk.
const DEFAULT_MINIMUM: u64 = 2048 * MIB;
const DEFAULT_PERCENT: u64 = 5;

/// Describes the first disk with too little free space; `None` if agents can start. A disk that cannot be examined stops no agent.
pub async fn shortage(config: &Config) -> Option<String> {
    let minimum = config.min_free_disk_mib;
    let folders = [Some(config.worktrees_path.clone()), config.db_path.parent().map(Path::to_owned)];
    let found = off_thread(move || folders.into_iter().flatten().find_map(|folder| describe(&folder, DiskSpace::of(&folder)?, minimum)));
    found.await.ok().flatten()
}

fn describe(folder: &Path, space: DiskSpace, minimum_mib: Option<u64>) -> Option<String> {
    let minimum = minimum_mib.map_or_else(|| DEFAULT_MINIMUM.min(space.total / 100 * DEFAULT_PERCENT), |mib| mib.saturating_mul(MIB));
    let gib = |bytes: u64| bytes as f64 / (1024 * MIB) as f64;
    (space.free < minimum).then(|| {
        format!(
            "{:.1} GiB of {:.1} GiB are free on the disk of {}; agents start from {:.1} GiB, see \"min_free_disk_mib\".",
            gib(space.free),
            gib(space.total),
            folder.display(),
            gib(minimum)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1024 * MIB;

    fn says(free: u64, total: u64, minimum_mib: Option<u64>) -> Option<String> {
        describe(Path::new("/work"), DiskSpace { free, total }, minimum_mib)
    }

    #[test]
    fn default_minimum_is_the_smaller_of_an_amount_and_a_part() {
        assert_eq!(says(2 * GIB, 500 * GIB, None), None);
        insta::assert_snapshot!(
            says(GIB, 500 * GIB, None).unwrap(),
            @r#"1.0 GiB of 500.0 GiB are free on the disk of /work; agents start from 2.0 GiB, see "min_free_disk_mib"."#
        );
        assert_eq!(says(GIB, 20 * GIB, None), None, "5 % of a small disk are enough");
        assert!(says(GIB / 2, 20 * GIB, None).is_some());
    }

    #[test]
    fn configured_minimum_replaces_both() {
        assert!(says(GIB, 2 * GIB, Some(1025)).is_some());
        assert_eq!(says(1, GIB, Some(0)), None, "zero stands for no minimum");
    }

    #[tokio::test]
    async fn disk_of_a_missing_folder_is_that_of_its_nearest_ancestor() {
        let folder = tempfile::tempdir().unwrap();
        let base = Config { worktrees_path: folder.path().join("not/yet/created"), db_path: folder.path().join("board.db"), ..Config::default() };
        assert_eq!(shortage(&Config { min_free_disk_mib: Some(0), ..base.clone() }).await, None);
        let found = shortage(&Config { min_free_disk_mib: Some(u64::MAX), ..base }).await.unwrap();
        assert!(found.contains("not/yet/created"), "{found}");
    }
}
