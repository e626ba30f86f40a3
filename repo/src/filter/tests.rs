//! Files with a filter or an encoding are converted by `git` in each place that reads or writes a checkout, and no other file is.

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;

use super::*;
use crate::git_program::{calls, filtered, git, serve_calls};
use crate::handle::oid;
use crate::testing::{TestRepository, commit_all_in, write_in};
use crate::{Identity, LandOutcome, LandRequest, RepoError, Repository, UndoOutcome, UndoRequest};

const PROJECT: &str = "vibe-relay/PROJ-001";
const BRANCH: &str = "vr/TASK-001/work";
const TEXT: &str = "attack at dawn\n";
const STORED: &str = "nggnpx ng qnja\n";

/// A repository whose `*.key` files are stored by the filter `rot13`, with the checkout of a person and one of an agent.
struct Sample {
    sample: TestRepository,
    repository: Repository,
    task: PathBuf,
    head: Sha,
}

impl Sample {
    fn new() -> Self {
        serve_calls();
        let sample = TestRepository::new();
        sample.write(".gitattributes", "*.key filter=rot13\n");
        sample.write("dir/a.key", TEXT);
        sample.write("plain.txt", "plain\n");
        filtered(sample.top(), &["add", "-A"]);
        filtered(sample.top(), &["commit", "-q", "-m", "a key"]);
        let (repository, task) = (sample.repository(), sample.beside("task"));
        let head = repository.ensure_project_branch(PROJECT, "main").unwrap();
        repository.add_worktree("task", &task, BRANCH, &head).unwrap();
        Self { sample, repository, task, head }
    }

    fn dirty(&self) -> Vec<String> {
        self.repository.evidence(&self.task, BRANCH, PROJECT, &[]).unwrap().dirty_paths
    }

    fn stored(&self, commit: &str, path: &str) -> String {
        String::from_utf8(self.repository.file_at(&commit.to_owned(), path).unwrap().unwrap()).unwrap()
    }

    /// Lets the agent commit a changed key, and moves the project branch to it.
    fn work(&self) -> Sha {
        write_in(&self.task, "dir/a.key", "retreat\n");
        filtered(&self.task, &["commit", "-q", "-a", "-m", "work"]);
        let tip = git(&self.task, &["rev-parse", "HEAD"]);
        self.sample.set_branch(PROJECT, &tip);
        tip
    }

    fn land(&self) -> LandOutcome {
        let identity: Identity = self.repository.identity("land").unwrap();
        let request = LandRequest {
            project_branch: PROJECT,
            base_branch: "main",
            base_head: &self.head,
            bring_back: None,
            workdir: self.sample.top(),
            message: "land",
            identity: &identity,
        };
        self.repository.land(request).unwrap()
    }
}

fn sample_text(repository: &Repository, head: &Sha) -> String {
    String::from_utf8(repository.file_at(head, "dir/a.key").unwrap().unwrap()).unwrap()
}

fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap()
}

#[test]
fn checkouts_have_the_converted_files() {
    let Sample { sample, repository, task, head } = Sample::new();
    assert_eq!([read(&task, "dir/a.key"), sample_text(&repository, &head)], [TEXT, STORED]);
    assert_eq!(filtered(&task, &["status", "--porcelain"]), "");
    for is_converted_by_libgit2 in [false, true] {
        if is_converted_by_libgit2 {
            sample.configure("core.eol", "crlf");
        }
        let path = sample.beside("review");
        repository.add_detached("review", &path, &head).unwrap();
        assert_eq!(read(&path, "dir/a.key"), TEXT);
        repository.remove_worktree("review", &path).unwrap();
    }
}

#[test]
fn file_is_changed_if_the_filter_makes_another_blob_of_it() {
    let sample = Sample::new();
    let before = calls();
    assert_eq!(sample.dirty(), [] as [&str; 0]);
    assert_eq!(calls(), before, "the stat cache knows the files, so git is not asked");
    // Another file with the same content.
    fs::remove_file(sample.task.join("dir/a.key")).unwrap();
    write_in(&sample.task, "dir/a.key", TEXT);
    assert_eq!(sample.dirty(), [] as [&str; 0]);
    write_in(&sample.task, "dir/a.key", "attack at noon\n");
    assert_eq!(sample.dirty(), ["dir/a.key"]);
}

#[test]
fn link_in_the_place_of_a_folder_is_not_followed() {
    let sample = Sample::new();
    let outside = sample.sample.beside("outside");
    write_in(&outside, "a.key", TEXT);
    fs::remove_dir_all(sample.task.join("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, sample.task.join("dir")).unwrap();
    assert_eq!(sample.dirty(), ["dir", "dir/a.key"]);
    let handle = sample.repository.handle_on(&sample.task, oid(&sample.head).unwrap()).unwrap();
    let filters = Filters::new(&sample.repository, &handle);
    assert_eq!(filters.clean(&sample.task, Path::new("dir/a.key"), true).unwrap(), None);
}

#[test]
fn kept_files_are_stored_as_git_stores_them() {
    let sample = Sample::new();
    write_in(&sample.task, "dir/a.key", "retreat\n");
    write_in(&sample.task, "new.key", "new\n");
    let kept = sample.repository.rescue("refs/vibe-relay/rescue/TASK-001", &sample.task, &sample.head).unwrap().unwrap();
    assert_eq!([sample.stored(&kept.sha, "dir/a.key"), sample.stored(&kept.sha, "new.key")], ["ergerng\n", "arj\n"]);

    let taken = sample.repository.take_checkpoint("TASK-001", "task", &sample.task, &sample.head).unwrap().unwrap();
    assert_eq!(sample.stored(&taken.sha, "dir/a.key"), "ergerng\n");
    for path in ["dir/a.key", "new.key"] {
        write_in(&sample.task, path, "spoiled\n");
    }
    sample.repository.restore_checkpoint("task", &sample.task, &taken.sha).unwrap();
    assert_eq!([read(&sample.task, "dir/a.key"), read(&sample.task, "new.key")], ["retreat\n", "new\n"]);
}

#[test]
fn scratch_checkout_moves_with_converted_files() {
    let sample = Sample::new();
    let path = sample.sample.beside("scratch");
    sample.repository.move_detached("scratch", &path, &sample.head).unwrap();
    assert_eq!(read(&path, "dir/a.key"), TEXT);
    let next = sample.work();
    for (commit, text) in [(&next, "retreat\n"), (&sample.head, TEXT), (&sample.head, TEXT)] {
        write_in(&path, "plain.txt", "spoiled\n");
        sample.repository.move_detached("scratch", &path, commit).unwrap();
        assert_eq!([read(&path, "dir/a.key").as_str(), read(&path, "plain.txt").as_str()], [text, "plain\n"]);
    }
}

#[test]
fn landing_and_its_undo_write_converted_files() {
    let sample = Sample::new();
    let (top, tip) = (sample.sample.top(), sample.work());
    // The same content with another time, which the index of the person does not know.
    fs::remove_file(top.join("dir/a.key")).unwrap();
    sample.sample.write("dir/a.key", TEXT);
    assert!(matches!(sample.land(), LandOutcome::Landed { fast_forward: true, .. }));
    assert_eq!([read(top, "dir/a.key"), sample.stored(&tip, "dir/a.key")], ["retreat\n", "ergerng\n"]);
    assert_eq!(filtered(top, &["status", "--porcelain"]), "");
    let undo = UndoRequest { base_branch: "main", project_branch: PROJECT, tip: &tip, landed: &tip, before: &sample.head, workdir: top };
    assert_eq!(sample.repository.undo_landing(undo).unwrap(), UndoOutcome::Undone);
    assert_eq!(read(top, "dir/a.key"), TEXT);
    assert_eq!(filtered(top, &["status", "--porcelain"]), "");
}

#[test]
fn changed_file_of_a_person_blocks_a_landing_and_stays() {
    let sample = Sample::new();
    sample.work();
    sample.sample.write("dir/a.key", "mine\n");
    let LandOutcome::Dirty { files } = sample.land() else { panic!("it landed") };
    assert_eq!(files.paths().collect::<Vec<_>>(), ["dir/a.key"]);
    assert_eq!(read(sample.sample.top(), "dir/a.key"), "mine\n");
}

#[test]
fn interrupted_landing_is_finished() {
    let sample = Sample::new();
    sample.work();
    // It was killed before `git` converted the file that libgit2 had written.
    sample.sample.write("dir/a.key", "ergerng\n");
    assert!(matches!(sample.land(), LandOutcome::Landed { .. }));
    assert_eq!(read(sample.sample.top(), "dir/a.key"), "retreat\n");
}

#[test]
fn encodings_are_converted() {
    serve_calls();
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.rc working-tree-encoding=UTF-16LE\n*.txt working-tree-encoding=UTF-8\n");
    sample.write("a.txt", "a");
    fs::write(sample.top().join("a.rc"), b"a\0b\0").unwrap();
    filtered(sample.top(), &["add", "-A"]);
    filtered(sample.top(), &["commit", "-q", "-m", "encodings"]);
    let (repository, task) = (sample.repository(), sample.beside("task"));
    let head = repository.ensure_project_branch(PROJECT, "main").unwrap();
    assert_eq!(repository.file_at(&head, "a.rc").unwrap().unwrap(), b"ab");
    repository.add_worktree("task", &task, BRANCH, &head).unwrap();
    assert_eq!(fs::read(task.join("a.rc")).unwrap(), b"a\0b\0");
    fs::remove_file(task.join("a.rc")).unwrap();
    fs::write(task.join("a.rc"), b"a\0b\0").unwrap();
    assert_eq!(repository.evidence(&task, BRANCH, PROJECT, &[]).unwrap().dirty_count, 0);
    let found = repository.conversions(oid(&head).unwrap()).unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [Conversion::Encoding("UTF-16LE".to_owned())]);
}

#[test]
fn repository_without_filters_never_calls_git() {
    serve_calls();
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.txt text eol=lf -filter\n");
    let start = sample.commit_all("attributes");
    let (before, repository, task) = (calls(), sample.repository(), sample.beside("task"));
    repository.ensure_project_branch(PROJECT, "main").unwrap();
    repository.add_worktree("task", &task, BRANCH, &start).unwrap();
    write_in(&task, "README.md", "changed\n");
    write_in(&task, "new.txt", "new\n");
    assert_eq!(repository.evidence(&task, BRANCH, PROJECT, &[]).unwrap().dirty_count, 2);
    repository.rescue("refs/vibe-relay/rescue/TASK-001", &task, &start).unwrap().unwrap();
    let tip = commit_all_in(&task, "work");
    sample.set_branch(PROJECT, &tip);
    repository.move_detached("scratch", &sample.beside("scratch"), &tip).unwrap();
    let landing = Sample { head: start, repository, task, sample };
    assert!(matches!(landing.land(), LandOutcome::Landed { .. }));
    assert_eq!(calls(), before);
}

fn refusal(sample: &TestRepository) -> Option<(String, String)> {
    serve_calls();
    let repository = sample.repository();
    let head = repository.ref_sha("main").unwrap().unwrap();
    match repository.conversions(oid(&head).unwrap()) {
        Ok(_) => None,
        Err(RepoError::FilterInRepository { driver, path }) => Some((driver, path)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn filter_of_the_repository_alone_is_refused() {
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.key filter=crypt\n");
    sample.write("a.key", "x");
    sample.commit_all("keys");
    assert_eq!(refusal(&sample), None, "git ignores a driver that is not configured");
    sample.configure("filter.crypt.smudge", "crypt -d");
    assert_eq!(refusal(&sample), Some(("crypt".into(), "a.key".into())));
    sample.configure("filter.rot13.clean", "evil");
    sample.write(".gitattributes", "*.key filter=rot13\n");
    sample.commit_all("the person's own filter");
    assert_eq!(refusal(&sample), None, "what the repository says about it does not apply");
}

#[test]
fn filters_of_other_attribute_files_count_if_they_match() {
    let sample = TestRepository::new();
    let personal = sample.beside("attributes");
    fs::write(&personal, "*.ipynb filter=strip\n").unwrap();
    sample.configure("core.attributesFile", personal.to_str().unwrap());
    sample.configure("filter.strip.clean", "strip");
    assert_eq!(refusal(&sample), None);
    sample.write("notes/first.ipynb", "{}");
    sample.commit_all("notes");
    assert_eq!(refusal(&sample), Some(("strip".into(), "notes/first.ipynb".into())));
    fs::create_dir_all(sample.git_dir().join("info")).unwrap();
    fs::write(sample.git_dir().join("info/attributes"), "*.md filter=strip\n").unwrap();
    assert_eq!(refusal(&sample), Some(("strip".into(), "README.md".into())));
}

#[test]
fn lfs_without_its_program_is_refused_by_name() {
    serve_calls();
    let sample = TestRepository::new();
    sample.write(".gitattributes", "*.psd filter=lfs\n");
    sample.write("a.psd", "x");
    let head = sample.commit_all("art");
    // The person of these tests has not run `git lfs install`.
    let refused = sample.repository().conversions(oid(&head).unwrap()).unwrap_err();
    assert_eq!((refused.code(), refused.hint().contains("git lfs install")), ("filter-missing", true), "{refused}");
}
