//! Changes are rendered completely or marked as truncated.

use domain::runs::diff::{Diff, DiffSize, FileChange};

use super::DiffLimits;
use crate::git_program::git;
use crate::testing::TestRepository;

fn diff(sample: &TestRepository, limits: DiffLimits) -> Diff {
    let repository = sample.repository();
    let tip = |branch: &str| repository.ref_sha(branch).unwrap().unwrap();
    repository.diff(&tip("main"), &tip("work"), limits).unwrap()
}

#[test]
fn size_counts_what_changed_since_the_branches_parted() {
    let sample = TestRepository::new();
    sample.write("kept.txt", "one\ntwo\n");
    sample.commit_all("start");
    git(sample.top(), &["switch", "-q", "-c", "work"]);
    sample.commit_on("work", &[("kept.txt", Some("one\n2\n")), ("new.txt", Some("a\nb\nc\n")), ("image.bin", Some("a\0c"))], "change");
    sample.commit_on("main", &[("elsewhere.txt", Some("x\n"))], "main went on");
    let repository = sample.repository();
    let tip = |branch: &str| repository.ref_sha(branch).unwrap().unwrap();
    let size = repository.diff_size(&tip("main"), &tip("work")).unwrap();
    assert_eq!(size, DiffSize { files: 3, added: 4, removed: 1 });
    assert_eq!(repository.diff_size(&tip("work"), &tip("work")).unwrap(), DiffSize { files: 0, added: 0, removed: 0 });
}

/// One line per file, to keep the snapshots readable.
fn summary(diff: &Diff) -> String {
    let line = |file: &domain::runs::diff::FileDiff| {
        let from = file.old_path.as_deref().map(|old| format!(" from {old}")).unwrap_or_default();
        let binary = if file.binary { " binary" } else { "" };
        format!("{:?} {}{from} +{} -{}{binary} hunks {}", file.change, file.path, file.added, file.removed, file.hunks.len())
    };
    diff.files.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_kind_of_change_is_distinguished() {
    let sample = TestRepository::new();
    sample.write("old/name.txt", &"a line that is kept\n".repeat(20));
    sample.write("gone.txt", "gone\n");
    sample.write("run.sh", "#!/bin/sh\n");
    sample.write("image.bin", "a\0b");
    sample.commit_all("start");
    git(sample.top(), &["switch", "-q", "-c", "work"]);
    git(sample.top(), &["mv", "old/name.txt", "name.txt"]);
    git(sample.top(), &["rm", "-q", "gone.txt"]);
    git(sample.top(), &["update-index", "--chmod=+x", "run.sh"]);
    git(sample.top(), &["commit", "-q", "-m", "move"]);
    sample.commit_on("work", &[("new.txt", Some("new\n")), ("README.md", Some("another\n")), ("image.bin", Some("a\0c"))], "more");
    sample.commit_on("main", &[("elsewhere.txt", Some("x\n"))], "main went on");

    let diff = diff(&sample, DiffLimits::default());
    insta::assert_snapshot!(summary(&diff), @r"
    Modified README.md +1 -1 hunks 1
    Removed gone.txt +0 -1 hunks 1
    Modified image.bin +0 -0 binary hunks 0
    Renamed name.txt from old/name.txt +0 -0 hunks 0
    Added new.txt +1 -0 hunks 1
    ModeChanged run.sh +0 -0 hunks 0
    ");
    assert!(!diff.truncated);
    assert_eq!(diff.base, git(sample.top(), &["merge-base", "main", "work"]));
}

#[test]
fn hunks_match_the_lines_and_numbers_of_git() {
    let sample = TestRepository::new();
    sample.write("list.txt", "one\ntwo\nthree\n");
    sample.commit_all("list");
    sample.commit_on("work", &[("list.txt", Some("one\n2\nthree\nfour"))], "change");
    let diff = diff(&sample, DiffLimits::default());
    insta::assert_json_snapshot!(diff.files[0].hunks, @r#"
    [
      {
        "header": "@@ -1,3 +1,4 @@",
        "lines": [
          {
            "origin": " ",
            "old_line": 1,
            "new_line": 1,
            "text": "one"
          },
          {
            "origin": "-",
            "old_line": 2,
            "new_line": null,
            "text": "two"
          },
          {
            "origin": "+",
            "old_line": null,
            "new_line": 2,
            "text": "2"
          },
          {
            "origin": " ",
            "old_line": 3,
            "new_line": 3,
            "text": "three"
          },
          {
            "origin": "+",
            "old_line": null,
            "new_line": 4,
            "text": "four"
          }
        ]
      }
    ]
    "#);
}

#[test]
fn a_large_change_is_truncated_and_marked() {
    let sample = TestRepository::new();
    let long = "line\n".repeat(50);
    sample.commit_on("work", &[("a.txt", Some(&long)), ("b.txt", Some(&long)), ("c.txt", Some("c\n"))], "large");
    let shown = |limits: DiffLimits| {
        let diff = diff(&sample, limits);
        let lines: usize = diff.files.iter().flat_map(|file| &file.hunks).map(|hunk| hunk.lines.len()).sum();
        (diff.files.len(), lines, diff.files[1].added, diff.truncated)
    };
    let all = DiffLimits::default();
    assert_eq!(shown(all), (3, 101, 50, false));
    assert_eq!(shown(DiffLimits { lines: 60, ..all }), (3, 60, 50, true));
    assert_eq!(shown(DiffLimits { lines: 101, ..all }), (3, 101, 50, false));
    assert_eq!(shown(DiffLimits { files: 2, ..all }), (2, 100, 50, true));
    let narrow = diff(&sample, DiffLimits { line_length: 2, ..all });
    assert_eq!((narrow.files[0].hunks[0].lines[0].text.as_str(), narrow.truncated), ("li", true));
    let small = diff(&sample, DiffLimits { file_size: 10, ..all });
    assert!(small.files[0].binary && small.files[0].hunks.is_empty());
}

#[test]
fn an_attribute_file_cannot_hide_a_change() {
    let sample = TestRepository::new();
    sample.commit_on("work", &[(".gitattributes", Some("* -diff\n")), ("evil.rs", Some("evil\n"))], "hide");
    let diff = diff(&sample, DiffLimits::default());
    assert!(diff.files.iter().all(|file| file.change == FileChange::Added && !file.binary && file.added == 1), "{diff:?}");
}
