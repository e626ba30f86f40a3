//! A chart of values by day: bars on each other, or points on lines. Its values are a table too.
//!
//! Must not know what the values mean.

use leptos::prelude::*;

use crate::components::badge::Tone;

/// The units of the drawing, which is stretched to its place.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;
/// The part of a day that its bar fills.
const FILL: f64 = 0.7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The series of a day stand on each other.
    Bars,
    /// Each series is a line through its days that have a value.
    Lines,
}

/// The values of one role, one for each day.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) label: &'static str,
    pub(crate) tone: Tone,
    pub(crate) values: Vec<Option<f64>>,
}

#[derive(Debug, Clone)]
pub(crate) struct ChartData {
    pub(crate) title: &'static str,
    pub(crate) note: &'static str,
    pub(crate) shape: Shape,
    pub(crate) days: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// The steps at which an axis may end, from the smallest.
    pub(crate) steps: &'static [f64],
    pub(crate) format: fn(f64) -> String,
}

/// A rectangle of the drawing, with its day and its series.
#[derive(Debug, Clone, PartialEq)]
struct Bar {
    day: usize,
    series: usize,
    x: f64,
    y: f64,
    height: f64,
}

impl ChartData {
    fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.values.iter().all(|value| value.is_none_or(|value| value <= 0.0)))
    }

    /// The end of the axis: the first step that no day exceeds.
    fn top(&self) -> f64 {
        let of_day = |day: usize| {
            let values = self.series.iter().filter_map(|series| series.values.get(day).copied().flatten());
            if self.shape == Shape::Bars { values.sum() } else { values.fold(0.0, f64::max) }
        };
        let highest = (0..self.days.len()).map(of_day).fold(0.0, f64::max);
        self.steps.iter().copied().find(|step| *step >= highest).unwrap_or_else(|| round_up(highest))
    }

    /// The middle of a day, from the left.
    #[expect(clippy::cast_precision_loss, reason = "days fit into f64")]
    fn middle(&self, day: usize) -> f64 {
        WIDTH * (day as f64 + 0.5) / self.days.len().max(1) as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "days fit into f64")]
    fn bar_width(&self) -> f64 {
        FILL * WIDTH / self.days.len().max(1) as f64
    }

    fn bars(&self) -> Vec<Bar> {
        let top = self.top();
        let mut bars = Vec::new();
        for day in 0..self.days.len() {
            let mut below = HEIGHT;
            for (index, series) in self.series.iter().enumerate() {
                let Some(value) = series.values.get(day).copied().flatten().filter(|value| *value > 0.0) else { continue };
                let height = HEIGHT * value / top;
                below -= height;
                bars.push(Bar { day, series: index, x: self.middle(day) - self.bar_width() / 2.0, y: below, height });
            }
        }
        bars
    }

    /// The points of a line, with the days that have a value.
    fn points(&self, series: &Series) -> Vec<(usize, f64, f64)> {
        let top = self.top();
        let point = |(day, value): (usize, &Option<f64>)| value.map(|value| (day, self.middle(day), HEIGHT - HEIGHT * value / top));
        series.values.iter().enumerate().filter_map(point).collect()
    }
}

/// The next number with one digit before its zeros: 1, 2 or 5.
fn round_up(value: f64) -> f64 {
    let mut step = 1.0;
    while step < value {
        step *= 10.0;
    }
    [step / 5.0, step / 2.0].into_iter().find(|smaller| *smaller >= value && *smaller >= 1.0).unwrap_or(step)
}

#[component]
pub(crate) fn Chart(data: ChartData) -> impl IntoView {
    let ChartData { title, note, format, .. } = data;
    let legend = data.series.iter().map(|series| view! { <li class="role" data-tone=series.tone.as_str()>{series.label}</li> }).collect_view();
    let body = if data.is_empty() { view! { <p class="faint small-text">"Nothing yet."</p> }.into_any() } else { plot(&data).into_any() };
    view! {
        <figure class="chart box">
            <figcaption>
                <h3>{title}</h3>
                <p class="faint">{note}</p>
                <ul class="row">{legend}</ul>
            </figcaption>
            {body}
            {(!data.is_empty()).then(|| table(title, &data, format))}
        </figure>
    }
    .into_any()
}

fn plot(data: &ChartData) -> AnyView {
    let label = format!("{} by day and role. The table below has the values.", data.title);
    let (top, first, last) = (data.top(), data.days.first().cloned(), data.days.last().cloned());
    let marks = match data.shape {
        Shape::Bars => data.bars().into_iter().map(|bar| bar_view(data, &bar)).collect::<Vec<AnyView>>(),
        Shape::Lines => data.series.iter().map(|series| line_view(data, series)).collect(),
    };
    view! {
        <div class="chart-plot">
            <div class="chart-axis" aria-hidden="true">
                <span>{(data.format)(top)}</span>
                <span>{(data.format)(top / 2.0)}</span>
                <span>{(data.format)(0.0)}</span>
            </div>
            <svg viewBox=format!("0 0 {WIDTH} {HEIGHT}") preserveAspectRatio="none" role="img" aria-label=label>
                <path class="chart-grid" d=format!("M0 0.5H{WIDTH}M0 {}H{WIDTH}M0 {}H{WIDTH}", HEIGHT / 2.0, HEIGHT - 0.5)></path>
                {marks}
            </svg>
            <div class="chart-days" aria-hidden="true">
                <span>{first}</span>
                <span>{last}</span>
            </div>
        </div>
    }
    .into_any()
}

fn bar_view(data: &ChartData, bar: &Bar) -> AnyView {
    let series = &data.series[bar.series];
    let value = series.values[bar.day].unwrap_or_default();
    let title = format!("{}, {}: {}", data.days[bar.day], series.label, (data.format)(value));
    view! {
        <rect data-tone=series.tone.as_str() x=number(bar.x) y=number(bar.y) width=number(data.bar_width()) height=number(bar.height)>
            <title>{title}</title>
        </rect>
    }
    .into_any()
}

fn line_view(data: &ChartData, series: &Series) -> AnyView {
    let points = data.points(series);
    let path: String =
        points.iter().enumerate().map(|(index, (_, x, y))| format!("{}{} {}", if index == 0 { 'M' } else { 'L' }, number(*x), number(*y))).collect();
    // A line of no length with a round end is a dot, however the drawing is stretched.
    let dots = points.iter().map(|(day, x, y)| {
        let title = format!("{}, {}: {}", data.days[*day], series.label, (data.format)(series.values[*day].unwrap_or_default()));
        view! {
            <path class="chart-dot" d=format!("M{} {}h0.01", number(*x), number(*y))>
                <title>{title}</title>
            </path>
        }
    });
    view! {
        <g data-tone=series.tone.as_str()>
            <path class="chart-line" d=path></path>
            {dots.collect_view()}
        </g>
    }
    .into_any()
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}

/// The values, newest day first, without the days that have none.
fn table(title: &'static str, data: &ChartData, format: fn(f64) -> String) -> AnyView {
    let heads = data.series.iter().map(|series| view! { <th scope="col">{series.label}</th> }).collect_view();
    let has_value = |day: &usize| data.series.iter().any(|series| series.values.get(*day).copied().flatten().is_some());
    let days = (0..data.days.len()).rev().filter(has_value);
    let rows = days.map(|day| {
        let cell = |series: &Series| view! { <td>{series.values.get(day).copied().flatten().map(format)}</td> };
        view! {
            <tr>
                <th scope="row">{data.days[day].clone()}</th>
                {data.series.iter().map(cell).collect_view()}
            </tr>
        }
    });
    view! {
        <details class="pad">
            <summary class="small-text soft">"Show as a table"</summary>
            <div class="chart-table" role="region" tabindex="0" aria-label=format!("{title} as a table")>
                <table>
                    <caption class="visually-hidden">{title}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Day (UTC)"</th>
                            {heads}
                        </tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(shape: Shape, values: [[Option<f64>; 2]; 2]) -> ChartData {
        let series = values.map(|values| Series { label: "Coder", tone: Tone::Live, values: values.to_vec() });
        let days = vec!["2026-01-01".to_owned(), "2026-01-02".to_owned()];
        ChartData { title: "Cost", note: "", shape, days, series: series.to_vec(), steps: &[3.0, 8.0], format: |value| format!("{value}") }
    }

    #[test]
    fn bars_of_a_day_stand_on_each_other() {
        let chart = data(Shape::Bars, [[Some(2.0), None], [Some(4.0), Some(8.0)]]);
        assert!((chart.top() - 8.0).abs() < f64::EPSILON);
        let bars: Vec<_> = chart.bars().into_iter().map(|bar| (bar.day, bar.series, bar.y, bar.height)).collect();
        assert_eq!(bars, [(0, 0, 150.0, 50.0), (0, 1, 50.0, 100.0), (1, 1, 0.0, 200.0)]);
    }

    #[test]
    fn lines_skip_days_without_a_value() {
        let chart = data(Shape::Lines, [[None, Some(3.0)], [Some(0.0), None]]);
        assert!((chart.top() - 3.0).abs() < f64::EPSILON, "lines are not added up");
        assert_eq!(chart.points(&chart.series[0]), [(1, 750.0, 0.0)]);
        assert_eq!(chart.points(&chart.series[1]), [(0, 250.0, 200.0)]);
        assert!(data(Shape::Bars, [[None; 2]; 2]).is_empty());
    }

    #[test]
    fn axis_beyond_its_steps_ends_at_a_round_number() {
        assert_eq!([0.4, 1.0, 3.0, 12.0, 60.0, 100.0].map(round_up), [1.0, 1.0, 5.0, 20.0, 100.0, 100.0]);
    }
}
