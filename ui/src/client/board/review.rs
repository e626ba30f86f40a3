//! Requests of the review of a task.

use domain::board::review::{LineComment, SendBack, Side};
use domain::id::TaskId;
use domain::runs::diff::{Diff, FileDiff, FileLines};
use domain::runs::evidence::Sha;
use domain::wire::{ReviewView, TaskView};
use gloo_net::http::{Method, Request};

use crate::client::{Client, Failure, FileCopy, task_path};

impl Client {
    pub(crate) async fn review(self, task: TaskId) -> Result<ReviewView, Failure> {
        self.get(&task_path(&task, "/review")).await
    }

    /// The changes under review, or only those since the commit of a review round.
    pub(crate) async fn review_diff(self, task: TaskId, since: Option<u32>) -> Result<Diff, Failure> {
        let path = task_path(&task, "/review/diff");
        self.finish(Request::get(&path).query(since.map(|since| ("since", since.to_string())))).await
    }

    /// One changed file with all of its lines.
    pub(crate) async fn review_file(self, task: TaskId, head: Sha, since: Option<u32>, file: &FileDiff) -> Result<FileDiff, Failure> {
        let path = task_path(&task, "/review/file");
        let optional = [("since", since.map(|since| since.to_string())), ("old_path", file.old_path.clone())];
        let query = optional.into_iter().filter_map(|(name, value)| Some((name, value?))).chain([("path", file.path.clone()), ("head", head)]);
        self.finish(Request::get(&path).query(query)).await
    }

    /// Unchanged lines of a file.
    pub(crate) async fn review_lines(self, task: TaskId, head: Sha, file: String, from: u32, to: u32) -> Result<FileLines, Failure> {
        let path = task_path(&task, "/review/lines");
        let query = [("path", file), ("head", head), ("from", from.to_string()), ("to", to.to_string())];
        self.finish(Request::get(&path).query(query)).await
    }

    /// One version of an image.
    pub(crate) async fn image(self, task: TaskId, head: Sha, since: Option<u32>, path: String, side: Side) -> Result<FileCopy, Failure> {
        let side = match side {
            Side::Old => "old",
            Side::New => "new",
        };
        let since = since.map(|since| format!("&since={since}")).unwrap_or_default();
        let path = String::from(js_sys::encode_uri_component(&path));
        self.file(task_path(&task, &format!("/review/image?path={path}&side={side}&head={head}{since}"))).await
    }

    pub(crate) async fn send_back(self, task: TaskId, sha: Sha, words: Option<String>, comments: Vec<LineComment>) -> Result<TaskView, Failure> {
        self.send(Method::POST, &task_path(&task, "/review/send-back"), &SendBack { sha, words, comments }).await
    }
}
