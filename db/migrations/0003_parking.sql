-- How often in a row working was tried in vain in spite of a reason: each time makes the next pause longer.
ALTER TABLE parkings ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;

-- A tip of the project branch that no merge of ours made, and that the person takes as it is. Nothing once the branch was recorded anew.
ALTER TABLE projects ADD COLUMN accepted_tip TEXT;
