//! Folders of ended runs on a real disk: age, total size, and what always stays.

use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;

use super::*;
use crate::fixture::TestBoard;

const ALL: FolderLimits = FolderLimits { keep: Duration::ZERO, max_total_bytes: 0 };
const NONE: FolderLimits = FolderLimits { keep: Duration::from_secs(3600), max_total_bytes: u64::MAX };

/// Lets `count` runs of a task end, each with 1000 bytes in its folder. Returns the folders in order.
async fn ended_runs(board: &TestBoard, count: usize) -> Vec<PathBuf> {
    let task = board.task("Add a").await;
    let mut folders = Vec::new();
    for _ in 0..count {
        folders.push(ended_run(board, &task).await);
    }
    folders
}

async fn ended_run(board: &TestBoard, task: &TaskId) -> PathBuf {
    let (_, reserved, _) = board.agent(task, AgentKind::Coder).await;
    fs::create_dir_all(&reserved.run_dir).unwrap();
    fs::write(reserved.run_dir.join("stdout"), "x".repeat(1000)).unwrap();
    fs::write(reserved.run_dir.join("lock"), "").unwrap();
    board.end(&reserved).await;
    assert_eq!(board.read(task).await.card.status, Status::InProgress);
    reserved.run_dir
}

fn existing(folders: &[PathBuf]) -> Vec<bool> {
    folders.iter().map(|folder| folder.exists()).collect()
}

#[tokio::test]
async fn old_folders_go_except_the_newest_of_their_task() {
    let board = TestBoard::new().await;
    let folders = ended_runs(&board, 5).await;
    assert_eq!(remove_folders(&board.context(), NONE).await.unwrap(), RemovedFolders::default());
    assert_eq!(existing(&folders), [true; 5]);
    let removed = remove_folders(&board.context(), ALL).await.unwrap();
    assert_eq!((removed.runs.len(), removed.bytes), (2, 2000));
    assert_eq!(existing(&folders), [false, false, true, true, true]);
    assert_eq!(remove_folders(&board.context(), ALL).await.unwrap(), RemovedFolders::default(), "they are recorded as removed");
}

#[tokio::test]
async fn young_folders_go_oldest_first_until_the_total_size_fits() {
    let board = TestBoard::new().await;
    let folders = ended_runs(&board, 6).await;
    let limits = FolderLimits { max_total_bytes: 5000, ..NONE };
    assert_eq!(remove_folders(&board.context(), limits).await.unwrap().runs.len(), 1);
    assert_eq!(existing(&folders), [false, true, true, true, true, true]);
}

#[tokio::test]
async fn a_folder_in_use_stays_and_a_missing_one_counts_as_removed() {
    let board = TestBoard::new().await;
    let folders = ended_runs(&board, 5).await;
    fs::remove_dir_all(&folders[0]).unwrap();
    let run_dir = RunDir::open(&folders[1]).unwrap();
    let lock = run_dir.lock().unwrap();
    assert_eq!(remove_folders(&board.context(), ALL).await.unwrap().runs.len(), 1);
    assert!(folders[1].exists());
    drop(lock);
    assert_eq!(remove_folders(&board.context(), ALL).await.unwrap().runs.len(), 1);
    assert!(!folders[1].exists());
}

#[test]
fn files_outside_the_root_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    assert!(remove_folder(&folder.path().join("runs"), &elsewhere).is_err());
    assert!(elsewhere.exists());
}

#[tokio::test]
async fn checkout_left_behind_is_removed_later() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    let (site, reserved, _) = board.agent(&task, AgentKind::Reviewer).await;
    // Something else now lies where its checkout was.
    let aside = site.path.with_extension("aside");
    fs::rename(&site.path, &aside).unwrap();
    fs::create_dir(&site.path).unwrap();
    fs::write(site.path.join(".git"), "gitdir: /elsewhere").unwrap();
    let admin = board.sample.git_dir().join("worktrees").join(checkout::checkout_name(&site.path));
    let link = fs::read_to_string(admin.join("gitdir")).unwrap();
    fs::write(admin.join("gitdir"), "/elsewhere/.git\n").unwrap();
    let error = checkout::remove_temporary(&board.project, &reserved.run).await.unwrap_err().to_string();
    board.db.set_checkout_left(&reserved.run.id, Some(error.clone())).await.unwrap();
    board.end(&reserved).await;

    remove_checkouts(&board.context()).await.unwrap();
    assert_eq!(board.db.run(&reserved.run.id).await.unwrap().checkout_left, Some(error), "it is still there, and the attempt says why");
    assert!(site.path.exists());
    fs::write(admin.join("gitdir"), link).unwrap();
    remove_checkouts(&board.context()).await.unwrap();
    assert_eq!(board.db.run(&reserved.run.id).await.unwrap().checkout_left, None);
    assert!(!site.path.exists() && !admin.exists() && aside.exists());
    assert_eq!(board.db.left_checkouts().await.unwrap(), []);
}

#[tokio::test]
async fn checkout_of_a_later_run_in_the_same_folder_is_kept() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    let (site, earlier, _) = board.agent(&task, AgentKind::Reviewer).await;
    board.db.set_checkout_left(&earlier.run.id, Some("busy".to_owned())).await.unwrap();
    board.end(&earlier).await;
    checkout::remove_temporary(&board.project, &earlier.run).await.unwrap();
    let (later, ..) = board.agent(&task, AgentKind::Reviewer).await;
    assert_eq!(later.path, site.path);

    remove_checkouts(&board.context()).await.unwrap();
    assert!(later.path.join("a").exists());
    assert_eq!(board.db.left_checkouts().await.unwrap(), []);
}

#[tokio::test]
async fn deleted_project_leaves_no_folder_of_checkouts() {
    let board = TestBoard::new().await;
    let (task, project) = (board.task("Add a").await, board.project.id.clone());
    let (checkout, _) = board.work(&task, &[("a", "a")]).await;
    let folder = checkout::folder_of(&board.config.worktrees_path, &project);
    assert!(checkout.starts_with(&folder) && checkout.exists());
    fs::create_dir_all(folder.join(SETUP_CACHE).join("key/node_modules")).unwrap();
    let (scratch, commit) = (folder.join("checks-full"), board.tip("main").unwrap());
    board.repository().move_detached(&checkout::checkout_name(&scratch), &scratch, &commit).unwrap();
    let outputs = check::folder(&board.db).join(project.as_str());
    fs::create_dir_all(outputs.join("full-1")).unwrap();
    board.db.delete_project(&db::Caller::owner(), &project, "Board").await.unwrap();
    assert!(board.clean(&task).await.is_some(), "unmerged work is kept");
    remove_project(&board.context(), &project).await.unwrap();
    assert!(!folder.exists() && !outputs.exists() && board.config.worktrees_path.exists());
    assert_eq!(board.repository().worktree_head(&checkout::checkout_name(&scratch)).unwrap(), None);
    assert!(board.db.projects().await.unwrap().is_empty());
}

#[tokio::test]
async fn file_of_someone_else_beside_the_checkouts_stays() {
    let board = TestBoard::new().await;
    let project = board.project.id.clone();
    let note = checkout::folder_of(&board.config.worktrees_path, &project).join("note");
    fs::create_dir_all(note.parent().unwrap()).unwrap();
    fs::write(&note, "mine").unwrap();
    board.db.delete_project(&db::Caller::owner(), &project, "Board").await.unwrap();
    remove_project(&board.context(), &project).await.unwrap();
    assert!(note.exists() && board.db.projects().await.unwrap().is_empty());
}
