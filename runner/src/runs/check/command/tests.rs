//! Which folders of ended commands stay.

use super::*;

#[test]
fn newest_folders_stay() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..MAX_KEPT + 5 {
        let path = folder.path().join(format!("full-{number}"));
        fs::create_dir(&path).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64);
        fs::File::open(&path).unwrap().set_modified(time).unwrap();
    }
    remove_oldest(folder.path());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_KEPT);
    assert!(!folder.path().join("full-4").exists() && folder.path().join("full-5").exists());
}
