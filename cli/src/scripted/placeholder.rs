//! Fills `{{…}}` in a scenario's strings from the issue and from earlier tool results. Must not know who plays the scenario.
//!
//! | placeholder | becomes |
//! |---|---|
//! | `{{task_id}}` `{{title}}` `{{parent}}` `{{project}}` `{{worktree}}` `{{branch}}` `{{base}}` | that line of the `<issue>` block |
//! | `{{result.0.text}}` | the text of the first tool result since the prompt (counted from 0) |
//! | `{{result.0.json.tasks.1.id}}` | a value inside the first JSON object or array of that result |
//! | `{{result.0.match.index\.html:\d+}}` | the first match of a regular expression in it, or its first group |

use regex::Regex;
use serde_json::Value;

use super::issue::Issue;

/// The values that placeholders refer to.
pub(super) struct Sources<'a> {
    pub(super) issue: &'a Issue,
    /// Tool results since the last prompt, in the order of their calls.
    pub(super) results: Vec<&'a str>,
}

/// The reason why a string of the scenario cannot be filled.
#[derive(Debug, thiserror::Error)]
pub enum PlaceholderError {
    #[error("`{{{{` without `}}}}` in {0:?}: close the placeholder")]
    Open(String),
    #[error(
        "unknown placeholder `{{{{{0}}}}}`: use task_id, title, parent, project, worktree, branch, base, or result.N.text, result.N.json.PATH, result.N.match.REGEX"
    )]
    Unknown(String),
    #[error("the regular expression of `{{{{{placeholder}}}}}` is not valid")]
    Pattern { placeholder: String, source: Box<regex::Error> },
    #[error("`{{{{{0}}}}}` has no value: the <issue> block has no such line")]
    NoLine(String),
    #[error("`{{{{{placeholder}}}}}` has no value: there are {count} tool results so far")]
    NoResult { placeholder: String, count: usize },
    #[error("`{{{{{placeholder}}}}}` finds nothing in the tool result {result:?}")]
    NoMatch { placeholder: String, result: String },
}

enum Placeholder<'a> {
    Line(&'static str),
    Result { index: usize, pick: Pick<'a> },
}

enum Pick<'a> {
    Text,
    Json(&'a str),
    Match(Regex),
}

impl<'a> Placeholder<'a> {
    fn parse(name: &'a str) -> Result<Self, PlaceholderError> {
        let unknown = || PlaceholderError::Unknown(name.to_owned());
        let Some(result) = name.strip_prefix("result.") else {
            return Ok(Self::Line(match name {
                "task_id" => "Task",
                "title" => "Title",
                "parent" => "Parent",
                "project" => "Project",
                "worktree" => "Worktree",
                "branch" => "Branch",
                "base" => "Base",
                _ => return Err(unknown()),
            }));
        };
        let (index, pick) = result.split_once('.').ok_or_else(unknown)?;
        let index = index.parse().map_err(|_| unknown())?;
        let pick = match pick.split_once('.') {
            None if pick == "text" => Pick::Text,
            Some(("json", path)) => Pick::Json(path),
            Some(("match", pattern)) => Pick::Match(
                Regex::new(pattern).map_err(|source| PlaceholderError::Pattern { placeholder: name.to_owned(), source: Box::new(source) })?,
            ),
            _ => return Err(unknown()),
        };
        Ok(Self::Result { index, pick })
    }

    fn value(&self, name: &str, sources: &Sources<'_>) -> Result<String, PlaceholderError> {
        let (index, pick) = match self {
            Self::Line(key) => {
                let line = sources.issue.line(key);
                return line.map(str::to_owned).ok_or_else(|| PlaceholderError::NoLine(name.to_owned()));
            }
            Self::Result { index, pick } => (*index, pick),
        };
        let placeholder = || name.to_owned();
        let count = sources.results.len();
        let result = *sources.results.get(index).ok_or_else(|| PlaceholderError::NoResult { placeholder: placeholder(), count })?;
        let found = match pick {
            Pick::Text => Some(result.to_owned()),
            Pick::Json(path) => json_at(result, path),
            Pick::Match(pattern) => {
                pattern.captures(result).and_then(|captures| captures.get(1).or_else(|| captures.get(0)).map(|found| found.as_str().to_owned()))
            }
        };
        found.ok_or_else(|| PlaceholderError::NoMatch { placeholder: placeholder(), result: result.to_owned() })
    }
}

/// Reads a value from the first JSON object or array of a text, which may have words before and notices after it. A string is returned as it
/// is, any other value as JSON.
fn json_at(text: &str, path: &str) -> Option<String> {
    let json = &text[text.find(['{', '['])?..];
    let root: Value = serde_json::Deserializer::from_str(json).into_iter().next()?.ok()?;
    let found = path.split('.').try_fold(&root, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })?;
    Some(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
}

/// Splits a string into pieces of text, each followed by the name of a placeholder; the last piece has no name.
fn pieces(text: &str) -> Result<Vec<(&str, Option<&str>)>, PlaceholderError> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let mut end = after.find("}}").ok_or_else(|| PlaceholderError::Open(text.to_owned()))?;
        // `\d{3}}}`: the last two braces close the placeholder, the first belongs to the expression.
        while after[end + 2..].starts_with('}') {
            end += 1;
        }
        pieces.push((before, Some(&after[..end])));
        rest = &after[end + 2..];
    }
    pieces.push((rest, None));
    Ok(pieces)
}

/// Checks the placeholders of a string without values, to reject a scenario before it runs.
pub(super) fn check(text: &str) -> Result<(), PlaceholderError> {
    pieces(text)?.into_iter().filter_map(|(_, name)| name).try_for_each(|name| Placeholder::parse(name).map(|_| ()))
}

/// The string with every placeholder replaced by its value.
pub(super) fn fill(text: &str, sources: &Sources<'_>) -> Result<String, PlaceholderError> {
    let mut filled = String::new();
    for (before, name) in pieces(text)? {
        filled.push_str(before);
        if let Some(name) = name {
            filled.push_str(&Placeholder::parse(name)?.value(name, sources)?);
        }
    }
    Ok(filled)
}

/// Applies `change` to every string inside a JSON value; keys stay as they are.
pub(super) fn map_strings<E>(value: &Value, change: &mut impl FnMut(&str) -> Result<String, E>) -> Result<Value, E> {
    Ok(match value {
        Value::String(text) => Value::String(change(text)?),
        Value::Array(items) => Value::Array(items.iter().map(|item| map_strings(item, change)).collect::<Result<_, E>>()?),
        Value::Object(map) => Value::Object(map.iter().map(|(key, item)| Ok((key.clone(), map_strings(item, change)?))).collect::<Result<_, E>>()?),
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, PlaceholderError> {
        let issue = Issue::find("<issue>\nTask: TASK-004\nWorktree: /w/4\n</issue>").unwrap();
        let results = vec![r#"made {"tasks":[{"id":"TASK-002"},{"id":"TASK-003","n":7}]} notices: 1"#, "Exit code 1\nindex.html:31: empty"];
        fill(text, &Sources { issue: &issue, results })
    }

    #[test]
    fn values_come_from_the_issue_and_from_results() {
        let cases = [
            ("plain { } text", "plain { } text"),
            ("{{task_id}} in {{worktree}}/a", "TASK-004 in /w/4/a"),
            ("{{result.0.json.tasks.1.id}}/{{result.0.json.tasks.1.n}}", "TASK-003/7"),
            (r"see {{result.1.match.index\.html:\d+}}: this", "see index.html:31: this"),
            (r"{{result.1.match.index\.html:(\d+)}}", "31"),
            (r"line {{result.1.match.\d{2}}}", "line 31"),
        ];
        for (text, wanted) in cases {
            assert_eq!(filled(text).unwrap(), wanted);
        }
    }

    #[test]
    fn errors_name_the_placeholder() {
        for (text, part) in [
            ("{{parent}}", "the <issue> block has no such line"),
            ("{{result.2.text}}", "there are 2 tool results so far"),
            ("{{result.0.json.tasks.9.id}}", "finds nothing in the tool result"),
            ("{{nonsense}}", "unknown placeholder `{{nonsense}}`"),
            ("{{result.x.text}}", "unknown placeholder `{{result.x.text}}`"),
            ("{{result.0.match.(}}", "is not valid"),
            ("{{task_id", "without `}}`"),
        ] {
            let message = filled(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(check("{{task_id}} {{result.9.json.a}}").is_ok());
        assert!(check("{{taskid}}").is_err());
    }
}
