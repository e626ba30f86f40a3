//! The session of a browser without the browser: its cookie, which every port of the host receives, and its key, which only the board's page has.

use std::io;

use domain::team::browser_session::{SESSION_KEY_FRAGMENT, SESSION_KEY_HEADER};
use domain::wire::BOARD_HOST;
use reqwest::header::{HOST, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};

use crate::server::TestServer;

#[derive(Debug, Clone)]
pub struct Session {
    /// The value of the header `Cookie`.
    pub cookie: String,
    pub key: String,
}

impl Session {
    /// Opens the sign-in link of a server as a browser on this machine does.
    ///
    /// # Errors
    /// The server does not answer, or refuses the link.
    pub async fn open(server: &TestServer) -> io::Result<Self> {
        let client = Client::builder().redirect(Policy::none()).build().map_err(io::Error::other)?;
        // Some machines do not resolve names below `localhost`.
        let address = server.sign_in_link.replacen(&server.board_url(), &server.url, 1);
        let request = client.get(address).header(HOST, format!("{BOARD_HOST}:{}", server.port()));
        Self::of_response(&request.send().await.map_err(io::Error::other)?)
    }

    /// The session that a response to a sign-in link opens.
    ///
    /// # Errors
    /// It opens none.
    pub fn of_response(response: &Response) -> io::Result<Self> {
        let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let key = text(LOCATION).split_once(&format!("#{SESSION_KEY_FRAGMENT}")).map(|(_, key)| key.to_owned());
        let cookie = text(SET_COOKIE).split(';').next().unwrap_or_default().to_owned();
        key.map(|key| Self { cookie, key }).ok_or_else(|| io::Error::other(format!("no session: {response:?}")))
    }

    /// The headers that a request of the board's page carries.
    pub fn headers(&self) -> [(&'static str, String); 2] {
        [("cookie", self.cookie.clone()), (SESSION_KEY_HEADER, self.key.clone())]
    }
}
