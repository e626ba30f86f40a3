//! Landing where something is in the way, twice, or after a crash.

use axum::http::StatusCode;

use super::bench::{Answer, Bench};

async fn land(bench: &Bench) -> Answer {
    bench.ask("post", "/api/projects/PROJ-001/land", "").await
}

fn refusal(answer: &Answer) -> (StatusCode, String) {
    (answer.status, answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn nothing_is_landed_before_something_was_merged() {
    let bench = Bench::new().await;
    let project = bench.project().await;
    assert_eq!(refusal(&land(&bench).await), (StatusCode::UNPROCESSABLE_ENTITY, "nothing-to-land".into()));
    bench.sample.repository().ensure_project_branch(&format!("vibe-relay/{project}"), "main").unwrap();
    assert_eq!(refusal(&land(&bench).await), (StatusCode::UNPROCESSABLE_ENTITY, "nothing-to-land".into()));
    assert_eq!(bench.state.db.project(&project).await.unwrap().landed_sha, None);
}

#[tokio::test]
async fn the_persons_files_are_not_overwritten() {
    let bench = Bench::new().await;
    bench.merged(&bench.project().await, "README.md", "by an agent\n").await;
    bench.sample.write("README.md", "by the person\n");
    let before = bench.sample.repository().ref_sha("main").unwrap();
    let answer = land(&bench).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "checkout-dirty".into()));
    insta::assert_snapshot!(answer.json()["detail"].as_str().unwrap(), @"your checkout has changes in README.md, which landing would overwrite; nothing was touched");
    assert_eq!(bench.sample.read("README.md").as_deref(), Some("by the person\n"));
    assert_eq!(bench.sample.repository().ref_sha("main").unwrap(), before);
}

#[tokio::test]
async fn a_conflict_with_the_base_is_named() {
    let bench = Bench::new().await;
    bench.merged(&bench.project().await, "README.md", "by an agent\n").await;
    bench.sample.write("README.md", "by the person\n");
    bench.sample.commit_all("mine");
    let answer = land(&bench).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "land-conflict".into()));
    insta::assert_snapshot!(answer.json()["detail"].as_str().unwrap(), @"main and vibe-relay/PROJ-001 both changed README.md; nothing was touched");
}

#[tokio::test]
async fn what_nobody_approved_is_not_landed() {
    let bench = Bench::new().await;
    let project = bench.project().await;
    bench.merged(&project, "one.txt", "1").await;
    let before = bench.sample.repository().ref_sha("main").unwrap();
    let left = bench.state.db.project(&project).await.unwrap().integration_head.unwrap();
    bench.sample.set_branch("side", &left);
    let foreign = bench.sample.commit_on("side", &[("evil.txt", Some("evil"))], "not reviewed");
    bench.sample.set_branch("vibe-relay/PROJ-001", &foreign);
    let answer = land(&bench).await;
    assert_eq!(refusal(&answer), (StatusCode::UNPROCESSABLE_ENTITY, "branch-foreign".into()));
    let detail = answer.json()["detail"].as_str().unwrap().replace(&foreign[..7], "SHA");
    insta::assert_snapshot!(detail, @"vibe-relay/PROJ-001 is not where the last merge left it; SHA “not reviewed” was approved by nobody; nothing was touched");
    assert_eq!(bench.sample.repository().ref_sha("main").unwrap(), before);
    bench.sample.set_branch("vibe-relay/PROJ-001", &left);
    assert_eq!(land(&bench).await.status, StatusCode::OK);
}

#[tokio::test]
async fn two_clicks_land_once_and_a_landing_that_was_not_written_down_is_repeated() {
    let bench = Bench::new().await;
    let project = bench.project().await;
    bench.merged(&project, "one.txt", "1").await;
    let (one, two) = tokio::join!(land(&bench), land(&bench));
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 422]);
    let record = bench.state.db.project(&project).await.unwrap();
    assert_eq!(record.landed_sha, record.integration_head);

    bench.merged(&project, "two.txt", "2").await;
    let tip = bench.state.db.project(&project).await.unwrap().integration_head.unwrap();
    bench.sample.set_branch("main", &tip);
    let again = land(&bench).await;
    assert_eq!((again.status, again.json()["commits"].as_u64()), (StatusCode::OK, Some(0)), "{}", again.text);
    assert_eq!(bench.state.db.project(&project).await.unwrap().landed_sha, Some(tip));
}
