//! A pull request that its host squashed or rebased, and a project branch that went on.

use super::*;
use crate::testing::TestRepository;

/// The landed tip of the project branch, a later one that changed the same line again, and a base to which someone else added a file.
struct Scene {
    sample: TestRepository,
    landed: Sha,
    later: Sha,
}

impl Scene {
    fn new() -> Self {
        let sample = TestRepository::new();
        let start = sample.commit_on("main", &[("menu", Some("one\n"))], "Begin");
        sample.set_branch("project", &start);
        sample.commit_on("project", &[("menu", Some("half\n"))], "Work");
        let landed = sample.commit_on("project", &[("menu", Some("two\n")), ("new", Some("new\n"))], "More work");
        let later = sample.commit_on("project", &[("menu", Some("three\n"))], "Later work");
        Self { sample, landed, later }
    }

    /// The host adds the files of the landed work to the base as one commit, beside a change of someone else.
    fn squash(&self, menu: &str) -> Sha {
        self.sample.commit_on("main", &[("theirs", Some("x\n"))], "theirs");
        self.sample.commit_on("main", &[("menu", Some(menu)), ("new", Some("new\n"))], "Work (#7)");
        self.sample.commit_on("main", &[("theirs", Some("y\n"))], "theirs again")
    }

    /// The host repeats each commit of the landed work on the base, beside changes of someone else.
    fn rebase(&self, menu: &str) -> Sha {
        self.sample.commit_on("main", &[("theirs", Some("x\n"))], "theirs");
        self.sample.commit_on("main", &[("menu", Some("half\n"))], "Work");
        self.sample.commit_on("main", &[("menu", Some(menu)), ("new", Some("new\n"))], "More work");
        self.sample.commit_on("main", &[("theirs", Some("y\n"))], "theirs again")
    }

    fn merge(&self, base: &Sha, landed: Option<&Sha>) -> MergeOutcome {
        let repository = self.sample.repository();
        repository.merge_base_commit(&self.later, base, landed, "Merge main", &repository.identity("runner").unwrap()).unwrap()
    }

    fn file(&self, commit: &Sha, path: &str) -> Option<String> {
        self.sample.repository().file_at(commit, path).unwrap().map(|bytes| String::from_utf8(bytes).unwrap())
    }
}

#[test]
fn squashed_work_does_not_conflict_with_what_followed() {
    let scene = Scene::new();
    let base = scene.squash("two\n");
    assert!(matches!(scene.merge(&base, None), MergeOutcome::Conflict { .. }), "a plain merge does");
    let MergeOutcome::Merged { sha, already: false } = scene.merge(&base, Some(&scene.landed)) else { panic!("it conflicts") };
    assert_eq!(["menu", "new", "theirs"].map(|path| scene.file(&sha, path).unwrap()), ["three\n", "new\n", "y\n"]);
    assert_eq!(scene.sample.repository().parents_of(&sha).unwrap(), [scene.later.clone(), base.clone()], "the base is an ancestor now");
    let repository = scene.sample.repository();
    let again = repository.merge_base_commit(&sha, &base, Some(&scene.landed), "Again", &repository.identity("runner").unwrap()).unwrap();
    assert_eq!(again, MergeOutcome::Merged { sha, already: true });
}

/// The base is an ancestor then, and what the project branch changed of it since is its own.
#[test]
fn base_that_goes_on_after_its_squash_was_merged_is_merged_plainly() {
    let mut scene = Scene::new();
    let base = scene.squash("two\n");
    let MergeOutcome::Merged { sha, .. } = scene.merge(&base, Some(&scene.landed)) else { panic!("it conflicts") };
    scene.sample.set_branch("project", &sha);
    scene.later = scene.sample.commit_on("project", &[("theirs", Some("ours now\n"))], "Work on their file");
    let base = scene.sample.commit_on("main", &[("more", Some("more\n"))], "More of theirs");
    let MergeOutcome::Merged { sha, .. } = scene.merge(&base, Some(&scene.landed)) else { panic!("it conflicts") };
    assert_eq!(["menu", "theirs", "more"].map(|path| scene.file(&sha, path).unwrap()), ["three\n", "ours now\n", "more\n"]);
}

/// The landed work had followed the base, and the project branch went on in the lines of the base.
#[test]
fn base_that_the_work_had_followed_is_no_conflict() {
    let mut scene = Scene::new();
    let (sample, repository) = (&scene.sample, scene.sample.repository());
    let theirs = sample.commit_on("main", &[("theirs", Some("x\n"))], "theirs");
    let followed = repository.merge_commit(&scene.later, &theirs, "Merge main", &repository.identity("runner").unwrap()).unwrap();
    let MergeOutcome::Merged { sha, .. } = followed else { panic!("it conflicts") };
    sample.set_branch("project", &sha);
    let later = sample.commit_on("project", &[("theirs", Some("ours now\n")), ("menu", Some("four\n"))], "Work on both");
    let base = sample.commit_on("main", &[("menu", Some("two\n")), ("new", Some("new\n"))], "Work (#7)");
    scene.later = later;
    let MergeOutcome::Merged { sha, .. } = scene.merge(&base, Some(&scene.landed)) else { panic!("it conflicts") };
    assert_eq!(["menu", "theirs"].map(|path| scene.file(&sha, path).unwrap()), ["four\n", "ours now\n"]);
}

#[test]
fn rebased_work_does_not_conflict_with_what_followed() {
    let scene = Scene::new();
    let base = scene.rebase("two\n");
    assert!(matches!(scene.merge(&base, None), MergeOutcome::Conflict { .. }), "a plain merge does");
    let MergeOutcome::Merged { sha, already: false } = scene.merge(&base, Some(&scene.landed)) else { panic!("it conflicts") };
    assert_eq!(["menu", "new", "theirs"].map(|path| scene.file(&sha, path).unwrap()), ["three\n", "new\n", "y\n"]);
    assert_eq!(scene.sample.repository().parents_of(&sha).unwrap(), [scene.later.clone(), base], "the base is an ancestor now");
}

/// A rebase leaves out the merges that brought the base into the work.
#[test]
fn rebased_work_that_had_followed_the_base_is_no_conflict() {
    let mut scene = Scene::new();
    let (sample, repository) = (&scene.sample, scene.sample.repository());
    let theirs = sample.commit_on("main", &[("theirs", Some("x\n"))], "theirs");
    let followed = repository.merge_commit(&scene.landed, &theirs, "Merge main", &repository.identity("runner").unwrap()).unwrap();
    let MergeOutcome::Merged { sha: landed, .. } = followed else { panic!("it conflicts") };
    sample.set_branch("project", &landed);
    let later = sample.commit_on("project", &[("menu", Some("three\n"))], "Later work");
    (scene.landed, scene.later) = (landed, later);
    let base = scene.rebase("two\n");
    let MergeOutcome::Merged { sha, .. } = scene.merge(&base, Some(&scene.landed)) else { panic!("it conflicts") };
    assert_eq!(["menu", "theirs"].map(|path| scene.file(&sha, path).unwrap()), ["three\n", "y\n"]);
}

#[test]
fn work_of_one_commit_more_than_the_bound_is_not_recognized_when_rebased() {
    for (commits, is_recognized) in [(MAX_COMMITS, true), (MAX_COMMITS + 1, false)] {
        let sample = TestRepository::new();
        let start = sample.commit_on("main", &[("menu", Some("0\n"))], "Begin");
        sample.set_branch("project", &start);
        let mut branches = ["project", "main"].map(|branch| {
            (1..=commits)
                .fold(start.clone(), |_, number| sample.commit_on(branch, &[("menu", Some(&format!("{number}\n")))], &format!("{branch} {number}")))
        });
        let [landed, base] = &mut branches;
        assert_eq!(sample.repository().has_landed(base, landed).unwrap(), is_recognized, "{commits} commits");
        let squashed = sample.repository().squash_commit(&start, landed, "Squashed", &sample.repository().identity("runner").unwrap()).unwrap();
        let MergeOutcome::Merged { sha: squashed, .. } = squashed else { panic!("it conflicts") };
        assert!(sample.repository().has_landed(&squashed, landed).unwrap(), "one commit is enough");
    }
}

#[test]
fn work_has_landed_if_the_base_has_its_commits_or_its_files() {
    let scene = Scene::new();
    let repository = scene.sample.repository();
    let has_landed = |base: &Sha| repository.has_landed(base, &scene.landed).unwrap();
    assert!(has_landed(&scene.later), "an ancestor");
    let theirs = scene.sample.commit_on("main", &[("theirs", Some("x\n"))], "theirs");
    assert!(!has_landed(&theirs));
    let half = scene.sample.commit_on("main", &[("menu", Some("half\n"))], "Work");
    assert!(!has_landed(&half), "half of it");
    let whole = scene.sample.commit_on("main", &[("menu", Some("two\n")), ("new", Some("new\n"))], "More work");
    assert!(has_landed(&whole));
}

#[test]
fn base_that_changed_the_work_conflicts() {
    let scene = Scene::new();
    for base in [scene.squash("something else\n"), scene.rebase("another thing\n")] {
        assert_eq!(scene.merge(&base, Some(&scene.landed)), MergeOutcome::Conflict { paths: vec!["menu".to_owned()] });
    }
}

#[test]
fn later_change_of_the_same_line_on_both_sides_conflicts() {
    let scene = Scene::new();
    scene.squash("two\n");
    let base = scene.sample.commit_on("main", &[("menu", Some("four\n"))], "theirs once more");
    assert_eq!(scene.merge(&base, Some(&scene.landed)), MergeOutcome::Conflict { paths: vec!["menu".to_owned()] });
}

#[test]
fn base_without_the_work_is_merged_plainly() {
    let scene = Scene::new();
    let base = scene.sample.commit_on("main", &[("theirs", Some("x\n"))], "theirs");
    for landed in [Some(&scene.landed), Some(&"0123456789012345678901234567890123456789".to_owned()), None] {
        let MergeOutcome::Merged { sha, .. } = scene.merge(&base, landed) else { panic!("it conflicts") };
        assert_eq!(scene.file(&sha, "menu").as_deref(), Some("three\n"));
    }
}
