//! A repository with Git LFS and required signatures, with the real `claude`, `git` and `git-lfs`: agents in jails draw pictures, and the
//! person gets them.

use std::path::Path;

use domain::runs::sandbox::SandboxTier;
use domain::wire::LandingResult;
use serde_json::{Value, json};
use tests::git::git;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = r#"{"parts": [
    {"phase": "coder", "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "cat picture.psd; printf 'better\n' > picture.psd; printf 'new\n' > new.psd; git add -A && git commit -qm Draw && git status --porcelain && git lfs ls-files --name-only"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]},
        {"text": "Submitted."}
    ]},
    {"phase": "reviewer", "turns": [
        {"calls": [{"tool": "Bash", "input": {"command": "cat picture.psd new.psd | tr '\n' ' '"}}]},
        {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}}]},
        {"text": "Approved."}
    ]}
]}"#;

/// Runs `git` in the checkout of the person, with the person's configuration.
fn person(server: &TestServer, arguments: &[&str]) -> String {
    let include = format!("include.path={}", server.root().join("home/.gitconfig").display());
    git(&server.repository(), &[&["-c", &include], arguments].concat()).unwrap()
}

fn configure(home: &Path) {
    std::fs::create_dir_all(home.join(".ssh")).unwrap();
    let text = |name: &str| home.join(name).display().to_string();
    let (key, trusted) = (text(".ssh/key"), text(".ssh/trusted"));
    let make = format!("alias.key=!ssh-keygen -q -t ed25519 -N '' -C ada@example.org -f {key}");
    git(home, &["-c", &make, "key"]).unwrap();
    std::fs::write(&trusted, format!("ada@example.org {}", std::fs::read_to_string(format!("{key}.pub")).unwrap())).unwrap();
    let configuration = format!(
        "[user]\n\tname = Ada\n\temail = ada@example.org\n\tsigningKey = {key}\n[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n\
         [gpg \"ssh\"]\n\tallowedSignersFile = {trusted}\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f\n\
         \tprocess = git-lfs filter-process\n\trequired = true\n"
    );
    std::fs::write(home.join(".gitconfig"), configuration).unwrap();
}

#[tokio::test]
async fn agents_work_on_files_of_lfs_and_merges_are_signed() {
    let started = support::real_with(SCENARIO, |options, root| {
        crate::jail::jail(options, SandboxTier::Jail);
        configure(&root.join("home"));
    });
    let (server, model) = started.await;
    let (repository, read) = (server.repository(), |name: &str| std::fs::read_to_string(server.repository().join(name)).ok());
    std::fs::write(repository.join(".gitattributes"), "*.psd filter=lfs diff=lfs merge=lfs -text\n").unwrap();
    std::fs::write(repository.join("picture.psd"), "good\n").unwrap();
    person(&server, &["add", "-A"]);
    person(&server, &["commit", "-q", "-m", "A picture"]);

    let project = server.project("Pictures", None).await.unwrap().id;
    let task = add(&server, &project, "Draw").await;
    done(&server, &project, &task).await;
    let coder = model.requests_of("coder").last().unwrap().text();
    assert!(coder.contains("good") && coder.contains("new.psd") && !coder.contains("M picture.psd"), "the agent has the files: {coder}");
    assert!(model.requests_of("reviewer").last().unwrap().text().contains("better new"), "and so has its reviewer");
    let branch = format!("vibe-relay/{project}");
    for name in ["picture.psd", "new.psd"] {
        let stored = git(&repository, &["show", &format!("{branch}:{name}")]).unwrap();
        assert!(stored.starts_with("version https://git-lfs"), "{name}: {stored}");
    }
    person(&server, &["verify-commit", &branch]);

    let _: LandingResult = server.post(&format!("/api/projects/{project}/land"), &json!({})).await.unwrap();
    assert_eq!([read("picture.psd"), read("new.psd")], [Some("better\n".to_owned()), Some("new\n".to_owned())]);
    assert_eq!(person(&server, &["status", "--porcelain"]), "");
    let _: serde_json::Value = server.post(&format!("/api/projects/{project}/landing/undo"), &json!({})).await.unwrap();
    assert_eq!([read("picture.psd"), read("new.psd")], [Some("good\n".to_owned()), None]);
    assert_eq!(person(&server, &["status", "--porcelain"]), "");
}

/// It asks git for the filters of this user, as the server does.
#[tokio::test]
async fn doctor_accepts_a_filter_and_names_a_missing_one() {
    let server = support::scripted(r#"{"parts": []}"#).await;
    std::fs::create_dir_all(server.root().join("home")).unwrap();
    std::fs::write(server.root().join("home/.gitconfig"), "[filter \"mine\"]\n\tclean = cat\n\tsmudge = cat\n").unwrap();
    let judged = async |attributes: &str| {
        std::fs::write(server.repository().join(".gitattributes"), attributes).unwrap();
        git(&server.repository(), &["add", "-A"]).unwrap();
        git(&server.repository(), &["commit", "-q", "-m", "Attributes"]).unwrap();
        let printed = server.command(&["doctor", "--json"]).output().await.unwrap().stdout;
        let checks: Vec<Value> = serde_json::from_slice(&printed).unwrap();
        checks.into_iter().find(|check| check["name"] == "repository").unwrap()
    };
    let accepted = judged("README.md filter=mine\n").await;
    assert_eq!(accepted["result"], "ok", "{accepted}");
    let missing = judged("README.md filter=lfs\n").await;
    assert_eq!(missing["result"], "fix", "{missing}");
    assert!(missing.to_string().contains("the git filter lfs, which is not installed"), "{missing}");
}
