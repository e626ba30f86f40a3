//! A real browser with a person's hands and eyes: chromium, driven through chromedriver. Whatever is asked of it waits until the page is
//! ready for it. It must know no page of the product.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::error::CmdError;
use fantoccini::key::Key;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::Instant;

/// How long a page may take: machines are slow, and only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(180);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How long the pointer takes for a way, so that it passes what lies between.
const GLIDE: Duration = Duration::from_millis(100);

/// Nothing that the browser would do by itself, and no sandbox, which root in a container cannot have.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
];

/// What a machine lacks for a browser.
#[derive(Debug, thiserror::Error)]
#[error("the browser tests need {0} in PATH: on Debian run `apt-get install chromium chromium-driver`, whose versions belong together")]
pub struct Missing(&'static str);

fn find(names: &[&str], what: &'static str) -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file()).ok_or(Missing(what))
}

/// A running chromedriver. Dropping it ends it and its browser.
#[derive(Debug)]
struct Driver {
    process: Child,
    url: String,
    /// Kept open: a driver that cannot write ends.
    _output: Lines<BufReader<ChildStdout>>,
    /// All that browser and driver leave behind.
    folder: TempDir,
}

impl Driver {
    async fn start() -> io::Result<Self> {
        let program = find(&["chromedriver"], "chromedriver").map_err(io::Error::other)?;
        let folder = tempfile::tempdir()?;
        #[expect(clippy::disallowed_methods, reason = "a test starts a browser")]
        let mut command = Command::new(program);
        command.arg("--port=0").env("HOME", folder.path()).env("TMPDIR", folder.path()).current_dir(folder.path());
        // Its group holds the browser too, which would outlive a driver that is killed.
        let mut process = command.process_group(0).kill_on_drop(true).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = process.stdout.take().map(BufReader::new).map(AsyncBufReadExt::lines);
        let mut output = output.ok_or_else(|| io::Error::other("no output"))?;
        let port = loop {
            let line = output.next_line().await?.ok_or_else(|| io::Error::other("chromedriver ended before it listened"))?;
            if let Some(port) = line.strip_prefix("ChromeDriver was started successfully on port ") {
                break port.trim_end_matches('.').to_owned();
            }
        };
        Ok(Self { process, url: format!("http://127.0.0.1:{port}"), _output: output, folder })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(group) = self.process.id().and_then(|id| i32::try_from(id).ok()) {
            let _ended_already = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }
}

/// A browser with one window and a profile of its own.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    /// The address of its session, for what the client does not know.
    session: String,
    raw: reqwest::Client,
    _driver: Driver,
}

impl Browser {
    /// Opens an empty window.
    ///
    /// # Errors
    /// Chromium or chromedriver is missing, or does not start.
    pub async fn open() -> io::Result<Self> {
        let binary = find(&["chromium", "chromium-browser", "google-chrome"], "chromium").map_err(io::Error::other)?;
        let driver = Driver::start().await?;
        let mut arguments: Vec<String> = ARGUMENTS.map(str::to_owned).into();
        arguments.push(format!("--user-data-dir={}", driver.folder.path().join("profile").display()));
        let wanted = json!({
            "goog:chromeOptions": { "binary": binary, "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(wanted.as_object().cloned().unwrap_or_default());
        let client = builder.connect(&driver.url).await.map_err(io::Error::other)?;
        let id = client.session_id().await.map_err(io::Error::other)?.unwrap_or_default();
        Ok(Self { client, session: format!("{}/session/{id}", driver.url), raw: reqwest::Client::new(), _driver: driver })
    }

    /// # Panics
    /// The address does not answer.
    pub async fn goto(&self, url: &str) {
        self.wait(&format!("{url} is open"), async || self.client.goto(url).await).await;
    }

    /// What a JavaScript expression is worth in the page.
    ///
    /// # Panics
    /// It is not valid.
    pub async fn read(&self, expression: &str) -> Value {
        let value = self.client.execute(&format!("return {expression}"), Vec::new()).await;
        value.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Waits until a JavaScript expression is true in the page.
    ///
    /// # Panics
    /// It does not become so.
    pub async fn until(&self, what: &str, expression: &str) {
        let script = format!("return Boolean({expression})");
        let look = async || match self.client.execute(&script, Vec::new()).await? {
            Value::Bool(true) => Ok(()),
            _ => Err(CmdError::WaitTimeout),
        };
        self.wait(what, look).await;
    }

    /// Waits until an element that `selector` finds shows these words.
    ///
    /// # Panics
    /// None does.
    pub async fn shows(&self, selector: &str, words: &str) {
        let (selector, quoted) = (json!(selector), json!(words));
        let expression = format!("[...document.querySelectorAll({selector})].some((one) => one.innerText.includes({quoted}))");
        self.until(&format!("{selector} shows {quoted}"), &expression).await;
    }

    /// Waits until `selector` finds something.
    ///
    /// # Panics
    /// It does not.
    pub async fn has(&self, selector: &str) {
        self.until(&format!("there is {selector}"), &format!("document.querySelector({})", json!(selector))).await;
    }

    /// Waits until `selector` finds nothing.
    ///
    /// # Panics
    /// It does.
    pub async fn lacks(&self, selector: &str) {
        self.until(&format!("there is no {selector}"), &format!("!document.querySelector({})", json!(selector))).await;
    }

    /// Clicks on the button, link or menu item of this name.
    ///
    /// # Panics
    /// There is none that can be clicked.
    pub async fn press(&self, name: &str) {
        let path = format!("//*[self::button or self::a or @role='menuitem'][normalize-space()=\"{name}\" or @aria-label=\"{name}\"]");
        let press = async || self.client.find(Locator::XPath(&path)).await?.click().await;
        self.wait(&format!("{name:?} is pressed"), press).await;
    }

    /// Clicks on the first element that `selector` finds.
    ///
    /// # Panics
    /// There is none that can be clicked.
    pub async fn click(&self, selector: &str) {
        let click = async || self.client.find(Locator::Css(selector)).await?.click().await;
        self.wait(&format!("{selector} is clicked"), click).await;
    }

    /// Types into a field, in place of what it holds.
    ///
    /// # Panics
    /// There is no such field.
    pub async fn fill(&self, selector: &str, text: &str) {
        let keys = format!("{}a{}{text}", Key::Control, Key::Null);
        let fill = async || self.client.find(Locator::Css(selector)).await?.send_keys(&keys).await;
        self.wait(&format!("{selector} is filled"), fill).await;
    }

    /// Types where the focus is.
    ///
    /// # Panics
    /// The focus does not take it.
    pub async fn keys(&self, keys: &str) {
        self.wait(&format!("{keys:?} is typed"), async || self.client.active_element().await?.send_keys(keys).await).await;
    }

    /// Takes one element with the pointer and carries it over another, without letting go.
    ///
    /// # Panics
    /// One of them is not there.
    pub async fn carry(&self, from: &str, to: &str) {
        let from = self.wait(from, async || self.client.find(Locator::Css(from)).await).await;
        let to = self.wait(to, async || self.client.find(Locator::Css(to)).await).await;
        let over = |element: Element| PointerAction::MoveToElement { element, duration: Some(GLIDE), x: 0.0, y: 0.0 };
        let path = pointer().then(over(from)).then(PointerAction::Down { button: MOUSE_BUTTON_LEFT }).then(over(to));
        self.act(path).await;
    }

    /// Lets go of what the pointer carries.
    ///
    /// # Panics
    /// The browser does not answer.
    pub async fn drop_here(&self) {
        self.act(pointer().then(PointerAction::Up { button: MOUSE_BUTTON_LEFT })).await;
    }

    async fn act(&self, path: MouseActions) {
        let done = self.client.perform_actions(path).await;
        done.unwrap_or_else(|error| panic!("the pointer cannot go there: {error}"));
    }

    /// Makes the window as small or large as a device, in pixels.
    ///
    /// # Panics
    /// The browser refuses.
    pub async fn resize(&self, width: u32, height: u32) {
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.ask("goog/cdp/execute", Some(&json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": params }))).await;
    }

    /// Errors that the browser's console reported since it was last asked.
    ///
    /// # Panics
    /// The browser does not answer.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.ask("se/log", Some(&json!({ "type": "browser" }))).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().filter(|entry| entry["level"] == "SEVERE").map(|entry| entry["message"].to_string()).collect()
    }

    /// What the browser tells a screen reader to call each element that `selector` finds and that can be seen.
    ///
    /// # Panics
    /// The browser does not answer.
    pub async fn names(&self, selector: &str) -> Vec<String> {
        // What is drawn anew meanwhile is read again from the beginning.
        let read = async || {
            let mut names = Vec::new();
            for element in self.client.find_all(Locator::Css(selector)).await? {
                if element.is_displayed().await? {
                    let name = self.try_ask(&format!("element/{}/computedlabel", element.element_id()), None).await;
                    names.push(name.map_err(|_| CmdError::WaitTimeout)?.as_str().unwrap_or_default().to_owned());
                }
            }
            Ok(names)
        };
        self.wait(&format!("{selector} are named"), read).await
    }

    /// A request of chromedriver that the client does not know.
    async fn ask(&self, path: &str, body: Option<&Value>) -> Value {
        self.try_ask(path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    async fn try_ask(&self, path: &str, body: Option<&Value>) -> reqwest::Result<Value> {
        let url = format!("{}/{path}", self.session);
        let request = body.map_or_else(|| self.raw.get(&url), |body| self.raw.post(&url).json(body));
        let mut answer = request.send().await?.error_for_status()?.json::<Value>().await?;
        Ok(answer["value"].take())
    }

    /// Tries until it succeeds: the page may be drawn anew at any moment.
    async fn wait<T>(&self, what: &str, attempt: impl AsyncFn() -> Result<T, CmdError>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match attempt().await {
                Ok(done) => return done,
                Err(error) if Instant::now() > deadline => {
                    let page = self.client.execute("return document.body.innerText", Vec::new()).await;
                    panic!("waited until {what}: {error}; the page says {page:?}");
                }
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }
}

/// One pointer for all actions: what it carries is remembered from one to the next.
fn pointer() -> MouseActions {
    MouseActions::new("mouse".to_owned())
}
