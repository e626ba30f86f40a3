//! Which task the findings about a pull request concern: the only one whose files or commits they name. Pure.

use crate::id::TaskId;
use crate::runs::evidence::Sha;
use crate::runs::publication::pull_request::{FailedCheck, Remark};

/// The characters of a commit that name it at least.
const SHORT_SHA: usize = 7;

/// The work of a task in a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskWork {
    pub task: TaskId,
    /// The paths that it changed.
    pub files: Vec<String>,
    pub commits: Vec<Sha>,
}

/// Returns the task that the findings concern: they name files or commits of it and of no other. A file of several tasks says nothing.
pub fn task_concerned<'a>(work: &'a [TaskWork], checks: &[FailedCheck], remarks: &[Remark]) -> Option<&'a TaskId> {
    let is_shared = |file: &String| work.iter().filter(|other| other.files.contains(file)).count() > 1;
    let texts: Vec<&str> = checks.iter().map(|check| check.log.as_str()).chain(remarks.iter().map(|remark| remark.text.as_str())).collect();
    let places: Vec<&str> = remarks.iter().filter_map(|remark| remark.place.as_deref()).map(path_of).collect();
    let names_file = |file: &String| !is_shared(file) && (places.contains(&file.as_str()) || texts.iter().any(|text| has_path(text, file)));
    let names_commit = |sha: &Sha| texts.iter().any(|text| has_commit(text, sha));
    let mut named = work.iter().filter(|work| work.files.iter().any(names_file) || work.commits.iter().any(names_commit));
    let only = named.next()?;
    named.next().is_none().then_some(&only.task)
}

/// The path of a place such as `src/a.rs:3`.
fn path_of(place: &str) -> &str {
    match place.rsplit_once(':') {
        Some((path, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => path,
        _ => place,
    }
}

/// Whether a text has a path as a whole, perhaps below another folder. A name without a folder and an extension is a word like others.
fn has_path(text: &str, path: &str) -> bool {
    let is_word = !path.contains(['/', '.']);
    let is_part = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    !is_word
        && text.match_indices(path).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + path.len()..]);
            // A sentence can end after a path.
            let mut following = after.chars();
            let goes_on = following.next().is_some_and(|next| next == '/' || is_part(next) && (next != '.' || following.next().is_some_and(is_part)));
            !before.ends_with(is_part) && !goes_on
        })
}

fn has_commit(text: &str, sha: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_hexdigit());
    words.filter(|word| word.len() >= SHORT_SHA).any(|word| sha.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(number: u64, files: &[&str], commit: &str) -> TaskWork {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        TaskWork { task: TaskId::new(number), files, commits: vec![commit.to_owned()] }
    }

    fn log(log: &str) -> FailedCheck {
        FailedCheck { name: "test".to_owned(), address: String::new(), run: None, log: log.to_owned() }
    }

    fn remark(place: Option<&str>, text: &str) -> Remark {
        let place = place.map(str::to_owned);
        Remark { id: "R1".to_owned(), author: "ann".to_owned(), place, asks_for_changes: false, text: text.to_owned() }
    }

    fn concerned(checks: &[FailedCheck], remarks: &[Remark]) -> Option<u64> {
        let known = [
            work(1, &["src/a.rs", "Cargo.lock", "a"], "aaaaaaaa11111111"),
            work(2, &["src/b.rs", "Cargo.lock"], "bbbbbbbb22222222"),
            work(3, &["b.rs", "Makefile"], "cccccccc33333333"),
        ];
        task_concerned(&known, checks, remarks).map(TaskId::number)
    }

    #[test]
    fn findings_that_name_files_of_one_task_concern_it() {
        assert_eq!(concerned(&[log("error\n --> src/a.rs:3:7\nsee tests/other.rs")], &[]), Some(1));
        assert_eq!(concerned(&[log("/ci/site/src/b.rs: failed")], &[]), None, "b.rs of task 3 could be meant too");
        assert_eq!(concerned(&[log("Look at src/a.rs.")], &[]), Some(1));
        assert_eq!(concerned(&[], &[remark(Some("src/a.rs:3"), "Use a map.")]), Some(1));
        assert_eq!(concerned(&[], &[remark(Some("Makefile"), "Sort it.")]), Some(3));
        assert_eq!(concerned(&[log("src/a.rs")], &[remark(Some("src/b.rs:1"), "No.")]), None, "two tasks");
        assert_eq!(concerned(&[log("Cargo.lock is old")], &[]), None, "two tasks changed it");
        assert_eq!(concerned(&[log("Cargo.lock is old, and src/a.rs")], &[]), Some(1));
    }

    #[test]
    fn parts_of_names_and_words_say_nothing() {
        for text in ["a test failed", "xsrc/a.rs", "src/a.rs.orig", "src/a.rs/inner", "src/a.rsx", ""] {
            assert_eq!(concerned(&[log(text)], &[]), None, "{text}");
        }
    }

    #[test]
    fn findings_that_name_a_commit_concern_its_task() {
        assert_eq!(concerned(&[], &[remark(None, "Broken since bbbbbbbb2222.")]), Some(2));
        assert_eq!(concerned(&[], &[remark(None, "See bbbbbb.")]), None, "too short");
        assert_eq!(concerned(&[], &[remark(None, "bbbbbbbb and aaaaaaaa")]), None);
    }
}
