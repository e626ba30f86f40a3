-- Agents that talk: who is there, what they write to each other, who had a hand in a task, goals, handshakes, contracts, minions.

-- One row for each participant of a project; `name` carries its team in front. An agent that we run has the run that it is now, or was last.
CREATE TABLE agents (
  project_id       TEXT NOT NULL REFERENCES projects(id),
  name             TEXT NOT NULL,
  team             TEXT,
  roles            TEXT NOT NULL CHECK (json_valid(roles)),
  description      TEXT,
  status           TEXT,
  verified         INTEGER NOT NULL CHECK (verified IN (0, 1)),
  run_id           TEXT REFERENCES agent_runs(id),
  -- Broadcasts up to this message are no news to it: they were sent before it joined, or it has read them.
  broadcasts_after INTEGER NOT NULL,
  registered_at    TEXT NOT NULL,
  last_seen        TEXT,
  last_inbox_check TEXT,
  heartbeat_at     TEXT,
  left_at          TEXT,
  PRIMARY KEY (project_id, name)
) STRICT;
-- Names that differ in case alone are one to whoever reads them.
CREATE UNIQUE INDEX agents_without_case ON agents (project_id, name COLLATE NOCASE);
CREATE INDEX agents_present ON agents (project_id, name) WHERE left_at IS NULL;

-- The person is in no row above: up to this message every broadcast of the project is read by them.
ALTER TABLE projects ADD COLUMN person_heard INTEGER NOT NULL DEFAULT 0;

-- `to_agent` is a name, or `all`. Delivered: it was given. Read: its reader is known to have taken it in.
-- `answer` is the place in the log at which it was last in an answer: 0 when that was to a run that is over, and the highest number
-- there is while it stands in the conversation of a run at work. `line` is the line to a run's agent that holds it, until it is echoed.
CREATE TABLE messages (
  id             INTEGER PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects(id),
  from_agent     TEXT NOT NULL,
  to_agent       TEXT NOT NULL,
  content        TEXT NOT NULL,
  is_cc          INTEGER NOT NULL DEFAULT 0 CHECK (is_cc IN (0, 1)),
  cc_original_to TEXT,
  -- Of a carbon copy: the row that it is a copy of.
  copy_of        INTEGER REFERENCES messages(id),
  task_id        TEXT REFERENCES tasks(id),
  reply_to       INTEGER REFERENCES messages(id),
  created_at     TEXT NOT NULL,
  delivered_at   TEXT,
  answer         INTEGER,
  line           TEXT,
  read_at        TEXT
) STRICT;
CREATE INDEX messages_by_project ON messages (project_id, id);
CREATE INDEX messages_by_task ON messages (task_id) WHERE task_id IS NOT NULL;
-- A broadcast is always in here: who has read it is in the next table.
CREATE INDEX messages_copies ON messages (copy_of) WHERE copy_of IS NOT NULL;
CREATE INDEX messages_unread ON messages (project_id, to_agent, id) WHERE read_at IS NULL;

-- Which agents were given a broadcast, and which are known to have read it.
CREATE TABLE broadcast_reads (
  message_id   INTEGER NOT NULL REFERENCES messages(id),
  agent_name   TEXT NOT NULL,
  delivered_at TEXT NOT NULL,
  answer       INTEGER,
  line         TEXT,
  read_at      TEXT,
  PRIMARY KEY (message_id, agent_name)
) STRICT;
CREATE INDEX broadcast_reads_unread ON broadcast_reads (agent_name, message_id) WHERE read_at IS NULL;

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

ALTER TABLE tasks ADD COLUMN assigned_to TEXT;
ALTER TABLE tasks ADD COLUMN role_hat TEXT;
ALTER TABLE tasks ADD COLUMN goal_id TEXT REFERENCES goals(id);
ALTER TABLE tasks ADD COLUMN created_by TEXT;
ALTER TABLE tasks ADD COLUMN result TEXT;
ALTER TABLE tasks ADD COLUMN approved_by TEXT;
ALTER TABLE tasks ADD COLUMN completed_at TEXT;
ALTER TABLE tasks ADD COLUMN verified_at TEXT;
CREATE INDEX tasks_by_goal ON tasks (goal_id) WHERE goal_id IS NOT NULL;
CREATE INDEX tasks_by_assignee ON tasks (project_id, assigned_to) WHERE assigned_to IS NOT NULL;

-- Who had a hand in a task. Nothing is ever removed: whoever built or approved it once is no independent verifier of it.
CREATE TABLE hands (
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  agent_name TEXT NOT NULL,
  part       TEXT NOT NULL CHECK (part IN ('built', 'approved', 'verified')),
  created_at TEXT NOT NULL,
  PRIMARY KEY (task_id, agent_name, part)
) STRICT;

-- Who worked before this table was there.
INSERT OR IGNORE INTO hands (task_id, agent_name, part, created_at)
  SELECT r.task_id, 'coder-' || r.task_id, 'built', r.started_at FROM agent_runs r WHERE r.phase = 'coder';
INSERT OR IGNORE INTO hands (task_id, agent_name, part, created_at)
  SELECT task_id, actor, 'approved', created_at FROM verdicts WHERE verdict = 'approved';

-- Runs that outlive the change take part from now on.
INSERT INTO agents (project_id, name, roles, description, verified, run_id, broadcasts_after, registered_at)
  SELECT t.project_id, r.phase || '-' || r.task_id, json_array(CASE WHEN r.phase IN ('coder', 'reviewer') THEN r.phase ELSE 'lead' END), t.title,
    1, r.id, 0, r.started_at FROM agent_runs r JOIN tasks t ON t.id = r.task_id WHERE r.completed_at IS NULL;

-- Who wore which hat for which task.
CREATE TABLE hats (
  task_id    TEXT NOT NULL REFERENCES tasks(id),
  agent_name TEXT NOT NULL,
  hat        TEXT NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects(id),
  created_at TEXT NOT NULL,
  PRIMARY KEY (task_id, agent_name, hat)
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

-- Exactly those who are asked; a row without a time is waited for.
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
  -- The run that started it; with the run it ends.
  run_id           TEXT REFERENCES agent_runs(id),
  -- The pilot's call of its own tool that started it, where that is known: then what ends is exactly this one.
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

-- Tokens of agents and rooms beside those of the person and of runs.
CREATE TABLE tokens_of_all (
  hash       TEXT PRIMARY KEY,
  kind       TEXT NOT NULL CHECK (kind IN ('human', 'run', 'agent', 'room')),
  run_id     TEXT REFERENCES agent_runs(id),
  project_id TEXT REFERENCES projects(id),
  agent_name TEXT,
  created_at TEXT NOT NULL,
  FOREIGN KEY (project_id, agent_name) REFERENCES agents (project_id, name)
) STRICT;
INSERT INTO tokens_of_all (hash, kind, run_id, created_at) SELECT hash, kind, run_id, created_at FROM tokens;
DROP TABLE tokens;
ALTER TABLE tokens_of_all RENAME TO tokens;

-- Answers to repeated calls, of runs and of agents: `caller` is a run's id, or a project's id and an agent's name. They are kept for a day.
CREATE TABLE calls_of_all (
  caller     TEXT NOT NULL,
  call_id    TEXT NOT NULL,
  answer     TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (caller, call_id)
) STRICT;
INSERT INTO calls_of_all (caller, call_id, answer, created_at)
  SELECT run_id, call_id, answer, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM calls;
DROP TABLE calls;
ALTER TABLE calls_of_all RENAME TO calls;
CREATE INDEX calls_by_age ON calls (created_at);

-- Comments of agents from outside, by name.
CREATE TABLE comments_of_all (
  id          TEXT PRIMARY KEY,
  task_id     TEXT NOT NULL REFERENCES tasks(id),
  author_role TEXT NOT NULL CHECK (author_role IN ('planner', 'coder', 'reviewer', 'orchestrator', 'human', 'runner', 'agent')),
  author_name TEXT,
  run_id      TEXT REFERENCES agent_runs(id),
  content     TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  CHECK ((author_role = 'agent') = (author_name IS NOT NULL))
) STRICT;
INSERT INTO comments_of_all (id, task_id, author_role, run_id, content, created_at)
  SELECT id, task_id, author_role, run_id, content, created_at FROM comments;
DROP TABLE comments;
ALTER TABLE comments_of_all RENAME TO comments;
CREATE INDEX comments_by_task ON comments (task_id);
