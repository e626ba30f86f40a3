//! Where the values of a configuration come from: its file, or something else.
//!
//! Must not know what a key means.

use std::path::PathBuf;

use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Where a value comes from.
    SettingSource, "source of a setting" {
        Default = "default",
        /// The configuration file.
        File = "file",
        /// An environment variable of the server.
        Environment = "environment",
        /// The folder in which the server was started.
        Folder = "folder",
    }
}

/// Where the values of a configuration come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// Whether the command line named it.
    pub is_named: bool,
    /// The keys in the file, with dots.
    pub keys: Vec<String>,
    /// The keys whose value comes neither from the file nor from the defaults.
    pub elsewhere: Vec<(&'static str, SettingSource)>,
}

/// The value at a key with dots, or null.
pub(super) fn find<'a>(values: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(values, |below, part| &below[part])
}

/// The value at a path, or null.
pub(super) fn value_at<'a>(values: &'a Value, path: &Path) -> &'a Value {
    path.iter().fold(values, |below, segment| match segment {
        Segment::Map { key } => &below[key.as_str()],
        Segment::Seq { index } => &below[*index],
        Segment::Enum { .. } | Segment::Unknown => below,
    })
}

/// The keys that a configuration file gives a value, with dots, as the table names them.
pub fn given_keys(file: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if let Value::Object(object) = file {
        collect_keys(object, "", &mut found);
    }
    found
}

fn collect_keys(object: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for (key, below) in object {
        let path = format!("{path}{key}");
        match below {
            // Environment variables are one value.
            Value::Object(below) if key != "env" => collect_keys(below, &format!("{path}."), found),
            _ => found.push(path),
        }
    }
}
