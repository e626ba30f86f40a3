//! A checkpoint brings back every file as it was, and costs nothing when nothing changed.

use std::fs;

use crate::RepoError;
use crate::git_program::git;
use crate::testing::{TaskCheckout, commit_all_in, write_in};

fn work() -> TaskCheckout {
    TaskCheckout::new(&[("keep.txt", "keep\n"), ("gone.txt", "gone\n")])
}

impl TaskCheckout {
    fn take(&self, earlier: &str) -> Option<(String, u32)> {
        let taken = self.repository.take_checkpoint("TASK-001", "task", &self.path, &earlier.to_owned()).unwrap();
        taken.map(|taken| (taken.sha, taken.files))
    }

    fn references(&self) -> usize {
        git(self.sample.top(), &["for-each-ref", "refs/vibe-relay/checkpoints/"]).lines().count()
    }
}

#[test]
fn unchanged_files_make_no_checkpoint() {
    let work = work();
    assert_eq!(work.take(&work.head), None);
    write_in(&work.path, "target/out", "ignored");
    assert_eq!(work.take(&work.head), None, "ignored files do not count");
    write_in(&work.path, "new.txt", "new\n");
    let (first, files) = work.take(&work.head).unwrap();
    assert_eq!((work.take(&first), files), (None, 1));
    commit_all_in(&work.path, "The same files");
    assert_eq!((work.take(&first), work.references()), (None, 1), "a commit of the same files is no change");
}

#[test]
fn rewound_checkout_has_the_files_and_the_head_of_the_checkpoint() {
    let work = work();
    write_in(&work.path, "keep.txt", "committed\n");
    let committed = commit_all_in(&work.path, "First step");
    write_in(&work.path, "keep.txt", "changed\n");
    write_in(&work.path, "deep/new.txt", "new\n");
    fs::remove_file(work.path.join("gone.txt")).unwrap();
    let (checkpoint, files) = work.take(&work.head).unwrap();
    assert_eq!(files, 3);
    write_in(&work.path, "keep.txt", "wrong\n");
    commit_all_in(&work.path, "Wrong step");
    assert_eq!(work.take(&checkpoint).map(|(_, files)| files), Some(1));

    assert_eq!(work.repository.checkpoint_head(&checkpoint).unwrap(), committed);
    let rewound = work.sample.beside("rewound");
    work.repository.add_worktree("rewound", &rewound, "vr/TASK-001/again", &committed).unwrap();
    for _ in 0..2 {
        work.repository.restore_checkpoint("rewound", &rewound, &checkpoint).unwrap();
        assert_eq!(fs::read_to_string(rewound.join("keep.txt")).unwrap(), "changed\n");
        assert_eq!(fs::read_to_string(rewound.join("deep/new.txt")).unwrap(), "new\n");
        assert_eq!(git(&rewound, &["status", "--porcelain"]), " D gone.txt\n M keep.txt\n?? deep/");
    }
}

#[test]
fn dropped_checkpoints_are_gone_and_may_be_dropped_again() {
    let work = work();
    write_in(&work.path, "new.txt", "new\n");
    let (checkpoint, _) = work.take(&work.head).unwrap();
    for _ in 0..2 {
        work.repository.drop_checkpoints("TASK-001", std::slice::from_ref(&checkpoint)).unwrap();
        assert_eq!(work.references(), 0);
    }
    let missing = "0".repeat(39) + "1";
    assert!(matches!(work.repository.checkpoint_head(&missing), Err(RepoError::CommitMissing { .. })));
    assert_eq!(work.take(&missing).map(|(_, files)| files), Some(1), "without the earlier one, HEAD is compared");
}
