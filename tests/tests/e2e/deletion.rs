//! A project is deleted in a real browser while a coder has a checkout.

use std::path::Path;

use domain::id::ProjectId;
use domain::wire::TaskView;
use tests::browser::Browser;
use tests::server::TestServer;

/// A project is deleted while a coder waits for an answer: not by a wrong title, and then with the checkout of its task.
pub(crate) async fn delete_with_a_checkout(browser: &Browser, server: &TestServer, project: &ProjectId) {
    browser.press("Close").await;
    browser.keys("n").await;
    browser.fill("#task-title", "Choose the colour").await;
    browser.press("Add and start").await;
    browser.has("[data-task=TASK-002][data-state=question]").await;
    let worktree = server.get::<TaskView>("/api/tasks/TASK-002").await.unwrap().task.worktree_path.unwrap();
    let folder = Path::new(&worktree).parent().unwrap().to_owned();
    assert!(folder.ends_with(project.as_str()) && Path::new(&worktree).exists());
    browser.press("More about the project").await;
    browser.press("Delete…permanently").await;
    browser.fill("#delete-title", "letter").await;
    browser.has("dialog [type=submit]:disabled").await;
    browser.fill("#delete-title", "Letters").await;
    browser.press("Delete").await;
    browser.shows("h2", "Create your first project").await;
    browser.until("no project is left", "!document.querySelector('nav.side')?.innerText.includes('Letters')").await;
    assert!(!folder.exists(), "{}", folder.display());
    browser.run("history.back()").await;
    browser.shows(".empty", "This project does not exist").await;
}
