-- The board: projects, tasks and everything that happens to them. Times are RFC 3339 in UTC, to the millisecond.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

-- The last number given out for each kind of id.
CREATE TABLE counters (
  kind  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;

CREATE TABLE projects (
  id                 TEXT PRIMARY KEY,
  title              TEXT NOT NULL,
  description        TEXT,
  status             TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'complete')),
  repo_path          TEXT NOT NULL,
  git_dir            TEXT NOT NULL,
  base_branch        TEXT NOT NULL,
  integration_branch TEXT NOT NULL,
  integration_head   TEXT,
  landed_sha         TEXT,
  plan_approval      TEXT NOT NULL DEFAULT 'auto' CHECK (plan_approval IN ('auto', 'ask')),
  profile            TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(profile)),
  created_at         TEXT NOT NULL,
  updated_at         TEXT NOT NULL
) STRICT;

CREATE TABLE tasks (
  id             TEXT PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects(id),
  parent_task_id TEXT REFERENCES tasks(id),
  title          TEXT NOT NULL,
  description    TEXT,
  phase          TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator')),
  status         TEXT NOT NULL DEFAULT 'backlog' CHECK (status IN ('backlog', 'in_progress', 'in_review', 'done', 'cancelled')),
  worktree_path  TEXT,
  branch         TEXT,
  session_id     TEXT,
  held_by        TEXT CHECK (held_by IN ('human', 'plan', 'stop')),
  attention      TEXT CHECK (attention IS NULL OR json_valid(attention)),
  why            TEXT CHECK (why IS NULL OR json_valid(why)),
  cancel_reason  TEXT CHECK (cancel_reason IN ('failed', 'abandoned', 'obsolete', 'duplicate')),
  priority       INTEGER NOT NULL DEFAULT 0,
  model          TEXT,
  approved_sha   TEXT,
  merged_sha     TEXT,
  verified_by    TEXT,
  round_of       TEXT REFERENCES tasks(id),
  round          INTEGER,
  review_rounds  INTEGER NOT NULL DEFAULT 0,
  -- Failed attempts in a row since the card last moved, the last of them, and when the next may start.
  failures       INTEGER NOT NULL DEFAULT 0,
  last_failure   TEXT,
  retry_at       TEXT,
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL,
  UNIQUE (round_of, round)
) STRICT;
CREATE INDEX tasks_by_project ON tasks (project_id, status);
CREATE INDEX tasks_by_parent ON tasks (parent_task_id);

CREATE TABLE dependencies (
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  depends_on TEXT NOT NULL REFERENCES tasks(id),
  PRIMARY KEY (task_id, depends_on),
  CHECK (task_id <> depends_on)
) STRICT;
CREATE INDEX dependencies_by_target ON dependencies (depends_on);

CREATE TABLE comments (
  id          TEXT PRIMARY KEY,
  task_id     TEXT NOT NULL REFERENCES tasks(id),
  author_role TEXT NOT NULL CHECK (author_role IN ('planner', 'coder', 'reviewer', 'orchestrator', 'human', 'runner')),
  run_id      TEXT REFERENCES agent_runs(id),
  content     TEXT NOT NULL,
  created_at  TEXT NOT NULL
) STRICT;
CREATE INDEX comments_by_task ON comments (task_id);

CREATE TABLE agent_runs (
  id                TEXT PRIMARY KEY,
  task_id           TEXT NOT NULL REFERENCES tasks(id),
  phase             TEXT NOT NULL CHECK (phase IN ('planner', 'coder', 'reviewer', 'orchestrator')),
  attempt           INTEGER NOT NULL,
  session_id        TEXT,
  worktree_path     TEXT,
  run_dir           TEXT,
  sha               TEXT,
  port              INTEGER,
  started_at        TEXT NOT NULL,
  -- When the agent's process was there, not only wanted.
  spawned_at        TEXT,
  completed_at      TEXT,
  stop_requested_at TEXT,
  nudged_at         TEXT,
  exit_code         INTEGER,
  end_class         TEXT,
  failure           TEXT,
  error             TEXT,
  cost_micro_usd    INTEGER NOT NULL DEFAULT 0,
  input_tokens      INTEGER NOT NULL DEFAULT 0,
  output_tokens     INTEGER NOT NULL DEFAULT 0,
  context_tokens    INTEGER,
  context_limit     INTEGER,
  turns             INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_task ON agent_runs (task_id);
-- Two agents never work on one task, and two live runs never share a port.
CREATE UNIQUE INDEX one_live_run ON agent_runs (task_id) WHERE completed_at IS NULL;
CREATE UNIQUE INDEX one_live_port ON agent_runs (port) WHERE completed_at IS NULL AND port IS NOT NULL;

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

CREATE TABLE verdicts (
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  sha        TEXT NOT NULL,
  verdict    TEXT NOT NULL CHECK (verdict IN ('approved', 'sent_back')),
  actor      TEXT NOT NULL,
  run_id     TEXT REFERENCES agent_runs(id),
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX verdicts_by_task ON verdicts (task_id);

-- Answers to calls that may be repeated: a call has its effect once.
CREATE TABLE calls (
  run_id  TEXT NOT NULL REFERENCES agent_runs(id),
  call_id TEXT NOT NULL,
  answer  TEXT NOT NULL,
  PRIMARY KEY (run_id, call_id)
) STRICT;

-- What a person says to a running agent.
CREATE TABLE run_messages (
  id           INTEGER PRIMARY KEY,
  run_id       TEXT NOT NULL REFERENCES agent_runs(id),
  content      TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  delivered_at TEXT
) STRICT;
CREATE INDEX messages_by_run ON run_messages (run_id);

-- References that we made in repositories: what is not in here is not ours to touch.
CREATE TABLE refs (
  git_dir    TEXT NOT NULL,
  name       TEXT NOT NULL,
  task_id    TEXT REFERENCES tasks(id),
  created_at TEXT NOT NULL,
  PRIMARY KEY (git_dir, name)
) STRICT;

-- Who calls. Only a SHA-256 of each token is kept.
CREATE TABLE tokens (
  hash       TEXT PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('human', 'run')),
  run_id     TEXT REFERENCES agent_runs(id),
  created_at TEXT NOT NULL
) STRICT;

-- Why no agent is started.
CREATE TABLE parkings (
  reason TEXT PRIMARY KEY,
  until  TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;

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
