//! Tables of figures by size, and checks of aims. It must not know what was measured.

use std::time::Duration;

/// Figures of operations (rows) at sizes (columns).
pub(crate) struct Table {
    heading: &'static str,
    sizes: Vec<usize>,
    rows: Vec<(&'static str, Vec<f64>)>,
}

impl Table {
    pub(crate) fn new(heading: &'static str, sizes: &[usize], rows: Vec<(&'static str, Vec<f64>)>) -> Self {
        Self { heading, sizes: sizes.to_vec(), rows }
    }

    pub(crate) fn print(&self) {
        let sizes: String = self.sizes.iter().map(|size| format!("{size:>12}")).collect();
        println!("\n{:<34}{sizes}{:>14}", self.heading, "last / first");
        for (name, figures) in &self.rows {
            let cells: String = figures.iter().map(|figure| format!("{figure:>12.2}")).collect();
            println!("{name:<34}{cells}{:>12.2} x", growth(figures));
        }
    }

    /// The figure at the last size divided by the figure at the first, per operation.
    pub(crate) fn ratios(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.rows.iter().map(|(name, figures)| (*name, growth(figures)))
    }

    pub(crate) fn row(&self, name: &str) -> Vec<f64> {
        self.rows.iter().find(|(row, _)| *row == name).map(|(_, figures)| figures.clone()).unwrap_or_default()
    }

    /// The figure at the last size. A missing figure is infinite, so it meets no aim.
    pub(crate) fn last(&self, name: &str) -> f64 {
        self.row(name).last().copied().unwrap_or(f64::INFINITY)
    }
}

fn growth(figures: &[f64]) -> f64 {
    figures.last().zip(figures.first()).map_or(f64::NAN, |(last, first)| last / first)
}

/// Prints an aim, the measured value and the verdict.
pub(crate) fn aim(what: &str, measured: &str, met: bool) {
    println!("  {what:<66}{measured:>12}  {}", if met { "met" } else { "MISSED" });
}

/// The median in milliseconds.
pub(crate) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().map_or(f64::NAN, milliseconds)
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
