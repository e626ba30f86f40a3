//! The outline of one file: its size, the symbols that other files see, and the modules that it imports.
//!
//! Must not read files. A file is untrusted: parsing is bounded in time, and only the first levels of the tree are visited.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tree_sitter::{Node, ParseOptions, ParseState, Parser};

use super::language::{LANGUAGES, SourceLanguage, Visibility};

/// Larger files are mostly generated, and listed without symbols.
const MAX_FILE_BYTES: usize = 128 * 1024;
/// The longest time for a file.
const MAX_PARSE_TIME: Duration = Duration::from_millis(500);
/// The symbols and imports that are kept of one file.
const MAX_NAMES: usize = 40;
/// A longer name is generated or no name.
const MAX_NAME_BYTES: usize = 80;
/// Namespaces and conditions in each other.
const MAX_DEPTH: usize = 8;

/// A source file in a few words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outline {
    pub lines: u32,
    /// The size of a file that is too large to be read.
    pub large_kilobytes: Option<usize>,
    /// In the order of the file.
    pub symbols: Vec<String>,
    /// Symbols beyond those.
    pub further_symbols: u32,
    /// Sorted.
    pub imports: Vec<String>,
}

impl Outline {
    /// The outline of a file of this size, if it is too large to be read.
    pub(super) fn of_large(bytes: usize) -> Option<Self> {
        (bytes > MAX_FILE_BYTES).then(|| Self { large_kilobytes: Some(bytes / 1000), ..Self::default() })
    }
}

/// Parses files, one after the other.
pub(super) struct Outliner {
    parser: Parser,
}

impl Outliner {
    pub(super) fn new() -> Self {
        Self { parser: Parser::new() }
    }

    /// Returns the outline of a file in a language of [`LANGUAGES`]. One that is not text or takes too long has only its lines.
    pub(super) fn outline(&mut self, language: usize, content: &[u8]) -> Outline {
        let lines = content.iter().filter(|byte| **byte == b'\n').count() + usize::from(content.last().is_some_and(|byte| *byte != b'\n'));
        let mut outline = Outline { lines: u32::try_from(lines).unwrap_or(u32::MAX), ..Outline::default() };
        let (Ok(text), Some(known)) = (std::str::from_utf8(content), LANGUAGES.get(language)) else { return outline };
        let Some(tree) = self.parse(known, text) else { return outline };
        let mut found = Found { known, text, symbols: Vec::new(), imports: Vec::new() };
        found.visit(tree.root_node(), false, 0);
        found.finish(&mut outline);
        outline
    }

    fn parse(&mut self, known: &SourceLanguage, text: &str) -> Option<tree_sitter::Tree> {
        self.parser.set_language(&(known.grammar)()).ok()?;
        let deadline = Instant::now() + MAX_PARSE_TIME;
        let mut is_late = |_: &ParseState| if Instant::now() > deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let options = ParseOptions::new().progress_callback(&mut is_late);
        let bytes = text.as_bytes();
        let tree = self.parser.parse_with_options(&mut |offset, _| bytes.get(offset..).unwrap_or_default(), None, Some(options));
        // A parse that was interrupted would otherwise go on with the next file.
        self.parser.reset();
        tree
    }
}

struct Found<'t> {
    known: &'static SourceLanguage,
    text: &'t str,
    /// Each with whether it is exported.
    symbols: Vec<(String, bool)>,
    imports: Vec<String>,
}

impl Found<'_> {
    fn visit(&mut self, parent: Node<'_>, is_exported: bool, depth: usize) {
        let mut cursor = parent.walk();
        for node in parent.named_children(&mut cursor) {
            let kind = node.kind();
            if self.known.imports.contains(&kind) || (kind == "export_statement" && node.child_by_field_name("source").is_some()) {
                self.imports.extend((self.known.modules)(self.text_of(node)));
            }
            if self.known.definitions.contains(&kind) {
                self.define(node, is_exported);
            } else if self.known.containers.contains(&kind) && depth < MAX_DEPTH {
                self.visit(node, is_exported || kind == "export_statement", depth + 1);
            }
        }
    }

    fn define(&mut self, node: Node<'_>, is_exported: bool) {
        let visible = match self.known.visibility {
            Visibility::Modifier(kind) => has_child(node, |child| child.kind() == kind),
            Visibility::NotStatic => {
                !has_child(node, |child| child.kind() == "storage_class_specifier" && self.text_of(child) == "static") && declares(node)
            }
            Visibility::Always | Visibility::Exported | Visibility::Capital | Visibility::NoUnderscore => true,
        };
        let Some(name) = name_of(node).map(|name| self.text_of(name)).filter(|_| visible) else { return };
        let is_seen = match self.known.visibility {
            Visibility::Capital => name.starts_with(char::is_uppercase),
            Visibility::NoUnderscore => !name.starts_with('_'),
            // The definition of a member, which its class names.
            Visibility::NotStatic => !name.contains("::"),
            Visibility::Always | Visibility::Modifier(_) | Visibility::Exported => true,
        };
        if is_seen && !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains(char::is_control) {
            self.symbols.push((name.to_owned(), is_exported));
        }
    }

    fn finish(mut self, outline: &mut Outline) {
        let exports = self.known.visibility == Visibility::Exported && self.symbols.iter().any(|(_, is_exported)| *is_exported);
        let mut symbols: Vec<String> = Vec::new();
        for (name, is_exported) in self.symbols {
            if (is_exported || !exports) && !symbols.contains(&name) {
                if symbols.len() < MAX_NAMES {
                    symbols.push(name);
                } else {
                    outline.further_symbols += 1;
                }
            }
        }
        outline.symbols = symbols;
        self.imports.retain(|module| module.len() <= MAX_NAME_BYTES && !module.contains(char::is_control));
        self.imports.sort();
        self.imports.dedup();
        self.imports.truncate(MAX_NAMES);
        outline.imports = self.imports;
    }

    fn text_of(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }
}

fn has_child(node: Node<'_>, matches: impl Fn(Node<'_>) -> bool) -> bool {
    node.children(&mut node.walk()).any(matches)
}

/// Whether a node of C defines or declares something of its own: `struct s;` and `extern int x;` do not.
fn declares(node: Node<'_>) -> bool {
    match node.kind() {
        "declaration" => declarator(node).is_some_and(|inner| inner.parent().is_some_and(|parent| parent.kind() == "function_declarator")),
        "struct_specifier" | "class_specifier" | "union_specifier" | "enum_specifier" => node.child_by_field_name("body").is_some(),
        _ => true,
    }
}

fn name_of(node: Node<'_>) -> Option<Node<'_>> {
    let own = node.child_by_field_name("alias").filter(|_| node.kind() == "export_specifier");
    own.or_else(|| node.child_by_field_name("name")).or_else(|| declarator(node))
}

/// The innermost declarator of C, which is the name: `char *(*f)(void)`.
fn declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut inner = node.child_by_field_name("declarator")?;
    while let Some(next) = inner.child_by_field_name("declarator") {
        inner = next;
    }
    Some(inner)
}

#[cfg(test)]
mod tests;
