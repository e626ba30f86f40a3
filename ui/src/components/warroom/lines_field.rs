//! A field with one value on each line, such as paths. Must not know what the values are for.

use leptos::prelude::*;

#[component]
pub(crate) fn LinesField(
    id: &'static str,
    label: &'static str,
    /// The possible values, below the field.
    hint: &'static str,
    value: RwSignal<String>,
    #[prop(optional)] autofocus: bool,
) -> impl IntoView {
    let hint_id = format!("{id}-hint");
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <textarea id=id class="input mono" spellcheck="false" autofocus=autofocus aria-describedby=hint_id.clone() bind:value=value></textarea>
            <p id=hint_id class="hint">{hint}</p>
        </div>
    }
    .into_any()
}

/// The lines that are not blank.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// A path for readers: a folder without the pattern for all that is in it.
pub(crate) fn shown_path(path: &str) -> String {
    path.strip_suffix("/**").map_or_else(|| path.to_owned(), |folder| format!("{folder}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_shown_as_it_is_written() {
        assert_eq!(["src/**", "src/*.rs", "**/a", "a"].map(shown_path), ["src/", "src/*.rs", "**/a", "a"]);
    }

    #[test]
    fn blank_lines_are_left_out() {
        assert_eq!(lines(" src/a/ \n\n\tsrc/*.rs\n"), ["src/a/", "src/*.rs"]);
        assert!(lines(" \n").is_empty());
    }
}
