//! Figures for a monitoring system, in the text format of Prometheus. Its scrape job sends a person's token, as every other program does,
//! because the figures tell what people work on; the token of a viewer suffices.

use std::fmt::{Display, Write};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use db::Figures;
use domain::board::status::Status;
use domain::event::Seq;
use domain::runs::agent_kind::AgentKind;
use domain::runs::parking::{ParkReason, Parking};
use domain::runs::run::Run;
use domain::runs::tick::Ticks;

use crate::error::Result;
use crate::state::AppState;

/// The version of the text format.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Get figures for Prometheus
#[utoipa::path(get, path = "/metrics", responses((status = 200, body = String, content_type = "text/plain")))]
pub(crate) async fn get_metrics(State(state): State<AppState>) -> Result<impl IntoResponse> {
    let (figures, live, parked) = (state.db.figures().await?, state.db.live_runs().await?, state.db.parkings().await?);
    let text = text(&figures, &live, &parked, state.db.latest(), *state.ticks.borrow());
    Ok(([(CONTENT_TYPE, TEXT_FORMAT)], text))
}

fn text(figures: &Figures, live: &[Run], parked: &[Parking], seq: Seq, ticks: Ticks) -> String {
    let mut text = Metrics::default();
    text.add("info", "gauge", "The version of the server.", [(Some(("version", env!("CARGO_PKG_VERSION"))), 1)]);
    let tasks = Status::ALL.iter().map(|status| (Some(("status", status.as_str())), figures.tasks.get(status).copied().unwrap_or(0)));
    text.add("tasks", "gauge", "Tasks by status.", tasks);
    text.add("tasks_needing_attention", "gauge", "Tasks that wait for a person.", [(None, figures.needing_attention)]);
    let runs = AgentKind::ALL.iter().map(|kind| (Some(("phase", kind.as_str())), live.iter().filter(|run| run.phase == *kind).count()));
    text.add("live_runs", "gauge", "Agents at work by kind.", runs);
    let reasons = ParkReason::ALL.iter().map(|reason| {
        let is_parked = parked.iter().any(|parking| parking.reason == *reason);
        (Some(("reason", reason.as_str())), u8::from(is_parked))
    });
    text.add("parked", "gauge", "1 while no agents are started for this reason.", reasons);
    text.add("events_total", "counter", "Changes of the board since it was created.", [(None, seq)]);
    text.add("runner_ticks_total", "counter", "Passes of the runner since the server started.", [(None, ticks.count)]);
    let seconds = |at: domain::time::Timestamp| at.milliseconds() / 1000;
    text.add("runner_start_time_seconds", "gauge", "When the runner started.", [(None, seconds(ticks.since))]);
    let last = ticks.last_at.map(|at| (None, seconds(at)));
    text.add("runner_last_tick_time_seconds", "gauge", "When the runner last passed; at most 30 s ago while it works.", last);
    text.0
}

#[derive(Default)]
struct Metrics(String);

impl Metrics {
    /// Adds one metric with its values, each with a label or without.
    fn add<V: Display>(&mut self, name: &str, kind: &str, help: &str, values: impl IntoIterator<Item = (Option<(&'static str, &'static str)>, V)>) {
        let mut lines = format!("# HELP vibe_relay_{name} {help}\n# TYPE vibe_relay_{name} {kind}\n");
        for (label, value) in values {
            let label = label.map(|(key, value)| format!("{{{key}=\"{value}\"}}")).unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "vibe_relay_{name}{label} {value}");
        }
        self.0 += &lines;
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn figures_are_in_the_text_format() {
        let at = |seconds: i64| Timestamp::from_milliseconds(seconds * 1000 + 1);
        let figures = Figures { tasks: [(Status::Backlog, 2), (Status::Done, 40)].into(), needing_attention: 1 };
        let parked = [Parking { reason: ParkReason::RateLimited, since: at(8), until: at(9), detail: "x".to_owned(), failed_probes: 0 }];
        let mut ticks = Ticks::new(at(100));
        ticks.record(at(160));
        insta::assert_snapshot!(text(&figures, &[], &parked, 77, ticks));
    }
}
