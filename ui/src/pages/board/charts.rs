//! The charts of a project: cost, tokens, finished tasks, and how long they took, by role and day.

use std::time::Duration;

use domain::board::statistics::{DayStatistics, ProjectStatistics};
use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::{money, tokens};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::{phase_label, phase_tone};
use crate::components::chart::{Chart, ChartData, Series, Shape};
use crate::components::inline_code::sentence;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::store::Store;
use crate::time::span;

/// While agents work, their usage changes every few seconds.
const INTERVAL: Duration = Duration::from_secs(5);

/// Ends of an axis of amounts in US dollars.
const DOLLARS: [f64; 10] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];
const COUNTS: [f64; 4] = [2.0, 4.0, 6.0, 10.0];
/// Ends of an axis of times, in seconds.
const TIMES: [f64; 14] =
    [60.0, 120.0, 300.0, 600.0, 1_200.0, 1_800.0, 3_600.0, 7_200.0, 14_400.0, 28_800.0, 43_200.0, 86_400.0, 172_800.0, 345_600.0];

#[component]
pub(crate) fn ChartsPage() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let statistics = LiveList::new(store.revision_of(ListKind::Usage), |_| false, move || client.statistics(data.project())).every(INTERVAL).watch();
    let content = move || match (statistics.value.get(), statistics.failure.get()) {
        (Some(statistics), _) => charts(&statistics).into_iter().map(|data| view! { <Chart data=data /> }).collect_view().into_any(),
        (None, Some(why)) => view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> }.into_any(),
        (None, None) => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
    };
    view! {
        <div class="page charts-page">
            <div class="page-head">
                <h2>"Charts"</h2>
                <span class="faint small-text">"The last 30 days, by role. Days are in UTC."</span>
            </div>
            <div class="charts">{content}</div>
        </div>
    }
}

fn charts(statistics: &ProjectStatistics) -> Vec<ChartData> {
    let days = statistics.all_days();
    let chart = |title, note, shape, steps, format, value: fn(&DayStatistics) -> Option<f64>| ChartData {
        title,
        note,
        shape,
        days: days.clone(),
        series: series(statistics, &days, value),
        steps,
        format,
    };
    vec![
        chart("Cost", "The cost of all agents.", Shape::Bars, &DOLLARS, dollars, |day| positive(amount(day.usage.cost_micro_usd) / 1e6)),
        chart("Tokens", "Read and written by models.", Shape::Bars, &[], token_count, |day| positive(amount(day.usage.tokens()))),
        chart("Finished tasks", "A task that was reopened counts again.", Shape::Bars, &COUNTS, count, |day| positive(f64::from(day.finished))),
        chart("Cycle time", "Average time from the first agent until the task was done.", Shape::Lines, &TIMES, time, |day| {
            mean(day.cycle_seconds, day)
        }),
        chart("Waiting time", "Average share of the cycle time without an agent.", Shape::Lines, &TIMES, time, |day| mean(day.wait_seconds, day)),
    ]
}

/// The values of the roles that have any, for each day.
fn series(statistics: &ProjectStatistics, days: &[String], value: fn(&DayStatistics) -> Option<f64>) -> Vec<Series> {
    let of_role = |phase: &AgentKind| {
        let of_day = |day: &String| statistics.days.iter().find(|known| known.day == *day && known.phase == *phase).and_then(value);
        let values: Vec<Option<f64>> = days.iter().map(of_day).collect();
        values.iter().any(Option::is_some).then(|| Series { label: phase_label(*phase), tone: phase_tone(*phase), values })
    };
    AgentKind::ALL.iter().filter_map(of_role).collect()
}

fn mean(seconds: i64, day: &DayStatistics) -> Option<f64> {
    (day.timed > 0).then(|| amount(seconds) / f64::from(day.timed))
}

fn positive(value: f64) -> Option<f64> {
    Some(value).filter(|value| *value > 0.0)
}

#[expect(clippy::cast_precision_loss, reason = "sums of a day fit into f64")]
fn amount(value: i64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, reason = "values of an axis are small")]
fn whole(value: f64) -> i64 {
    value.round() as i64
}

fn dollars(value: f64) -> String {
    money(whole(value * 1e6)).unwrap_or_else(|| "$0".to_owned())
}

fn token_count(value: f64) -> String {
    tokens(whole(value))
}

fn count(value: f64) -> String {
    whole(value).to_string()
}

fn time(value: f64) -> String {
    span(Duration::from_secs(whole(value).unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_have_a_series_for_each_role_with_values() {
        let (coder, reviewer) = (AgentKind::ALL[1], AgentKind::ALL[2]);
        let mut first = DayStatistics::of("2026-01-01".to_owned(), coder);
        (first.usage.cost_micro_usd, first.finished, first.timed, first.cycle_seconds) = (2_500_000, 3, 2, 600);
        let mut second = DayStatistics::of("2026-01-02".to_owned(), reviewer);
        second.usage.input_tokens = 40;
        let statistics = ProjectStatistics { since: "2026-01-01".to_owned(), until: "2026-01-02".to_owned(), days: vec![first, second] };
        let charts = charts(&statistics);
        let values = |title: &str| {
            let chart = charts.iter().find(|chart| chart.title == title).unwrap();
            chart.series.iter().map(|series| (series.label, series.values.clone())).collect::<Vec<_>>()
        };
        assert_eq!(values("Cost"), [("Coder", vec![Some(2.5), None])]);
        assert_eq!(values("Tokens"), [("Reviewer", vec![None, Some(40.0)])]);
        assert_eq!(values("Finished tasks"), [("Coder", vec![Some(3.0), None])]);
        assert_eq!(values("Cycle time"), [("Coder", vec![Some(300.0), None])]);
        assert_eq!(values("Waiting time"), [("Coder", vec![Some(0.0), None])]);
        assert_eq!((dollars(2.5), time(300.0), count(2.0)), ("$2.50".to_owned(), "5m 00s".to_owned(), "2".to_owned()));
    }
}
