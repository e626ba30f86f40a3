//! Calls every public function that reads or writes a repository on a hostile one, in the order of a project's life.
//!
//! `coverage` fails for a function that is missing here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use domain::id::TaskId;
use domain::runs::evidence::{CheckoutRecord, EvidenceRequest, KnownCommit, RepositoryRecord, Sha};
use domain::warroom::oracle::note::OracleNote;
use domain::warroom::zone::proposal::ProposalSource;
use tokio_util::sync::CancellationToken;

use crate::git_program::{make_key, serve_calls};
use crate::testing::{TestRepository, commit_all_in, init_in, write_in};
use crate::{
    DiffLimits, FETCHED, Identity, KeptCodeMap, LandOutcome, LandRequest, LandingQuestion, MergeOutcome, NestedWork, Repository, UndoOutcome,
    UndoRequest,
};

const PROJECT: &str = "vibe-relay/PROJ-001";
const BRANCH: &str = "vr/TASK-001/work";
const RESCUE: &str = "refs/vibe-relay/rescue/TASK-001/";
const TASK: &str = "vibe-relay-TASK-001";

/// A hostile repository on which the board works.
struct Life<'a> {
    sample: &'a TestRepository,
    repository: Repository,
    identity: Identity,
    /// Where the project begins.
    start: Sha,
    /// The checkout of a task.
    task: PathBuf,
}

/// `has_filters`: a project on it is refused, and everything else works.
pub(super) async fn call_every_function(sample: &TestRepository, has_filters: bool) {
    serve_calls();
    // The key of the person is to sign, and the program of the repository is not.
    let key = make_key(sample);
    for (name, value) in [("gpg.format", "ssh"), ("gpg.ssh.program", "/bin/false"), ("user.signingKey", key.to_str().unwrap())] {
        sample.configure(name, value);
    }
    look_at(sample, has_filters);
    let life = begin(sample, has_filters);
    let work = life.work();
    life.read(&work).await;
    life.follow().await;
    life.merge(&work);
    life.land();
    life.keep_and_restore(&work);
    life.move_away();
}

fn look_at(sample: &TestRepository, has_filters: bool) {
    let top = sample.top();
    sample.set_reference("refs/tags/v1", &sample.repository().base_tip("main").unwrap());
    for probed in [crate::probe(top, None), crate::probe_or_plan_base(top, Some("v1"))] {
        assert_eq!(probed.map(drop).map_err(|error| error.code()), if has_filters { Err("filters") } else { Ok(()) });
    }
    assert_eq!(crate::git_dir(top).unwrap(), sample.git_dir());
    crate::place(top).unwrap();
    crate::uncommitted(top, &CancellationToken::new()).unwrap();
}

fn begin(sample: &TestRepository, has_filters: bool) -> Life<'_> {
    let repository = Repository::open(&sample.git_dir()).unwrap();
    repository.check().unwrap();
    assert!(repository.signs_commits().unwrap());
    repository.commit_hooks(sample.top()).unwrap();
    let base = repository.base_tip("main").unwrap();
    assert_eq!(repository.base_evidence("main", &base, None).is_ok(), !has_filters);
    assert_eq!(repository.start_at_upstream("main", &base).unwrap(), None);
    repository.make_base("release", &base, "origin/main").unwrap();
    sample.write("mine.txt", "not committed\n");
    let snapshot = repository.start_with_snapshot(sample.top(), "main", &base, |path| path == "code.txt").unwrap();
    assert!(snapshot.is_some(), "a new file");
    fs::remove_file(sample.top().join("mine.txt")).unwrap();
    let project = repository.free_branch_name(PROJECT).unwrap();
    let start = repository.ensure_project_branch(&project, "main").unwrap();
    repository.detect_profile(&start).unwrap();
    repository.lock_files(&start).unwrap();
    let identity = repository.identity("runner").unwrap();
    Life { sample, repository, identity, start, task: sample.beside("TASK-001") }
}

impl Life<'_> {
    fn tip(&self, branch: &str) -> Sha {
        self.repository.ref_sha(branch).unwrap().unwrap()
    }

    /// Everything about the checkout of a task. Returns a commit of its work.
    fn work(&self) -> Sha {
        let Self { sample, repository, start, task, .. } = self;
        let review = sample.beside("review");
        repository.add_worktree(TASK, task, BRANCH, start).unwrap();
        repository.add_detached("review", &review, start).unwrap();
        repository.move_detached("review", &review, &self.tip("release")).unwrap();
        repository.fill_submodules("review", &review, start, true).unwrap();
        let before = repository.control_files(TASK).unwrap();
        sample.write("ignored.env", "KEY=1\n");
        let ignored = repository.ignored_files(sample.top(), |path| path.ends_with(".env")).unwrap();
        repository.copy_files(sample.top(), task, &ignored.paths).unwrap();
        repository.evidence(task, BRANCH, PROJECT, &[]).unwrap();
        write_in(task, "code.txt", "changed\n");
        write_in(task, "new.md", "new\n");
        write_in(task, "b.long", "new\n");
        assert_eq!(repository.evidence(task, BRANCH, PROJECT, &[]).unwrap().dirty_count, 3);
        repository.file_times(task, &["code.txt".parse().unwrap(), "*.md".parse().unwrap()]).unwrap();
        repository.find_file(task, "code.txt").unwrap();
        repository.locate(task, "code.txt").unwrap();
        assert!(repository.text_file(task, "code.txt", 100).unwrap().is_some());
        let taken = repository.take_checkpoint("TASK-001", TASK, task, start).unwrap().unwrap();
        assert_eq!(repository.checkpoint_head(&taken.sha).unwrap(), *start);
        repository.restore_checkpoint(TASK, task, &taken.sha).unwrap();
        repository.drop_checkpoints("TASK-001", &[taken.sha]).unwrap();
        let rescue = repository.rescue(&format!("{RESCUE}1"), task, start).unwrap().unwrap();
        assert!(repository.worktree_head(TASK).unwrap().is_some());
        repository.clear_locks(TASK, BRANCH).unwrap();
        repository.clear_lock("index").unwrap();
        assert!(!repository.agent_checkouts(sample.root()).unwrap().is_empty());
        self.nest();
        repository.move_ref(BRANCH, Some(start), &rescue.sha, "work").unwrap();
        repository.control_files(TASK).unwrap().changes(&before);
        rescue.sha
    }

    /// A repository inside the checkout, as hostile as the outer one.
    fn nest(&self) {
        let inner = self.task.join("inner");
        init_in(&inner);
        write_in(&inner, "inner.txt", "inner\n");
        commit_all_in(&inner, "inner");
        fs::copy(self.sample.git_dir().join("config"), inner.join(".git/config")).unwrap();
        let nested = self.repository.nested_repositories(TASK, &self.task, &self.start).unwrap();
        assert_eq!(nested.len(), 1);
        let kept = self.repository.rescue_nested(&format!("{RESCUE}nested/{}", nested[0].reference_name()), &nested[0]).unwrap();
        assert_eq!(kept, NestedWork::Kept);
        fs::remove_dir_all(&inner).unwrap();
    }

    async fn read(&self, work: &Sha) {
        let Self { sample, repository, start, .. } = self;
        let (git_dir, branch, base) = (sample.git_dir(), BRANCH.to_owned(), PROJECT.to_owned());
        let mut diff = repository.diff(start, work, DiffLimits::default()).unwrap();
        repository.annotate(&mut diff).unwrap();
        repository.diff_between(start, work, &["code.txt"], DiffLimits::default()).unwrap();
        repository.diff_size(start, work).unwrap();
        repository.fork_point(start, work).unwrap();
        repository.changed_paths(start, work).unwrap();
        repository.differing_paths(start, work).unwrap();
        repository.log(start, work, 10).unwrap();
        repository.file_at(work, "code.txt").unwrap();
        repository.file_lines(work, "code.txt", 1..=3).unwrap();
        repository.line_at(work, "code.txt", 1).unwrap();
        repository.line_of_work(start, work, "code.txt", 1).unwrap();
        repository.tree_of(work).unwrap();
        repository.parents_of(work).unwrap();
        repository.count_lines(work, 1_000).unwrap();
        repository.before_merge(BRANCH, work).unwrap();
        repository.has_commit(work).unwrap();
        repository.is_ancestor(start, work).unwrap();
        repository.moved_on(BRANCH, start).unwrap();
        repository.codeowners(work).unwrap();
        repository.commit_files(std::slice::from_ref(&branch)).unwrap();
        crate::with_commit_files(&git_dir, vec![branch.clone()], |_| ()).await.unwrap();
        repository.code_map(work, None).unwrap();
        let folder = sample.beside("map");
        repository.renew_code_map(work, &folder).unwrap();
        assert!(KeptCodeMap::read(&folder).is_some());
        crate::read_proposal_source(ProposalSource::Codeowners, &git_dir, "main".to_owned(), folder).await.unwrap();
        let note = OracleNote { question: 1, sha: start.clone(), paths: vec!["code.txt".parse().unwrap()] };
        crate::holding_notes(&git_dir, "main", vec![note]).await.unwrap();
        repository.head_evidence(BRANCH, PROJECT, &[]).unwrap();
        let request = EvidenceRequest::Head { git_dir: git_dir.display().to_string(), branch, base, protected: Vec::new() };
        crate::collect_evidence(&request).unwrap();
        crate::read_evidence(request).await.unwrap();
        let reference = format!("{}TASK-001", crate::ROUND_PREFIX);
        repository.keep_round(&format!("{reference}/1"), work).unwrap();
        repository.forget_rounds(&reference).unwrap();
        crate::record_files(&sample.beside("knowledge.git"), &BTreeMap::from([("a.md".to_owned(), Some("a".to_owned()))]), "a").unwrap();
    }

    /// Fetches and pushes, except for the program that does so between the two steps.
    async fn follow(&self) {
        let Self { sample, repository, start, .. } = self;
        assert_eq!(repository.upstream("main").unwrap().unwrap().remote, "origin");
        let carrier = sample.beside("fetching.git");
        repository.make_fetch_carrier(&carrier, "main").unwrap();
        let theirs = sample.commit_on("theirs", &[("theirs.txt", Some("theirs\n"))], "theirs");
        write_in(&carrier, FETCHED, &theirs);
        assert_eq!(repository.take_fetched(&carrier, "main").unwrap(), theirs);
        assert_eq!(repository.upstream_tip("main").unwrap(), Some(theirs.clone()));
        assert_eq!(repository.unmerged_base_tips(start, "main", start).unwrap(), [theirs]);
        let (target, publishing) = (repository.publication_target(PROJECT, "main").unwrap().unwrap(), sample.beside("publishing.git"));
        repository.make_carrier(&publishing).unwrap();
        // A filter that only the repository names is refused, and is none of LFS.
        assert!(!repository.prepare_upload(&publishing, &target, start).unwrap_or(false));
        crate::check_start_branch(&sample.git_dir(), "main").await.unwrap().unwrap();
    }

    fn merge(&self, work: &Sha) {
        let Self { sample, repository, identity, .. } = self;
        let merged = repository.merge(PROJECT, &self.tip(PROJECT), work, "merge", identity).unwrap();
        assert!(matches!(merged, MergeOutcome::Merged { already: false, .. }));
        let tip = self.tip(PROJECT);
        let other = sample.commit_on("other", &[("code.txt", Some("one\ntwo\nthree\nfour\n")), ("x.txt", Some("x\n"))], "other");
        assert!(matches!(repository.merge_commit(&tip, &other, "merge", identity).unwrap(), MergeOutcome::Conflict { .. }));
        repository.conflicts(&tip, &other).unwrap();
        let theirs = self.tip("theirs");
        let follow = repository.merge_base_commit(&tip, &theirs, Some(work), "follow", identity).unwrap();
        let MergeOutcome::Merged { sha: followed, .. } = follow else { panic!("{follow:?}") };
        repository.advance(PROJECT, &tip, &followed, "follow").unwrap();
        let small = sample.commit_on("small", &[("small.md", Some("small\n"))], "small");
        assert!(matches!(repository.squash_commit(&followed, &small, "small", identity).unwrap(), MergeOutcome::Merged { .. }));
        repository.squash(PROJECT, &followed, &small, "small", identity).unwrap();
        let squashed = self.tip(PROJECT);
        assert_eq!(repository.squashed_head(&squashed).unwrap(), Some(small.clone()));
        assert!(repository.has_landed(&squashed, &small).unwrap());
        assert!(repository.is_squashed_into(&squashed, &small).unwrap());
        repository.keep_squashed(&format!("{}PROJ-001", crate::SQUASHED_PREFIX), &small).unwrap();
        repository.commits_of_merges(&self.start, &squashed).unwrap();
    }

    /// Lands beside a change of the person, undoes that, and lands again in a sparse checkout.
    fn land(&self) {
        let Self { sample, repository, identity, .. } = self;
        sample.write("a.shown", "mine\n");
        let (base, workdir) = (self.tip("main"), sample.top());
        let request =
            LandRequest { project_branch: PROJECT, base_branch: "main", base_head: &base, bring_back: None, workdir, message: "land", identity };
        let question = LandingQuestion { project_branch: PROJECT, base_branch: "main", base_head: &base, recorded_tip: None, workdir };
        repository.preview_landing(question).unwrap();
        let landed = repository.land(request).unwrap();
        assert!(matches!(landed, LandOutcome::Landed { fast_forward: true, .. }), "{landed:?}");
        let tip = self.tip("main");
        repository.past_landing(&base, &tip).unwrap();
        let undo = UndoRequest { base_branch: "main", project_branch: PROJECT, tip: &tip, landed: &tip, before: &base, workdir };
        assert_eq!(repository.undo_landing(undo).unwrap(), UndoOutcome::Undone);
        sample.configure("core.sparseCheckout", "true");
        write_in(&sample.git_dir(), "info/sparse-checkout", "/*\n");
        let LandOutcome::NeedsGit { update, .. } = repository.land(request).unwrap() else { panic!("git has to make it") };
        repository.make_update_carrier(&sample.beside("updating.git"), &update).unwrap();
        repository.finish_landing("main", &update, PROJECT).unwrap();
        assert_eq!(self.tip("main"), tip);
        assert_eq!(repository.tip_before_landing("main", PROJECT).unwrap(), Some(base.clone()));
        assert!(repository.clear_landing_locks().unwrap().is_empty());
        assert_eq!(fs::read_to_string(sample.top().join("a.shown")).unwrap(), "mine\n", "the change of the person stays");
    }

    /// Removes checkouts, and brings kept work back.
    fn keep_and_restore(&self, work: &Sha) {
        let Self { sample, repository, .. } = self;
        repository.remove_worktree("review", &sample.beside("review")).unwrap();
        let other = self.tip("other");
        let reference = format!("{RESCUE}other");
        repository.rescue_tip(&reference, &other).unwrap();
        assert!(!repository.rescues().unwrap().is_empty());
        assert_eq!(repository.rescued(&reference).unwrap(), other);
        repository.size_beyond(work, &other).unwrap();
        repository.restore_rescue(&reference, "restored").unwrap();
        assert!(repository.delete_branch("other", PROJECT).unwrap());
        repository.drop_rescue(&reference, &other).unwrap();
        assert!(repository.has_own_references().unwrap());
        assert_eq!(repository.branch_with_all_of("restored").unwrap().as_deref(), Some("restored"), "it is the branch of a person now");
        crate::DiskSpace::of(sample.top()).unwrap();
    }

    /// The repository is moved, and its checkouts are led to it.
    fn move_away(self) {
        let Self { sample, task, .. } = self;
        let (old, new) = (sample.top(), sample.beside("moved"));
        fs::rename(old, &new).unwrap();
        let moved = Repository::open(&new.join(".git")).unwrap();
        let checkout = CheckoutRecord { task: TaskId::new(1), branch: BRANCH.to_owned(), path: task.display().to_string() };
        let commits = vec![KnownCommit { name: "the tip of main".to_owned(), sha: self.start }];
        let record = RepositoryRecord { commits, checkouts: vec![checkout] };
        assert!(moved.missing_of(&record).unwrap().is_empty());
        moved.relink_checkouts(&record, old, &new).unwrap();
        moved.remove_worktree(&crate::checkout_name(Path::new(&record.checkouts[0].path)), &task).unwrap();
        assert!(moved.delete_branch(BRANCH, PROJECT).unwrap());
    }
}
