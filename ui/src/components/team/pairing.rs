//! The dialog that pairs a phone: the name of the device, then the QR code of its link.
//!
//! Must not know how the code is drawn; the server sends it as an image.

use domain::team::pairing::{DEFAULT_DEVICE, MAX_DEVICE, NewPairing, Pairing};
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::copy_button::CopyField;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text};
use crate::time::Clock;

/// The key that the configuration file needs first.
const ALLOWED_HOSTS: &str = r#""allowed_hosts": ["desk.example.org"]"#;

#[component]
pub(crate) fn PairDialog(
    /// Notified when the dialog closes, because the phone may have signed in.
    changed: Trigger,
    close: Callback<()>,
) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let hosts = ServerStatus::from_context().server.with_untracked(|server| server.as_ref().map(|server| server.allowed_hosts.clone()));
    let hosts = StoredValue::new(hosts.unwrap_or_default());
    let device = RwSignal::new(DEFAULT_DEVICE.to_owned());
    let host = RwSignal::new(hosts.with_value(|hosts| hosts.first().cloned().unwrap_or_default()));
    let pairing = RwSignal::new(None::<Pairing>);
    let close = Callback::new(move |()| {
        changed.notify();
        close.run(());
    });
    let submit = Callback::new(move |()| {
        let new = NewPairing { device: Some(device.get_untracked()), host: Some(host.get_untracked()) };
        sending.run(client.pair(new), move |answer| pairing.set(Some(answer)));
    });
    let form = move || {
        view! {
            <Form verb="Show the code" ready=Signal::derive(move || has_text(device)) sending=sending submit=submit close=close>
                <TextField id="device-name" label="Name of the device" value=device max_length=u32::try_from(MAX_DEVICE).unwrap_or(u32::MAX) autofocus=true />
                {hosts.with_value(|hosts| (hosts.len() > 1).then(|| view! { <HostChoice hosts=hosts.clone() host=host /> }))}
                <p class="hint">"The phone shows what needs you. It is signed in for 30 days, and you can revoke it on this page."</p>
            </Form>
        }
        .into_any()
    };
    let content = move || match pairing.get() {
        _ if hosts.with_value(Vec::is_empty) => view! { <NoHost close=close /> }.into_any(),
        None => form(),
        Some(pairing) => view! { <Code pairing=pairing close=close /> }.into_any(),
    };
    view! { <Dialog title="Pair a phone" close=close>{content}</Dialog> }
}

#[component]
fn HostChoice(hosts: Vec<String>, host: RwSignal<String>) -> impl IntoView {
    let options = hosts.into_iter().map(|name| {
        let shown = name.clone();
        view! { <option value=name>{shown}</option> }
    });
    view! {
        <div class="field">
            <label for="device-host">"Address"</label>
            <select id="device-host" class="input" on:change:target=move |event| host.set(event.target().value())>{options.collect_view()}</select>
        </div>
    }
    .into_any()
}

/// The steps to an address that other devices reach.
#[component]
fn NoHost(close: Callback<()>) -> impl IntoView {
    view! {
        <p>"The board listens on this machine only. A phone reaches it through a proxy with HTTPS on this machine, such as Tailscale:"</p>
        <CopyField label="1. Let a proxy forward requests" text=format!("tailscale serve --bg {}", port()) />
        <CopyField label="2. Allow its name in the configuration file" text=ALLOWED_HOSTS.to_owned() />
        <p class="hint">"The running board rereads the file at once. Then open this dialog again."</p>
        <footer>
            <button type="button" class="button primary" autofocus on:click=move |_| close.run(())>"Done"</button>
        </footer>
    }
    .into_any()
}

/// The port of this page, as the proxy needs it.
fn port() -> String {
    window().location().port().ok().filter(|port| !port.is_empty()).unwrap_or_else(|| "9400".to_owned())
}

#[component]
fn Code(pairing: Pairing, close: Callback<()>) -> impl IntoView {
    let clock = Clock::from_context();
    let Pairing { device, link, svg, ends_at, .. } = pairing;
    let image = format!("data:image/svg+xml,{}", String::from(js_sys::encode_uri_component(&svg)));
    let has_ended = Memo::new(move |_| clock.now() >= ends_at);
    let validity = move || if has_ended.get() { "This code has expired. Open the dialog again." } else { "The code works once, within ten minutes." };
    view! {
        <p>{format!("Scan this with the camera of {device}.")}</p>
        <img class="qr" src=image alt="QR code of the link below" />
        <CopyField label="Link" text=link />
        <p class="hint" role="status">{validity}</p>
        <footer>
            <button type="button" class="button primary" autofocus on:click=move |_| close.run(())>"Done"</button>
        </footer>
    }
    .into_any()
}
