//! A person reviews in a real browser: reads the changes, comments on two lines, sends the work back, reads the next version and approves it.

use fantoccini::key::Key;
use tests::git::git;

use crate::browser::{assert_fits, open_board, same_page, signed_in};
use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/review.json");

#[tokio::test]
async fn person_sends_work_back_with_comments_on_lines_and_approves_the_next_version() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Greetings", None).await.unwrap().id;
    let task = add(&server, &project, "Greet people").await;
    let browser = signed_in(&server).await;
    open_board(&browser, &server, &project).await;
    browser.has("[data-status=in_review] [data-task=TASK-001]").await;
    browser.press("Greet people").await;
    browser.press("Review changes").await;

    browser.shows(".review-beside", "So far everything holds.").await;
    browser.shows(".code-lines [data-kind=keyword]", "pub").await;
    browser.shows(".code-lines [data-kind=comment]", "// Greets.").await;
    browser.has("#file-0 .file-toggle[aria-expanded=false]").await;
    browser.press("numbers.txt").await;
    browser.shows("#file-0 .code-lines", "700").await;
    browser.press("numbers.txt").await;
    browser.until("the page has loaded the image", "document.querySelector('.images img')?.naturalWidth === 1").await;
    browser.press("Split").await;
    browser.has(".code-lines.split").await;
    browser.press("Unified").await;
    browser.lacks(".code-lines.split").await;

    browser.click("[data-line='New 2 src/greet.rs']").await;
    browser.fill(".line-note textarea", "Say whom it greets.").await;
    browser.click(".line-note [type=submit]").await;
    browser.shows(".line-note", "not sent yet").await;
    // The second one with the keyboard alone.
    let on = |line: u32| format!("document.activeElement.dataset.line === 'New {line} src/greet.rs'");
    browser.until("the focus is on the line again", &on(2)).await;
    for line in 3..=6 {
        browser.keys(&Key::Down).await;
        browser.until("the next line has the focus", &on(line)).await;
    }
    browser.keys("c").await;
    browser.fill(".line-note.editing textarea", "Not needed").await;
    let url = format!("{}/projects/{project}/tasks/{task}/review", server.board_url());
    browser.goto(&url).await;
    browser.shows(".own-comments", "Say whom it greets.").await;
    browser.click("[data-line='New 6 src/greet.rs']").await;
    browser.until("the draft is back", "document.querySelector('.line-note.editing textarea')?.value === 'Not needed'").await;
    browser.keys(&format!("{}{}{}", Key::Control, Key::Enter, Key::Null)).await;
    browser.lacks(".line-note.editing").await;
    browser.resize(390, 844).await;
    browser.shows(".review-bar", "Send back with 2 comments").await;
    assert_fits(&browser, "the review").await;
    browser.resize(1280, 900).await;

    let head = |tip: &str| git(&server.repository(), &["rev-parse", tip]).unwrap();
    let branch = server.task(&task).await.unwrap().task.branch.unwrap();
    let first = head(&branch);
    browser.shows(".review-bar", &format!("Approve {}", &first[..7])).await;
    browser.press("Send back with 2 comments").await;
    browser.fill("#send-back-words", "Nearly.").await;
    browser.click("dialog [type=submit]").await;
    browser.shows(".sheet h2", "Greet people").await;

    // The coder's part of the scenario needs both comments.
    browser.has("[data-status=in_review] [data-task=TASK-001]").await;
    browser.press("Review changes").await;
    browser.shows(".code-lines", "Hello {name}").await;
    browser.shows(".review-beside", "it greets by name").await;
    browser.shows(".review-beside", &format!("Sent back {}", &first[..7])).await;
    browser.lacks(".own-comments").await;
    browser.shows(".review-size", "3 files").await;
    browser.evaluate("(() => { const range = document.querySelector('.review-range'); range.value = '1'; range.dispatchEvent(new Event('change', { bubbles: true })); })()").await;
    browser.shows(".review-size", "1 file").await;
    browser.shows(".code-lines mark", "name").await;
    let second = head(&branch);
    assert_ne!(first, second);

    // Dragging it to Done approves the commit of the prompt, not one that arrives meanwhile.
    open_board(&browser, &server, &project).await;
    let drop_on_done = async |sha: &str| {
        browser.drag_over("[data-task=TASK-001]", "[data-status=done] .cards").await;
        browser.drop_here().await;
        browser.shows("dialog [aria-label=Commits]", &format!("at {}", &sha[..7])).await;
    };
    drop_on_done(&second).await;
    let worktree = server.root().join("worktrees").join(project.to_string()).join(task.to_string());
    std::fs::write(worktree.join("late.txt"), "late").unwrap();
    git(&worktree, &["add", "late.txt"]).unwrap();
    git(&worktree, &["commit", "-m", "Add a late file"]).unwrap();
    let third = head(&branch);
    browser.press("Move to Done").await;
    browser.shows(".toast", &format!("TASK-001 is now at {}, but the review is of {}", &third[..7], &second[..7])).await;
    browser.has("[data-status=in_review] [data-task=TASK-001]").await;
    drop_on_done(&third).await;
    browser.press("Read the review").await;
    browser.shows(".review-bar", &format!("Approve {}", &third[..7])).await;
    // A newer version is offered, because the reader is in the middle of this one.
    git(&worktree, &["commit", "--allow-empty", "-m", "Add nothing"]).unwrap();
    let fourth = head(&branch);
    let _comment: serde_json::Value =
        server.post(&format!("/api/tasks/{task}/comments"), &serde_json::json!({ "content": "One more." })).await.unwrap();
    browser.shows("[aria-label='Newer version']", &format!("A newer version is available: {}", &fourth[..7])).await;
    browser.press("Show it").await;
    browser.press(&format!("Approve {}", &fourth[..7])).await;
    done(&server, &project, &task).await;
    assert!(git(&server.repository(), &["show", &format!("vibe-relay/{project}:src/greet.rs")]).unwrap().contains("Hello {name}"));
    browser.evaluate("window.marked = true").await;
    // The refused move.
    same_page(&browser, &["/api/tasks/TASK-001 "]).await;
}
