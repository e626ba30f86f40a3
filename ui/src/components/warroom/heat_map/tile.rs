//! The drawing of the heat map: a tile for each part of the repository, as large as its files. The table says the same to those who do not see it.

use domain::warroom::heat_map::FolderHeat;
use leptos::prelude::*;

use super::layout::{Rectangle, layout};
use super::level;

/// The units of the drawing, which are about pixels.
const WIDTH: f64 = 376.0;
const HEIGHT: f64 = 280.0;
/// The line between tiles, and the space around a text.
const GAP: f64 = 1.0;
const PADDING: f64 = 6.0;
/// The width of a letter, and the heights of a line, for a font of 11 pixels.
const LETTER: f64 = 6.4;
const LINE: f64 = 14.0;
/// A name that is cut off earlier says nothing.
const MIN_LETTERS: usize = 5;

#[component]
pub(super) fn Map(folders: Vec<FolderHeat>) -> impl IntoView {
    let weights: Vec<f64> = folders.iter().map(weight).collect();
    let tiles = folders.into_iter().zip(layout(&weights, WIDTH, HEIGHT)).map(|(folder, place)| view! { <Tile folder=folder place=place /> });
    view! {
        <svg class="heat-map" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label="Map of the repository. The tables show the same data.">
            {tiles.collect_view()}
        </svg>
    }
    .into_any()
}

/// Empty files count as one byte, so that a repository of them has a map too.
#[expect(clippy::cast_precision_loss, reason = "sizes of repositories fit into f64")]
fn weight(folder: &FolderHeat) -> f64 {
    folder.bytes.max(1) as f64
}

#[component]
fn Tile(folder: FolderHeat, place: Rectangle) -> impl IntoView {
    let (width, height) = ((place.width - GAP).max(0.0), (place.height - GAP).max(0.0));
    let lines = lines(&folder, width, height);
    let text = lines.into_iter().zip(1..).map(|(line, number)| {
        let down = PADDING + LINE * f64::from(number) - 4.0;
        view! { <text x=PADDING y=down>{line}</text> }
    });
    let texts = text.collect_view();
    view! {
        // A drawing of its own cuts off what does not fit.
        <svg x=place.left y=place.top width=width height=height>
            <rect width=width height=height rx="3" data-heat=level(folder.heat).to_string() />
            {texts}
            <title>{title(&folder)}</title>
        </svg>
    }
    .into_any()
}

/// The lines that fit: the end of the path, and the heat as a number.
fn lines(folder: &FolderHeat, width: f64, height: f64) -> Vec<String> {
    let room = width - 2.0 * PADDING;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and the width of the drawing")]
    let letters = (room.max(0.0) / LETTER) as usize;
    let Some(name) = shortened(&folder.path, letters).filter(|_| height >= LINE + PADDING) else { return Vec::new() };
    let mut lines = vec![name];
    let heat = heat_text(folder.heat);
    if height > 2.0 * LINE + PADDING && heat.len() <= letters {
        lines.push(heat);
    }
    lines
}

pub(super) fn heat_text(heat: u8) -> String {
    format!("heat {heat}")
}

/// As many of the last names of the path as fit, or the beginning of the last one. None if that says nothing.
fn shortened(path: &str, letters: usize) -> Option<String> {
    let path = label(path);
    let fits = |text: &&str| text.chars().count() <= letters;
    let ends = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..)).filter(|end| !matches!(*end, "" | "*"));
    let mut names = [path].into_iter().chain(ends);
    if let Some(found) = names.clone().find(fits) {
        return Some(found.to_owned());
    }
    let last = names.next_back().filter(|_| letters >= MIN_LETTERS)?;
    Some(format!("{}…", last.chars().take(letters - 1).collect::<String>()))
}

/// The name of a part: a folder, the files in one, or all small folders together.
pub(super) fn label(path: &str) -> &str {
    match path {
        "**" => "other folders",
        "*" => "files in no folder",
        path => path,
    }
}

fn title(folder: &FolderHeat) -> String {
    let files = if folder.files == 1 { "1 file".to_owned() } else { format!("{} files", folder.files) };
    let zone = folder.zone.as_ref().map_or_else(String::new, |zone| format!(", zone {zone}"));
    format!("{}: {}, {files}{zone}", label(&folder.path), heat_text(folder.heat))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str, heat: u8) -> FolderHeat {
        FolderHeat { path: path.to_owned(), files: 2, bytes: 10, zone: Some("audio".to_owned()), heat }
    }

    #[test]
    fn tile_says_what_fits() {
        let src = folder("src/audio/", 40);
        assert_eq!(lines(&src, 200.0, 100.0), ["src/audio/", "heat 40"]);
        assert_eq!(lines(&src, 200.0, 22.0), ["src/audio/"]);
        assert_eq!(lines(&src, 60.0, 22.0), ["audio/"]);
        assert_eq!(lines(&src, 45.0, 22.0), ["audi…"]);
        assert!(lines(&folder("src/*", 0), 30.0, 22.0).is_empty(), "a star alone says nothing");
        assert!(lines(&src, 20.0, 100.0).is_empty() && lines(&src, 200.0, 10.0).is_empty());
    }

    #[test]
    fn title_names_the_part_its_heat_and_its_zone() {
        assert_eq!(title(&folder("src/", 40)), "src/: heat 40, 2 files, zone audio");
        assert_eq!(title(&FolderHeat { files: 1, zone: None, ..folder("**", 0) }), "other folders: heat 0, 1 file");
    }
}
