//! Glyphs of 14 × 14 that show a state by shape and colour, so that neither is needed alone.

use leptos::prelude::*;

use crate::components::badge::Tone;

/// A shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyph {
    Ring,
    DashedRing,
    Clock,
    Pause,
    Working,
    Question,
    Failed,
    HalfRing,
    Look,
    CheckRing,
    Done,
    Struck,
}

impl Glyph {
    const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            _ => "still",
        }
    }

    const fn drawing(self) -> &'static str {
        match self {
            Self::Ring => r#"<circle cx="7" cy="7" r="5.2"/>"#,
            Self::DashedRing => r#"<circle cx="7" cy="7" r="5.2" stroke-dasharray="2 2.08"/>"#,
            Self::Clock => r#"<circle cx="7" cy="7" r="5.2"/><path d="M7 4.3v2.9l1.8 1.1"/>"#,
            Self::Pause => r#"<circle cx="7" cy="7" r="5.2"/><path d="M5.6 5v4M8.4 5v4"/>"#,
            Self::Working => r#"<circle cx="7" cy="7" r="5.2" opacity=".28"/><path d="M7 1.8A5.2 5.2 0 0 1 12.2 7"/>"#,
            Self::Question => {
                r#"<circle cx="7" cy="7" r="6" fill="currentColor" stroke="none"/><path d="M5.5 5.7c.1-.9.7-1.4 1.5-1.4s1.5.5 1.5 1.3c0 1-1.5 1.1-1.5 2.2M7 9.8h.01" stroke="var(--knock)"/>"#
            }
            Self::Failed => r#"<circle cx="7" cy="7" r="6" fill="currentColor" stroke="none"/><path d="m5 5 4 4M9 5 5 9" stroke="var(--knock)"/>"#,
            Self::HalfRing => r#"<circle cx="7" cy="7" r="5.2"/><path d="M7 3.8a3.2 3.2 0 0 1 0 6.4z" fill="currentColor" stroke="none"/>"#,
            Self::Look => r#"<circle cx="7" cy="7" r="6" fill="currentColor" stroke="none"/><circle cx="7" cy="7" r="2" stroke="var(--knock)"/>"#,
            Self::CheckRing => r#"<circle cx="7" cy="7" r="5.2"/><path d="m4.8 7.1 1.6 1.6 2.9-3.2"/>"#,
            Self::Done => {
                r#"<circle cx="7" cy="7" r="6" fill="currentColor" stroke="none"/><path d="m4.5 7.2 1.8 1.8 3.3-3.6" stroke="var(--knock)"/>"#
            }
            Self::Struck => r#"<circle cx="7" cy="7" r="5.2"/><path d="m3.4 10.6 7.2-7.2"/>"#,
        }
    }
}

/// Draws a glyph that a screen reader reads as `label`.
#[component]
pub(crate) fn StateGlyph(glyph: Glyph, tone: Tone, label: &'static str) -> impl IntoView {
    view! {
        <svg
            class="glyph"
            data-glyph=glyph.name()
            data-tone=tone.as_str()
            viewBox="0 0 14 14"
            fill="none"
            stroke="currentColor"
            stroke-width="1.5"
            stroke-linecap="round"
            stroke-linejoin="round"
            role="img"
            aria-label=label
            inner_html=glyph.drawing()
        ></svg>
    }
}
