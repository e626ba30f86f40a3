//! The board without a terminal: as a service of the user's systemd, which a script imitates, and in the background.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;
use tests::server::{ServerOptions, TestServer};

use crate::support::{FILES, PROGRAM};

/// Answers as `systemctl --user` does, and records its calls. The file `offline` takes the session away.
const SYSTEMCTL: &str = r#"#!/bin/sh
here="$(dirname "$0")"
echo "$@" >> "$here/calls"
if [ -e "$here/offline" ]; then echo "Failed to connect to bus: No medium found" >&2; exit 1; fi
case "$2" in
  is-active) [ -e "$here/active" ] && echo active || { echo inactive; exit 3; } ;;
  is-enabled) echo enabled ;;
  restart) touch "$here/active" ;;
  disable) rm -f "$here/active" ;;
  show) [ "$3" = --property=MainPID ] && [ -e "$here/pid" ] && cat "$here/pid"; exit 0 ;;
  stop) kill "$(cat "$here/pid")" ;;
esac
"#;

/// Puts the script before the real program.
pub(crate) fn imitate_systemd(options: &mut ServerOptions, root: &Path) {
    std::fs::create_dir(root.join("fake")).unwrap();
    let fake = root.join("fake/systemctl");
    std::fs::write(&fake, SYSTEMCTL).unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = options.environment.iter_mut().find(|(name, _)| name == "PATH").unwrap();
    path.1 = format!("{}:{}", root.join("fake").display(), path.1);
}

async fn server() -> TestServer {
    TestServer::start(Path::new(PROGRAM), FILES, imitate_systemd).await.unwrap()
}

async fn run(server: &TestServer, arguments: &[&str]) -> (bool, String) {
    let output = server.command(arguments).output().await.unwrap();
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

#[tokio::test]
async fn service_is_installed_shown_and_removed() {
    let mut server = server().await;
    let root = server.root();
    let unit = root.join("home/.config/systemd/user/vibe-relay.service");
    let (installed, text) = run(&server, &["service", "status"]).await;
    assert!(!installed && text.contains("not installed"), "{text}");
    let (installed, text) = run(&server, &["service", "install"]).await;
    assert!(!installed && text.contains("a board that is not the service is already running"), "{text}");
    assert!(!unit.exists());
    assert!(server.stop().await.unwrap().success());

    std::fs::write(root.join("fake/offline"), "").unwrap();
    let (installed, text) = run(&server, &["service", "install"]).await;
    assert!(!installed && text.contains("this user has no systemd (Failed to connect to bus: No medium found)"), "{text}");
    assert!(text.contains("vibe-relay serve --detach") && !unit.exists(), "{text}");
    std::fs::remove_file(root.join("fake/offline")).unwrap();
    std::fs::remove_file(root.join("fake/calls")).unwrap();

    let (installed, text) = run(&server, &["service", "install", "--port", "9499"]).await;
    assert!(installed, "{text}");
    let written = std::fs::read_to_string(&unit).unwrap();
    let command =
        format!("ExecStart=\"{PROGRAM}\" \"--config\" \"{}\" \"serve\" \"--no-open\" \"--port\" \"9499\"", root.join("config.json").display());
    for line in [&command, "KillMode=process", "Restart=always", &format!("WorkingDirectory={}", root.join("home").display())] {
        assert!(written.lines().any(|written| written == line), "{line} is not in {written}");
    }
    assert!(written.contains(&format!("Environment=\"PATH={}:", root.join("fake").display())), "agents find their programs: {written}");
    let calls = std::fs::read_to_string(root.join("fake/calls")).unwrap();
    let calls: Vec<&str> = calls.lines().filter_map(|call| call.strip_prefix("--user ")).filter(|call| !call.starts_with("show ")).collect();
    let name = "vibe-relay.service";
    assert_eq!(calls, [format!("is-active {name}"), "daemon-reload".to_owned(), format!("enable {name}"), format!("restart {name}")]);
    let (runs, text) = run(&server, &["service", "status"]).await;
    assert!(runs && text.contains("at login  enabled") && text.contains("now       active"), "{text}");
    let (removed, text) = run(&server, &["service", "remove"]).await;
    assert!(removed && text.contains("running agents continue") && !unit.exists(), "{text}");
    let (removed, text) = run(&server, &["service", "remove"]).await;
    assert!(removed && text.contains("is not installed"), "{text}");
}

#[tokio::test]
async fn detached_server_outlives_its_command_until_it_is_stopped() {
    let mut server = server().await;
    assert!(server.stop().await.unwrap().success());
    let (started, text) = run(&server, &["serve", "--detach", "--no-open", "--port", "0"]).await;
    assert!(started && text.contains("listening on http://127.0.0.1:") && text.contains("is running in the background"), "{text}");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(server.root().join("data/server.json")).unwrap()).unwrap();
    let pid = u32::try_from(file["pid"].as_u64().unwrap()).unwrap();
    let client = tests::client::Client::new(file["url"].as_str().unwrap(), &server.token);
    let _: domain::wire::HealthResponse = client.get("/api/health").await.unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap();
    assert_eq!(session, pid.to_string(), "it leads a session of its own");

    let (again, text) = run(&server, &["serve", "--detach", "--no-open"]).await;
    assert!(!again && text.contains("vibe-relay: the board is already running") && text.matches("vibe-relay: ").count() == 1, "{text}");

    // A service that a signal ends would be started again.
    let unit = server.root().join("home/.config/systemd/user/vibe-relay.service");
    std::fs::create_dir_all(unit.parent().unwrap()).unwrap();
    std::fs::write(&unit, "").unwrap();
    std::fs::write(server.root().join("fake/pid"), pid.to_string()).unwrap();
    let (stopped, text) = run(&server, &["stop"]).await;
    assert!(stopped && text.contains(&format!("The board is stopped (process {pid})")) && text.contains("at the next login"), "{text}");
    assert!(!server.root().join("data/server.json").exists(), "the command waited");
    let calls = std::fs::read_to_string(server.root().join("fake/calls")).unwrap();
    assert!(calls.ends_with("--user stop vibe-relay.service\n"), "{calls}");
    let (again, text) = run(&server, &["stop"]).await;
    assert!(!again && text.contains("no board is running"), "{text}");
}
