//! Files of the server that the browser shows or saves itself: images, logs. A request that the browser makes for an address cannot have the
//! session key, so the board requests the file, and the browser gets the address of a copy in its memory.
//!
//! Must not know what a file is.

use std::time::Duration;

use gloo_net::http::Request;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, HtmlAnchorElement, Response, Url};

use super::{Client, Failure};

/// How long the copy of a file remains that another tab or the download reads.
const HANDOVER_TIME: Duration = Duration::from_secs(60);

/// A copy of a file in the memory of the browser, until it is dropped.
pub(crate) struct FileCopy {
    address: String,
}

impl FileCopy {
    /// The address of the copy, which is valid in this browser only.
    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    /// Keeps the copy for as long as its reader needs.
    fn hand_over(self) {
        set_timeout(move || drop(self), HANDOVER_TIME);
    }
}

impl Drop for FileCopy {
    fn drop(&mut self) {
        let _revoked = Url::revoke_object_url(&self.address);
    }
}

impl Client {
    /// Copies the file at `path`.
    pub(crate) async fn file(self, path: String) -> Result<FileCopy, Failure> {
        let response = Response::from(self.respond(Request::get(&path), None).await?);
        let blob = response.blob().map_err(unreadable)?.await.map_err(unreadable)?.unchecked_into::<Blob>();
        let address = Url::create_object_url_with_blob(&blob).map_err(unreadable)?;
        Ok(FileCopy { address })
    }

    /// Shows the file at `path` in a new tab.
    pub(crate) fn show_file(self, path: String) {
        // Browsers open a tab only at once after a click.
        let tab = window().open_with_url_and_target("", "_blank").ok().flatten();
        self.watch(self.file(path), move |file| match (tab, file) {
            (Some(tab), Ok(file)) => {
                let _shown = tab.location().set_href(&file.address());
                file.hand_over();
            }
            (Some(tab), Err(_)) => {
                let _closed = tab.close();
            }
            (None, _) => {}
        });
    }

    /// Saves the file at `path` under a name.
    pub(crate) fn save_file(self, path: String, name: String) {
        self.act(self.file(path), move |file| {
            let Ok(link) = document().create_element("a").map(JsCast::unchecked_into::<HtmlAnchorElement>) else { return };
            link.set_href(&file.address());
            link.set_download(&name);
            link.click();
            file.hand_over();
        });
    }
}

fn unreadable(_reason: JsValue) -> Failure {
    Failure::Unreachable("The server's answer could not be read.".to_owned())
}
