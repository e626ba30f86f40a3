//! Asks GitHub through `gh`. Must not know what follows from an answer.

use std::fs;

use domain::runs::publication::PublicationRefusal;
use domain::runs::publication::issue::Issue;
use domain::runs::publication::pull_request::{FailedCheck, PullRequestNews, PullRequestState, Remark, request_in};
use serde::Deserialize;

use super::{Host, NewPullRequest, address_in, number_of};

/// The file with the text of a pull request.
const TEXT_FILE: &str = "pull-request.md";
/// The fields of a pull request.
const VIEW_FIELDS: &str = "state,headRefOid,mergeable,statusCheckRollup,reviews,comments";
/// The fields by which an open pull request is found, and the address of the first that is not from a fork: others can name their branches alike.
const LIST_FIELDS: &str = "url,isCrossRepository";
const OWN_ADDRESS: &str = "[.[] | select(.isCrossRepository | not)][0].url";
/// The relations to a repository of people who may write to it. The text of others leads to no work.
const WRITERS: [&str; 3] = ["OWNER", "MEMBER", "COLLABORATOR"];

pub(super) async fn open(host: &Host, new: NewPullRequest<'_>) -> Result<String, String> {
    let about = ["--repo", &host.repository, "--head", new.branch];
    let open = host.run(&[&["pr", "list"], &about[..], &["--state", "open", "--json", LIST_FIELDS, "--jq", OWN_ADDRESS]].concat()).await?;
    if let Some(address) = address_in(&open) {
        return Ok(address);
    }
    let file = host.folder.join(TEXT_FILE);
    fs::write(&file, new.text).map_err(|error| format!("write {}: {error}", file.display()))?;
    let file = file.to_string_lossy();
    let create = [&["pr", "create"], &about[..], &["--base", new.base_branch, "--title", new.title, "--body-file", &file]].concat();
    let created = host.run(&create).await?;
    address_in(&created).ok_or_else(|| format!("gh printed no address: {}", PublicationRefusal::output(&created)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    state: State,
    head_ref_oid: String,
    #[serde(default)]
    mergeable: String,
    #[serde(default)]
    status_check_rollup: Vec<Check>,
    #[serde(default)]
    reviews: Vec<Review>,
    #[serde(default)]
    comments: Vec<Comment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum State {
    Open,
    Merged,
    Closed,
}

/// A check run, or the status that another service set.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Check {
    name: String,
    conclusion: String,
    details_url: String,
    context: String,
    state: String,
    target_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    id: String,
    author: Option<Author>,
    #[serde(default)]
    author_association: String,
    #[serde(default)]
    body: String,
    state: String,
}

/// A comment in the conversation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Comment {
    id: String,
    author: Option<Author>,
    #[serde(default)]
    author_association: String,
    #[serde(default)]
    body: String,
}

#[derive(Deserialize)]
struct Author {
    login: String,
}

/// A comment on a line, as the interface of GitHub has it.
#[derive(Deserialize)]
struct LineComment {
    id: u64,
    user: Option<Author>,
    #[serde(default)]
    author_association: String,
    path: String,
    line: Option<u64>,
    #[serde(default)]
    body: String,
}

pub(super) async fn news(host: &Host, address: &str) -> Result<PullRequestNews, String> {
    let view: View = host.json(&["pr", "view", address, "--json", VIEW_FIELDS]).await?;
    let mut remarks: Vec<Remark> = view.reviews.iter().filter_map(remark_of).chain(view.comments.iter().filter_map(request_of)).collect();
    if !view.reviews.is_empty() {
        let (name, path) = host.split_repository();
        let comments = format!("repos/{path}/pulls/{}/comments?per_page=100&sort=created&direction=desc", number_of(address)?);
        let comments: Vec<LineComment> = host.json(&["api", "--hostname", name, &comments]).await?;
        remarks.extend(comments.into_iter().filter(|comment| is_writer(&comment.author_association)).map(|comment| Remark {
            id: format!("comment {}", comment.id),
            author: name_of(comment.user.as_ref()),
            place: Some(comment.line.map_or_else(|| comment.path.clone(), |line| format!("{}:{line}", comment.path))),
            asks_for_changes: false,
            text: comment.body,
        }));
    }
    Ok(PullRequestNews {
        state: match view.state {
            State::Open => PullRequestState::Open,
            State::Merged => PullRequestState::Merged,
            State::Closed => PullRequestState::Closed,
        },
        head: view.head_ref_oid,
        has_conflicts: view.mergeable == "CONFLICTING",
        failed_checks: view.status_check_rollup.iter().filter_map(failed).collect(),
        remarks,
    })
}

/// The text of a review that asks for something. An approval does not, and a review without text has its comments on lines.
fn remark_of(review: &Review) -> Option<Remark> {
    let asks_for_changes = review.state == "CHANGES_REQUESTED";
    let is_remark = asks_for_changes || review.state == "COMMENTED";
    (is_remark && is_writer(&review.author_association) && !review.body.trim().is_empty()).then(|| Remark {
        id: format!("review {}", review.id),
        author: name_of(review.author.as_ref()),
        place: None,
        asks_for_changes,
        text: review.body.clone(),
    })
}

/// A comment in the conversation that is a request to the board.
fn request_of(comment: &Comment) -> Option<Remark> {
    let text = request_in(&comment.body).filter(|_| is_writer(&comment.author_association))?;
    Some(Remark {
        id: format!("conversation {}", comment.id),
        author: name_of(comment.author.as_ref()),
        place: None,
        asks_for_changes: false,
        text: text.to_owned(),
    })
}

fn failed(check: &Check) -> Option<FailedCheck> {
    let run = matches!(check.conclusion.as_str(), "FAILURE" | "TIMED_OUT" | "STARTUP_FAILURE");
    let status = matches!(check.state.as_str(), "FAILURE" | "ERROR");
    let (name, address) = if run { (&check.name, &check.details_url) } else { (&check.context, &check.target_url) };
    (run || status).then(|| FailedCheck { name: name.clone(), address: address.clone(), run: run_of(address), log: String::new() })
}

/// Returns the number of the run of GitHub Actions in the address of a check.
fn run_of(address: &str) -> Option<String> {
    let (_, rest) = address.split_once("/actions/runs/")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!number.is_empty()).then_some(number)
}

fn is_writer(association: &str) -> bool {
    WRITERS.contains(&association)
}

fn name_of(author: Option<&Author>) -> String {
    author.map_or_else(|| "someone".to_owned(), |author| author.login.clone())
}

#[derive(Deserialize)]
struct IssueView {
    url: String,
    title: String,
    #[serde(default)]
    body: String,
    author: Option<Author>,
    #[serde(default)]
    labels: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    name: String,
}

pub(super) async fn issue(host: &Host, number: u64) -> Result<Issue, String> {
    let number = number.to_string();
    let view: IssueView = host.json(&["issue", "view", &number, "--repo", &host.repository, "--json", "url,title,body,author,labels"]).await?;
    let labels = view.labels.into_iter().map(|label| label.name).collect();
    Ok(Issue { address: view.url, title: view.title, body: view.body, author: name_of(view.author.as_ref()), labels })
}

pub(super) async fn log(host: &Host, run: &str) -> Result<String, String> {
    host.run(&["run", "view", run, "--repo", &host.repository, "--log-failed"]).await
}
