//! A field with one value on each line, such as paths. Must not know what the values are for.

use leptos::prelude::*;

#[component]
pub(crate) fn LinesField(
    id: &'static str,
    label: &'static str,
    /// What may be written, below the field.
    hint: &'static str,
    value: RwSignal<String>,
) -> impl IntoView {
    let hint_id = format!("{id}-hint");
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <textarea id=id class="input mono" spellcheck="false" aria-describedby=hint_id.clone() bind:value=value></textarea>
            <p id=hint_id class="hint">{hint}</p>
        </div>
    }
    .into_any()
}

/// The lines that are not blank.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn blank_lines_are_left_out() {
        assert_eq!(lines(" src/a/ \n\n\tsrc/*.rs\n"), ["src/a/", "src/*.rs"]);
        assert!(lines(" \n").is_empty());
    }
}
