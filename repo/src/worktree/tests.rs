//! Checkouts are valid for git, and a repeated call completes every partial one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::git_program::git;
use crate::testing::{TestRepository, write_in};
use crate::{RESCUE_PREFIX, Repository};

const NAME: &str = "PROJ-001-TASK-001";
const BRANCH: &str = "vr/TASK-001/work";

/// A state that a kill leaves, and the function that produces it from a complete checkout.
type Step = (&'static str, fn(&Task));

struct Task {
    sample: TestRepository,
    repository: Repository,
    start: String,
    path: PathBuf,
    admin: PathBuf,
}

fn task() -> Task {
    let sample = TestRepository::new();
    sample.write("src/main.rs", "fn main() {}\n");
    sample.write("run.sh", "#!/bin/sh\n");
    let start = sample.commit_all("code");
    Task {
        repository: sample.repository(),
        path: sample.beside("worktrees/PROJ-001/TASK-001"),
        admin: sample.git_dir().join("worktrees").join(NAME),
        start,
        sample,
    }
}

impl Task {
    fn add(&self) {
        self.repository.add_worktree(NAME, &self.path, BRANCH, &self.start).unwrap();
    }

    fn refusal(&self) -> &'static str {
        self.repository.add_worktree(NAME, &self.path, BRANCH, &self.start).unwrap_err().code()
    }

    /// Checks the checkout with git itself.
    fn assert_valid(&self) {
        assert_eq!(git(&self.path, &["status", "--porcelain"]), "");
        assert_eq!(git(&self.path, &["symbolic-ref", "HEAD"]), format!("refs/heads/{BRANCH}"));
        assert_eq!(fs::read_to_string(self.path.join("src/main.rs")).unwrap(), "fn main() {}\n");
        let list = git(self.sample.top(), &["worktree", "list", "--porcelain"]);
        assert!(list.contains(&format!("worktree {}\n", self.path.display())), "{list}");
        assert!(list.contains("locked vibe-relay"), "{list}");
        git(self.sample.top(), &["fsck", "--strict"]);
    }
}

#[test]
fn git_accepts_a_checkout_and_can_commit_in_it() {
    let task = task();
    task.add();
    task.assert_valid();
    write_in(&task.path, "new.txt", "new\n");
    git(&task.path, &["add", "-A"]);
    git(&task.path, &["commit", "-q", "-m", "work"]);
    git(&task.path, &["gc", "-q"]);
    assert_eq!(task.repository.ref_sha(BRANCH).unwrap().unwrap(), git(&task.path, &["rev-parse", "HEAD"]));
    git(task.sample.top(), &["worktree", "prune"]);
    assert!(task.admin.is_dir(), "git must not prune a locked checkout");
}

#[test]
fn files_of_a_complete_checkout_are_not_changed() {
    let task = task();
    task.add();
    write_in(&task.path, "src/main.rs", "half done\n");
    write_in(&task.path, "new.txt", "new\n");
    task.add();
    assert_eq!(fs::read_to_string(task.path.join("src/main.rs")).unwrap(), "half done\n");
    assert!(task.path.join("new.txt").exists());
}

#[test]
fn an_existing_branch_is_checked_out_without_a_move() {
    let task = task();
    let tip = task.sample.commit_on(BRANCH, &[("earlier.txt", Some("earlier\n"))], "earlier");
    task.add();
    assert_eq!(git(&task.path, &["rev-parse", "HEAD"]), tip);
    assert_eq!(fs::read_to_string(task.path.join("earlier.txt")).unwrap(), "earlier\n");
}

/// Restores the state that a kill leaves after each step, and repeats the call.
#[test]
fn a_repeat_completes_a_checkout_killed_at_any_step() {
    let undo: [Step; 8] = [
        ("only the branch", |task| {
            fs::remove_dir_all(&task.admin).unwrap();
            fs::remove_dir_all(&task.path).unwrap();
        }),
        ("an empty admin folder", |task| {
            fs::remove_dir_all(&task.admin).unwrap();
            fs::create_dir(&task.admin).unwrap();
            fs::remove_dir_all(&task.path).unwrap();
        }),
        ("no HEAD yet", |task| {
            fs::remove_file(task.admin.join("HEAD")).unwrap();
            fs::remove_file(task.admin.join("index")).unwrap();
            fs::remove_dir_all(&task.path).unwrap();
        }),
        ("no checkout yet", |task| {
            fs::remove_file(task.admin.join("index")).unwrap();
            fs::remove_dir_all(&task.path).unwrap();
        }),
        ("a draft of the .git file", |task| {
            fs::remove_file(task.admin.join("index")).unwrap();
            fs::remove_dir_all(&task.path).unwrap();
            write_in(&task.path, ".git.vibe-relay", "gitd");
        }),
        ("only the .git file", |task| {
            fs::remove_file(task.admin.join("index")).unwrap();
            fs::remove_dir_all(task.path.join("src")).unwrap();
            fs::remove_file(task.path.join("run.sh")).unwrap();
        }),
        ("half of the files, and a lock", |task| {
            fs::rename(task.admin.join("index"), task.admin.join("index.lock")).unwrap();
            fs::remove_dir_all(task.path.join("src")).unwrap();
            write_in(&task.path, "run.sh", "#!/b");
        }),
        ("everything but the index", |task| fs::remove_file(task.admin.join("index")).unwrap()),
    ];
    for (state, undo) in undo {
        let task = task();
        task.add();
        undo(&task);
        println!("{state}");
        task.add();
        task.assert_valid();
    }
}

#[test]
fn a_checkout_without_files_is_created_again() {
    let task = task();
    task.add();
    fs::remove_dir_all(&task.path).unwrap();
    task.add();
    task.assert_valid();
}

#[test]
fn an_emptied_index_is_rewritten_and_changes_are_rescued() {
    let task = task();
    task.add();
    fs::write(task.admin.join("index"), "").unwrap();
    task.add();
    task.assert_valid();
    let rescued = || git(task.sample.top(), &["for-each-ref", "--format=%(refname)", RESCUE_PREFIX]);
    assert_eq!(rescued(), "", "no file was changed");

    write_in(&task.path, "src/main.rs", "half done\n");
    fs::write(task.admin.join("index"), "").unwrap();
    task.add();
    task.assert_valid();
    assert_eq!(git(task.sample.top(), &["show", &format!("{}:src/main.rs", rescued())]), "half done");
}

#[test]
fn replaced_links_are_repaired_without_file_changes() {
    let task = task();
    task.add();
    write_in(&task.path, "new.txt", "new\n");
    fs::write(task.path.join(".git"), "gitdir: /elsewhere\n").unwrap();
    fs::write(task.admin.join("commondir"), "/elsewhere\n").unwrap();
    fs::write(task.admin.join("gitdir"), format!("{}\n", task.path.join(".git").display())).unwrap();
    task.add();
    assert_eq!(git(&task.path, &["status", "--porcelain"]), "?? new.txt");
}

#[test]
fn a_git_folder_created_inside_is_moved_aside() {
    let task = task();
    task.add();
    fs::remove_file(task.path.join(".git")).unwrap();
    write_in(&task.path, ".git/HEAD", "ref: refs/heads/other\n");
    task.add();
    assert!(task.path.join(".git").is_file());
    assert!(task.path.join(".git.found/HEAD").exists());
}

#[test]
fn an_unmanaged_folder_is_not_written_to() {
    let task = task();
    write_in(&task.path, "someone.txt", "mine\n");
    assert_eq!(task.refusal(), "path-occupied");
    assert_eq!(fs::read_dir(&task.path).unwrap().count(), 1);
    assert!(!task.admin.exists());
}

#[test]
fn unusable_names_paths_and_branches_are_rejected() {
    let task = task();
    task.add();
    let repository = &task.repository;
    let other = task.sample.beside("other");
    let code = |name: &str, path: &Path, branch: &str| repository.add_worktree(name, path, branch, &task.start).unwrap_err().code();
    assert_eq!(code("../escape", &other, "free"), "checkout-name");
    assert_eq!(code("", &other, "free"), "checkout-name");
    assert_eq!(code(NAME, &other, "free"), "checkout-name", "the name belongs to another path");
    assert_eq!(code("other", &other, BRANCH), "branch-checked-out");
    assert_eq!(code("other", &other, "main"), "branch-checked-out");
    assert_eq!(code("other", task.sample.root(), "free"), "path-occupied", "it contains the repository");
    assert_eq!(code("other", Path::new("relative"), "free"), "path-occupied");
}

#[test]
fn a_detached_checkout_has_exactly_the_given_commit() {
    let task = task();
    let commit = task.sample.commit_on("side", &[("side.txt", Some("side\n"))], "side");
    for _ in 0..2 {
        task.repository.add_detached(NAME, &task.path, &commit).unwrap();
        assert_eq!(git(&task.path, &["rev-parse", "HEAD"]), commit);
        assert_eq!(git(&task.path, &["status", "--porcelain", "--branch"]), "## HEAD (no branch)");
    }
    assert_eq!(git(task.sample.top(), &["branch", "--format=%(refname:short)"]), "main\nside", "no temporary branch remains");
}

/// Compares what this crate writes by itself with what libgit2 writes, which has to convert nothing here but is told that it may.
#[test]
fn new_files_are_those_that_libgit2_writes() {
    let listed = |converts: bool| {
        let task = task();
        for path in ["a/b/c.txt", "a/b.txt", "ä/ö ü.txt", "empty", "lines.txt"] {
            task.sample.write(path, if path == "empty" { "" } else { "one\r\ntwo\n" });
        }
        symlink("a/b.txt", task.sample.top().join("link")).unwrap();
        task.sample.write("tool.sh", "#!/bin/sh\n");
        fs::set_permissions(task.sample.top().join("tool.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        if converts {
            task.sample.write(".gitattributes", "*.never ident\n");
        }
        let start = task.sample.commit_all("files");
        task.repository.add_worktree(NAME, &task.path, BRANCH, &start).unwrap();
        assert_eq!(git(&task.path, &["status", "--porcelain"]), "");
        assert_eq!(git(&task.path, &["diff-files", "--name-only"]), "", "the index knows every file");
        let paths = git(&task.path, &["ls-files"]);
        let describe = |path: &str| {
            let found = task.path.join(path).symlink_metadata().unwrap();
            (path.to_owned(), found.permissions().mode(), fs::read(task.path.join(path)).unwrap())
        };
        paths.lines().filter(|path| !path.starts_with('"') && *path != ".gitattributes").map(describe).collect::<Vec<_>>()
    };
    assert_eq!(listed(false), listed(true));
    assert!(listed(false).len() >= 7);
}

#[test]
fn line_ends_are_converted_where_git_does() {
    let task = task();
    task.sample.write(".gitattributes", "*.bat text eol=crlf\n");
    task.sample.write("run.bat", "one\ntwo\n");
    task.sample.write("other.txt", "one\ntwo\n");
    let start = task.sample.commit_all("attributes");
    task.repository.add_worktree(NAME, &task.path, BRANCH, &start).unwrap();
    assert_eq!(fs::read_to_string(task.path.join("run.bat")).unwrap(), "one\r\ntwo\r\n");
    assert_eq!(fs::read_to_string(task.path.join("other.txt")).unwrap(), "one\ntwo\n");
    assert_eq!(task.repository.evidence(&task.path, BRANCH, "main", &[]).unwrap().dirty_count, 0);
}

/// A tree that git itself would not make.
#[test]
fn paths_out_of_the_checkout_are_not_written() {
    for (name, mode) in [("..", "40000"), (".git", "40000"), (".GIT", "40000")] {
        let task = task();
        let odb = git2::Repository::open(task.sample.top()).unwrap();
        let entry = |mode: &str, name: &str, id: git2::Oid| [format!("{mode} {name}\0").as_bytes(), id.as_bytes()].concat();
        let write = |content: &[u8]| odb.odb().unwrap().write(git2::ObjectType::Tree, content).unwrap();
        let inner = write(&entry("100644", "escaped", odb.blob(b"x").unwrap()));
        let tree = odb.find_tree(write(&entry(mode, name, inner))).unwrap();
        let signature = git2::Signature::now("Sam Sample", "sam@example.org").unwrap();
        let commit = odb.commit(None, &signature, &signature, "hostile", &tree, &[]).unwrap().to_string();
        assert!(task.repository.add_detached(NAME, &task.path, &commit).is_err(), "{name}");
        assert!(!task.path.join(name).join("escaped").exists(), "{name}");
    }
}

/// A link in the place of a folder, in one tree.
#[test]
fn links_in_a_tree_are_not_followed() {
    let task = task();
    let odb = git2::Repository::open(task.sample.top()).unwrap();
    let outside = task.sample.beside("outside");
    fs::create_dir(&outside).unwrap();
    let entry = |mode: &str, name: &str, id: git2::Oid| [format!("{mode} {name}\0").as_bytes(), id.as_bytes()].concat();
    let write = |content: &[u8]| odb.odb().unwrap().write(git2::ObjectType::Tree, content).unwrap();
    let inner = write(&entry("100644", "escaped", odb.blob(b"x").unwrap()));
    let link = odb.blob(outside.as_os_str().as_encoded_bytes()).unwrap();
    let tree = odb.find_tree(write(&[entry("120000", "a", link), entry("40000", "a", inner)].concat())).unwrap();
    let signature = git2::Signature::now("Sam Sample", "sam@example.org").unwrap();
    let commit = odb.commit(None, &signature, &signature, "hostile", &tree, &[]).unwrap().to_string();
    assert!(task.repository.add_detached(NAME, &task.path, &commit).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn submodules_are_empty_and_file_modes_are_preserved() {
    let task = task();
    git(task.sample.top(), &["update-index", "--add", "--cacheinfo", &format!("160000,{},vendor/lib", task.start)]);
    git(task.sample.top(), &["update-index", "--chmod=+x", "run.sh"]);
    git(task.sample.top(), &["commit", "-q", "-m", "submodule"]);
    let start = task.repository.ref_sha("main").unwrap().unwrap();
    task.repository.add_worktree(NAME, &task.path, BRANCH, &start).unwrap();
    assert_eq!(git(&task.path, &["status", "--porcelain"]), "");
    assert_eq!(fs::read_dir(task.path.join("vendor/lib")).unwrap().count(), 0);
    let evidence = task.repository.evidence(&task.path, BRANCH, "main", &[]).unwrap();
    assert_eq!(evidence.dirty_paths, Vec::<String>::new());
}
