-- The schema of the store. Times are RFC 3339 in UTC, to the millisecond. Booleans are 0 or 1.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- The last number given out for each kind of id.
CREATE TABLE counters (
  kind  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;

-- Board.

CREATE TABLE projects (
  id                 TEXT PRIMARY KEY,
  title              TEXT NOT NULL,
  description        TEXT,
  status             TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'complete')),
  repo_path          TEXT NOT NULL,
  git_dir            TEXT NOT NULL,
  base_branch        TEXT NOT NULL,
  -- The newest tip of the base branch that held all earlier ones.
  base_head          TEXT NOT NULL,
  integration_branch TEXT NOT NULL,
  -- The tip of the project branch that the last recorded merge left.
  integration_head   TEXT,
  -- A tip of the project branch that no merge of ours made and that a person accepted. Cleared when a new tip is recorded.
  accepted_sha       TEXT,
  landed_sha         TEXT,
  -- The last push of the project branch.
  published          TEXT CHECK (json_valid(published)),
  -- The app on the project branch, if it runs or failed.
  preview            TEXT CHECK (json_valid(preview)),
  -- When the runner last merged approved work.
  merged_at          TEXT,
  plan_approval      TEXT NOT NULL DEFAULT 'auto' CHECK (plan_approval IN ('auto', 'ask')),
  -- Its own budget; without one, the configured budget applies.
  budget_micro_usd   INTEGER CHECK (budget_micro_usd > 0),
  -- How many of its coders work at the same time at most; without it, the configuration alone limits them.
  max_coders         INTEGER CHECK (max_coders > 0),
  -- How its checkouts are prepared.
  profile            TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(profile)),
  -- Counts how often the profile was set.
  profile_version    INTEGER NOT NULL DEFAULT 1,
  -- Whether edits of files that another agent claimed are refused or only warned about.
  claim_mode         TEXT NOT NULL DEFAULT 'enforced' CHECK (claim_mode IN ('enforced', 'advisory')),
  -- Where the files of its knowledge are: beside the database, or also in the person's checkout.
  knowledge          TEXT NOT NULL DEFAULT 'beside' CHECK (knowledge IN ('beside', 'repo')),
  -- What its agents may reach besides the usual, because the owner allowed it. All projects on a repository have the same.
  allowed_access     TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(allowed_access)),
  -- Since when a person lets no new agent start in it, and when the last such pause ended. The pause of all projects is in `meta`.
  paused_at          TEXT,
  resumed_at         TEXT,
  -- Since when it is archived, and when and by whom it was deleted. A deleted project is archived until its rows are removed.
  archived_at        TEXT CHECK (deleted_at IS NULL OR archived_at IS NOT NULL),
  deleted_at         TEXT,
  deleted_by         TEXT CHECK ((deleted_at IS NULL) = (deleted_by IS NULL)),
  -- When the last agent was started for it. Projects take turns in this order.
  agent_started_at   TEXT,
  created_at         TEXT NOT NULL,
  updated_at         TEXT NOT NULL,
  -- Who approves its work.
  review             TEXT NOT NULL DEFAULT 'agent' CHECK (review IN ('agent', 'human', 'both')),
  -- The last task that brings changes of the base branch and the project branch together, and the tip of the base with them.
  sync_task_id       TEXT,
  sync_sha           TEXT CHECK ((sync_task_id IS NULL) = (sync_sha IS NULL)),
  -- Whether the last push has an open pull request, which is followed.
  pull_request_open  INTEGER NOT NULL DEFAULT 0 CHECK (pull_request_open IN (0, 1)),
  -- Why the upstream of its base branch cannot be fetched, if that failed the last time.
  fetch_problem      TEXT CHECK (json_valid(fetch_problem)),
  -- The address of the issue that it was made from.
  issue              TEXT
) STRICT;

CREATE INDEX projects_with_pull_request ON projects (id) WHERE pull_request_open = 1;
CREATE INDEX projects_with_preview ON projects (id) WHERE preview ->> 'state' <> 'failed';
CREATE INDEX projects_current ON projects (length(id), id) WHERE archived_at IS NULL;
CREATE INDEX projects_archived ON projects (length(id), id) WHERE archived_at IS NOT NULL;
CREATE INDEX projects_deleted ON projects (id) WHERE deleted_at IS NOT NULL;

-- What was landed. Rows are removed with their project only.
CREATE TABLE landings (
  id          INTEGER PRIMARY KEY,
  project_id  TEXT NOT NULL REFERENCES projects(id),
  base_branch TEXT NOT NULL,
  -- The tips of the base branch before and after, and that of the project branch.
  before_sha  TEXT NOT NULL,
  sha         TEXT NOT NULL,
  tip         TEXT NOT NULL,
  landed_at   TEXT NOT NULL,
  landed_by   TEXT NOT NULL,
  tasks       INTEGER NOT NULL,
  commits     INTEGER NOT NULL,
  -- When and by whom it was taken back.
  undone_at   TEXT,
  undone_by   TEXT CHECK ((undone_at IS NULL) = (undone_by IS NULL)),
  -- The pull request by which it landed on the base branch of the remote; its tips are those of the project branch then.
  pull_request TEXT
) STRICT;
CREATE INDEX landings_by_project ON landings (project_id);

CREATE TABLE goals (
  id          TEXT PRIMARY KEY,
  project_id  TEXT NOT NULL REFERENCES projects(id),
  title       TEXT NOT NULL,
  description TEXT,
  status      TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'active', 'pending_verify', 'verified')),
  creator     TEXT NOT NULL,
  verified_by TEXT,
  notes       TEXT,
  created_at  TEXT NOT NULL,
  verified_at TEXT
) STRICT;
CREATE INDEX goals_by_project ON goals (project_id);

CREATE TABLE tasks (
  id             TEXT PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects(id),
  parent_task_id TEXT REFERENCES tasks(id),
  goal_id        TEXT REFERENCES goals(id),
  title          TEXT NOT NULL,
  description    TEXT,
  phase          TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator', 'oracle')),
  status         TEXT NOT NULL DEFAULT 'backlog' CHECK (status IN ('backlog', 'in_progress', 'in_review', 'done', 'cancelled')),
  held_by        TEXT CHECK (held_by IN ('human', 'plan', 'stop', 'takeover')),
  attention      TEXT CHECK (attention IS NULL OR json_valid(attention)),
  wait_reason    TEXT CHECK (wait_reason IS NULL OR json_valid(wait_reason)),
  cancel_reason  TEXT CHECK (cancel_reason IN ('failed', 'abandoned', 'obsolete', 'duplicate')),
  priority       INTEGER NOT NULL DEFAULT 0,
  -- Its place among tasks of equal priority, if a person moved it.
  position       INTEGER,
  model          TEXT,
  -- The files that it is planned to change.
  files          TEXT CHECK (files IS NULL OR json_valid(files)),
  -- The files that its last submitted commit changes.
  changed_files  TEXT CHECK (changed_files IS NULL OR json_valid(changed_files)),
  worktree_path  TEXT,
  branch         TEXT,
  session_id     TEXT,
  -- The sessions of runs up to this one are not continued.
  forgotten_run  TEXT REFERENCES agent_runs(id),
  -- Whether its worktree is replaced by a new one before the next run.
  replace_tree   INTEGER NOT NULL DEFAULT 0 CHECK (replace_tree IN (0, 1)),
  -- The checkpoint whose files the next worktree gets.
  rewind_sha     TEXT,
  -- The tip of its branch when a person took it over.
  takeover_sha   TEXT,
  -- The commit that was last submitted for review.
  submitted_sha  TEXT,
  -- Identifies its changes.
  submitted_patch TEXT,
  -- The protected paths that the last submitted or approved commit changes.
  protected_paths TEXT CHECK (protected_paths IS NULL OR json_valid(protected_paths)),
  -- The checks of the last submitted commit, and of the merge of an approved one.
  checks         TEXT CHECK (checks IS NULL OR json_valid(checks)),
  -- Its app, if it runs or failed.
  preview        TEXT CHECK (preview IS NULL OR json_valid(preview)),
  approved_sha   TEXT,
  merged_sha     TEXT,
  -- The landing that brought its work to the base branch.
  landing_id     INTEGER REFERENCES landings(id),
  round_of       TEXT REFERENCES tasks(id),
  round          INTEGER,
  review_rounds  INTEGER NOT NULL DEFAULT 0,
  -- The rounds with the same changes and findings as the last one, since a person last decided.
  repeated_rounds INTEGER NOT NULL DEFAULT 0,
  -- Failed attempts in a row since the card last moved, the last of them, and when the next may start.
  failures       INTEGER NOT NULL DEFAULT 0,
  last_failure   TEXT,
  retry_at       TEXT,
  assigned_to    TEXT,
  role_hat       TEXT,
  created_by     TEXT,
  result         TEXT,
  -- The sums over the runs of the task.
  cost_micro_usd INTEGER NOT NULL DEFAULT 0,
  tokens         INTEGER NOT NULL DEFAULT 0,
  -- The limit of the task or of its run that was last noticed to be nearly used up.
  near_limit     TEXT CHECK (near_limit IS NULL OR json_valid(near_limit)),
  -- The updates by participants, and how many there were when a person was last asked about them.
  activity_count INTEGER NOT NULL DEFAULT 0,
  activity_asked INTEGER NOT NULL DEFAULT 0,
  -- Set when its session ended before anybody began it, until a lead decides or it begins.
  old            TEXT CHECK (old IN ('unreviewed', 'stale')),
  approved_by    TEXT,
  -- The branch whose tip its work begins at, instead of that of the project branch.
  from_branch    TEXT,
  verified_by    TEXT,
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL,
  completed_at   TEXT,
  verified_at    TEXT,
  -- The address of the issue that it was made from.
  issue          TEXT,
  -- Its own pull request.
  pull_request   TEXT CHECK (pull_request IS NULL OR json_valid(pull_request)),
  UNIQUE (round_of, round)
) STRICT;
CREATE INDEX tasks_by_project ON tasks (project_id, status);
-- Lists go through ids in their order, a page at a time.
CREATE INDEX tasks_by_project_and_age ON tasks (project_id, length(id), id);
CREATE INDEX tasks_by_parent ON tasks (parent_task_id, status) WHERE parent_task_id IS NOT NULL;
-- Ids count up: the last child is the newest.
CREATE INDEX tasks_by_parent_and_age ON tasks (parent_task_id, length(id), id) WHERE parent_task_id IS NOT NULL;
CREATE INDEX tasks_by_goal ON tasks (goal_id, status, cancel_reason, verified_by) WHERE goal_id IS NOT NULL;
-- These hold open tasks only, and stay small however much is finished.
CREATE INDEX tasks_open ON tasks (project_id) WHERE status IN ('backlog', 'in_progress', 'in_review');
-- What the scheduler reads. A held task whose card says so is settled until it changes.
CREATE INDEX tasks_schedulable ON tasks (project_id) WHERE status IN ('backlog', 'in_progress', 'in_review')
  AND (held_by IS NULL OR wait_reason IS DISTINCT FROM '{"is":"held","by":"' || held_by || '"}');
CREATE INDEX tasks_runnable ON tasks (project_id, status) WHERE status IN ('backlog', 'in_progress', 'in_review') AND (held_by IS NULL OR held_by = 'plan');
CREATE INDEX tasks_by_assignee ON tasks (project_id, assigned_to)
  WHERE status IN ('backlog', 'in_progress', 'in_review') AND assigned_to IS NOT NULL;
-- Tasks that a lead has to decide about.
CREATE INDEX tasks_unreviewed ON tasks (project_id, length(id), id) WHERE old = 'unreviewed';
-- Finished tasks that somebody has to look at, or whose checkout is left.
CREATE INDEX tasks_with_attention ON tasks (project_id) WHERE attention IS NOT NULL;
CREATE INDEX tasks_with_checkout ON tasks (project_id) WHERE worktree_path IS NOT NULL;
-- Those that failed stay on their cards and cost nothing.
CREATE INDEX tasks_with_preview ON tasks (project_id) WHERE preview ->> 'state' <> 'failed';
-- A lead reads them with the open ones.
CREATE INDEX tasks_failed ON tasks (project_id) WHERE cancel_reason = 'failed';
-- Finished tasks, newest last.
CREATE INDEX tasks_finished ON tasks (project_id, status, updated_at, id) WHERE status IN ('done', 'cancelled');

-- Merged work that waits to be landed, and what a landing brought.
CREATE INDEX tasks_to_land ON tasks (project_id) WHERE merged_sha IS NOT NULL AND landing_id IS NULL;
CREATE INDEX tasks_with_pull_request ON tasks (id) WHERE status = 'in_review' AND pull_request -> 'status' ->> 'state' = 'open';
CREATE INDEX tasks_by_issue ON tasks (project_id, issue) WHERE issue IS NOT NULL;
CREATE INDEX tasks_by_landing ON tasks (landing_id) WHERE landing_id IS NOT NULL;

-- What consumed the most, first.
CREATE INDEX tasks_by_cost ON tasks (project_id, cost_micro_usd, tokens) WHERE tokens > 0;

-- Sums over the finished tasks of a project, kept by every write that changes them, so that no board sums over all that was ever finished.
CREATE TABLE finished_sums (
  project_id     TEXT NOT NULL REFERENCES projects(id),
  status         TEXT NOT NULL CHECK (status IN ('done', 'cancelled')),
  total          INTEGER NOT NULL,
  merged         INTEGER NOT NULL,
  -- Merged tasks that no landing brought to the base branch yet.
  to_land        INTEGER NOT NULL DEFAULT 0,
  cost_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (project_id, status)
) STRICT;

-- The tasks that became done on a day, which is a date in UTC, and how long those with managed agents took: from the start of the first agent,
-- and how much of it no agent worked. A task that was reopened counts again.
CREATE TABLE finished_by_day (
  project_id TEXT NOT NULL REFERENCES projects(id),
  day        TEXT NOT NULL,
  phase      TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator', 'oracle')),
  tasks      INTEGER NOT NULL,
  timed      INTEGER NOT NULL,
  cycle_ms   INTEGER NOT NULL,
  wait_ms    INTEGER NOT NULL,
  PRIMARY KEY (project_id, day, phase)
) STRICT;

CREATE TABLE dependencies (
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  depends_on TEXT NOT NULL REFERENCES tasks(id),
  PRIMARY KEY (task_id, depends_on),
  CHECK (task_id <> depends_on)
) STRICT;
CREATE INDEX dependencies_by_target ON dependencies (depends_on);

-- Runs.

CREATE TABLE agent_runs (
  id                TEXT PRIMARY KEY,
  task_id           TEXT NOT NULL REFERENCES tasks(id),
  phase             TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator', 'oracle')),
  attempt           INTEGER NOT NULL,
  session_id        TEXT,
  -- The shell command with which a person continues the session, without the id of the session.
  resume_command    TEXT,
  worktree_path     TEXT,
  run_dir           TEXT,
  -- When the folder was removed because of its age or size.
  dir_removed_at    TEXT,
  -- What proves that its processes are gone. The marker is stored before the shim is started, its process id right afterwards.
  marker            TEXT,
  boot_id           TEXT,
  shim_pid          INTEGER,
  -- In clock ticks since the machine started, as in /proc/PID/stat.
  shim_started      INTEGER,
  -- What keeps a live run from its work.
  condition         TEXT CHECK (condition IS NULL OR json_valid(condition)),
  -- Why its temporary checkout could not be removed.
  checkout_left     TEXT,
  sha               TEXT,
  port              INTEGER,
  sandbox           TEXT NOT NULL DEFAULT 'none' CHECK (sandbox IN ('none', 'jail', 'jail+net')),
  -- What the sandbox refused.
  refusals          TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(refusals)),
  -- The kept files of its worktree, oldest first.
  checkpoints       TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(checkpoints)),
  started_at        TEXT NOT NULL,
  -- The machine's clock that stops while it is suspended, in milliseconds.
  started_uptime_ms INTEGER NOT NULL DEFAULT 0,
  -- Since when it waits for a person, on the same clock. The time is added to `started_uptime_ms` afterwards, so that it does not count.
  waits_since_ms    INTEGER,
  completed_at      TEXT,
  stop_requested_at TEXT,
  -- The limit because of which the agent was told to hand over.
  hand_over         TEXT CHECK (hand_over IS NULL OR json_valid(hand_over)),
  reminded_at       TEXT,
  -- What a person interrupted, until the agent goes on.
  interrupt         TEXT CHECK (interrupt IS NULL OR json_valid(interrupt)),
  exit_code         INTEGER,
  end_class         TEXT,
  failure           TEXT,
  error             TEXT,
  -- The facts of the failure: a run that failed with the same facts as the one before is not repeated.
  cause             TEXT,
  cost_micro_usd    INTEGER NOT NULL DEFAULT 0,
  input_tokens      INTEGER NOT NULL DEFAULT 0,
  output_tokens     INTEGER NOT NULL DEFAULT 0,
  context_tokens    INTEGER,
  context_limit     INTEGER,
  turns             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_task ON agent_runs (task_id);
-- Runs whose folder may still be on the disk.
CREATE INDEX runs_with_folder ON agent_runs (task_id, started_at) WHERE run_dir IS NOT NULL AND dir_removed_at IS NULL;
CREATE INDEX runs_with_left_checkout ON agent_runs (id) WHERE checkout_left IS NOT NULL;
-- Two agents never work on one task, and two live runs never share a port.
CREATE UNIQUE INDEX one_live_run ON agent_runs (task_id) WHERE completed_at IS NULL;
CREATE UNIQUE INDEX one_live_port ON agent_runs (port) WHERE completed_at IS NULL AND port IS NOT NULL;

-- What agents consumed, kept by every write of a run's usage, so that no report sums over all runs that ever were.
CREATE TABLE usage_by_kind (
  project_id     TEXT NOT NULL REFERENCES projects(id),
  phase          TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator', 'oracle')),
  turns          INTEGER NOT NULL,
  input_tokens   INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (project_id, phase)
) STRICT;

-- A day is a date in UTC.
CREATE TABLE usage_by_day (
  project_id     TEXT NOT NULL REFERENCES projects(id),
  day            TEXT NOT NULL,
  phase          TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator', 'oracle')),
  turns          INTEGER NOT NULL,
  input_tokens   INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL,
  cost_micro_usd INTEGER NOT NULL,
  PRIMARY KEY (project_id, day, phase)
) STRICT;

CREATE INDEX usage_of_days ON usage_by_day (day);

-- Limits that were raised, or reported as nearly used up. `subject` is the id of the run, task or project, or the day. A raise adds the limit
-- once more and allows another report.
CREATE TABLE limit_states (
  scope   TEXT NOT NULL CHECK (scope IN ('run', 'task', 'project', 'day')),
  subject TEXT NOT NULL,
  raises  INTEGER NOT NULL DEFAULT 0,
  warned  INTEGER NOT NULL DEFAULT 0 CHECK (warned IN (0, 1)),
  PRIMARY KEY (scope, subject)
) STRICT;

-- What ended turns showed about models.
CREATE TABLE models (
  model          TEXT PRIMARY KEY,
  -- In millionths of a US dollar for a million input tokens.
  price          INTEGER,
  -- How much it can read, in tokens.
  context_window INTEGER
) STRICT;

-- The files that the agents of live runs have read or written, each with the last time.
CREATE TABLE run_files (
  run_id    TEXT NOT NULL REFERENCES agent_runs(id),
  path      TEXT NOT NULL,
  loaded_at TEXT NOT NULL,
  PRIMARY KEY (run_id, path)
) STRICT, WITHOUT ROWID;

-- Messages from a person to a running agent.
CREATE TABLE run_messages (
  id           INTEGER PRIMARY KEY,
  run_id       TEXT NOT NULL REFERENCES agent_runs(id),
  content      TEXT NOT NULL,
  delivered_at TEXT
) STRICT;
CREATE INDEX messages_by_run ON run_messages (run_id);

-- What agents ask to do. `key` is the agent program's own id of a request, `rule` what the answer `always` allows for the task.
CREATE TABLE permission_requests (
  id          INTEGER PRIMARY KEY,
  run_id      TEXT NOT NULL REFERENCES agent_runs(id),
  key         TEXT NOT NULL,
  tool        TEXT NOT NULL,
  input       TEXT NOT NULL,
  rule        TEXT CHECK (rule IS NULL OR json_valid(rule)),
  asked_at    TEXT NOT NULL,
  answer      TEXT CHECK (answer IN ('allow', 'deny', 'always')),
  reason      TEXT,
  answered_by TEXT,
  -- When the agent's program took the answer, or needed none anymore.
  closed_at   TEXT,
  UNIQUE (run_id, key)
) STRICT;

CREATE TABLE verdicts (
  id         INTEGER PRIMARY KEY,
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  sha        TEXT NOT NULL,
  verdict    TEXT NOT NULL CHECK (verdict IN ('approved', 'sent_back')),
  actor      TEXT NOT NULL,
  run_id     TEXT REFERENCES agent_runs(id),
  -- What identifies the changes of a submission that was sent back, if that is known, and what was found.
  patch_id   TEXT,
  findings   TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX verdicts_by_task ON verdicts (task_id);

-- What a command showed about the files of a commit. A tree is not checked again with the same command and version of the profile.
CREATE TABLE check_results (
  id              INTEGER PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects(id),
  tree            TEXT NOT NULL,
  profile_version INTEGER NOT NULL,
  command         TEXT NOT NULL,
  outcome         TEXT NOT NULL CHECK (outcome IN ('passed', 'failed')),
  attempts        INTEGER NOT NULL,
  duration_ms     INTEGER NOT NULL,
  tail            TEXT NOT NULL,
  -- The file with its output, until that is removed.
  output          TEXT NOT NULL,
  ended_at        TEXT NOT NULL,
  UNIQUE (project_id, tree, profile_version, command)
) STRICT;
CREATE INDEX check_results_by_age ON check_results (ended_at);

-- References that this product created in repositories. It touches no others.
CREATE TABLE owned_refs (
  git_dir TEXT NOT NULL,
  name    TEXT NOT NULL,
  task_id TEXT REFERENCES tasks(id),
  -- When it was last written, which is when kept work was kept.
  claimed_at TEXT NOT NULL,
  PRIMARY KEY (git_dir, name)
) STRICT;

CREATE INDEX owned_refs_by_name ON owned_refs (name, claimed_at);

-- Why agent starts are suspended, and until when.
CREATE TABLE parkings (
  reason        TEXT PRIMARY KEY,
  -- When the outage was noticed.
  since         TEXT NOT NULL,
  until         TEXT NOT NULL,
  detail        TEXT NOT NULL,
  -- Probes that failed in a row: each makes the next pause longer.
  failed_probes INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE comments (
  id          TEXT PRIMARY KEY,
  task_id     TEXT NOT NULL REFERENCES tasks(id),
  author_role TEXT NOT NULL CHECK (author_role IN ('planner', 'coder', 'reviewer', 'orchestrator', 'oracle', 'human', 'runner', 'agent')),
  -- The name of an external agent, or of a person other than the owner; managed agents are named by their run.
  author_name TEXT,
  run_id      TEXT REFERENCES agent_runs(id),
  content     TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  edited_at   TEXT,
  CHECK (CASE author_role WHEN 'agent' THEN author_name IS NOT NULL WHEN 'human' THEN true ELSE author_name IS NULL END)
) STRICT;
CREATE INDEX comments_by_task ON comments (task_id);

CREATE TABLE questions (
  id             TEXT PRIMARY KEY,
  task_id        TEXT NOT NULL REFERENCES tasks(id),
  run_id         TEXT NOT NULL REFERENCES agent_runs(id),
  question       TEXT NOT NULL,
  options        TEXT NOT NULL CHECK (json_valid(options)),
  default_answer TEXT,
  asked_at       TEXT NOT NULL,
  answer         TEXT,
  answered_at    TEXT
) STRICT;
CREATE INDEX questions_by_task ON questions (task_id);

-- Texts that can be searched: the title, description and result of a task, comments, messages, the failures of runs, the memory of
-- agents, and the raid log.
-- The texts themselves are read from their own tables. Messages of sessions have an index of their own.
CREATE TABLE search_documents (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('task', 'comment', 'message', 'run', 'memory', 'log')),
  reference  TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id),
  task_id    TEXT REFERENCES tasks(id),
  UNIQUE (kind, reference)
) STRICT;

-- Which of them hold a word. The words come in lower case and separated by spaces; only they are stored, not the texts.
CREATE VIRTUAL TABLE search_words USING fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

-- Every word that was ever indexed. Rows are never removed, because a reader knows the words up to the last number that it saw.
CREATE TABLE search_vocabulary (
  id   INTEGER PRIMARY KEY,
  word TEXT NOT NULL UNIQUE
) STRICT;

-- Team.

-- The people of the board. The owner, who takes part as `human`, has the id 1; others take part as `human/` and their name. Rows are never
-- removed, because the history names them.
CREATE TABLE persons (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  role       TEXT NOT NULL CHECK (role IN ('owner', 'member', 'viewer')),
  created_at TEXT NOT NULL,
  removed_at TEXT,
  CHECK ((id = 1) = (role = 'owner') AND (id <> 1 OR removed_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX persons_by_name_nocase ON persons (lower(name));

-- One row for each agent of a project; `name` starts with its team. A managed agent has its current or last run.
CREATE TABLE agents (
  project_id       TEXT NOT NULL REFERENCES projects(id),
  name             TEXT NOT NULL,
  team             TEXT,
  roles            TEXT NOT NULL CHECK (json_valid(roles)),
  description      TEXT,
  status           TEXT,
  trusted          INTEGER NOT NULL CHECK (trusted IN (0, 1)),
  run_id           TEXT REFERENCES agent_runs(id),
  -- Null for an external agent that named none: then its roles decide.
  class            TEXT CHECK (class IN ('lead', 'coder', 'builder', 'oracle', 'recon')),
  -- What a lead named: without it, it is a commander.
  lead_role        TEXT CHECK (lead_role IN ('general', 'commander', 'zone_lead')),
  zone             TEXT CHECK ((zone IS NOT NULL) = (lead_role IS NOT NULL AND lead_role = 'zone_lead')),
  -- The project whose token a general uses here.
  home_project_id  TEXT REFERENCES projects(id) ON DELETE SET NULL,
  -- The model that an external agent named.
  model            TEXT,
  transport        TEXT NOT NULL CHECK (transport IN ('terminal', 'daemon')),
  -- What an external agent reported about its own context. A managed agent is measured in its run.
  context          TEXT,
  context_tokens   INTEGER CHECK (context_tokens BETWEEN 0 AND context_limit),
  context_limit    INTEGER CHECK (context_limit > 0),
  context_at       TEXT,
  registered_at    TEXT NOT NULL,
  last_seen        TEXT,
  last_inbox_check TEXT,
  heartbeat_at     TEXT,
  left_at          TEXT,
  -- The newest message when it left. If it returns, it receives the broadcasts after it.
  left_at_message  INTEGER,
  PRIMARY KEY (project_id, name),
  CHECK ((context_tokens IS NULL) = (context_limit IS NULL))
) STRICT;
-- Names that differ only in case would be confused by readers.
CREATE UNIQUE INDEX agents_by_name_nocase ON agents (project_id, lower(name));
CREATE INDEX agents_departed ON agents (project_id, left_at) WHERE left_at IS NOT NULL;
CREATE INDEX agents_present ON agents (project_id, name) WHERE left_at IS NULL;
CREATE INDEX agents_by_run ON agents (run_id) WHERE run_id IS NOT NULL;

-- The names that renamed agents had before. They stay reserved, because history names them.
CREATE TABLE former_names (
  project_id TEXT NOT NULL REFERENCES projects(id),
  former     TEXT NOT NULL,
  -- The present name of the agent.
  name       TEXT NOT NULL,
  PRIMARY KEY (project_id, former)
) STRICT;
CREATE INDEX former_names_by_agent ON former_names (project_id, name);

-- What was said, once. `to_agent` is a name, or `all` for a broadcast.
CREATE TABLE messages (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  from_agent TEXT NOT NULL,
  to_agent   TEXT NOT NULL,
  content    TEXT NOT NULL,
  task_id    TEXT REFERENCES tasks(id),
  reply_to   INTEGER REFERENCES messages(id),
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX messages_by_project ON messages (project_id, id);
CREATE INDEX messages_by_task ON messages (project_id, task_id, id) WHERE task_id IS NOT NULL;
CREATE INDEX messages_to_all ON messages (project_id, id) WHERE to_agent = 'all';
CREATE INDEX messages_replies ON messages (reply_to) WHERE reply_to IS NOT NULL;
-- What retention may remove. A person's messages and broadcasts are never in here.
CREATE INDEX messages_removable ON messages (created_at)
  WHERE from_agent <> 'human' AND substr(from_agent, 1, 6) <> 'human/' AND to_agent <> 'all';

-- Who receives a message, and how far it is:
--   pending: not delivered.
--   offered: in a response (`answer_seq`), which may have been lost.
--   on_stdin: in a line to a run's agent (`stdin_line_id`), which its program has not echoed.
--   in_conversation: in the conversation of a live run.
--   redeliver: received by a run that has ended, and not acknowledged.
--   read: the recipient is known to have received it.
CREATE TABLE deliveries (
  message_id    INTEGER NOT NULL REFERENCES messages(id),
  recipient     TEXT NOT NULL,
  project_id    TEXT NOT NULL REFERENCES projects(id),
  kind          TEXT NOT NULL CHECK (kind IN ('direct', 'copy', 'broadcast')),
  state         TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'offered', 'on_stdin', 'in_conversation', 'redeliver', 'read')),
  -- The log position of the last response that included it.
  answer_seq    INTEGER,
  stdin_line_id TEXT,
  -- When a response or an echoed line first included it.
  delivered_at  TEXT,
  read_at       TEXT,
  PRIMARY KEY (message_id, recipient),
  CHECK (state <> 'offered' OR answer_seq IS NOT NULL),
  CHECK ((state = 'on_stdin') = (stdin_line_id IS NOT NULL)),
  CHECK ((state = 'read') = (read_at IS NOT NULL))
) STRICT;
CREATE INDEX deliveries_unread ON deliveries (project_id, recipient, state, message_id) WHERE read_at IS NULL;
-- What retention may remove: everyone who missed a broadcast has a delivery already.
CREATE INDEX deliveries_read_broadcasts ON deliveries (read_at) WHERE kind = 'broadcast' AND read_at IS NOT NULL;

-- Who built, approved and verified a task. Rows are never removed: a builder or approver stays barred from verifying the task.
CREATE TABLE contributions (
  id         INTEGER PRIMARY KEY,
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  agent_name TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('built', 'approved', 'verified')),
  created_at TEXT NOT NULL,
  UNIQUE (task_id, agent_name, kind)
) STRICT;

-- Which agent wore which hat on which task.
CREATE TABLE hats (
  id         INTEGER PRIMARY KEY,
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  agent_name TEXT NOT NULL,
  hat        TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id),
  created_at TEXT NOT NULL,
  UNIQUE (task_id, agent_name, hat)
) STRICT;
CREATE INDEX hats_by_agent ON hats (project_id, agent_name);

CREATE TABLE handshakes (
  id           INTEGER PRIMARY KEY,
  project_id   TEXT NOT NULL REFERENCES projects(id),
  initiated_by TEXT NOT NULL,
  content      TEXT NOT NULL,
  status       TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'completed')),
  created_at   TEXT NOT NULL,
  completed_at TEXT
) STRICT;
CREATE INDEX handshakes_by_project ON handshakes (project_id);
CREATE INDEX handshakes_pending ON handshakes (project_id, id) WHERE status = 'pending';

-- The targets of a handshake. A row without a time is pending.
CREATE TABLE handshake_acks (
  handshake_id INTEGER NOT NULL REFERENCES handshakes(id),
  agent_name   TEXT NOT NULL,
  acked_at     TEXT,
  left_at      TEXT,
  PRIMARY KEY (handshake_id, agent_name)
) STRICT;
CREATE INDEX handshake_acks_by_agent ON handshake_acks (agent_name);

CREATE TABLE contracts (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  name       TEXT NOT NULL,
  type       TEXT NOT NULL CHECK (type IN ('function', 'dom_id', 'css_class', 'file_path', 'api_endpoint', 'event', 'other')),
  owner      TEXT NOT NULL,
  spec       TEXT NOT NULL,
  version    INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  UNIQUE (project_id, name, type)
) STRICT;

CREATE TABLE contract_versions (
  contract_id INTEGER NOT NULL REFERENCES contracts(id),
  version     INTEGER NOT NULL,
  spec        TEXT NOT NULL,
  declared_by TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  PRIMARY KEY (contract_id, version)
) STRICT;

-- `scope` is `global` or the name of an agent.
CREATE TABLE spawn_policies (
  project_id  TEXT NOT NULL REFERENCES projects(id),
  scope       TEXT NOT NULL,
  enabled     INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  max_minions INTEGER NOT NULL,
  set_by      TEXT NOT NULL,
  set_at      TEXT NOT NULL,
  PRIMARY KEY (project_id, scope)
) STRICT;

CREATE TABLE minions (
  id               INTEGER PRIMARY KEY,
  project_id       TEXT NOT NULL REFERENCES projects(id),
  pilot            TEXT NOT NULL,
  -- The run that started it and ends it.
  run_id           TEXT REFERENCES agent_runs(id),
  -- The tool call of the pilot that started it, if known, so that the matching end is found.
  tool_use_id      TEXT,
  task_description TEXT NOT NULL,
  status           TEXT NOT NULL CHECK (status IN ('spawned', 'completed', 'failed')),
  result           TEXT,
  spawned_at       TEXT NOT NULL,
  completed_at     TEXT
) STRICT;
CREATE INDEX minions_by_pilot ON minions (project_id, pilot, status);
CREATE INDEX minions_by_run ON minions (run_id) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX minions_by_tool_use ON minions (project_id, pilot, tool_use_id) WHERE tool_use_id IS NOT NULL;

-- Who calls. Only a SHA-256 of each token is stored. Its first digits name it.
CREATE TABLE tokens (
  hash        TEXT PRIMARY KEY,
  kind        TEXT NOT NULL CHECK (kind IN ('human', 'companion', 'run', 'agent', 'invite')),
  -- Of a companion, the person whose coding agent it is.
  person_id   INTEGER REFERENCES persons(id),
  run_id      TEXT REFERENCES agent_runs(id),
  project_id  TEXT REFERENCES projects(id),
  agent_name  TEXT,
  -- The interfaces that accept it. The HTTP interface is for persons only.
  audience    TEXT NOT NULL CHECK (audience IN ('mcp', 'api', 'both')),
  -- The role of a person decides what theirs permits.
  permissions TEXT CHECK (permissions IN ('read', 'read write', 'read admin', 'read write admin')),
  -- Whether the agent that holds it may act in all projects, as a general.
  reach       TEXT NOT NULL DEFAULT 'project' CHECK (reach IN ('project', 'all') AND (reach = 'project' OR kind = 'agent')),
  created_at  TEXT NOT NULL,
  expires_at  TEXT,
  -- When a token that its holder replaced ends.
  retires_at  TEXT,
  CHECK ((kind IN ('human', 'companion')) = (person_id IS NOT NULL)),
  CHECK ((kind IN ('human', 'companion')) = (permissions IS NULL)),
  CHECK (kind = 'human' OR audience = 'mcp'),
  FOREIGN KEY (project_id, agent_name) REFERENCES agents (project_id, name) ON UPDATE CASCADE
) STRICT;
CREATE UNIQUE INDEX tokens_by_name ON tokens (substr(hash, 1, 12));
CREATE INDEX tokens_by_run ON tokens (run_id) WHERE run_id IS NOT NULL;
-- Those of persons and their companions, which are revoked together.
CREATE INDEX tokens_by_person ON tokens (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX tokens_by_project ON tokens (project_id, agent_name) WHERE project_id IS NOT NULL;
-- Those that a person gave, or that follow from one that a person gave. They stay few, however many runs have ended.
CREATE INDEX tokens_given ON tokens (created_at, hash) WHERE kind <> 'run';

-- Browsers that are signed in. Only a SHA-256 of each session's secret is stored.
CREATE TABLE browser_sessions (
  id           INTEGER PRIMARY KEY,
  hash         TEXT NOT NULL UNIQUE,
  person_id    INTEGER NOT NULL REFERENCES persons(id),
  user_agent   TEXT,
  -- The name of a paired device.
  device       TEXT,
  created_at   TEXT NOT NULL,
  last_seen_at TEXT NOT NULL
) STRICT;

-- How far each configured webhook is told what happened. Only a SHA-256 of its address is stored, because some addresses are secret.
CREATE TABLE webhooks (
  url_hash       TEXT PRIMARY KEY,
  -- The last event that needs no further notice.
  seq            INTEGER NOT NULL,
  failures       INTEGER NOT NULL DEFAULT 0,
  retry_at       TEXT,
  -- The end of its last morning report.
  reported_until TEXT NOT NULL
) STRICT;

-- Context.

-- Places in which agents share findings. Each project and each plan has one by itself, which stays open. A session of a person can have no project.
CREATE TABLE context_sessions (
  id         TEXT PRIMARY KEY,
  project_id TEXT REFERENCES projects(id),
  kind       TEXT NOT NULL CHECK (kind IN ('project', 'plan', 'shared')),
  -- The planning task of a plan's session.
  task_id    TEXT REFERENCES tasks(id),
  purpose    TEXT NOT NULL,
  metadata   TEXT NOT NULL CHECK (json_valid(metadata)),
  created_by TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  closed_at  TEXT,
  CHECK ((kind = 'plan') = (task_id IS NOT NULL)),
  CHECK (kind = 'shared' OR (project_id IS NOT NULL AND closed_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX one_session_per_project ON context_sessions (project_id) WHERE kind = 'project';
CREATE UNIQUE INDEX one_session_per_plan ON context_sessions (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX context_sessions_by_project ON context_sessions (project_id, created_at, id);
CREATE INDEX context_sessions_open ON context_sessions (project_id, created_at, id) WHERE closed_at IS NULL;

-- What was written into a session. `audience` is a word for the readers of the message: a reader compares it with the words of its own.
CREATE TABLE session_messages (
  id          INTEGER PRIMARY KEY,
  session_id  TEXT NOT NULL REFERENCES context_sessions(id),
  sender      TEXT NOT NULL,
  sender_type TEXT NOT NULL,
  -- The run of a managed agent.
  run_id      TEXT,
  content     TEXT NOT NULL,
  visibility  TEXT NOT NULL CHECK (visibility IN ('public', 'private', 'agent_only', 'admin_only')),
  audience    TEXT NOT NULL,
  metadata    TEXT NOT NULL CHECK (json_valid(metadata)),
  parent_id   INTEGER REFERENCES session_messages(id),
  created_at  TEXT NOT NULL
) STRICT;
CREATE INDEX session_messages_by_audience ON session_messages (session_id, audience, id);
CREATE INDEX session_messages_by_time ON session_messages (session_id, audience, created_at, id);
CREATE INDEX session_messages_by_sender ON session_messages (session_id, sender, audience, id);
-- For the owner of the board, who may read what is hidden from others.
CREATE INDEX session_messages_hidden ON session_messages (session_id, visibility, id) WHERE visibility <> 'public';
CREATE INDEX session_messages_replies ON session_messages (parent_id) WHERE parent_id IS NOT NULL;

-- Which messages of sessions hold a word, among them one word for the session and one for public messages. Their other words are in the
-- vocabulary of the search.
CREATE VIRTUAL TABLE search_words_of_sessions USING fts5(words, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

-- The number of messages for each audience of a session, kept by every write of a message, so that no answer counts them.
CREATE TABLE session_counts (
  session_id TEXT NOT NULL REFERENCES context_sessions(id),
  audience   TEXT NOT NULL,
  visibility TEXT NOT NULL,
  messages   INTEGER NOT NULL,
  PRIMARY KEY (session_id, audience)
) STRICT;

-- What agents keep beyond a run. `owner` is a kind of managed agents, an external agent or a person. An entry counts in a session, on a task,
-- or wherever its owner works.
CREATE TABLE memories (
  id         INTEGER PRIMARY KEY,
  project_id TEXT REFERENCES projects(id),
  owner      TEXT NOT NULL,
  session_id TEXT REFERENCES context_sessions(id),
  task_id    TEXT REFERENCES tasks(id),
  key        TEXT NOT NULL,
  value      TEXT NOT NULL CHECK (json_valid(value)),
  metadata   TEXT NOT NULL CHECK (json_valid(metadata)),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  expires_at TEXT,
  CHECK (session_id IS NULL OR task_id IS NULL)
) STRICT;
-- A missing project, session or task is a value like any other.
CREATE UNIQUE INDEX memories_by_key ON memories (owner, COALESCE(project_id, ''), COALESCE(session_id, ''), COALESCE(task_id, ''), key);
CREATE INDEX memories_by_project ON memories (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX memories_by_session ON memories (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_by_task ON memories (task_id) WHERE task_id IS NOT NULL;
CREATE INDEX memories_expiring ON memories (expires_at) WHERE expires_at IS NOT NULL;

-- Which records of other programs' databases were imported, and the ids or names that they have here. A repeated import skips them.
CREATE TABLE imported_records (
  project_id TEXT NOT NULL REFERENCES projects(id),
  origin     TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('agent', 'session', 'session_message', 'memory', 'goal', 'task', 'message', 'contract')),
  original   TEXT NOT NULL,
  reference  TEXT NOT NULL,
  PRIMARY KEY (project_id, origin, kind, original)
) STRICT;

-- War room.

-- Paths that only one agent may edit. They are compared within one repository (`git_dir`), whichever of its projects the agents belong to.
-- `key` is the path in the form in which all aliases are equal. A managed agent has its task.
CREATE TABLE claims (
  id         INTEGER PRIMARY KEY,
  git_dir    TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id),
  agent_name TEXT NOT NULL,
  task_id    TEXT REFERENCES tasks(id),
  path       TEXT NOT NULL,
  key        TEXT NOT NULL,
  -- Whether the path is neither a file nor a folder with all that is in it, so that its beginning does not say what it may match.
  is_pattern INTEGER NOT NULL CHECK (is_pattern IN (0, 1)),
  claimed_at TEXT NOT NULL,
  UNIQUE (git_dir, key)
) STRICT;
CREATE INDEX claims_by_agent ON claims (project_id, agent_name);
CREATE INDEX claimed_patterns ON claims (git_dir, key) WHERE is_pattern = 1;

-- The agents that wait for a path, in the order of their ids.
CREATE TABLE claim_waits (
  id         INTEGER PRIMARY KEY,
  git_dir    TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id),
  agent_name TEXT NOT NULL,
  task_id    TEXT REFERENCES tasks(id),
  path       TEXT NOT NULL,
  key        TEXT NOT NULL,
  since      TEXT NOT NULL,
  UNIQUE (git_dir, project_id, agent_name, key)
) STRICT;
CREATE INDEX claim_waits_by_agent ON claim_waits (project_id, agent_name);
-- What leads want to reach. At most one plan is active for each scope, and for each zone; those that ended stay. `run_id` is set for a plan of a
-- managed agent, and `derived` for one that only repeats the tasks of a plan.
CREATE TABLE battle_plans (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  scope      TEXT NOT NULL CHECK (scope IN ('general', 'project', 'zone')),
  zone       TEXT CHECK ((zone IS NOT NULL) = (scope = 'zone')),
  author     TEXT NOT NULL,
  run_id     TEXT REFERENCES agent_runs(id),
  derived    INTEGER NOT NULL CHECK (derived IN (0, 1)),
  plan       TEXT NOT NULL,
  status     TEXT NOT NULL CHECK (status IN ('active', 'superseded', 'completed', 'abandoned', 'obsolete')),
  created_at TEXT NOT NULL,
  ended_at   TEXT CHECK ((ended_at IS NULL) = (status = 'active'))
) STRICT;
CREATE INDEX battle_plans_by_project ON battle_plans (project_id, id);
CREATE INDEX battle_plans_by_status ON battle_plans (project_id, status, id);
CREATE UNIQUE INDEX one_active_battle_plan ON battle_plans (project_id, scope, COALESCE(zone, '')) WHERE status = 'active';

-- What agents decided and found. Rows are only added; those of low priority go when the project is complete. Numbers are not used twice.
CREATE TABLE raid_log (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  author     TEXT NOT NULL,
  run_id     TEXT REFERENCES agent_runs(id),
  entry      TEXT NOT NULL,
  priority   TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high', 'critical')),
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX raid_log_by_priority ON raid_log (project_id, priority, id);
CREATE INDEX raid_log_by_author ON raid_log (project_id, author, priority, id);

-- Orders by trigger words. Those that have no lasting effect end when they are given.
CREATE TABLE triggers (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  word       TEXT NOT NULL CHECK (word IN ('fenix_down', 'stand_down', 'sitrep', 'rally', 'retreat', 'moon_crash', 'hot_zone', 'recon')),
  -- The agent or the zone.
  target     TEXT,
  note       TEXT,
  author     TEXT NOT NULL,
  given_at   TEXT NOT NULL,
  -- When the agent is removed if it has not answered.
  due_at     TEXT,
  ended_at   TEXT,
  ended_as   TEXT CHECK (ended_as IN ('done', 'withdrawn', 'unanswered')),
  CHECK ((ended_at IS NULL) = (ended_as IS NULL))
) STRICT;
CREATE UNIQUE INDEX active_triggers ON triggers (project_id, word, COALESCE(target, '')) WHERE ended_at IS NULL;
-- Of all projects: few are active at a time.
CREATE INDEX active_triggers_by_word ON triggers (word) WHERE ended_at IS NULL;
CREATE INDEX ended_triggers ON triggers (project_id, id) WHERE ended_at IS NOT NULL;

-- Named parts of a repository. `paths` is a list of paths and globs.
CREATE TABLE zones (
  project_id TEXT NOT NULL REFERENCES projects(id),
  name       TEXT NOT NULL,
  paths      TEXT NOT NULL CHECK (json_valid(paths)),
  owner      TEXT,
  oracle     TEXT,
  author     TEXT NOT NULL,
  set_at     TEXT NOT NULL,
  -- What its oracles were asked and answered, and the tokens in their contexts then, so that nothing is counted again.
  questions             INTEGER NOT NULL DEFAULT 0,
  answers               INTEGER NOT NULL DEFAULT 0,
  answer_bytes          INTEGER NOT NULL DEFAULT 0,
  answer_context_tokens INTEGER NOT NULL DEFAULT 0,
  -- The answers that came from the notes of a managed oracle.
  note_answers          INTEGER NOT NULL DEFAULT 0,
  -- The task of its managed oracle, once somebody asked it.
  task_id    TEXT REFERENCES tasks(id),
  PRIMARY KEY (project_id, name)
) STRICT;
CREATE UNIQUE INDEX zones_by_task ON zones (task_id) WHERE task_id IS NOT NULL;

-- Questions to oracles. `id` and `answer_id` are messages, which retention may remove.
CREATE TABLE oracle_questions (
  id             INTEGER PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects(id),
  zones          TEXT NOT NULL CHECK (json_valid(zones)),
  asker          TEXT NOT NULL,
  oracle         TEXT NOT NULL,
  question       TEXT NOT NULL,
  asked_at       TEXT NOT NULL,
  answer_id      INTEGER,
  answer         TEXT,
  answered_at    TEXT,
  -- The tokens in the context of the oracle, if that is known.
  context_tokens INTEGER,
  -- The task of a managed oracle. Equal topics are equal questions, and `sha` is the commit that the oracle read.
  task_id        TEXT REFERENCES tasks(id),
  topic          TEXT,
  sha            TEXT,
  -- When the answer was first given, if it is from the notes of the oracle.
  noted_at       TEXT,
  -- Whether the answer only says why there is none.
  failed         INTEGER NOT NULL DEFAULT 0 CHECK (failed IN (0, 1)),
  CHECK ((answered_at IS NULL) = (answer IS NULL) AND (answered_at IS NULL) = (answer_id IS NULL))
) STRICT;
CREATE INDEX oracle_questions_by_project ON oracle_questions (project_id, id);
CREATE INDEX open_oracle_questions ON oracle_questions (project_id, asker, oracle) WHERE answered_at IS NULL;
CREATE INDEX oracle_questions_by_task ON oracle_questions (task_id, answered_at) WHERE task_id IS NOT NULL;
CREATE INDEX oracle_notes ON oracle_questions (task_id, topic, id) WHERE sha IS NOT NULL AND failed = 0;
-- What retention may remove. A person's questions and answers are never in here.
CREATE INDEX oracle_questions_removable ON oracle_questions (asked_at)
  WHERE asker <> 'human' AND substr(asker, 1, 6) <> 'human/' AND oracle <> 'human' AND substr(oracle, 1, 6) <> 'human/';

-- What agents leave to their successors. The successor of a managed agent, which has a task and a run, bears the same name. `automatic` marks
-- what the runner recorded for a run that left nothing. `files` is a list of paths with their sizes.
CREATE TABLE handovers (
  id           INTEGER PRIMARY KEY,
  project_id   TEXT NOT NULL REFERENCES projects(id),
  agent_name   TEXT NOT NULL,
  task_id      TEXT REFERENCES tasks(id),
  run_id       TEXT REFERENCES agent_runs(id),
  automatic    INTEGER NOT NULL CHECK (automatic IN (0, 1)),
  manifest     TEXT NOT NULL,
  files        TEXT NOT NULL CHECK (json_valid(files)),
  created_at   TEXT NOT NULL,
  continued_by TEXT CHECK ((continued_by IS NULL) = (continued_at IS NULL)),
  continued_at TEXT
) STRICT;
CREATE INDEX handovers_by_project ON handovers (project_id, id);
CREATE INDEX handovers_by_run ON handovers (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX unread_handovers ON handovers (project_id, agent_name, id) WHERE continued_at IS NULL;
-- Those of external agents, newest first, so that a list ends after its length. Managed tasks that ended do not count.
CREATE INDEX waiting_handovers ON handovers (project_id, id) WHERE continued_at IS NULL AND task_id IS NULL;

-- What agents leave behind about tasks. Rows are only added; the newest of a task counts. `derived` ones follow from the facts of runs. `file` is
-- where the text was read from.
CREATE TABLE task_results (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  author     TEXT NOT NULL,
  run_id     TEXT REFERENCES agent_runs(id),
  derived    INTEGER NOT NULL CHECK (derived IN (0, 1)),
  file       TEXT,
  content    TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX task_results_by_task ON task_results (task_id, id);

-- What leads wrote about a session of the war room, which ends when one of them ends it.
CREATE TABLE debriefs (
  id               INTEGER PRIMARY KEY,
  project_id       TEXT NOT NULL REFERENCES projects(id),
  author           TEXT NOT NULL,
  run_id           TEXT REFERENCES agent_runs(id),
  summary          TEXT NOT NULL,
  created_at       TEXT NOT NULL,
  session_ended_at TEXT
) STRICT;
CREATE INDEX debriefs_by_project ON debriefs (project_id, id);
CREATE INDEX debriefs_of_session ON debriefs (project_id) WHERE session_ended_at IS NULL;

-- What agents confirmed, the traps that they met, and their notes; the topic of notes is the name of their agent. Nothing is deleted: intel is
-- archived and traps are resolved, which closes them. `version` counts the texts. `stored` says whether the file of this state is in the repository.
CREATE TABLE knowledge (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects(id),
  kind       TEXT NOT NULL CHECK (kind IN ('intel', 'trap', 'note')),
  topic      TEXT NOT NULL,
  body       TEXT NOT NULL,
  evidence   TEXT,
  paths      TEXT NOT NULL CHECK (json_valid(paths)),
  author     TEXT NOT NULL,
  run_id     TEXT REFERENCES agent_runs(id),
  version    INTEGER NOT NULL DEFAULT 1,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  closed_at  TEXT,
  closed_by  TEXT CHECK ((closed_by IS NULL) = (closed_at IS NULL)),
  closing    TEXT CHECK ((closing IS NULL) = (closed_at IS NULL)),
  stored     INTEGER NOT NULL DEFAULT 0 CHECK (stored IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX live_knowledge ON knowledge (project_id, kind, topic) WHERE closed_at IS NULL;
CREATE INDEX live_knowledge_in_order ON knowledge (project_id, kind, id) WHERE closed_at IS NULL;
CREATE INDEX closed_knowledge ON knowledge (project_id, kind, id) WHERE closed_at IS NOT NULL;
CREATE INDEX unstored_knowledge ON knowledge (id) WHERE stored = 0;

-- Which version of live intel and traps a participant has read.
CREATE TABLE knowledge_read (
  knowledge_id INTEGER NOT NULL REFERENCES knowledge(id),
  reader       TEXT NOT NULL,
  version      INTEGER NOT NULL,
  PRIMARY KEY (knowledge_id, reader)
) STRICT;

-- Log.

-- Stored answers to repeated calls of runs and agents. `caller` is a run id, or a project id and an agent name.
CREATE TABLE calls (
  caller     TEXT NOT NULL,
  call_id    TEXT NOT NULL,
  answer     TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (caller, call_id)
) STRICT;
CREATE INDEX calls_by_age ON calls (created_at);

CREATE TABLE events (
  seq        INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  project_id TEXT,
  task_id    TEXT,
  run_id     TEXT,
  actor      TEXT NOT NULL,
  kind       TEXT NOT NULL,
  payload    TEXT NOT NULL CHECK (json_valid(payload))
) STRICT;

-- The history of a project or a task, a page at a time. An index ends with the number of the event.
CREATE INDEX events_by_project ON events (project_id) WHERE project_id IS NOT NULL;
CREATE INDEX events_by_task ON events (task_id) WHERE task_id IS NOT NULL;
-- The events that changed a card, such as none of its comments: where a replay finds the last card before an event.
CREATE INDEX events_with_card ON events (task_id) WHERE task_id IS NOT NULL AND payload ->> '$.card' IS NOT NULL;

-- Who did what, and what was refused. Each row holds the hash of its text and of the row before.
CREATE TABLE audit (
  id         INTEGER PRIMARY KEY,
  at         TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('write', 'read', 'refusal', 'authentication')),
  -- What identified the caller: the start of the hash of a token or of a browser's secret.
  credential TEXT,
  actor      TEXT,
  run_id     TEXT,
  -- The tool or the route.
  action     TEXT NOT NULL,
  project_id TEXT,
  subject    TEXT,
  result     TEXT NOT NULL,
  -- The kinds of the events of a write, and the number of the first.
  detail     TEXT,
  seq        INTEGER,
  -- How often it happened, or how many events it has.
  count      INTEGER NOT NULL,
  hash       TEXT NOT NULL
) STRICT;

-- The ends of the chain: the last row that retention removed, and the newest row.
CREATE TABLE audit_chain (
  one         INTEGER PRIMARY KEY CHECK (one = 1),
  anchor_id   INTEGER NOT NULL,
  anchor_hash TEXT NOT NULL,
  head_id     INTEGER NOT NULL,
  head_hash   TEXT NOT NULL
) STRICT;
INSERT INTO audit_chain VALUES (1, 0, '', 0, '');

CREATE TRIGGER audit_rows_follow_each_other BEFORE INSERT ON audit WHEN NEW.id <> (SELECT head_id + 1 FROM audit_chain)
BEGIN SELECT RAISE(ABORT, 'a row of the audit log does not follow the last one'); END;
CREATE TRIGGER audit_head AFTER INSERT ON audit
BEGIN UPDATE audit_chain SET head_id = NEW.id, head_hash = NEW.hash; END;
CREATE TRIGGER audit_rows_stay_as_they_are BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'a row of the audit log cannot be changed'); END;
CREATE TRIGGER audit_rows_are_kept BEFORE DELETE ON audit WHEN OLD.id > (SELECT anchor_id FROM audit_chain)
BEGIN SELECT RAISE(ABORT, 'a row of the audit log cannot be removed before its retention ends'); END;
CREATE TRIGGER audit_chain_moves_forward BEFORE UPDATE ON audit_chain
WHEN NEW.anchor_id < OLD.anchor_id OR NEW.head_id < OLD.head_id
  OR (NEW.anchor_id > OLD.anchor_id AND NOT EXISTS (SELECT 1 FROM audit WHERE id = NEW.anchor_id AND hash = NEW.anchor_hash))
BEGIN SELECT RAISE(ABORT, 'the ends of the audit log only move forward'); END;
CREATE TRIGGER audit_chain_stays BEFORE DELETE ON audit_chain
BEGIN SELECT RAISE(ABORT, 'the ends of the audit log cannot be removed'); END;

-- The latest card of each task, and the latest state of each project, in the events that retention removed: where a replay starts.
CREATE TABLE checkpoints (
  project_id TEXT NOT NULL REFERENCES projects(id),
  -- Empty for the project itself.
  task_id    TEXT NOT NULL,
  snapshot   TEXT NOT NULL CHECK (json_valid(snapshot)),
  PRIMARY KEY (project_id, task_id)
) STRICT;
