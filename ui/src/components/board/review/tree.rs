//! The list of changed files by folder, with their sizes, comments and viewed marks.

use domain::runs::diff::FileDiff;
use leptos::prelude::*;

use crate::components::board::review::file::open_file;
use crate::components::board::review::state::Review;
use crate::components::icon::{DONE, FILE, FOLDER, Icon};

/// A folder with the indices of its changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    path: String,
    files: Vec<(usize, String)>,
}

/// Groups files, which are in path order, by their folders. `words` selects files by a part of their path.
fn folders<'a>(paths: impl Iterator<Item = &'a str>, words: &str) -> Vec<Folder> {
    let words = words.trim().to_lowercase();
    let mut folders: Vec<Folder> = Vec::new();
    for (index, path) in paths.enumerate().filter(|(_, path)| path.to_lowercase().contains(&words)) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = (index, name.to_owned());
        match folders.iter_mut().find(|known| known.path == folder) {
            Some(known) => known.files.push(file),
            None => folders.push(Folder { path: folder.to_owned(), files: vec![file] }),
        }
    }
    folders
}

/// Numbers of a file beside its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    path: String,
    old_path: Option<String>,
    size: String,
}

#[component]
pub(crate) fn FileTree(files: Vec<FileDiff>) -> impl IntoView {
    let words = RwSignal::new(String::new());
    let entry =
        |file: &FileDiff| Entry { path: file.path.clone(), old_path: file.old_path.clone(), size: format!("+{} −{}", file.added, file.removed) };
    let entries = StoredValue::new(files.iter().map(entry).collect::<Vec<_>>());
    let shown = Memo::new(move |_| words.with(|words| entries.with_value(|entries| folders(entries.iter().map(|entry| entry.path.as_str()), words))));
    let folder = move |folder: Folder| {
        let name = (!folder.path.is_empty()).then(|| {
            view! {
                <span class="folder">
                    <Icon drawing=FOLDER />
                    {folder.path}
                </span>
            }
        });
        let files = folder.files.into_iter().map(|(index, name)| {
            let entry = entries.with_value(|entries| entries[index].clone());
            view! { <li><FileLink index=index name=name entry=entry /></li> }
        });
        view! {
            <li>
                {name}
                <ul>{files.collect_view()}</ul>
            </li>
        }
    };
    view! {
        <input class="input" type="search" placeholder="Find a file" aria-label="Find a file" bind:value=words />
        <ul class="tree">{move || shown.get().into_iter().map(folder).collect_view()}</ul>
        <Show when=move || shown.with(Vec::is_empty)>
            <p class="faint small-text">"No changed file has this name."</p>
        </Show>
    }
}

#[component]
fn FileLink(index: usize, name: String, entry: Entry) -> impl IntoView {
    let review = Review::from_context();
    let Entry { path, old_path, size } = entry;
    let own = path.clone();
    let viewed = Memo::new(move |_| review.is_viewed(&own));
    let count = move || {
        let is_here = |commented: &str| commented == path || old_path.as_deref() == Some(commented);
        let count = review.comments().iter().filter(|comment| is_here(&comment.path)).count();
        (count > 0).then(|| view! { <span class="count-badge" title="Comments">{count}</span> })
    };
    view! {
        <button type="button" class="tree-file" class:viewed=viewed on:click=move |_| open_file(index)>
            {move || view! { <Icon drawing=if viewed.get() { DONE } else { FILE } /> }}
            <span class="name">{name}</span>
            {count}
            <span class="size tabular">{size}</span>
            <Show when=move || viewed.get()>
                <span class="visually-hidden">"viewed"</span>
            </Show>
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_grouped_by_folder_and_found_by_a_part_of_their_path() {
        let paths = ["README.md", "src/a.rs", "src/auth/b.rs", "src/c.rs"];
        let shown = |words: &str| {
            let line = |folder: Folder| {
                format!("{}:{}", folder.path, folder.files.iter().map(|(index, name)| format!(" {index} {name}")).collect::<String>())
            };
            folders(paths.into_iter(), words).into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(shown(""), [": 0 README.md", "src: 1 a.rs 3 c.rs", "src/auth: 2 b.rs"]);
        assert_eq!(shown(" AUTH"), ["src/auth: 2 b.rs"]);
        assert_eq!(shown("nothing"), [""; 0]);
    }
}
