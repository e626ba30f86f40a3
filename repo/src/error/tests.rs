//! Codes, sentences and hints of all errors in one snapshot. Codes are stable.

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
        RepoError::RepositoryMissing { path: path() },
        RepoError::BranchMissing { branch: branch(), near: vec!["master".into()] },
        RepoError::BranchNotLocal { named: "origin/next".into(), local: "next".into(), is_tag: false, exists: false },
        RepoError::BranchNotLocal { named: "origin/main".into(), local: branch(), is_tag: false, exists: true },
        RepoError::BranchNotLocal { named: "v1".into(), local: "from-v1".into(), is_tag: true, exists: false },
        RepoError::NoUpstream { branch: branch() },
        RepoError::Diverged { branch: branch(), upstream: "origin/main".into() },
        RepoError::CheckoutElsewhere { path: path(), branch: branch() },
        RepoError::SnapshotIncomplete { paths: vec!["video.mp4".into()] },
        RepoError::Sha256Objects,
        RepoError::Reftable,
        RepoError::PartialClone,
        RepoError::UnknownExtension { name: "something".into() },
        RepoError::WrongOwner { path: path() },
        RepoError::FilterInRepository { driver: "crypt".into(), path: "a.key".into() },
        RepoError::FilterMissing { driver: "lfs".into(), path: "a.psd".into() },
        RepoError::GitMissing { attempted: "list the filters of git".into() },
        RepoError::SubmoduleNotFilled { path: "vendor/inner".into(), output: "could not fetch 1111: no route to host".into() },
        RepoError::NotSigned { output: "no key".into() },
        RepoError::GitFailed { attempted: "convert a.psd for git".into(), output: "smudge filter lfs failed".into() },
        RepoError::PathNotUtf8 { path: path() },
        RepoError::BranchNameConflict { existing: "vr".into(), wanted: "vr/TASK-001/work".into() },
        RepoError::Moved { name: "refs/heads/main".into(), expected: Some("1111".into()), found: None },
        RepoError::Locked { name: "refs/heads/main".into(), lock: "/home/sam/shop/.git/refs/heads/main.lock".into(), seconds: 5 },
        RepoError::Symbolic { name: "refs/heads/vr/TASK-001/work".into(), target: "refs/heads/main".into() },
        RepoError::NotASha { sha: "abc".into() },
        RepoError::CommitMissing { sha: "1111".into() },
        RepoError::CheckoutName { name: "../x".into(), why: "it must be one path component" },
        RepoError::PathOccupied { path: path() },
        RepoError::CheckoutMissing { path: path() },
        RepoError::CheckedOut { branch: branch(), path: path() },
        RepoError::OperationInProgress { operation: "rebase", path: path() },
        RepoError::SparseCheckout { path: path() },
        RepoError::IndexUnreadable { path: path(), reason: "unsupported mandatory extension: 'link'".into() },
        RepoError::CommitsNotKept { branch: branch(), kept_by: "vibe-relay/PROJ-001".into() },
        RepoError::ReferenceOutsidePrefix { name: "HEAD".into(), prefix: "refs/vibe-relay/rescue/" },
        RepoError::RescueTooLarge { path: path(), bytes: 3 << 30, limit: 1 << 30 },
        RepoError::BranchExists { branch: branch() },
        RepoError::BranchName { branch: "a..b".into() },
        RepoError::RescueMissing { reference: "refs/vibe-relay/rescue/TASK-001/uncommitted".into() },
        RepoError::RescueTaken { reference: "refs/vibe-relay/rescue/TASK-001".into() },
        RepoError::NotResponding { path: path(), seconds: 31 },
        RepoError::Busy { path: path(), seconds: 60 },
        RepoError::Interrupted,
        RepoError::Git { attempted: "read refs/heads/main".into(), reason: git2::Error::from_str("the file is corrupt") },
        RepoError::Io { attempted: "write .git".into(), reason: io::Error::other("no space left") },
    ];
    let table: Vec<_> = all.iter().map(|refusal| format!("{}: {refusal}\n    {}", refusal.code(), refusal.hint())).collect();
    insta::assert_snapshot!(table.join("\n"), @r#"
    path-missing: the folder /home/sam/shop does not exist
        Check the path; it must be a folder on this machine.
    not-a-repository: /home/sam/shop is not inside a git repository
        Name a folder of a git repository, or run `git init` and commit there first.
    bare-repository: /home/sam/shop is a bare repository and has no checked-out files
        Name a checkout (a working tree) of the repository instead.
    no-commit: the repository at /home/sam/shop has no commit yet
        Create a first commit; it may be empty: `git commit --allow-empty -m start`.
    detached-head: /home/sam/shop has no branch checked out (detached HEAD)
        Name the base branch, or check one out with `git switch`.
    repository-missing: the repository /home/sam/shop does not exist
        Mount the drive that it is on, or name its new folder with `vibe-relay project relocate PROJECT FOLDER`.
    branch-missing: the branch main does not exist; similar branches: master
        Name an existing local branch as the base.
    branch-not-local: origin/next is a branch of a remote, not a local branch
        Create the local branch next from it: `--make-base`, `"make_base": true`, or `git branch next origin/next`.
    branch-not-local: origin/main is a branch of a remote, not a local branch
        Name the local branch main; the project can start from its newer upstream.
    branch-not-local: v1 is a tag, not a local branch
        Create the local branch from-v1 from it: `--make-base`, `"make_base": true`, or `git branch from-v1 v1`.
    no-upstream: main does not follow a branch of a remote that was fetched
        Fetch, or set it with `git branch --set-upstream-to REMOTE/BRANCH main`.
    upstream-diverged: main has commits that origin/main lacks
        Merge origin/main into main, or rebase it, then create the project.
    checkout-elsewhere: the checkout /home/sam/shop is not at the tip of main, so a snapshot of its files cannot continue that branch
        Switch it to main, or create the project without a snapshot.
    snapshot-incomplete: a snapshot cannot hold video.mp4
        Commit or ignore these files, which are larger than 50 MiB or cannot be read, or create the project without a snapshot.
    sha256-objects: the repository stores its objects as sha256, which is not supported yet
        Use a repository with sha1 objects (`git init --object-format=sha1`).
    reftable: the repository stores its branches as a reftable, which is not supported yet
        Run `git refs migrate --ref-format=files` (git 2.46 or newer).
    partial-clone: the repository is a partial clone: some of its objects are only on the server
        Create a full clone without `--filter` and name that.
    unknown-extension: the repository uses the git extension something, which is not supported
        Name a clone without `extensions.something`.
    foreign-owner: the repository at /home/sam/shop belongs to another user
        Run as its owner, or trust it with `git config --global --add safe.directory /home/sam/shop`.
    filters: a.key uses the git filter crypt, which only the configuration of the repository has; agents could change it
        Configure it for all repositories: `git config --global filter.crypt.clean …`, and so on for smudge and process.
    filter-missing: a.psd uses the git filter lfs, which is not installed
        Install `git-lfs` and run `git lfs install`, then try again.
    program-missing: could not list the filters of git: git is not installed
        Install git, then try again.
    submodule-not-filled: the submodule vendor/inner could not be filled: could not fetch 1111: no route to host
        Run `git submodule update --init --recursive vendor/inner` in your checkout, then try again.
    not-signed: the commit was not signed: no key
        Sign a commit in a terminal to unlock your key, or name one with `git config --global user.signingKey KEY`; then try again.
    git-failed: could not convert a.psd for git: smudge filter lfs failed
        Run `git lfs pull` or the command that failed in your checkout to see what it needs, then try again.
    path-not-utf8: the path /home/sam/shop is not valid UTF-8
        Rename the folder.
    name-blocked: the branch vr conflicts with the branch name vr/TASK-001/work
        Rename your branch: `git branch -m vr my-vr`.
    branch-moved: refs/heads/main was not moved: it is at no commit, not at 1111
        Another process moved the branch. Read its tip again, then try again.
    branch-locked: refs/heads/main stayed locked by another program for 5 seconds
        If no git program is running, delete the stale lock file /home/sam/shop/.git/refs/heads/main.lock.
    branch-symbolic: refs/heads/vr/TASK-001/work is a symbolic reference to refs/heads/main, not a branch of its own
        Remove it with `git symbolic-ref --delete refs/heads/vr/TASK-001/work`, then try again.
    not-a-sha: abc is not a full commit id
        Give all 40 hexadecimal digits.
    commit-missing: the commit 1111 is not in the repository
        `git gc` may have removed it. Check the rescue refs.
    checkout-name: ../x cannot be the name of a checkout: it must be one path component
        Use one path component of letters, digits, `-`, `_` and `.`.
    path-occupied: /home/sam/shop contains files that do not belong to this checkout
        Move the files away, or choose another folder for worktrees.
    checkout-missing: the checkout /home/sam/shop does not exist
        Add the checkout again. Its branch still holds all commits.
    branch-checked-out: the branch main is checked out at /home/sam/shop
        Switch /home/sam/shop to another branch, or remove that checkout.
    operation-under-way: a rebase is in progress at /home/sam/shop
        Finish or abort the rebase, then try again.
    sparse-checkout: /home/sam/shop is a sparse checkout, so missing files cannot be distinguished from deleted ones
        Switch that checkout to another branch (`git switch --detach`) or run `git sparse-checkout disable`, then try again.
    index-unreadable: the index of /home/sam/shop cannot be read: unsupported mandatory extension: 'link'
        Switch that checkout to another branch (`git switch --detach`), or write a plain index with `git update-index --no-split-index`.
    branch-not-kept: the branch main was not deleted: neither vibe-relay/PROJ-001 nor a rescue ref contains its tip
        Rescue the tip of the branch first.
    foreign-reference: HEAD cannot be used as a rescue ref: it must begin with refs/vibe-relay/rescue/
        Use a name below refs/vibe-relay/rescue/.
    rescue-too-large: the work left in /home/sam/shop has 3072 MiB, more than the 1024 MiB that are kept
        Delete there what nobody needs, or move it elsewhere.
    branch-exists: the branch main already exists
        Choose the name of a new branch.
    branch-name: a..b cannot be the name of a branch
        Choose a name that `git check-ref-format --branch` accepts.
    rescue-missing: refs/vibe-relay/rescue/TASK-001/uncommitted does not exist
        Look it up with `vibe-relay rescue list PROJECT`.
    rescue-taken: refs/vibe-relay/rescue/TASK-001 already keeps other work
        Choose another rescue name.
    repository-not-responding: the repository at /home/sam/shop has not responded for 31 seconds
        Check the drive or network mount that it is on. Work continues automatically when it responds.
    repository-busy: other work on the repository at /home/sam/shop has not ended for 60 seconds
        Try again when the other work has ended.
    interrupted: the work on the repository was interrupted
        Try again.
    git: could not read refs/heads/main: the file is corrupt
        Run `git fsck` in the repository. If it reports no errors, try again.
    io: could not write .git: no space left
        Check permissions and free space, then try again.
    "#);
}
