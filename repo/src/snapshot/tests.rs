//! Reading a checkout follows no link out of it and waits for no pipe.

use std::fs;
use std::os::unix::fs::symlink;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::{MAX_FILE_BYTES, read_beneath};

#[test]
fn replaced_folder_leads_to_no_file_outside() {
    let top = tempfile::tempdir().unwrap();
    let (root, secret) = (top.path().join("checkout"), top.path().join("secret"));
    fs::create_dir_all(root.join("src")).unwrap();
    fs::create_dir_all(&secret).unwrap();
    fs::write(secret.join("key"), "secret").unwrap();
    fs::write(root.join("src/key"), "mine").unwrap();
    assert_eq!(read_beneath(&root, "src/key".as_ref(), MAX_FILE_BYTES).unwrap(), (b"mine".to_vec(), 0o100_644));
    fs::remove_dir_all(root.join("src")).unwrap();
    symlink(&secret, root.join("src")).unwrap();
    assert!(read_beneath(&root, "src/key".as_ref(), MAX_FILE_BYTES).is_err(), "the folder is a link now");
    assert_eq!(read_beneath(&root, "src".as_ref(), MAX_FILE_BYTES).unwrap(), (secret.to_string_lossy().into_owned().into_bytes(), 0o120_000));
    assert!(read_beneath(&root, "../secret/key".as_ref(), MAX_FILE_BYTES).is_err());
    mkfifo(&root.join("pipe"), Mode::S_IRWXU).unwrap();
    assert!(read_beneath(&root, "pipe".as_ref(), MAX_FILE_BYTES).is_err(), "a pipe without a writer");
}
