-- The columns of dead-drop-teams with all phases.
CREATE TABLE IF NOT EXISTS agents (name TEXT PRIMARY KEY, registered_at TEXT, last_seen TEXT, last_inbox_check TEXT, role TEXT, description TEXT,
  status TEXT DEFAULT 'offline', heartbeat_at TEXT, team TEXT DEFAULT '');
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, from_agent TEXT, to_agent TEXT, content TEXT, timestamp TEXT, read_flag INTEGER DEFAULT 0,
  is_cc INTEGER DEFAULT 0, cc_original_to TEXT, task_id TEXT, reply_to INTEGER);
CREATE TABLE broadcast_reads (agent_name TEXT, message_id INTEGER, PRIMARY KEY (agent_name, message_id));
CREATE TABLE tasks (id TEXT PRIMARY KEY, project TEXT DEFAULT '', title TEXT NOT NULL, description TEXT DEFAULT '', assigned_to TEXT,
  created_by TEXT NOT NULL, status TEXT DEFAULT 'pending', result TEXT DEFAULT '', created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  completed_at TEXT, role_hat TEXT, goal_id TEXT, verified_by TEXT, verified_at TEXT, approved_by TEXT);
CREATE TABLE goals (id INTEGER PRIMARY KEY AUTOINCREMENT, goal_id TEXT UNIQUE NOT NULL, title TEXT, description TEXT, project TEXT, creator TEXT,
  status TEXT, verified_by TEXT, created_at TIMESTAMP, verified_at TIMESTAMP);
CREATE TABLE contracts (id INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT DEFAULT '', name TEXT NOT NULL, type TEXT NOT NULL, owner TEXT NOT NULL,
  spec TEXT DEFAULT '', version INTEGER DEFAULT 1, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE minion_log (id INTEGER PRIMARY KEY AUTOINCREMENT, pilot TEXT NOT NULL, task_description TEXT NOT NULL);
INSERT INTO agents (name, registered_at, role, description, team) VALUES
  ('lead', '2026-02-01T08:00:00', 'lead', 'Decides', ''),
  ('mara', '2026-02-01T08:01:00', 'builder,wizard', 'Builds', 'platform'),
  ('spartan', '2026-02-01T08:02:00', 'researcher', NULL, '');
INSERT INTO goals (goal_id, title, description, project, creator, status, created_at) VALUES
  ('GOAL-001', 'Ship the parser', '', 'alpha', 'lead', 'active', '2026-02-01 08:10:00');
INSERT INTO tasks (id, project, title, description, assigned_to, created_by, status, result, created_at, updated_at, completed_at, role_hat, goal_id,
  verified_by, approved_by) VALUES
  ('TASK-001', 'alpha', 'Write the parser', 'With tests', 'mara', 'lead', 'verified', 'Added the parser', '2026-02-01T12:00:00', '2026-02-01T13:00:00',
    '2026-02-01T13:00:00', 'builder', 'GOAL-001', 'spartan', 'lead'),
  ('TASK-002', 'alpha', 'Document it', '', 'mara', 'lead', 'review', '', '2026-02-01T12:10:00', '2026-02-01T13:10:00', NULL, NULL, 'GOAL-001', NULL, NULL),
  ('TASK-003', 'beta', 'Measure it', '', 'spartan', 'lead', 'in_progress', '', '2026-02-01T12:20:00', '2026-02-01T13:20:00', NULL, NULL, NULL, NULL, NULL),
  ('TASK-004', 'beta', 'Publish it', '', NULL, 'lead', 'pending', '', '2026-02-01T12:30:00', '2026-02-01T12:30:00', NULL, NULL, NULL, NULL, NULL),
  ('TASK-005', 'beta', 'Give up', '', 'mara', 'lead', 'failed', 'No time', '2026-02-01T12:40:00', '2026-02-01T13:40:00', NULL, NULL, NULL, NULL, NULL),
  ('TASK-006', 'beta', '', '', NULL, 'lead', 'pending', '', '2026-02-01T12:50:00', '2026-02-01T12:50:00', NULL, NULL, NULL, NULL, NULL);
INSERT INTO messages (from_agent, to_agent, content, timestamp, read_flag, is_cc, cc_original_to, task_id, reply_to) VALUES
  ('spartan', 'mara', 'Please look at line 42', '2026-02-01T14:00:00', 1, 0, NULL, 'TASK-001', NULL),
  ('spartan', 'lead', 'Please look at line 42', '2026-02-01T14:00:00', 0, 1, 'mara', 'TASK-001', NULL),
  ('lead', 'all', 'Stand-up at ten', '2026-02-01T14:10:00', 0, 0, NULL, NULL, NULL),
  ('lead', 'mara', '[TASK-002] TASK ASSIGNED', '2026-02-01T14:20:00', 0, 0, NULL, 'TASK-002', NULL),
  ('mara', 'ghost', 'Are you there?', '2026-02-01T14:30:00', 0, 0, NULL, 'TASK-099', 2),
  ('mara', 'lead', '  ', '2026-02-01T14:40:00', 0, 0, NULL, NULL, NULL);
INSERT INTO broadcast_reads VALUES ('spartan', 3);
INSERT INTO contracts (project, name, type, owner, spec, version, created_at, updated_at) VALUES
  ('alpha', 'parse()', 'function', 'mara', 'text -> tree', 3, '2026-02-01T15:00:00', '2026-02-01T15:30:00'),
  ('beta', 'parse()', 'function', 'mara', 'another one', 1, '2026-02-01T15:00:00', '2026-02-01T15:30:00');
INSERT INTO minion_log (pilot, task_description) VALUES ('mara', 'Count words');
