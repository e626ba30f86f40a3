//! The server is killed while it fetches, follows the base branch, lands and undoes a landing: at points that are spread over the time that
//! this takes. A repeat finishes each step, and neither work nor an uncommitted file is lost. Only a file that was half-written at that moment has to
//! be restored by the person, from the commit that has it, and a lock on the base branch, which could be that of another program, to be removed.

use std::time::{Duration, Instant};

use domain::board::project::Project;
use domain::id::ProjectId;
use reqwest::Method;
use serde_json::json;
use tests::git::git;
use tests::server::TestServer;

use crate::follow_base::{SCENARIO, push, with_upstream};
use crate::support::{self, add, done};

const KILLS: u32 = 6;
const FILES: [&str; 3] = ["edited.md", "staged.md", "deleted.md"];

/// The files of the person, and what git says of the whole checkout.
type Seen = (Vec<Option<Vec<u8>>>, String, String);

struct Landing {
    server: TestServer,
    project: ProjectId,
}

impl Landing {
    fn git(&self, arguments: &[&str]) -> String {
        git(&self.server.repository(), arguments).unwrap()
    }

    fn main(&self) -> String {
        self.git(&["rev-parse", "main"])
    }

    fn seen(&self) -> Seen {
        let files = FILES.iter().chain(&["untracked.md"]).map(|file| std::fs::read(self.server.repository().join(file)).ok());
        (files.collect(), self.git(&["status", "--porcelain"]), self.git(&["diff", "--cached"]))
    }

    /// Asks for a step and kills the server after a while. Returns how long the step took if it was answered.
    async fn killed(&mut self, path: &str, after: Duration) {
        let request = self.server.request(Method::POST, &format!("/api/projects/{}/{path}", self.project)).json(&json!({}));
        let asked = tokio::spawn(request.send());
        tokio::time::sleep(after).await;
        self.server.kill().await.unwrap();
        // It is answered only if the step was done.
        let _ = asked.await.unwrap();
        self.server.serve().await.unwrap();
        let lock = self.server.repository().join(".git/index.lock");
        tests::wait_for("the person's own git can write again", || !lock.exists()).await;
        self.git(&["fsck", "--connectivity-only"]);
    }

    /// Asks again. A step that was done already is refused. A file that the kill left half-written and a lock on the base branch are named, and the
    /// person restores the one and removes the other.
    async fn repeat(&self, path: &str) -> Project {
        let mut answer = self.request(path).await;
        if answer.contains("branch-locked") {
            let lock = self.server.repository().join(".git/refs/heads/main.lock");
            assert!(answer.contains(&lock.display().to_string()), "{answer}");
            std::fs::remove_file(lock).unwrap();
            answer = self.request(path).await;
        }
        if answer.contains("checkout-dirty") {
            for file in self.git(&["ls-tree", "--name-only", "vibe-relay/PROJ-001"]).lines().filter(|file| answer.contains(*file)) {
                assert!(!FILES.contains(&file), "a file of the person blocks: {answer}");
                if git(&self.server.repository(), &["checkout", "-q", "--", file]).is_err() {
                    std::fs::remove_file(self.server.repository().join(file)).unwrap();
                }
            }
            answer = self.request(path).await;
        }
        let is_done = answer.is_empty() || answer.contains("nothing-to-land") || answer.contains("nothing-to-undo");
        assert!(is_done, "{answer}");
        self.server.board(&self.project).await.unwrap().project
    }

    /// Asks for a step, and returns the refusal.
    async fn request(&self, path: &str) -> String {
        let request = self.server.request(Method::POST, &format!("/api/projects/{}/{path}", self.project)).json(&json!({}));
        let answer = request.send().await.unwrap();
        if answer.status().is_success() { String::new() } else { answer.text().await.unwrap() }
    }
}

#[tokio::test]
async fn killed_steps_of_a_landing_are_finished_by_a_repeat() {
    let server = support::scripted(SCENARIO).await;
    let repository = server.repository();
    for file in FILES {
        std::fs::write(repository.join(file), "one\n").unwrap();
    }
    git(&repository, &["add", "."]).unwrap();
    git(&repository, &["commit", "-q", "-m", "More files"]).unwrap();
    let other = with_upstream(&server);
    let project = server.project("Followed", None).await.unwrap().id;
    let task = add(&server, &project, "Ours").await;
    done(&server, &project, &task).await;
    std::fs::write(repository.join("edited.md"), "mine\n").unwrap();
    std::fs::write(repository.join("staged.md"), "mine\n").unwrap();
    git(&repository, &["add", "staged.md"]).unwrap();
    std::fs::remove_file(repository.join("deleted.md")).unwrap();
    std::fs::write(repository.join("untracked.md"), "mine\n").unwrap();

    let mut landing = Landing { server, project };
    let (seen, begin) = (landing.seen(), landing.main());
    let begun = Instant::now();
    push(&other, "theirs-0.txt", "Theirs.\n");
    landing.repeat("land").await;
    let took_to_land = begun.elapsed();
    let begun = Instant::now();
    landing.repeat("landing/undo").await;
    let took_to_undo = begun.elapsed();
    assert_eq!((landing.main(), landing.seen()), (begin.clone(), seen.clone()));

    for kill in 1..=KILLS {
        let pushed = push(&other, &format!("theirs-{kill}.txt"), "Theirs.\n");
        landing.killed("land", took_to_land * kill / (KILLS + 1)).await;
        let landed = landing.repeat("land").await.landed.unwrap();
        assert_eq!((landed.undone_at, &landed.sha), (None, &landing.main()), "kill {kill}");
        assert_eq!(landed.before_sha, begin, "kill {kill}: it can be undone");
        landing.git(&["merge-base", "--is-ancestor", &pushed, "main"]);
        assert_eq!(landing.git(&["show", "main:README.md"]), "Ours.");
        assert_eq!(landing.seen(), seen, "kill {kill}: nothing of the person changed");

        landing.killed("landing/undo", took_to_undo * kill / (KILLS + 1)).await;
        let undone = landing.repeat("landing/undo").await.landed;
        assert!(undone.as_ref().is_none_or(|landed| landed.undone_at.is_some()), "kill {kill}: {undone:?}");
        assert_eq!((landing.main(), landing.seen()), (begin.clone(), seen.clone()), "kill {kill}");
    }
}
