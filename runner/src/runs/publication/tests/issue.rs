//! Issues become tasks, with a stand-in for `gh` that answers with one.

use domain::runs::publication::issue::IssueImport;

use super::*;
use crate::runs::publication::issue::import_issue;

async fn import(published: &Published, issue: &str) -> db::Result<domain::board::task::Task> {
    let import = IssueImport { issue: issue.to_owned(), start: true };
    import_issue(&published.board.db, &published.tools, &Caller::owner(), &published.board.project().await.id, import).await
}

async fn refused(published: &Published, issue: &str) -> String {
    match import(published, issue).await {
        Err(db::Error::Refused(refusal)) => format!("{}: {refusal}", refusal.code()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn issue_becomes_a_task_that_the_pull_request_closes() {
    let mut published = Published::new().await;
    let answer = published.board.sample.beside("issue");
    let issue = format!(
        r#"{{"url": "{ADDRESS}/issues/7", "title": "The menu is empty", "body": "It is.", "author": {{"login": "eve"}}, "labels": [{{"name": "bug"}}]}}"#
    );
    fs::write(&answer, issue).unwrap();
    let kept = published.board.sample.beside("text");
    let lines = format!(
        "echo \"$@\" >> {0}\ncase \"$1 $2\" in\n'issue view') cat {1} ;;\n'pr list') ;;\n*) while [ \"$1\" != --body-file ]; do shift; done; cp \"$2\" {2}; \
         echo {ADDRESS}/pull/7 ;;\nesac",
        published.calls.display(),
        answer.display(),
        kept.display()
    );
    published.tools.gh = Some(script(&published.board, "gh-with-issues", &lines));
    let task = import(&published, "#7").await.unwrap();
    assert_eq!(task.card.title, "The menu is empty");
    assert!(task.description.unwrap().starts_with(&format!("Issue: {ADDRESS}/issues/7\nLabels: bug\n\nSomeone outside")));
    assert_eq!(published.calls(), "issue view 7 --repo github.example/ann/site --json url,title,body,author,labels\n");
    assert_eq!(
        refused(&published, &format!("{ADDRESS}/issues/7")).await,
        format!("issue-imported: {ADDRESS}/issues/7 was already imported as {}", task.card.id)
    );

    published.board.work(&task.card.id, &[("a", "x")]).await;
    published.board.approve(&task.card.id).await;
    merge(&published.board.context(), &task.card.id).await.unwrap();
    published.publish(true).await.unwrap();
    assert!(fs::read_to_string(kept).unwrap().contains("\nCloses #7\n"));
}

#[tokio::test]
async fn unreadable_issue_says_what_to_do() {
    let mut published = Published::new().await;
    assert_eq!(refused(&published, "--web").await, "not-an-issue: “--web” is neither the number nor the address of an issue");
    published.tools.gh = Some(script(&published.board, "gh-signed-out", "echo 'To get started, run: gh auth login' >&2; exit 4"));
    assert_eq!(refused(&published, "7").await, "issue-not-read: the issue was not read: To get started, run: gh auth login");
    published.tools.gh = None;
    assert_eq!(refused(&published, "7").await, "issue-program-missing: gh is not installed, so the issue cannot be read");
    published.board.sample.configure("remote.origin.url", "/srv/site.git");
    assert!(refused(&published, "7").await.starts_with("issue-without-host: "));
}
