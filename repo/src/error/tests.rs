//! Codes are for programs and stay; sentences and hints are read together here.

use std::io;

use super::RepoError;

#[test]
fn every_refusal_has_a_code_a_sentence_and_a_hint() {
    let path = || "/home/sam/shop".into();
    let branch = || "main".to_owned();
    let all = [
        RepoError::PathMissing { path: path() },
        RepoError::NotARepository { path: path() },
        RepoError::Bare { path: path() },
        RepoError::NoCommit { path: path() },
        RepoError::DetachedHead { path: path() },
        RepoError::BranchMissing { branch: branch(), near: vec!["master".into()] },
        RepoError::Sha256Objects,
        RepoError::Reftable,
        RepoError::PartialClone,
        RepoError::UnknownExtension { name: "something".into() },
        RepoError::WrongOwner { path: path() },
        RepoError::Filters { driver: "lfs".into(), named_in: ".gitattributes".into() },
        RepoError::PathNotUtf8 { path: path() },
        RepoError::BranchNameConflict { existing: "vr".into(), wanted: "vr/TASK-001/work".into() },
        RepoError::Moved { name: "refs/heads/main".into(), expected: Some("1111".into()), found: None },
        RepoError::Locked { name: "refs/heads/main".into(), lock: "/home/sam/shop/.git/refs/heads/main.lock".into(), seconds: 5 },
        RepoError::Symbolic { name: "refs/heads/vr/TASK-001/work".into(), target: "refs/heads/main".into() },
        RepoError::NotASha { sha: "abc".into() },
        RepoError::CommitMissing { sha: "1111".into() },
        RepoError::CheckoutName { name: "../x".into(), why: "it has to be one path component" },
        RepoError::PathOccupied { path: path() },
        RepoError::CheckoutMissing { path: path() },
        RepoError::CheckedOut { branch: branch(), path: path() },
        RepoError::OperationInProgress { operation: "rebase", path: path() },
        RepoError::SparseCheckout { path: path() },
        RepoError::IndexUnreadable { path: path(), reason: "unsupported mandatory extension: 'link'".into() },
        RepoError::CommitsNotKept { branch: branch(), kept_by: "vibe-relay/PROJ-001".into() },
        RepoError::ReferenceOutsidePrefix { name: "HEAD".into(), prefix: "refs/vibe-relay/rescue/" },
        RepoError::RescueTaken { reference: "refs/vibe-relay/rescue/TASK-001".into() },
        RepoError::Git { attempted: "read refs/heads/main".into(), reason: git2::Error::from_str("the file is corrupt") },
        RepoError::Io { attempted: "write .git".into(), reason: io::Error::other("no space left") },
    ];
    let table: Vec<_> = all.iter().map(|refusal| format!("{}: {refusal}\n    {}", refusal.code(), refusal.hint())).collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    path-missing: there is no folder at /home/sam/shop
        Check the path; it must be a folder on this machine.
    not-a-repository: /home/sam/shop is not inside a git repository
        Name a folder of a git repository, or run `git init` and commit there first.
    bare-repository: /home/sam/shop is a bare repository: it has no files to look at
        Name a checkout (a working tree) of it instead.
    no-commit: the repository at /home/sam/shop has no commit yet
        Make a first commit, an empty one will do: `git commit --allow-empty -m start`.
    detached-head: /home/sam/shop has no branch checked out (detached HEAD)
        Name the base branch, or check one out with `git switch`.
    branch-missing: there is no branch named main; the nearest are master
        Name an existing local branch as the base.
    sha256-objects: the repository stores its objects as sha256, which is not supported yet
        Use a repository with sha1 objects (`git init --object-format=sha1`).
    reftable: the repository stores its branches as a reftable, which is not supported yet
        Run `git refs migrate --ref-format=files` (git 2.46 or newer).
    partial-clone: the repository is a partial clone: some of its objects are only on the server
        Make a full clone without `--filter` and name that.
    unknown-extension: the repository uses the git extension something, which is not known here
        Name a clone without `extensions.something`.
    foreign-owner: the repository at /home/sam/shop belongs to another user
        Run as its owner, or trust it with `git config --global --add safe.directory /home/sam/shop`.
    filters: files of the repository go through the git filter lfs (named in .gitattributes)
        Such files (Git LFS, git-crypt, …) cannot be judged here: use a repository without clean and smudge filters.
    path-not-utf8: the path /home/sam/shop is not valid UTF-8
        Rename the folder.
    name-blocked: the branch vr stands where vr/TASK-001/work has to be
        Rename your branch: `git branch -m vr my-vr`.
    branch-moved: refs/heads/main was not moved: it is at no commit, not at 1111
        Somebody else moved it at the same moment: look again and repeat.
    branch-locked: refs/heads/main stayed locked by another program for 5 seconds
        If no git program is running, delete the left-over lock file /home/sam/shop/.git/refs/heads/main.lock.
    branch-symbolic: refs/heads/vr/TASK-001/work is no branch of its own: it points to refs/heads/main
        Remove it with `git symbolic-ref --delete refs/heads/vr/TASK-001/work`, then repeat.
    not-a-sha: abc is not a full commit id
        Give all 40 hexadecimal digits.
    commit-missing: the commit 1111 is not in the repository
        It may have been removed by `git gc`; look at the rescue refs.
    checkout-name: ../x cannot be the name of a checkout: it has to be one path component
        Use one path component of letters, digits, `-`, `_` and `.`.
    path-occupied: /home/sam/shop holds something that is not this checkout
        Move it away, or choose another folder for worktrees.
    checkout-missing: there is no checkout at /home/sam/shop
        Add the checkout again; its branch still holds everything that was committed.
    branch-checked-out: the branch main is checked out at /home/sam/shop
        Switch /home/sam/shop to another branch, or remove that checkout.
    operation-under-way: a rebase is under way at /home/sam/shop
        Finish or abort the rebase, then repeat.
    sparse-checkout: /home/sam/shop is a sparse checkout, whose missing files cannot be told from deleted ones
        Switch that checkout to another branch (`git switch --detach`) or end it with `git sparse-checkout disable`, then repeat.
    index-unreadable: the index of /home/sam/shop cannot be read: unsupported mandatory extension: 'link'
        Switch that checkout to another branch (`git switch --detach`), or write a plain index with `git update-index --no-split-index`.
    branch-not-kept: the branch main was not deleted: neither vibe-relay/PROJ-001 nor a rescue ref contains its tip
        Rescue its tip first; nothing an agent made is deleted without a way back.
    foreign-reference: HEAD is not a reference that may be used for this: it must begin with refs/vibe-relay/rescue/
        Use a name below refs/vibe-relay/rescue/.
    rescue-taken: refs/vibe-relay/rescue/TASK-001 already keeps other work
        Choose another rescue name.
    git: could not read refs/heads/main: the file is corrupt
        Run `git fsck` in the repository; if it is sound, repeat.
    io: could not write .git: no space left
        Check permissions and free space, then repeat.
    ");
}
