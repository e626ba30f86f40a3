//! The real `gh` takes what it is sent, as far as it says so without a network: it refuses unknown commands, flags and fields before it
//! connects. Skipped where it is not installed; `tests/run` installs it.

use domain::runs::publication::pull_request::FailedCheck;

use super::*;

const REPOSITORY: &str = "github.example/ann/site";
/// The end of everything that `gh` accepted: nothing listens at its proxy.
const ACCEPTED: &str = "connection refused";

/// Runs the real `gh` as if it were signed in, and writes down what it says. It answers the calls itself that begin with `answered`.
fn recording(board: &TestBoard, gh: &Path, (answered, answer): (&str, &str)) -> (Host, PathBuf) {
    let said = board.sample.beside("said");
    let _ = fs::remove_file(&said);
    let lines = format!(
        "case \"$1 $2\" in '{answered}') echo '{answer}'; exit ;; esac\necho \"== $1 $2\" >> {said}\n\
         GH_TOKEN=none GH_ENTERPRISE_TOKEN=none GH_CONFIG_DIR={config} HTTPS_PROXY=http://127.0.0.1:1 {gh} \"$@\" > {said}.last 2>&1\n\
         code=$?\ncat {said}.last >> {said}\nexit $code",
        said = said.display(),
        config = board.sample.beside("gh-config").display(),
        gh = gh.display(),
    );
    let gh = Some(script(board, "gh-recording", &lines));
    let folder = board.sample.beside("carrier");
    fs::create_dir_all(&folder).unwrap();
    (Host::of(&Tools { gh, ..Tools::default() }, REPOSITORY.to_owned(), &folder).unwrap(), said)
}

#[tokio::test]
async fn real_gh_accepts_every_command_flag_and_field() {
    let Some(gh) = process::find_program("gh", &std::env::var_os("PATH").unwrap_or_default()) else { return };
    let board = TestBoard::new().await;
    let new = NewPullRequest { branch: "vibe-relay/PROJ-001", base_branch: "main", title: "Board", text: "Text" };
    let address = format!("https://{REPOSITORY}/pull/7");
    let review = r#"{"state": "OPEN", "headRefOid": "a1", "reviews": [{"id": "R1", "state": "APPROVED"}]}"#;
    let mut checks = [FailedCheck { name: "test".to_owned(), address: String::new(), run: Some("42".to_owned()), log: String::new() }];
    let nothing = ("nothing", "");
    let mut calls = Vec::new();
    for answered in [nothing, ("pr list", "")] {
        let (host, said) = recording(&board, &gh, answered);
        assert!(host.open(new).await.is_err());
        calls.push(fs::read_to_string(said).unwrap());
    }
    for answered in [nothing, ("pr view", review)] {
        let (host, said) = recording(&board, &gh, answered);
        assert!(host.news(&address).await.is_err());
        calls.push(fs::read_to_string(said).unwrap());
    }
    let (host, said) = recording(&board, &gh, nothing);
    assert!(host.issue(7).await.is_err());
    calls.push(fs::read_to_string(&said).unwrap());
    let (host, said) = recording(&board, &gh, nothing);
    host.read_logs(&mut checks).await;
    calls.push(fs::read_to_string(&said).unwrap());
    let commands: Vec<&str> = calls.iter().map(|call| call.lines().next().unwrap()).collect();
    assert_eq!(commands, ["== pr list", "== pr create", "== pr view", "== api --hostname", "== issue view", "== run view"]);
    for call in &calls {
        assert!(call.contains(ACCEPTED), "{call}");
    }

    let (host, said) = recording(&board, &gh, nothing);
    assert!(!host.is_signed_in().await);
    let call = fs::read_to_string(&said).unwrap();
    assert!(call.starts_with("== auth status\n") && !call.contains("unknown") && !call.contains("Usage"), "{call}");
    // A flag or a field that does not exist would have been noticed.
    let program = board.sample.beside("gh-recording");
    for arguments in [["pr", "list", "--repo", REPOSITORY, "--json", "bogus"], ["pr", "view", &address, "--json", "state", "--bogus"]] {
        let output = process::publish(&program, &arguments, board.sample.root(), PUSH_LIMIT).await.unwrap();
        assert_ne!(output.code, Some(0));
    }
    let refused = fs::read_to_string(&said).unwrap();
    assert!(refused.contains("Unknown JSON field: \"bogus\"") && refused.contains("unknown flag: --bogus"), "{refused}");
}
