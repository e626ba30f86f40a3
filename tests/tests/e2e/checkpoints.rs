//! Checkpoints: the files of a coder are kept while it works, and a person rewinds the task to one of them.

use domain::board::reducer::Board;
use domain::runs::checkout::CheckoutEvent;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::failure::EndClass;
use domain::wire::TaskView;
use reqwest::Method;
use serde_json::json;
use tests::git::git;

use crate::support;

const SCENARIO: &str = include_str!("../../scenarios/checkpoints.json");

#[tokio::test]
async fn task_is_rewound_to_a_checkpoint() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = support::add(&server, &project, "Rewind").await;
    let repository = server.repository();
    let kept = || git(&repository, &["for-each-ref", "--format=%(objectname)", &format!("refs/vibe-relay/checkpoints/{task}")]).unwrap();
    tests::wait_for("the first checkpoint", || kept().lines().count() == 1).await;
    support::open(&server, task.as_str());
    support::at_work(&server, &task).await;
    let options = json!({"checkpoint": kept(), "note": "Not that way."});
    let retry = || server.request(Method::POST, &format!("/api/tasks/{task}/retry")).json(&options);
    assert_eq!(server.refusal(retry()).await.unwrap().code, "run-ending", "its agent still works");
    let _: TaskView = server.post(&format!("/api/tasks/{task}/stop"), &json!({})).await.unwrap();
    server.until(&project, "the agent has ended", |board: &Board| board.cards.iter().all(|card| card.run.is_none())).await;

    let stopped = server.runs(&task).await.unwrap().remove(0);
    let [good, bad] = stopped.checkpoints.as_slice() else { panic!("{:?}", stopped.checkpoints) };
    let file = |checkpoint: &Checkpoint| git(&repository, &["show", &format!("{}:{task}.txt", checkpoint.sha)]).unwrap();
    assert_eq!((file(good).as_str(), file(bad).as_str(), good.files, bad.files), ("good", "bad", 1, 1));
    assert!(good.action.contains("echo good"), "{good:?}");

    assert!(retry().send().await.unwrap().status().is_success());
    support::done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!((runs[0].end_class, runs[1].end_class), (Some(EndClass::Stopped), Some(EndClass::Finished)));
    assert_ne!(runs[0].session_id, runs[1].session_id, "an agent that remembers the wrong step would be misled");
    assert_eq!(git(&repository, &["show", &format!("vibe-relay/{project}:{task}.txt")]).unwrap(), "good");
    let told = server.comments(&task).await.unwrap();
    assert!(told.iter().any(|comment| comment.comment.content.contains("set back to the checkpoint")), "{told:#?}");
    let rescued = git(&repository, &["for-each-ref", "--format=%(subject)", &format!("refs/vibe-relay/rescue/{task}")]).unwrap();
    assert_eq!(rescued, "A wrong step", "nothing is lost");
    support::happens(&server, &project, &CheckoutEvent::Removed { rescue: None }.into()).await;
    assert_eq!((kept().as_str(), server.runs(&task).await.unwrap()[0].checkpoints.len()), ("", 0));
}
