//! The real `gh` and `glab` take what they are sent, as far as they say so without a network: they refuse unknown commands, flags and fields
//! before they connect. Skipped where they are not installed; `tests/run` installs them where the system has a package.

use domain::runs::publication::pull_request::FailedCheck;

use super::*;

const REPOSITORY: &str = "github.example/ann/site";
/// The end of everything that `gh` accepted: nothing listens at its proxy.
const ACCEPTED: &str = "connection refused";

/// Looks for a program, and says that its test is skipped without it.
fn installed(program: &str) -> Option<PathBuf> {
    let found = process::find_program(program, &std::env::var_os("PATH").unwrap_or_default());
    if found.is_none() {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// Runs the real program of a host as if it were signed in, and writes down what it says. It answers the calls itself that begin with `answered`.
fn recording(board: &TestBoard, repository: &str, program: &Path, (answered, answer): (&str, &str)) -> (Host, PathBuf) {
    let said = board.sample.beside("said");
    let _ = fs::remove_file(&said);
    let lines = format!(
        "case \"$1 $2\" in '{answered}') echo '{answer}'; exit ;; esac\necho \"== $1 $2\" >> {said}\n\
         GH_TOKEN=none GH_ENTERPRISE_TOKEN=none GH_CONFIG_DIR={config} GITLAB_TOKEN=none GLAB_CONFIG_DIR={config} GLAB_CHECK_UPDATE=false \
         HTTPS_PROXY=http://127.0.0.1:1 {program} \"$@\" > {said}.last 2>&1\n\
         code=$?\ncat {said}.last >> {said}\nexit $code",
        said = said.display(),
        config = board.sample.beside("host-config").display(),
        program = program.display(),
    );
    let recording = Some(script(board, "recording", &lines));
    let folder = board.sample.beside("carrier");
    fs::create_dir_all(&folder).unwrap();
    let tools = Tools { git: None, gh: recording.clone(), glab: recording };
    (Host::of(&tools, repository.to_owned(), &folder).unwrap(), said)
}

#[tokio::test]
async fn real_gh_accepts_every_command_flag_and_field() {
    let Some(gh) = installed("gh") else { return };
    let board = TestBoard::new().await;
    let new = NewPullRequest { branch: "vibe-relay/PROJ-001", base_branch: "main", title: "Board", text: "Text" };
    let address = format!("https://{REPOSITORY}/pull/7");
    let review = r#"{"state": "OPEN", "headRefOid": "a1", "reviews": [{"id": "R1", "state": "APPROVED"}]}"#;
    let mut checks = [FailedCheck { name: "test".to_owned(), address: String::new(), run: Some("42".to_owned()), log: String::new() }];
    let nothing = ("nothing", "");
    let mut calls = Vec::new();
    for answered in [nothing, ("pr list", "")] {
        let (host, said) = recording(&board, REPOSITORY, &gh, answered);
        assert!(host.open(new).await.is_err());
        calls.push(fs::read_to_string(said).unwrap());
    }
    for answered in [nothing, ("pr view", review)] {
        let (host, said) = recording(&board, REPOSITORY, &gh, answered);
        assert!(host.news(&address).await.is_err());
        calls.push(fs::read_to_string(said).unwrap());
    }
    let (host, said) = recording(&board, REPOSITORY, &gh, nothing);
    assert!(host.issue(7).await.is_err());
    calls.push(fs::read_to_string(&said).unwrap());
    let (host, said) = recording(&board, REPOSITORY, &gh, nothing);
    host.read_logs(&mut checks).await;
    calls.push(fs::read_to_string(&said).unwrap());
    let commands: Vec<&str> = calls.iter().map(|call| call.lines().next().unwrap()).collect();
    assert_eq!(commands, ["== pr list", "== pr create", "== pr view", "== api --hostname", "== issue view", "== run view"]);
    for call in &calls {
        assert!(call.contains(ACCEPTED), "{call}");
    }

    let (host, said) = recording(&board, REPOSITORY, &gh, nothing);
    assert!(!host.is_signed_in().await);
    let call = fs::read_to_string(&said).unwrap();
    assert!(call.starts_with("== auth status\n") && !call.contains("unknown") && !call.contains("Usage"), "{call}");
    // A flag or a field that does not exist would have been noticed.
    let program = board.sample.beside("recording");
    for arguments in [["pr", "list", "--repo", REPOSITORY, "--json", "bogus"], ["pr", "view", &address, "--json", "state", "--bogus"]] {
        let output = process::publish(&program, &arguments, board.sample.root(), PUSH_LIMIT).await.unwrap();
        assert_ne!(output.code, Some(0));
    }
    let refused = fs::read_to_string(&said).unwrap();
    assert!(refused.contains("Unknown JSON field: \"bogus\"") && refused.contains("unknown flag: --bogus"), "{refused}");
}

#[tokio::test]
async fn real_glab_accepts_every_command_and_flag() {
    let Some(glab) = installed("glab") else { return };
    let board = TestBoard::new().await;
    let repository = "gitlab.example/group/sub/site";
    let new = NewPullRequest { branch: "vibe-relay/PROJ-001", base_branch: "main", title: "Board", text: "Text" };
    let address = format!("https://{repository}/-/merge_requests/7");
    let nothing = ("nothing", "");
    let mut calls = Vec::new();
    for answered in [nothing, ("mr list", "[]")] {
        let (host, said) = recording(&board, repository, &glab, answered);
        assert!(host.open(new).await.is_err());
        calls.push(fs::read_to_string(said).unwrap());
    }
    let (host, said) = recording(&board, repository, &glab, nothing);
    assert!(host.news(&address).await.is_err());
    calls.push(fs::read_to_string(&said).unwrap());
    let commands: Vec<&str> = calls.iter().map(|call| call.lines().next().unwrap()).collect();
    assert_eq!(commands, ["== mr list", "== mr create", "== api --hostname"]);
    for call in &calls {
        assert!(call.contains(ACCEPTED), "{call}");
    }
    let (host, said) = recording(&board, repository, &glab, nothing);
    assert!(!host.is_signed_in().await);
    let call = fs::read_to_string(&said).unwrap();
    assert!(call.starts_with("== auth status\n") && !call.to_lowercase().contains("unknown flag"), "{call}");
    // A flag that does not exist would have been noticed.
    let arguments = ["mr", "list", "--repo", &format!("https://{repository}"), "--bogus"];
    let output = process::publish(&board.sample.beside("recording"), &arguments, board.sample.root(), PUSH_LIMIT).await.unwrap();
    assert_ne!(output.code, Some(0));
    let refused = fs::read_to_string(&said).unwrap().to_lowercase();
    assert!(refused.contains("unknown flag"), "{refused}");
}
