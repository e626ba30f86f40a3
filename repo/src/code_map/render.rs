//! The text of the code map. Pure.
//!
//! Must not know how the files were parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use domain::warroom::code_map::{CodeMapSummary, LanguageSum};

use super::outline::Outline;

/// A larger map is made smaller: fewer symbols of each file, then none, then no files.
const MAX_BYTES: usize = 400_000;
/// The most symbols of a file, at each attempt to make the map small enough.
const SYMBOLS: [usize; 4] = [20, 8, 3, 0];
/// The imports that are listed of a folder.
const MAX_IMPORTS: usize = 12;

/// A file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MappedFile {
    pub path: String,
    /// The name of the language and the outline, if it is source code.
    pub source: Option<(&'static str, Outline)>,
}

#[derive(Debug, Default)]
struct Folder<'f> {
    files: Vec<(&'f str, &'f Outline)>,
    /// Files that are not source code.
    others: usize,
    lines: u64,
    imports: BTreeMap<&'f str, usize>,
}

/// Returns the map of the files of a commit, at most [`MAX_BYTES`] unless the repository has thousands of folders.
pub(super) fn render(summary: &CodeMapSummary, files: &[MappedFile]) -> String {
    let folders = folders(files);
    let head = head(summary, folders.len());
    let full = SYMBOLS.iter().map(|symbols| body(&folders, Some(*symbols)));
    let fits = |body: &String| head.len() + body.len() <= MAX_BYTES;
    let body = full.into_iter().find(fits).unwrap_or_else(|| body(&folders, None));
    format!("{head}{body}")
}

fn folders(files: &[MappedFile]) -> BTreeMap<&str, Folder<'_>> {
    let mut folders: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
    for file in files {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or((".", &file.path));
        let folder = folders.entry(folder).or_default();
        let Some((_, outline)) = &file.source else {
            folder.others += 1;
            continue;
        };
        folder.files.push((name, outline));
        folder.lines += u64::from(outline.lines);
        for module in &outline.imports {
            *folder.imports.entry(module).or_default() += 1;
        }
    }
    folders
}

fn head(summary: &CodeMapSummary, folders: usize) -> String {
    let mut text = format!(
        "# Code map\n\n{} in {folders} folders at commit {}. Each section is a folder: its imports, then its files with their lines and the \
         symbols that other files see. `grep -n '^## '` lists the folders, `grep -n NAME` finds a symbol.\n\n",
        counted(summary.files as usize),
        summary.commit
    );
    for LanguageSum { name, files, lines } in &summary.languages {
        let _ = writeln!(text, "- {name}: {}, {lines} lines", counted(*files as usize));
    }
    text
}

/// Lists the folders. Without `symbols`, the files are only counted.
fn body(folders: &BTreeMap<&str, Folder<'_>>, symbols: Option<usize>) -> String {
    let mut text = String::new();
    for (path, folder) in folders {
        let _ = write!(text, "\n## {path}\n\n");
        if !folder.imports.is_empty() {
            let _ = writeln!(text, "imports: {}", imports(folder));
        }
        match symbols {
            Some(most) => folder.files.iter().for_each(|(name, outline)| file_line(&mut text, name, outline, most)),
            None => drop(writeln!(text, "{} with {} lines", counted(folder.files.len()), folder.lines)),
        }
        if folder.others > 0 {
            let _ = writeln!(text, "{} not parsed", counted(folder.others));
        }
    }
    text
}

fn counted(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}

/// The modules that most files of the folder import, in the order of their names.
fn imports(folder: &Folder<'_>) -> String {
    let mut modules: Vec<_> = folder.imports.iter().collect();
    modules.sort_by_key(|(module, files)| (std::cmp::Reverse(**files), **module));
    let listed: BTreeSet<&str> = modules.iter().take(MAX_IMPORTS).map(|(module, _)| **module).collect();
    let mut text = listed.into_iter().collect::<Vec<_>>().join(", ");
    if modules.len() > MAX_IMPORTS {
        let _ = write!(text, ", {} more", modules.len() - MAX_IMPORTS);
    }
    text
}

fn file_line(text: &mut String, name: &str, outline: &Outline, most: usize) {
    let _ = match outline.large_kilobytes {
        Some(kilobytes) => write!(text, "- {name} ({kilobytes} kB)"),
        None if outline.generated => write!(text, "- {name} ({}, generated)", outline.lines),
        None => write!(text, "- {name} ({})", outline.lines),
    };
    let listed = &outline.symbols[..most.min(outline.symbols.len())];
    if !listed.is_empty() {
        let _ = write!(text, ": {}", listed.join(", "));
        let further = outline.symbols.len() - listed.len() + outline.further_symbols as usize;
        if further > 0 {
            let _ = write!(text, ", {further} more");
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::super::summary::summary;
    use super::*;

    fn mapped(files: &[MappedFile]) -> String {
        render(&summary("1234567", files), files)
    }

    fn source(path: &str, lines: u32, symbols: &[&str], imports: &[&str]) -> MappedFile {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let outline = Outline { lines, symbols: owned(symbols), imports: owned(imports), ..Outline::default() };
        MappedFile { path: path.to_owned(), source: Some(("Rust", outline)) }
    }

    #[test]
    fn generated_files_are_named_as_such() {
        let mut file = source("src/bindings.rs", 9_000, &[], &[]);
        file.source.as_mut().unwrap().1.generated = true;
        let text = mapped(&[file]);
        assert!(text.contains("\n- bindings.rs (9000, generated)\n"), "{text}");
    }

    #[test]
    fn map_lists_folders_with_their_files() {
        let files = [
            source("main.rs", 3, &[], &[]),
            source("src/card.rs", 12, &["Card", "CardView"], &["crate::task", "serde"]),
            source("src/task.rs", 7, &["Task"], &["serde"]),
            MappedFile { path: "src/logo.png".to_owned(), source: None },
        ];
        insta::assert_snapshot!(mapped(&files), @"
        # Code map

        4 files in 2 folders at commit 1234567. Each section is a folder: its imports, then its files with their lines and the symbols that other files see. `grep -n '^## '` lists the folders, `grep -n NAME` finds a symbol.

        - Rust: 3 files, 22 lines

        ## .

        - main.rs (3)

        ## src

        imports: crate::task, serde
        - card.rs (12): Card, CardView
        - task.rs (7): Task
        1 file not parsed
        ");
    }

    #[test]
    fn large_map_names_fewer_symbols_then_no_files() {
        let symbols: Vec<String> = (0..20).map(|number| format!("a_long_name_of_a_symbol_{number}")).collect();
        let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let files =
            |count: usize| (0..count).map(|number| source(&format!("src/{}/f{number}.rs", number / 100), 1, &symbols, &[])).collect::<Vec<_>>();
        for (count, line) in [
            (100, "symbol_19"),
            (1_500, "symbol_7, 12 more"),
            (3_000, "symbol_2, 17 more"),
            (10_000, "f9.rs (1)\n"),
            (60_000, "100 files with 100 lines"),
        ] {
            let map = mapped(&files(count));
            assert!(map.len() <= MAX_BYTES && map.contains(line), "{count}: {} bytes without {line}", map.len());
        }
    }
}
