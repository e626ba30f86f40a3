//! Asks GitLab through `glab`. A pull request is a merge request there. Must not know what follows from an answer.

use std::collections::BTreeSet;

use domain::runs::publication::PublicationRefusal;
use domain::runs::publication::issue::Issue;
use domain::runs::publication::pull_request::{FailedCheck, PullRequestNews, PullRequestState, Remark, request_in};
use serde::Deserialize;

use super::{Host, NewPullRequest, address_in, number_of};

/// The access level of developers, who may push. The text of others leads to no work.
const DEVELOPER: u32 = 30;

#[derive(Deserialize)]
struct Listed {
    web_url: String,
    source_project_id: u64,
    target_project_id: u64,
}

pub(super) async fn open(host: &Host, new: NewPullRequest<'_>) -> Result<String, String> {
    let repository = format!("https://{}", host.repository);
    let about = ["--repo", &repository, "--source-branch", new.branch];
    let open: Vec<Listed> = host.json(&[&["mr", "list"], &about[..], &["--output", "json"]].concat()).await?;
    // Those of forks can name their branches alike.
    if let Some(open) = open.into_iter().find(|listed| listed.source_project_id == listed.target_project_id) {
        return Ok(open.web_url);
    }
    let create =
        [&["mr", "create"], &about[..], &["--target-branch", new.base_branch, "--title", new.title, "--description", new.text, "--yes"]].concat();
    let created = host.run(&create).await?;
    address_in(&created).ok_or_else(|| format!("glab printed no address: {}", PublicationRefusal::output(&created)))
}

#[derive(Deserialize)]
struct View {
    state: String,
    sha: String,
    #[serde(default)]
    has_conflicts: bool,
    head_pipeline: Option<Pipeline>,
}

#[derive(Deserialize)]
struct Pipeline {
    id: u64,
    status: String,
}

#[derive(Deserialize)]
struct Job {
    id: u64,
    name: String,
    web_url: String,
}

#[derive(Deserialize)]
struct Discussion {
    notes: Vec<Note>,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    body: String,
    author: Author,
    #[serde(default)]
    system: bool,
    /// Whether it is part of a review, and not of the conversation.
    #[serde(default)]
    resolvable: bool,
    #[serde(default)]
    resolved: bool,
    position: Option<Position>,
}

#[derive(Deserialize)]
struct Author {
    id: u64,
    username: String,
}

#[derive(Deserialize)]
struct Position {
    new_path: String,
    new_line: Option<u64>,
}

#[derive(Deserialize)]
struct Member {
    id: u64,
    access_level: u32,
}

pub(super) async fn news(host: &Host, address: &str) -> Result<PullRequestNews, String> {
    let number = number_of(address)?;
    let view: View = api(host, &format!("merge_requests/{number}")).await?;
    let failed_checks = match view.head_pipeline.filter(|pipeline| pipeline.status == "failed") {
        Some(pipeline) => api::<Vec<Job>>(host, &format!("pipelines/{}/jobs?scope[]=failed&per_page=100", pipeline.id)).await?,
        None => Vec::new(),
    };
    let discussions: Vec<Discussion> = api(host, &format!("merge_requests/{number}/discussions?per_page=100")).await?;
    let is_request = |note: &Note| !note.resolvable && request_in(&note.body).is_some();
    let is_open = |note: &Note| !note.system && (note.resolvable && !note.resolved || is_request(note));
    let notes: Vec<Note> = discussions.into_iter().flat_map(|discussion| discussion.notes).filter(is_open).collect();
    let writers: BTreeSet<u64> = if notes.is_empty() { BTreeSet::new() } else { writers(host).await? };
    let remarks = notes.into_iter().filter(|note| writers.contains(&note.author.id)).map(|note| Remark {
        id: format!("note {}", note.id),
        author: note.author.username,
        place: note.position.map(|at| at.new_line.map_or_else(|| at.new_path.clone(), |line| format!("{}:{line}", at.new_path))),
        asks_for_changes: false,
        text: request_in(&note.body).map(str::to_owned).unwrap_or(note.body),
    });
    Ok(PullRequestNews {
        state: match view.state.as_str() {
            "merged" => PullRequestState::Merged,
            "closed" => PullRequestState::Closed,
            _ => PullRequestState::Open,
        },
        head: view.sha,
        has_conflicts: view.has_conflicts,
        failed_checks: failed_checks
            .into_iter()
            .map(|job| FailedCheck { name: job.name, address: job.web_url, run: Some(job.id.to_string()), log: String::new() })
            .collect(),
        remarks: remarks.collect(),
    })
}

async fn writers(host: &Host) -> Result<BTreeSet<u64>, String> {
    let members: Vec<Member> = api(host, "members/all?per_page=100").await?;
    Ok(members.into_iter().filter(|member| member.access_level >= DEVELOPER).map(|member| member.id).collect())
}

async fn api<T: serde::de::DeserializeOwned>(host: &Host, path: &str) -> Result<T, String> {
    let (name, _) = host.split_repository();
    host.json(&["api", "--hostname", name, &path_of(host, path)]).await
}

fn path_of(host: &Host, path: &str) -> String {
    let (_, project) = host.split_repository();
    format!("projects/{}/{path}", project.replace('/', "%2F"))
}

#[derive(Deserialize)]
struct IssueView {
    web_url: String,
    title: String,
    description: Option<String>,
    author: Author,
    #[serde(default)]
    labels: Vec<String>,
}

pub(super) async fn issue(host: &Host, number: u64) -> Result<Issue, String> {
    let IssueView { web_url, title, description, author, labels } = api(host, &format!("issues/{number}")).await?;
    Ok(Issue { address: web_url, title, body: description.unwrap_or_default(), author: author.username, labels })
}

pub(super) async fn log(host: &Host, job: &str) -> Result<String, String> {
    let (name, _) = host.split_repository();
    host.run(&["api", "--hostname", name, &path_of(host, &format!("jobs/{job}/trace"))]).await
}
