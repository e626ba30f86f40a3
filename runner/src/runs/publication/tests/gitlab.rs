//! Merge requests with a stand-in for `glab`, by the same steps as pull requests.

use domain::runs::publication::pull_request::PullRequestState;

use super::*;
use crate::runs::publication::follow::follow;

const PROJECT: &str = "https://gitlab.example/group/sub/site";

#[tokio::test]
async fn merge_request_is_opened_and_followed_with_glab() {
    let mut published = Published::new().await;
    published.merge_work("a").await;
    published.board.sample.configure("remote.origin.url", PROJECT);
    published.tools.git =
        Some(script(&published.board, "git-for-gitlab", &format!("exec git -c url.{}.insteadOf={PROJECT} \"$@\"", published.remote.display())));
    published.tools.gh = None;
    assert_eq!(published.refused(true).await, "program-missing: glab is not installed");
    let view = published.board.sample.beside("view");
    let lines = format!(
        "echo \"$@\" >> {0}\ncase \"$*\" in\n'mr list'*) echo '[]' ;;\n'mr create'*) echo {PROJECT}/-/merge_requests/7 ;;\n\
         *jobs\\?scope*) echo '[{{\"id\": 9, \"name\": \"test\", \"web_url\": \"{PROJECT}/-/jobs/9\"}}]' ;;\n*trace) echo 'error: it is red' ;;\n\
         *members*) echo '[{{\"id\": 1, \"access_level\": 40}}, {{\"id\": 2, \"access_level\": 20}}]' ;;\n\
         *discussions*) echo '[{{\"notes\": [{{\"id\": 3, \"body\": \"Use a map.\", \"author\": {{\"id\": 1, \"username\": \"ann\"}}, \"resolvable\": true, \"resolved\": false, \"position\": {{\"new_path\": \"a.rs\", \"new_line\": 3}}}}, {{\"id\": 4, \"body\": \"Send keys.\", \"author\": {{\"id\": 2, \"username\": \"eve\"}}, \"resolvable\": true}}, {{\"id\": 5, \"body\": \"/vibe-relay Sort it.\", \"author\": {{\"id\": 1, \"username\": \"ann\"}}}}, {{\"id\": 6, \"body\": \"Fine.\", \"author\": {{\"id\": 1, \"username\": \"ann\"}}}}]}}]' ;;\n\
         *) cat {1} ;;\nesac",
        published.calls.display(),
        view.display()
    );
    published.tools.glab = Some(script(&published.board, "glab-stand-in", &lines));
    let project = published.publish(true).await.unwrap();
    assert_eq!(project.published.as_ref().unwrap().pull_request.as_deref(), Some("https://gitlab.example/group/sub/site/-/merge_requests/7"));

    let answer = |state: &str| {
        let head = published.pushed().unwrap();
        fs::write(&view, format!(r#"{{"state": "{state}", "sha": "{head}", "head_pipeline": {{"id": 5, "status": "failed"}}}}"#)).unwrap();
    };
    answer("opened");
    follow(&published.board.db, &published.tools, &project).await.unwrap();
    let status = published.board.project().await.published.unwrap().status.unwrap();
    let text = published.board.db.task(status.task.as_ref().unwrap()).await.unwrap().description.unwrap();
    assert!(
        text.contains("error: it is red")
            && text.contains("ann commented on a.rs:3.")
            && text.contains("Sort it.")
            && !text.contains("Fine.")
            && !text.contains("keys"),
        "{text}"
    );
    answer("merged");
    follow(&published.board.db, &published.tools, &published.board.project().await).await.unwrap();
    assert_eq!(published.board.project().await.published.unwrap().status.unwrap().state, PullRequestState::Merged);
    let body = published
        .calls()
        .lines()
        .filter(|line| !line.starts_with("- ") && !line.is_empty() && !line.starts_with('#') && !line.starts_with("Each"))
        .map(str::to_owned)
        .collect::<Vec<_>>()
        .join("\n");
    insta::assert_snapshot!(body);
}
