//! Which configuration file a command uses, as a person meets it in the folders of a repository.

use std::path::Path;

use serde_json::{Value, json};
use tests::git::git;
use tokio::process::Command;

use crate::support::PROGRAM;

/// The data that a command in `folder` prints.
async fn data(folder: &Path, home: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    #[expect(clippy::disallowed_methods, reason = "a test starts the product as a person does")]
    let mut command = Command::new(PROGRAM);
    command.arg("--json").args(arguments).current_dir(folder).env_clear().env("HOME", home).envs(variables.iter().copied());
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The port in the configuration that a command in `folder` uses.
async fn port(folder: &Path, home: &Path, variables: &[(&str, &str)]) -> Value {
    data(folder, home, &["config", "check"], variables).await["port"].take()
}

#[tokio::test]
async fn nearest_file_up_to_the_root_of_the_repository_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let (home, outside) = (folder.path().join("home"), folder.path().join("outside"));
    let root = outside.join("repo");
    let [inner, deep] = ["inner", "inner/deep"].map(|path| root.join(path));
    for folder in [&deep, &home.join(".config/vibe-relay")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    git(&root, &["init", "--quiet"]).unwrap();
    let write = |folder: &Path, port: u16| std::fs::write(folder.join("vibe-relay.config.json"), format!(r#"{{"port": {port}}}"#)).unwrap();
    write(&home.join(".config/vibe-relay"), 9401);
    write(&outside, 9402);
    assert_eq!(port(&deep, &home, &[]).await, 9401, "a file above the repository is not of it");
    write(&root, 9403);
    assert_eq!(port(&deep, &home, &[]).await, 9403);
    assert_eq!(port(&deep, &home, &[("VIBE_RELAY_RUN_ID", "RUN-001")]).await, 9401, "an agent gets the same file everywhere in its worktree");
    write(&inner, 9404);
    assert_eq!((port(&deep, &home, &[]).await, port(&root, &home, &[]).await), (9404.into(), 9403.into()), "the nearest one");

    let file = root.join("vibe-relay.config.json");
    for is_written in [false, true] {
        assert_eq!(data(&root, &home, &["init"], &[]).await, json!([{ "path": file, "written": is_written }]));
        if !is_written {
            std::fs::remove_file(&file).unwrap();
        }
    }
    let config = data(&root, &home, &["config", "check"], &[]).await;
    assert_eq!(config["repo_path"], root.join(".").display().to_string());
}
