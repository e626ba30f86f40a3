//! Icons of 16 × 16. They are decoration: text or a label beside each carries its meaning.

use leptos::prelude::*;

/// The SVG path of an icon.
pub(crate) type Drawing = &'static str;

pub(crate) const PLUS: Drawing = "M8 3v10M3 8h10";
pub(crate) const CLOSE: Drawing = "M4 4l8 8M12 4l-8 8";
pub(crate) const MORE: Drawing = "M3.5 8h.01M8 8h.01M12.5 8h.01";
pub(crate) const GRIP: Drawing = "M6 4h.01M6 8h.01M6 12h.01M10 4h.01M10 8h.01M10 12h.01";
pub(crate) const ALERT: Drawing = "M8 5.5v3M8 11h.01M7.1 2.9L1.9 12a1 1 0 00.9 1.5h10.4a1 1 0 00.9-1.5L8.9 2.9a1 1 0 00-1.8 0z";
pub(crate) const EXPAND: Drawing = "M9.5 3.5h3v3M12.5 3.5l-4 4M6.5 12.5h-3v-3M3.5 12.5l4-4";
pub(crate) const DONE: Drawing = "M3.5 8.5l3 3 6-7";
pub(crate) const SUN: Drawing =
    "M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7M10.8 8a2.8 2.8 0 11-5.6 0 2.8 2.8 0 015.6 0z";
pub(crate) const SLIDERS: Drawing = "M2.5 5h6M11.5 5h2M10 3.5v3M2.5 11h2M7.5 11h6M6 9.5v3";
pub(crate) const REPLY: Drawing = "M6.5 4L3 7.5 6.5 11M3 7.5h6.5a3.5 3.5 0 013.5 3.5v1.5";
pub(crate) const UP: Drawing = "M8 12.5v-9M4 7l4-4 4 4";
pub(crate) const DOWN: Drawing = "M8 3.5v9M4 9l4 4 4-4";
pub(crate) const BACK: Drawing = "M10 3.5L5.5 8l4.5 4.5";
pub(crate) const FORTH: Drawing = "M6 3.5L10.5 8 6 12.5";
pub(crate) const CHEVRON: Drawing = "M4.5 6.5L8 10l3.5-3.5";
pub(crate) const PLUG: Drawing = "M6 2v3M10 2v3M4 5h8v2.5a4 4 0 01-8 0zM8 11.5V14";
pub(crate) const BARS: Drawing = "M5.5 3.5v9M10.5 3.5v9";
pub(crate) const TRIANGLE: Drawing = "M5 3.5v9l7-4.5z";
pub(crate) const BRANCH: Drawing = "M5 5.5v5M5 5.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM5 13.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM11 6.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3zM11 6.5c0 2.5-4 2-6 4";

pub(crate) const PENCIL: Drawing = "M10.5 3.5l2 2L6 12l-2.7.7L4 10z";
pub(crate) const INBOX: Drawing =
    "M2.5 9.5L4.4 4a1 1 0 01.95-.7h5.3a1 1 0 01.95.7l1.9 5.5v2.7a1 1 0 01-1 1h-9a1 1 0 01-1-1zM2.5 9.5h3l1 1.7h3l1-1.7h3";
pub(crate) const FILE: Drawing = "M4 2.5h5l3 3v8H4zM9 2.5v3h3";
pub(crate) const FOLDER: Drawing = "M2.5 4.2a1 1 0 011-1h2.8l1.4 1.6h4.8a1 1 0 011 1v6a1 1 0 01-1 1h-9a1 1 0 01-1-1z";
pub(crate) const SEARCH: Drawing = "M11.5 7a4.5 4.5 0 11-9 0 4.5 4.5 0 019 0zM10.3 10.3l3.2 3.2";
pub(crate) const QUESTION: Drawing = "M5.8 6.1a2.2 2.2 0 114 1.3c-.7.6-1.8 1-1.8 2.1M8 12.2h.01";
pub(crate) const SPEECH: Drawing = "M2.5 3.5h11v7H8l-3 2.5v-2.5H2.5z";
pub(crate) const GRID: Drawing = "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z";
pub(crate) const GRAPH: Drawing = "M2.5 3h3.5v3H2.5zM2.5 10h3.5v3H2.5zM10 6.5h3.5v3H10zM6 4.5c2.5 0 1.5 3 4 3M6 11.5c2.5 0 1.5-3 4-3";
pub(crate) const COLUMNS: Drawing = "M2.5 3h3v10h-3zM6.5 3h3v6.5h-3zM10.5 3h3v8.5h-3z";
pub(crate) const GROUPS: Drawing = "M2.5 3.5h11M5 7h8.5M2.5 10.5h11M5 14h8.5";
pub(crate) const ROWS: Drawing = "M2.5 4h11M2.5 8h11M2.5 12h11";

#[component]
pub(crate) fn Icon(drawing: Drawing) -> impl IntoView {
    view! {
        <svg
            width="16"
            height="16"
            viewBox="0 0 16 16"
            fill="none"
            stroke="currentColor"
            stroke-width="1.4"
            stroke-linecap="round"
            stroke-linejoin="round"
            aria-hidden="true"
        >
            <path d=drawing></path>
        </svg>
    }
}
