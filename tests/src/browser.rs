//! A real browser: chromium, driven through chromedriver. Every operation retries until the page is ready for it. It must not know any page
//! of the product.

mod emulation;
mod touch;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use fantoccini::actions::{Actions, InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
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

/// How long a page may take. Only a failing test waits this long.
const PAGE_TIMEOUT: Duration = Duration::from_secs(180);
/// How often a driver is started that ends at once.
const START_ATTEMPTS: u32 = 5;
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a pointer movement takes. It must not be zero, because the pointer has to pass over the elements in between.
const POINTER_DURATION: Duration = Duration::from_millis(100);

/// Disables background activity and the sandbox, because root in a container cannot use the sandbox.
const ARGUMENTS: [&str; 10] = [
    "--headless",
    // The pointer would press beside an element that slides into its place.
    "--force-prefers-reduced-motion",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
];

/// A program that the browser tests need and that is not installed.
#[derive(Debug, thiserror::Error)]
#[error("the browser tests need {0} in PATH: on Debian run `apt-get install chromium chromium-driver`, with matching versions")]
pub struct MissingProgram(&'static str);

fn find(names: &[&str], what: &'static str) -> Result<PathBuf, MissingProgram> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = names.iter().flat_map(|name| std::env::split_paths(&path).map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| candidate.is_file()).ok_or(MissingProgram(what))
}

/// A running chromedriver. Dropping it kills the driver and its browser.
#[derive(Debug)]
struct Driver {
    process: Child,
    url: String,
    /// Kept open because the driver exits when it cannot write.
    _output: Lines<BufReader<ChildStdout>>,
    /// All files of the browser and the driver.
    folder: TempDir,
}

impl Driver {
    /// Starts a driver. It takes a free port for IPv4 and then needs the same port for IPv6, and exits when another program has that one:
    /// it is started again.
    async fn start() -> io::Result<Self> {
        let program = find(&["chromedriver"], "chromedriver").map_err(io::Error::other)?;
        let mut attempt = 1;
        loop {
            match Self::try_start(&program).await {
                Err(_port_is_taken) if attempt < START_ATTEMPTS => attempt += 1,
                result => return result,
            }
        }
    }

    async fn try_start(program: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let errors = folder.path().join("stderr");
        #[expect(clippy::disallowed_methods, reason = "a test starts a browser")]
        let mut command = Command::new(program);
        command.arg("--port=0").env("HOME", folder.path()).env("TMPDIR", folder.path()).current_dir(folder.path());
        // The browser is in the same process group, because it would outlive a killed driver.
        command.process_group(0).kill_on_drop(true).stdout(Stdio::piped()).stderr(std::fs::File::create(&errors)?);
        let mut process = command.spawn()?;
        let output = process.stdout.take().map(BufReader::new).map(AsyncBufReadExt::lines);
        let mut output = output.ok_or_else(|| io::Error::other("no output"))?;
        let mut said = String::new();
        let port = loop {
            let Some(line) = output.next_line().await? else {
                let status = process.wait().await?;
                let errors = std::fs::read_to_string(&errors)?;
                return Err(io::Error::other(format!("chromedriver ended before it listened, {status}: {said}{errors}")));
            };
            if let Some(port) = line.strip_prefix("ChromeDriver was started successfully on port ") {
                break port.trim_end_matches('.').to_owned();
            }
            said.push_str(&line);
            said.push('\n');
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

/// A browser with one window and its own profile.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    /// The URL of its session, for requests that the client does not support.
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
    /// The page does not load.
    pub async fn goto(&self, url: &str) {
        self.wait(&format!("{url} is open"), async || self.client.goto(url).await).await;
    }

    /// Evaluates a JavaScript expression in the page.
    ///
    /// # Panics
    /// The expression fails.
    pub async fn evaluate(&self, expression: &str) -> Value {
        let value = self.client.execute(&format!("return {expression}"), Vec::new()).await;
        value.unwrap_or_else(|error| panic!("{expression}: {error}"))
    }

    /// Runs a script in every page before its own scripts.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn prepare(&self, script: &str) {
        let body = json!({ "cmd": "Page.addScriptToEvaluateOnNewDocument", "params": { "source": script } });
        self.call_driver("goog/cdp/execute", Some(&body)).await;
    }

    /// Runs a script in the page.
    ///
    /// # Panics
    /// The script fails.
    pub async fn run(&self, script: &str) {
        self.client.execute(script, Vec::new()).await.unwrap_or_else(|error| panic!("the script failed: {error}"));
    }

    /// Runs a script that passes its result to its last argument, a function.
    ///
    /// # Panics
    /// The script fails.
    pub async fn run_async(&self, script: &str) -> Value {
        self.client.execute_async(script, Vec::new()).await.unwrap_or_else(|error| panic!("the script failed: {error}"))
    }

    /// The visible part of the page as PNG.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn screenshot(&self) -> Vec<u8> {
        self.client.screenshot().await.unwrap_or_else(|error| panic!("no screenshot: {error}"))
    }

    /// Waits until a JavaScript expression is true in the page.
    ///
    /// # Panics
    /// The expression stays false.
    pub async fn until(&self, what: &str, expression: &str) {
        let script = format!("return Boolean({expression})");
        let check = async || match self.client.execute(&script, Vec::new()).await? {
            Value::Bool(true) => Ok(()),
            _ => Err(CmdError::WaitTimeout),
        };
        self.wait(what, check).await;
    }

    /// Waits until an element that matches `selector` contains this text.
    ///
    /// # Panics
    /// No such element appears.
    pub async fn shows(&self, selector: &str, text: &str) {
        let (selector, quoted) = (json!(selector), json!(text));
        let expression = format!("[...document.querySelectorAll({selector})].some((one) => one.innerText.includes({quoted}))");
        self.until(&format!("{selector} shows {quoted}"), &expression).await;
    }

    /// Waits until an element matches `selector`.
    ///
    /// # Panics
    /// No element matches.
    pub async fn has(&self, selector: &str) {
        self.until(&format!("{selector} exists"), &format!("document.querySelector({})", json!(selector))).await;
    }

    /// Waits until no element matches `selector`.
    ///
    /// # Panics
    /// An element still matches.
    pub async fn lacks(&self, selector: &str) {
        self.until(&format!("{selector} does not exist"), &format!("!document.querySelector({})", json!(selector))).await;
    }

    /// Clicks the button, link or menu item with this name, once it can be used.
    ///
    /// # Panics
    /// No such element can be clicked.
    pub async fn press(&self, name: &str) {
        let path = format!("//*[self::button or self::a or @role='menuitem'][normalize-space()=\"{name}\" or @aria-label=\"{name}\"]");
        let press = async || {
            // An element of the same name may be hidden, such as one that only a phone shows. A press of a disabled button would be lost
            // without an error.
            for element in self.client.find_all(Locator::XPath(&path)).await? {
                if element.is_displayed().await? && element.is_enabled().await? {
                    return element.click().await;
                }
            }
            Err(CmdError::WaitTimeout)
        };
        self.wait(&format!("{name:?} is pressed"), press).await;
    }

    /// Clicks the first element that matches `selector`, once it can be used.
    ///
    /// # Panics
    /// No such element can be clicked.
    pub async fn click(&self, selector: &str) {
        let click = async || {
            let element = self.client.find(Locator::Css(selector)).await?;
            if element.is_enabled().await? { element.click().await } else { Err(CmdError::WaitTimeout) }
        };
        self.wait(&format!("{selector} is clicked"), click).await;
    }

    /// Replaces the content of a field.
    ///
    /// # Panics
    /// The field does not exist.
    pub async fn fill(&self, selector: &str, text: &str) {
        let keys = format!("{}a{}{text}", Key::Control, Key::Null);
        let fill = async || self.client.find(Locator::Css(selector)).await?.send_keys(&keys).await;
        self.wait(&format!("{selector} is filled"), fill).await;
    }

    /// Types into the focused element.
    ///
    /// # Panics
    /// The focused element accepts no keys.
    pub async fn keys(&self, keys: &str) {
        self.wait(&format!("{keys:?} is typed"), async || self.client.active_element().await?.send_keys(keys).await).await;
    }

    /// Drags one element over another with the pointer, without dropping it.
    ///
    /// # Panics
    /// One of the elements does not exist.
    pub async fn drag_over(&self, from: &str, to: &str) {
        let over = |element: Element| PointerAction::MoveToElement { element, duration: Some(POINTER_DURATION), x: 0.0, y: 0.0 };
        let from = self.wait(from, async || self.still(from).await).await;
        self.perform(pointer().then(over(from)).then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })).await;
        let to = self.wait(to, async || self.client.find(Locator::Css(to)).await).await;
        self.perform(pointer().then(over(to))).await;
    }

    /// The element, when the layout does not move it: the pointer would press what comes in its place.
    async fn still(&self, selector: &str) -> Result<Element, CmdError> {
        let element = self.client.find(Locator::Css(selector)).await?;
        let before = element.rectangle().await?;
        tokio::time::sleep(POLL_INTERVAL).await;
        if element.rectangle().await? == before { Ok(element) } else { Err(CmdError::WaitTimeout) }
    }

    /// Drops the dragged element at the current position.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn drop_here(&self) {
        self.perform(pointer().then(PointerAction::Up { button: MOUSE_BUTTON_LEFT })).await;
    }

    async fn perform(&self, actions: impl Into<Actions>) {
        let performed = self.client.perform_actions(actions).await;
        performed.unwrap_or_else(|error| panic!("the pointer action failed: {error}"));
    }

    /// Gives the window the size of a device, in pixels.
    ///
    /// # Panics
    /// The browser rejects the size.
    pub async fn resize(&self, width: u32, height: u32) {
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call_driver("goog/cdp/execute", Some(&json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": params }))).await;
    }

    /// Errors in the browser's console since the last call.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.call_driver("se/log", Some(&json!({ "type": "browser" }))).await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        entries.iter().filter(|entry| entry["level"] == "SEVERE").map(|entry| entry["message"].to_string()).collect()
    }

    /// The accessible name of each visible element that matches `selector`.
    ///
    /// # Panics
    /// The browser does not respond.
    pub async fn names(&self, selector: &str) -> Vec<String> {
        // A redraw invalidates the elements, so the whole list is read again.
        let read = async || {
            let mut names = Vec::new();
            for element in self.client.find_all(Locator::Css(selector)).await? {
                if element.is_displayed().await? {
                    let name = self.try_call_driver(&format!("element/{}/computedlabel", element.element_id()), None).await;
                    names.push(name.map_err(|_| CmdError::WaitTimeout)?.as_str().unwrap_or_default().to_owned());
                }
            }
            Ok(names)
        };
        self.wait(&format!("{selector} are named"), read).await
    }

    /// Sends chromedriver a request that the client does not support.
    async fn call_driver(&self, path: &str, body: Option<&Value>) -> Value {
        self.try_call_driver(path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    async fn try_call_driver(&self, path: &str, body: Option<&Value>) -> reqwest::Result<Value> {
        let url = format!("{}/{path}", self.session);
        let request = body.map_or_else(|| self.raw.get(&url), |body| self.raw.post(&url).json(body));
        let mut response = request.send().await?.error_for_status()?.json::<Value>().await?;
        Ok(response["value"].take())
    }

    /// Retries until the attempt succeeds, because the page may be redrawn at any time.
    async fn wait<T>(&self, what: &str, attempt: impl AsyncFn() -> Result<T, CmdError>) -> T {
        let deadline = Instant::now() + PAGE_TIMEOUT;
        loop {
            match attempt().await {
                Ok(done) => return done,
                Err(error) if Instant::now() > deadline => {
                    let page = self.client.execute("return document.body.innerText", Vec::new()).await;
                    panic!("waited until {what}: {error}; the page shows {page:?}");
                }
                Err(_) => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    }
}

/// One pointer id for all actions, because chromedriver keeps its button pressed between them.
fn pointer() -> MouseActions {
    MouseActions::new("mouse".to_owned())
}
