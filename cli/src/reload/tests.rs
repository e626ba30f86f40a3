//! Real files in a temporary folder, watched with inotify.

use domain::prompt::Prompt;
use domain::runs::agent_kind::AgentKind;
use tempfile::TempDir;

use super::*;

const DEADLINE: Duration = Duration::from_secs(20);

struct Files {
    folder: TempDir,
    live: watch::Receiver<LiveConfig>,
    _task: tokio::task::JoinHandle<()>,
}

impl Files {
    /// A configuration that is watched.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let reload = Reload::load(Some(&folder.path().join("config.json"))).unwrap();
        let live = reload.subscribe();
        Self { folder, live, _task: tokio::spawn(reload.run()) }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    async fn wait(&mut self, matches: impl FnMut(&LiveConfig) -> bool) -> LiveConfig {
        tokio::time::timeout(DEADLINE, self.live.wait_for(matches)).await.expect("no such configuration in time").unwrap().clone()
    }
}

#[tokio::test]
async fn changed_file_is_applied_without_restart() {
    let mut files = Files::new(&[("config.json", r#"{"max_attempts": 2}"#)]);
    assert_eq!(files.live.borrow().config.max_attempts, 2);
    files.write("config.json", r#"{"max_attempts": 5}"#);
    assert_eq!(files.wait(|live| live.config.max_attempts == 5).await.notice, None);
    // Editors replace the file instead of writing into it.
    files.write("new.json", r#"{"max_attempts": 6}"#);
    std::fs::rename(files.folder.path().join("new.json"), files.folder.path().join("config.json")).unwrap();
    files.wait(|live| live.config.max_attempts == 6).await;
}

#[tokio::test]
async fn invalid_file_keeps_last_configuration_and_sets_notice() {
    let mut files = Files::new(&[("config.json", r#"{"max_attempts": 2}"#)]);
    files.write("config.json", r#"{"max_atempts": 5}"#);
    let live = files.wait(|live| live.notice.is_some()).await;
    assert_eq!(live.config.max_attempts, 2);
    let notice = live.notice.unwrap();
    assert!(notice.contains("did you mean \"max_attempts\"?") && notice.ends_with("The last valid configuration stays in use."), "{notice}");
    std::fs::remove_file(files.folder.path().join("config.json")).unwrap();
    let notice = files.wait(|live| live.notice.as_deref().is_some_and(|notice| notice.contains("cannot be read"))).await.notice.unwrap();
    assert!(notice.contains("No such file"), "{notice}");
    files.write("config.json", r#"{"max_attempts": 5}"#);
    assert_eq!(files.wait(|live| live.config.max_attempts == 5).await.notice, None);
}

#[tokio::test]
async fn changed_prompt_is_read_again() {
    let config = r#"{"agents": {"coder": {"system_prompt_file": "coder.md"}}}"#;
    let mut files = Files::new(&[("config.json", config), ("coder.md", "Write tests.")]);
    let prompt = |live: &LiveConfig| live.config.prompts.text(AgentKind::Coder).to_owned();
    assert_eq!(prompt(&files.live.borrow()), "Write tests.\n");
    files.write("coder.md", "Write more tests.\n");
    files.wait(|live| prompt(live) == "Write more tests.\n").await;
    std::fs::remove_file(files.folder.path().join("coder.md")).unwrap();
    let live = files.wait(|live| live.notice.is_some()).await;
    assert_eq!(prompt(&live), "Write more tests.\n");
}

#[tokio::test]
async fn broken_prompt_keeps_the_last_good_one_until_it_is_repaired() {
    let mut files = Files::new(&[("config.json", r#"{"prompts_path": "."}"#), ("protocol.md", "Be kind.")]);
    let prompt = |live: &LiveConfig| live.config.prompts.text(Prompt::Protocol).to_owned();
    assert_eq!(prompt(&files.live.borrow()), "Be kind.\n");
    files.write("protocol.md", "");
    let live = files.wait(|live| live.notice.is_some()).await;
    let notice = live.notice.clone().unwrap();
    assert!(notice.contains("protocol.md is empty") && notice.ends_with("The last valid configuration stays in use."), "{notice}");
    assert_eq!(prompt(&live), "Be kind.\n");
    files.write("protocol.md", "Be brief.");
    assert_eq!(files.wait(|live| prompt(live) == "Be brief.\n").await.notice, None);
}

#[tokio::test]
async fn prompt_in_a_folder_that_appears_later_is_noticed() {
    let mut files = Files::new(&[("config.json", r#"{"prompts_path": "."}"#)]);
    std::fs::create_dir(files.folder.path().join("reminder")).unwrap();
    files.write("reminder/resume.md", "Continue.");
    files.wait(|live| live.config.prompts.text(Prompt::Resume) == "Continue.\n").await;
    files.write("reminder/resume.md", "Continue quickly.");
    files.wait(|live| live.config.prompts.text(Prompt::Resume) == "Continue quickly.\n").await;
}

#[tokio::test]
async fn restart_keys_are_named_and_not_applied() {
    let mut files = Files::new(&[("config.json", r#"{"db_path": "one.db"}"#)]);
    files.write("config.json", r#"{"db_path": "two.db", "max_parallel_agents": 7}"#);
    let live = files.wait(|live| live.config.max_parallel_agents == 7).await;
    assert_eq!(live.config.db_path, files.folder.path().join("one.db"));
    assert_eq!(live.notice.as_deref(), Some("Restart vibe-relay to apply the new db_path."));
}

#[test]
fn missing_prompt_is_an_error_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.json");
    std::fs::write(&file, r#"{"agents": {"planner": {"system_prompt_file": "planner.md"}}}"#).unwrap();
    let Err(error) = Reload::load(Some(&file)) else { panic!("the prompt does not exist") };
    assert!(full_text(&error).contains("planner.md"), "{error}");
}

#[tokio::test]
async fn secret_of_a_webhook_is_read_and_checked() {
    let config = r#"{"webhooks": [{"url": "https://example.org", "secret_file": "secret"}]}"#;
    let mut files = Files::new(&[("config.json", config), ("secret", "0123456789abcdef\n")]);
    let secret = |live: &LiveConfig| live.config.webhooks[0].secret.expose().to_owned();
    assert_eq!(secret(&files.live.borrow()), "0123456789abcdef");
    files.write("secret", "short");
    let notice = files.wait(|live| live.notice.is_some()).await.notice.unwrap();
    assert!(notice.contains("secret of a webhook") && notice.contains("at least 16 characters"), "{notice}");
    files.write("secret", "fedcba9876543210");
    files.wait(|live| secret(live) == "fedcba9876543210").await;
}
