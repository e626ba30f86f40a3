//! The lines of a server that has started: its address, the sign-in link, and what a person should know. Must not refuse anything.

use std::path::Path;

use db::Db;
use domain::config::Config;

use crate::args::Serve;
use crate::{doctor, output};

/// Prints the address of the board. `lost_port` is the port that another program has, and the one in its place.
pub(super) fn announce(url: &str, log: &Path, lost_port: Option<(u16, u16)>) {
    // Scripts wait for this exact line.
    output::line(format!("listening on {url}"));
    output::line(format!("log {}", log.display()));
    if let Some((lost, port)) = lost_port {
        output::line(lost_port_warning(lost, port));
    }
}

/// The next start tries the lost port again, because people and programs keep its address.
fn lost_port_warning(lost: u16, port: u16) -> String {
    format!(
        "warning: another program has port {lost}, which the board had before, so the board listens on {port} this time; stop that program, which \
         `ss -ltnp 'sport = :{lost}'` names, and restart the board, or keep the new address with \"port\": {port} in the configuration"
    )
}

/// Prints the sign-in link and opens it in a browser, and says the obstacles: before the link if the command that started this process passes
/// the lines on, because that ends with the link.
pub(super) async fn offer_link(link: String, obstacles: impl Future<Output = ()>, options: Serve) {
    if options.detached {
        obstacles.await;
        open(&link, options.no_open);
    } else {
        open(&link, options.no_open);
        obstacles.await;
    }
}

fn open(link: &str, no_open: bool) {
    output::line(format!("open {link}"));
    if no_open {
        return;
    }
    if let Err(error) = runner::process::open_browser(link) {
        tracing::debug!(%error, "no browser was opened");
    }
}

/// Prints what keeps agents from starting, with the remedy. It may change while the server runs, so the server starts all the same.
pub(super) async fn say_obstacles(db: Db, config: Config) {
    let chosen = match db.chosen_sandbox().await {
        Ok(chosen) => chosen,
        Err(error) => return tracing::warn!(error = &error as &dyn std::error::Error, "the sandbox could not be read"),
    };
    for check in doctor::obstacles(&config, chosen).await {
        output::line(format!("warning: agents cannot start: {}", check.sentence()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_about_a_lost_port_names_both_ports_and_both_remedies() {
        let warning = lost_port_warning(9495, 9400);
        assert!(warning.contains("another program has port 9495") && warning.contains("listens on 9400 this time"), "{warning}");
        assert!(warning.contains("restart the board") && warning.ends_with("\"port\": 9400 in the configuration"), "{warning}");
    }
}
