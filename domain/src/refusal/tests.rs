//! The codes, sentences and hints of refusals: programs rely on the codes, people and agents on the sentences.

mod every;

use std::collections::BTreeSet;

use self::every::every;

use crate::board::stage::Stage;
use crate::board::task::refusal::TaskRefusal;
use crate::board::transition::refusal::MoveRefusal;
use crate::id::TaskId;
use crate::refusal::*;

/// The noun and the name of a variant: `Move(Illegal`.
fn variant(refusal: &Refusal) -> String {
    let debug = format!("{refusal:?}");
    debug.split([' ', ')']).next().unwrap().splitn(3, '(').take(2).collect::<Vec<_>>().join("(")
}

macro_rules! variants {
    ($($noun:ident($refusal:ty),)+) => {
        /// Every variant of every noun's refusals.
        fn declared() -> BTreeSet<String> {
            let nouns = [$((stringify!($noun), <$refusal>::VARIANTS)),+];
            nouns.into_iter().flat_map(|(noun, variants)| variants.iter().map(move |variant| format!("{noun}({variant}"))).collect()
        }
    };
}

each_refusal!(variants);

#[test]
fn list_contains_every_refusal_of_every_noun() {
    assert_eq!(every().iter().map(variant).collect::<BTreeSet<_>>(), declared());
}

#[test]
fn codes_sentences_and_hints_are_stable() {
    let page: Vec<String> = every().iter().map(|refusal| format!("{}: {refusal}\n    {}", refusal.code(), refusal.hint())).collect();
    insta::assert_snapshot!(page.join("\n"), @r#"
    illegal-move: human may not move TASK-007 from in_review to backlog
        From in_review you can move it to in_review (needs a verdict on the newest commit, from a session that did not write it), or to done (needs nothing: the move approves the newest commit and queues its merge), or to in_progress (needs a comment that says what to change), or to cancelled (needs a reason).
    illegal-move: coder may not move TASK-007 from done to in_review
        A coder cannot move this task from done.
    not-found: run RUN-003 does not exist
        Look up the run on the board; ids have the form RUN-001.
    invalid: title: it is empty
        Say something.
    stale-run: RUN-003 is no longer the current run of its task; its writes are rejected
        The task was stopped, moved or given to a newer run. End your turn.
    not-your-role: a coder may not create tasks
        The hint.
    not-your-task: this run works on TASK-008, not on TASK-007
        Use TASK-008, the id in your <issue>.
    not-you: this token belongs to coder, not to human
        Write as coder: your token determines your identity.
    not-you: this token belongs to human, not to platform/mara
        Omit the name to act as the person who owns this token. As an agent, ask the human for a token of your own: vibe-relay token new --agent NAME --role ROLE.
    not-clean: TASK-007 has 2 uncommitted files: a.rs, b.rs
        Commit the files of the task, remove or ignore the others, then move the task again.
    no-commits: TASK-007 has no commit beyond main
        Commit your work in the worktree, then move the task again.
    empty-diff: the commits of TASK-007 change nothing
        If no change is needed, say why with add_comment, then move the task again.
    nested-repository: TASK-007 commits nested repositories as links that nobody else can fetch: lib/one, two
        Remove each link with `git rm --cached PATH`. Then delete the folder's own `.git` and add its files, or ignore the folder, and commit; or register it with `git submodule add URL PATH`.
    already-sent-back: TASK-007 was already sent back at a1
        Commit what the review asked for, then move the task again. If no change is needed, ask the human, who can move the card.
    comment-needed: moving TASK-007 to in_progress needs a comment from this review that says what to change
        Call add_comment with the file, the line and the problem, or pass them to update_task as `result`; then move the task again.
    reason-needed: moving TASK-007 to cancelled needs a reason
        Pass a reason with the move.
    empty-plan: TASK-007 created no tasks and gave no reason
        Call create_subtasks for TASK-007, or complete_task with the reason why no tasks are needed.
    own-work: the session that wrote TASK-007 cannot review it
        Leave the review to another agent or the human.
    head-moved: TASK-007 is now at b2, but the review is of a1
        The new commit gets its own review. End your turn.
    nothing-to-approve: TASK-007 has no commit to approve
        Send it back to work, or close it without a merge.
    dependencies-open: TASK-007 depends on unfinished tasks: TASK-001, TASK-002
        Wait until they are done, or remove the dependency.
    dependency-circle: the dependencies form a cycle: TASK-001 → TASK-002 → TASK-001
        Remove one of these dependencies.
    run-ending: TASK-007 has a run that is still ending
        Wait a few seconds until RUN-003 has ended.
    no-live-run: TASK-007 has no running agent
        Add a comment instead: the next run reads the whole thread.
    permission-answered: request 1 was answered already: deny
        The first answer counts. Interrupt or stop the agent if it should not go on.
    permission-closed: the agent waits for no answer to request 1
        Its run ended or was interrupted. Read the card again.
    checks-not-passed: the merge of TASK-002 has not passed `npm test`
        Wait until the runner has checked the merge, or remove the command from the checks of the project.
    not-now: TASK-007 is done: nothing is to be started
        The hint.
    no-question: TASK-007 has no open question
        Add a comment instead.
    review-outdated: TASK-007 is now at abcdef0, but the review is of 0123456
        Reload the review, read what changed since, then decide again. Your comments are kept.
    not-yours: NOTE-004 was written by coder
        Change only your own comments; answer this one with a comment.
    no-plan-waiting: no plan awaits approval
        A plan awaits approval only while it holds its tasks. Press Start to start a single task.
    nothing-to-land: there is nothing to land: the branches are the same
        Wait until a task is merged into the project branch.
    agents-work: agents work in the repository of PROJ-001: RUN-003, RUN-004
        Stop their tasks, then repeat.
    project-at-work: PROJ-001 is at work: RUN-003, TASK-002
        Stop the agents and give back the tasks that people took over, then repeat.
    project-deleted: PROJ-001 was deleted and cannot be restored
        Create another project on the repository. Its branches are still there.
    other-repository: /home/ann/other is not the repository of PROJ-001: it lacks the tip of main (0123456); nothing was changed
        Name the folder that the repository was moved to. Into a new clone, first fetch from the old repository what it lacks.
    base-missing: the base branch main of PROJ-001 does not exist; similar branches: maint; nothing was changed
        Name the branch that replaces it with `vibe-relay project edit PROJ-001 --base-branch BRANCH`, then land again.
    commits-return: landing would bring back to main what was removed from it: 0123456 “Add a key” by Ann, and 6 more; nothing was changed
        To leave them out, cherry-pick the other commits by hand. To bring them back, run `vibe-relay land PROJ-001 --bring-back 3f2a9c01d4e7`, or send {"bring_back": "3f2a9c01d4e7"}.
    base-gone: main does not exist
        The hint.
    unauthorized: the request carries no valid token
        Open the link that `vibe-relay serve` printed, or send `Authorization: Bearer` with the token from the file next to the database.
    human-only: landing is reserved for the human
        Ask the human with add_comment.
    person-role: landing is not allowed for a viewer
        Ask the owner of the board to do it, or to give you another role.
    rate-limited: this caller used up its writes for now
        Do the same again after 3 s, and less often from then on.
    token-expired: this token expired at 1970-01-01T00:00:00.000Z
        Ask the human for another token; for an agent: vibe-relay token new --agent NAME --role ROLE.
    token-audience: this token is not for the tools at /mcp
        Call the HTTP interface with it, or ask the human for a token of your own: vibe-relay token new --agent NAME --role ROLE.
    token-audience: this token is not for the HTTP interface
        Call the tools at /mcp with it. The HTTP interface is for the tokens of persons.
    not-permitted: calling send needs the permission write, which this token does not have
        Ask the human to give your token the permission write: `vibe-relay token change`, or the page Settings.
    not-your-token: current_token is not the token of this connection
        Omit current_token: the token of the connection is refreshed.
    not-refreshable: only the token of an external agent can be refreshed
        Go on with the token that you have.
    token-of-owner: the token of the owner is in a file and cannot be revoked
        Replace it with `vibe-relay token rotate`.
    token-of-run: the token of a run ends with the run
        Stop the run.
    token-of-person: the role of a person decides what their token permits
        Change the role of the person instead.
    no-allowed-host: no device can be paired: the configuration allows no host but this machine
        Let a proxy on this machine answer by HTTPS, for example with `tailscale serve --bg PORT`, and add its name to "allowed_hosts" in the configuration file.
    which-host: the configuration allows 2 hosts: desk.example.org, desk.lan
        Choose one with `host`, or `vibe-relay pair --host desk.example.org`.
    other-host: evil.example is not among the allowed hosts: desk.example.org
        Choose one with `host`, or `vibe-relay pair --host desk.example.org`.
    not-registered: this invite token can only be used to register
        Call register and choose a name; you act under that name from then on.
    not-registered: platform/mara left the project
        Call register to return as platform/mara; messages to you are kept.
    unknown-agent: no participant is named marra
        Did you mean platform/mara or mark? Call who to see all names.
    unknown-agent: no participant is named zzz
        Call who to see the names.
    ambiguous-agent: ole could be blue/ole or red/ole
        Use the full name, such as blue/ole.
    dead-agent: platform/mara is not active (last seen 00:00 UTC)
        Call who to see who is active. Put anything that must last into a comment on the task.
    dead-agent: platform/mara is not active
        Call who to see who is active. Put anything that must last into a comment on the task.
    name-taken: the name platform/mara is taken
        Choose another name, or register with the token of that agent. If you are that agent and its token was lost, register again after a minute.
    unread: BLOCKED: You have 2 unread message(s). Call check_inbox first
        Call check_inbox, read the messages, then send again.
    lead-only: approving a task requires a lead, and platform/mara is not one
        Ask a lead with send; call who to see the leads.
    unverified: platform/mara joined with an invite token, but verifying a task requires a trusted agent
        Ask the human for a token of your own: vibe-relay token new --agent NAME --role ROLE.
    not-assignee: submitting it requires the assignee, and TASK-007 is assigned to no agent
        Leave it to the assignee. A lead can assign the task to you with update_task and assigned_to.
    not-assignee: submitting it requires the assignee, and TASK-007 is assigned to ole
        Leave it to the assignee. A lead can assign the task to you with update_task and assigned_to.
    illegal-stage: platform/mara may not change TASK-007 from assigned to completed
        You cannot change this task now. Its assignee starts and submits it first; a lead can reassign it with update_task and assigned_to.
    illegal-stage: platform/mara may not change TASK-007 from assigned to completed
        You can change it to in_progress or failed.
    hat-conflict: platform/mara cannot take the hat tester, because it had the hat builder on TASK-008
        Give the hat to another agent; call hat_history to see all hats.
    not-independent: platform/mara built TASK-007, so another participant must verify it
        Leave it to an agent that neither built nor approved it, or to the human.
    acknowledged-before: platform/mara already acknowledged handshake #2
        No further answer is needed; handshake_status shows who has not answered.
    not-asked: platform/mara is not a target of handshake #2
        Leave it to the targets; handshake_status lists them.
    goal-open: GOAL-004 has unverified tasks: TASK-001, TASK-002
        First have agents that neither built nor approved these tasks verify them with verify_task.
    no-minion: platform/mara cannot start a helper: 3 of 3 are at work
        Do the work yourself, or wait until a helper has ended and log it with log_minion.
    session-closed: the session session_0000000000000005 is closed
        Read it with get_messages, and write into another one: list_sessions shows them.
    session-stays-open: the session session_0000000000000005 belongs to its project or plan, and stays open
        Close only sessions that were created with create_session.
    session-not-yours: the session session_0000000000000005 was created by platform/mara
        Leave it to its creator, a lead or the human.
    admin-only: admin_only messages require the admin permission
        Use public, private or agent_only. Only the owner of the board has the admin permission.
    memory-exists: an entry with the key build exists
        Read it with get_memory, choose another key, or call set_memory with overwrite.
    not-found: no entry has the key build
        Call list_memory to see your keys.
    memory-full: the memory is full: it has 1000 entries
        Delete entries that nobody needs with delete_memory, or replace one.
    memory-changed: the entry build was changed since you read it
        Read it again, then repeat your change.
    import-unusable: /a.db is no database of dead-drop: it has no table messages
        Give the path of the file that DEAD_DROP_DB_PATH names, by default ~/.dead-drop/messages.db.
    claim-path-empty: the path is empty
        Name a file relative to the root of the repository, such as src/lib.rs.
    claim-path-long: the path has 600 bytes, and at most 512 are allowed
        Name a file relative to the root of the repository, such as src/lib.rs.
    claim-path-deep: the path has 70 names, and at most 64 are allowed
        Name a file relative to the root of the repository, such as src/lib.rs.
    claim-path-text: a?b contains a control character
        Name a file relative to the root of the repository, such as src/lib.rs.
    claim-outside: ../../etc is outside of the repository
        Name a file of this repository, relative to its root or with the path of your checkout.
    claim-whole-repository: this claims the whole repository
        Claim the files or the folder that you edit, such as src/parser/.
    claim-git-folder: .git/config is in the folder of git
        Claim the files of the work instead. Git keeps its own folder.
    claim-taken: src/lib.rs is claimed by platform/mara since 00:00 UTC, and you are behind 2 other agents in line
        Work on other files. A message says when it is yours; if nothing else is left, commit your work and end your turn until then.
    claim-deadlock: a.rs is claimed by platform/mara, and neither of you can go on: ole waits for b.rs, which you hold
        Undo or commit your change of b.rs, and pass it on with release_file.
    claim-limit: platform/mara holds 500 claims already
        Release files that you no longer edit with release_file, or claim their folder instead.
    claim-wait-limit: platform/mara waits for 100 paths already
        Work on the files that you hold. A message says when one of the others is yours.
    claim-not-held: platform/mara holds no claim of src/lib.rs
        get_claims lists the claims with their exact paths.
    claim-of-another: src/lib.rs is claimed by platform/mara, and only a lead or a person can take it away
        Claim it with claim_file to wait for it, or ask a lead.
    claim-reason-needed: taking src/lib.rs from platform/mara needs a reason
        Give the reason, which the holder reads.
    wrong-class: platform/mara has the class oracle, which changes no code
        Leave it to an agent of the class lead or coder; call who to see the classes.
    class-is-fixed: platform/mara has the class recon, and a class never changes
        Register without agent_class, or under another name.
    class-creates-no-tasks: platform/mara has the class oracle, and only the class lead creates tasks
        Propose the task to a lead with send; call who to see the leads.
    report-due: BLOCKED: your report about your context is 6 minutes old, and the class coder reports every 5
        Call set_context with tokens_used and tokens_limit, then send again.
    lead-role-of-other-class: platform/mara has the class recon, and only the class lead has a lead role
        Register without lead_role and zone.
    lead-role-is-fixed: platform/mara is lead of the zone audio, and a lead does not change that itself
        Register without lead_role and zone, or ask the human for a new token.
    outside-zone: platform/mara leads the zone audio, so closing tasks needs src/video/a.rs of TASK-007 to be in it
        Name files of the zone audio, which get_zones lists, or ask a commander or the human with send; who lists the leads.
    commander-only: ending the session concerns the whole project, and platform/mara leads the zone audio only
        Ask a commander or the human with send; who lists the leads.
    outside-zone-party: platform/mara leads the zone audio, and sending task assignments needs platform/jon to work in it
        Send it to zone/video instead, or to an agent that owns, knows, holds or works on files of the zone audio. platform/jon does once you assign it a task there.
    nothing-to-publish: there is nothing to publish: no task is merged into vibe-relay/PROJ-001 yet
        Wait until a task is merged into the project branch.
    branch-foreign: vibe-relay/PROJ-001 has moved since the last merge, so it may hold commits that nobody approved; nothing was pushed
        The landing page says which commits are not approved and how to set the branch back.
    no-remote: the repository has no remote to push vibe-relay/PROJ-001 to
        Add one with `git remote add origin URL`, or land the work on the base branch here.
    no-pull-requests: /srv/site.git is on no host with pull requests
        Push the branch only, and open the pull request where its host offers it.
    program-missing: gh is not installed
        Install the GitHub CLI and run `gh auth login`, or push the branch only and open the pull request yourself.
    not-pushed: origin did not take vibe-relay/PROJ-001: Permission denied (publickey).
        Run `git push` for vibe-relay/PROJ-001 in a terminal to see what it needs, such as a sign-in; then repeat this.
    no-pull-request: vibe-relay/PROJ-001 was pushed, but no pull request was opened: To get started, run: gh auth login
        Run `gh auth login` in a terminal, then repeat this; or open the pull request yourself.
    reach-of-other-class: platform/mara has the class coder, and only a lead without a zone acts in all projects
        Give it the role lead and no zone, or let its token reach one project.
    name-of-other: another agent of PROJ-002 has the name platform/mara, or platform/mara was removed from it
        Go on in your own project, or ask the human for PROJ-002: for a token under another name, or to rename that agent.
    name-of-general: platform/mara is a general, which has the same name in several projects
        Ask the human for a token under the other name.
    general-only: a battle plan of the scope general needs a general or a person, and platform/mara is a commander
        Set the scope to project, or ask the human for it with send to human.
    model-not-allowed: claude-haiku-4-5 is not a model for the role coder; allowed are opus, gemini pro
        Register with one of these models, or in another role. The human changes the list with model_restrictions.coder in the configuration.
    no-battle-plan: BLOCKED: creating tasks needs an active battle plan, and platform/mara leads without one
        Call set_battle_plan with goals, priorities and the order of the work first, then repeat the call.
    battle-plan-ended: battle plan #3 is superseded and stays so
        Call set_battle_plan for a new plan; get_battle_plan shows the active one.
    handover-files-missing: this file does not exist in the checkout: notes.md
        Write them first, or leave them out. Nothing was recorded.
    handover-file-outside: /etc/passwd is outside of the repository
        Copy its contents into the manifest, or into a file of the repository. Nothing was recorded.
    handover-needed: BLOCKED: platform/mara has not handed over
        Call fenix_down first, with the files that were written and a manifest for the successor. A lead may remove an agent that has been silent for 30 minutes.
    no-handover: platform/mara left no handover that nobody has continued
        Call cold_start without predecessor: it lists the handovers that wait for a successor.
    result-parts-missing: the result lacks what the next agent should know, and file:line citations
        Add the heading "what the next agent should know" with text below it, at least one citation such as src/lib.rs:12, then call submit_result again.
    result-file-missing: ../notes.md is not a text file of at most 20000 bytes in this repository
        Name an existing file relative to the root of the repository, or give its text as content.
    result-missing: BLOCKED: TASK-007 cannot be closed, because it has no result
        Its assignee, or a lead that knows the work, calls submit_result with task_id TASK-007. Then call close_task.
    close-with-close-task: BLOCKED: update_task does not close TASK-007
        Call close_task with task_id TASK-007 as a lead, after submit_result.
    session-has-open-tasks: BLOCKED: the session cannot end, because 5 tasks are still open: TASK-007, TASK-008 and 3 more
        Close each with close_task, or have it marked as failed with update_task; list_tasks shows who has it.
    debrief-missing: BLOCKED: the session cannot end, because no debrief was filed in it
        Call debrief with what was reached and what the next session should begin with, then end_session.
    old-tasks: BLOCKED: creating tasks waits for your review of 1 task from the session that ended: TASK-007
        Call update_task for each with the status stale, obsolete, or ready if it is still open; get_task shows what it is.
    context-used-up: BLOCKED: platform/mara has 12 % of its context left and has to hand over first
        Send "fenix_down platform/mara" to it, or assign the task to another agent; party_status shows how much each has left.
    order-needs-a-lead: BLOCKED: platform/mara is not a lead, and a message that begins with rally is an order
        Ask a lead for it with send. To write about rally, begin the message with another word.
    order-without-agent: sitrep is for one agent, and the message names none
        Send "sitrep" to the agent, or "sitrep NAME" to all.
    order-without-zone: hot_zone needs the name of a zone
        Send "hot_zone ZONE" to all.
    order-without-subject: recon needs a subject to investigate
        Send "recon NAME: SUBJECT" to the agent.
    order-is-for-all: retreat is for all agents
        Send "retreat" to all. For one agent, use fenix_down, stand_down or sitrep.
    order-for-another: the message is for platform/mara, and its order is for ben
        Send it to ben, or to all.
    order-to-a-person: sitrep is an order to agents, and human is a person
        Write to a person in a sentence; call who to see the agents.
    order-target-is-not-a-word: the target of fenix_down is not one word
        Give the name of one agent or zone, without spaces and colons.
    order-note-too-long: the note of fenix_down is not one line of at most 500 bytes
        Give a short reason, and put the details into a message of its own.
    order-not-active: hot_zone is not active
        cold_start lists the orders that are active.
    stopped-by-order: BLOCKED: lena ordered moon_crash, and no work is assigned until it is withdrawn
        Wait, or withdraw it: a lead calls withdraw_trigger with word=moon_crash, a person uses the page War room.
    knowledge-topic: "../x" is not a topic
        Give up to 60 lower-case letters, digits and -, such as upstream-deps.
    knowledge-unconfirmed: the words "i think" say that this is not confirmed
        Confirm it first, and say what is so. Until then put it into your notes with write_note, or into a comment.
    knowledge-without-evidence: the evidence cites no line of a file, and shows no command with its output
        Cite src/lib.rs:12, or give the command after "$ " with its output below. Put hunches into your notes with write_note.
    knowledge-limit: there are 1000 live items of knowledge already
        Archive intel that no longer holds with archive_intel, and resolve traps that are gone with resolve_trap.
    knowledge-not-live: no live trap has the topic port
        read_intel lists the live topics.
    knowledge-closed: the intel deps was closed before
        Write it again if it holds again.
    unread-knowledge: BLOCKED: an oracle answers with what is known now, and you have not read deps and 1 more
        Call read_intel until nothing is unread, then repeat this.
    zone-paths: the zone audio would have 0 paths, and 1 to 50 are allowed
        Name the folders of the zone, such as src/parser/, instead of their files.
    zone-whole-repository: ** would put the whole repository into one zone
        Name the folders of the zone, such as src/parser/. A file can be in no zone.
    zone-path-taken: src/** is in the zone core already
        Take it out of the zone core first, or name a more specific path.
    zone-limit: the project has 100 zones, and no more are allowed
        Remove a zone, or add the paths to one of them.
    zone-without-expert: the zone audio has neither an oracle nor an owner
        Ask a lead with send; a lead names the oracle of a zone with set_zone.
    no-zone: README.md is neither a zone nor a file in one
        Call get_zones, and name a zone that has an oracle; or read the files yourself.
    zone-without-oracle: the zone audio has no oracle
        Read the files yourself, or ask a lead to name an oracle with set_zone.
    own-zone: you are the oracle of the zone audio
        Answer from your notes and the code. read_intel returns what is new.
    questions-open: TASK-009 has questions that are not answered (2)
        Answer each with send and reply_to; a person may cancel the task instead.
    managed-oracle: the oracle of the zone audio is started by the runner, and answers questions alone
        Ask it with ask_oracle, or name the agent that works there.
    codeowners-missing: main has no file CODEOWNERS
        Propose zones from the code map, or commit .github/CODEOWNERS, CODEOWNERS or docs/CODEOWNERS.
    code-map-not-made: the code map was not made: it was killed
        The last map stays. Try again; the log of the server says more.
    code-map-missing: the project has no code map yet
        A person makes it with POST /api/projects/{id}/code-map. The next planner makes it too.
    "#);
}

#[test]
fn only_illegal_moves_list_allowed_targets() {
    for refusal in every() {
        let moves = matches!(refusal, Refusal::Move(MoveRefusal::Illegal { .. }));
        assert_eq!(!refusal.allowed().is_empty(), moves, "{refusal}");
    }
}

/// The caller can itself be a lead, so the hint never says "ask a lead".
#[test]
fn illegal_stage_hint_names_who_acts_next() {
    for from in Stage::ALL.iter().copied() {
        let hint = TaskRefusal::IllegalStage { task: TaskId::new(7), from, to: Stage::Completed, agent: "mara".to_owned(), next: Vec::new() }.hint();
        let next = hint.strip_prefix("You cannot change this task now. ").unwrap();
        assert!(next.ends_with('.') && !next.contains("sk a lead"), "{from}: {hint}");
    }
}

#[test]
fn every_refusal_has_a_hint() {
    for refusal in every() {
        assert!(refusal.hint().ends_with('.'), "{refusal}");
    }
    let ids = ["project", "run", "task", "comment"].map(|what| Refusal::not_found(what, "x").hint());
    assert!(ids[0].contains("PROJ-001") && ids[1].contains("RUN-001") && ids[2].contains("TASK-001") && ids[3].contains("TASK-001"));
}
