//! The numbers of the code map: lines by language and folder. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use domain::warroom::code_map::{CodeMapSummary, LanguageSum, SourceFolder};

use super::render::MappedFile;

/// Returns the numbers of the files of a commit.
pub(super) fn summary(commit: &str, files: &[MappedFile]) -> CodeMapSummary {
    let mut languages: BTreeMap<&str, (u32, u64)> = BTreeMap::new();
    let mut folders: BTreeMap<&str, (u32, u64)> = BTreeMap::new();
    for file in files {
        let Some((language, outline)) = &file.source else { continue };
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for sum in [languages.entry(language).or_default(), folders.entry(folder).or_default()] {
            *sum = (sum.0 + 1, sum.1 + u64::from(outline.lines));
        }
    }
    let mut languages: Vec<LanguageSum> =
        languages.into_iter().map(|(name, (files, lines))| LanguageSum { name: name.to_owned(), files, lines }).collect();
    languages.sort_by_key(|language| Reverse(language.lines));
    CodeMapSummary {
        commit: commit.to_owned(),
        files: u32::try_from(files.len()).unwrap_or(u32::MAX),
        languages,
        folders: folders.into_iter().map(|(path, (files, lines))| SourceFolder { path: path.to_owned(), files, lines }).collect(),
    }
}
