-- The columns of shared-context-server 1.1.
CREATE TABLE sessions (id TEXT PRIMARY KEY, purpose TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, is_active BOOLEAN DEFAULT TRUE,
  created_by TEXT NOT NULL, metadata TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, sender TEXT NOT NULL, sender_type TEXT DEFAULT 'generic',
  content TEXT NOT NULL, visibility TEXT DEFAULT 'public', message_type TEXT DEFAULT 'agent_response', metadata TEXT, timestamp TIMESTAMP,
  parent_message_id INTEGER);
CREATE TABLE agent_memory (id INTEGER PRIMARY KEY AUTOINCREMENT, agent_id TEXT NOT NULL, session_id TEXT, key TEXT NOT NULL, value TEXT NOT NULL,
  metadata TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, expires_at TIMESTAMP);
CREATE TABLE audit_log (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp TIMESTAMP, event_type TEXT, agent_id TEXT);
INSERT INTO sessions VALUES
  ('session_0011aabb22cc', 'Plan the sign-in', '2025-03-01T10:00:00+00:00', '2025-03-01T10:00:00+00:00', 1, 'claude-main', '{"area": "auth"}'),
  ('bad', 'An id that is too short', '2025-03-02 10:00:00', '2025-03-02 11:00:00', 0, 'tester', NULL);
INSERT INTO messages (session_id, sender, sender_type, content, visibility, metadata, timestamp, parent_message_id) VALUES
  ('session_0011aabb22cc', 'claude-main', 'claude', 'Sessions last 30 days', 'public', '{}', '2025-03-01T10:01:00+00:00', NULL),
  ('session_0011aabb22cc', 'claude-main', 'claude', 'My scratch note', 'private', NULL, '2025-03-01T10:02:00+00:00', NULL),
  ('session_0011aabb22cc', 'tester', 'test', 'Passkeys need HTTPS', 'public', NULL, 1740823380.5, 1),
  ('session_0011aabb22cc', 'tester', 'test', 'Only for testers', 'agent_only', NULL, '2025-03-01T10:04:00+00:00', NULL),
  ('gone', 'tester', 'test', 'In a session that was deleted', 'public', NULL, '2025-03-01T10:05:00+00:00', NULL);
INSERT INTO agent_memory (agent_id, session_id, key, value, metadata, created_at, updated_at, expires_at) VALUES
  ('claude-main', NULL, 'state', '{"step": 3}', '{}', 1740823200.25, 1740823200.25, NULL),
  ('claude-main', 'session_0011aabb22cc', 'note', 'plain words', NULL, 1740823200.25, 1740823200.25, NULL),
  ('claude-main', NULL, 'old', '1', NULL, 1740823200.25, 1740823200.25, 1740826800.25),
  ('tester', NULL, 'two words', '1', NULL, 1740823200.25, 1740823200.25, NULL);
INSERT INTO audit_log (timestamp, event_type, agent_id) VALUES ('2025-03-01', 'session_created', 'claude-main');
