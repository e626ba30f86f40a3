//! The languages that the code map knows: which nodes of their syntax trees define a symbol that other files see.
//!
//! Must not parse.

use tree_sitter::Language;

use super::imports;

/// When a definition at the top of a file is visible to other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visibility {
    Always,
    /// With a child of this kind.
    Modifier(&'static str),
    /// Inside of an `export`. A file without any exports everything.
    Exported,
    /// With a name that begins with a capital letter.
    Capital,
    /// Without an underscore at the beginning of the name.
    NoUnderscore,
    /// Unless it is `static`.
    NotStatic,
}

/// A language with its grammar.
#[derive(Debug)]
pub(super) struct SourceLanguage {
    pub name: &'static str,
    pub extensions: &'static [&'static str],
    pub grammar: fn() -> Language,
    /// The nodes that define a symbol.
    pub definitions: &'static [&'static str],
    /// The nodes whose children are at the top of the file as well.
    pub containers: &'static [&'static str],
    /// The nodes that name another module.
    pub imports: &'static [&'static str],
    /// Returns the modules that the text of such a node names.
    pub modules: fn(&str) -> Vec<String>,
    pub visibility: Visibility,
}

const SCRIPT_DEFINITIONS: &[&str] = &[
    "function_declaration",
    "generator_function_declaration",
    "class_declaration",
    "abstract_class_declaration",
    "interface_declaration",
    "type_alias_declaration",
    "enum_declaration",
    "internal_module",
    "variable_declarator",
    "export_specifier",
];
const SCRIPT_CONTAINERS: &[&str] = &["export_statement", "export_clause", "lexical_declaration", "variable_declaration", "ambient_declaration"];
const SCRIPT_IMPORTS: &[&str] = &["import_statement"];
const C_CONTAINERS: &[&str] = &[
    "preproc_ifdef",
    "preproc_if",
    "preproc_else",
    "preproc_elif",
    "linkage_specification",
    "namespace_definition",
    "declaration_list",
    "template_declaration",
];
const C_DEFINITIONS: &[&str] = &[
    "function_definition",
    "declaration",
    "struct_specifier",
    "class_specifier",
    "union_specifier",
    "enum_specifier",
    "type_definition",
    "alias_declaration",
];

/// The ten languages that are used most.
pub(super) static LANGUAGES: [SourceLanguage; 11] = [
    SourceLanguage {
        name: "Rust",
        extensions: &["rs"],
        grammar: || tree_sitter_rust::LANGUAGE.into(),
        definitions: &["function_item", "struct_item", "enum_item", "union_item", "trait_item", "type_item", "const_item", "static_item", "mod_item"],
        containers: &[],
        imports: &["use_declaration"],
        modules: imports::rust,
        visibility: Visibility::Modifier("visibility_modifier"),
    },
    SourceLanguage {
        name: "Python",
        extensions: &["py", "pyi"],
        grammar: || tree_sitter_python::LANGUAGE.into(),
        definitions: &["function_definition", "class_definition"],
        containers: &["decorated_definition"],
        imports: &["import_statement", "import_from_statement"],
        modules: imports::python,
        visibility: Visibility::NoUnderscore,
    },
    SourceLanguage {
        name: "JavaScript",
        extensions: &["js", "jsx", "mjs", "cjs"],
        grammar: || tree_sitter_javascript::LANGUAGE.into(),
        definitions: SCRIPT_DEFINITIONS,
        containers: SCRIPT_CONTAINERS,
        imports: SCRIPT_IMPORTS,
        modules: imports::script,
        visibility: Visibility::Exported,
    },
    SourceLanguage {
        name: "TypeScript",
        extensions: &["ts", "mts", "cts"],
        grammar: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        definitions: SCRIPT_DEFINITIONS,
        containers: SCRIPT_CONTAINERS,
        imports: SCRIPT_IMPORTS,
        modules: imports::script,
        visibility: Visibility::Exported,
    },
    // A grammar of its own, because `<T>` begins a cast in the other one.
    SourceLanguage {
        name: "TypeScript",
        extensions: &["tsx"],
        grammar: || tree_sitter_typescript::LANGUAGE_TSX.into(),
        definitions: SCRIPT_DEFINITIONS,
        containers: SCRIPT_CONTAINERS,
        imports: SCRIPT_IMPORTS,
        modules: imports::script,
        visibility: Visibility::Exported,
    },
    SourceLanguage {
        name: "Go",
        extensions: &["go"],
        grammar: || tree_sitter_go::LANGUAGE.into(),
        definitions: &["function_declaration", "type_spec", "type_alias", "const_spec", "var_spec"],
        containers: &["type_declaration", "const_declaration", "var_declaration", "var_spec_list"],
        imports: &["import_declaration"],
        modules: imports::quoted,
        visibility: Visibility::Capital,
    },
    SourceLanguage {
        name: "Java",
        extensions: &["java"],
        grammar: || tree_sitter_java::LANGUAGE.into(),
        definitions: &["class_declaration", "interface_declaration", "enum_declaration", "record_declaration", "annotation_type_declaration"],
        containers: &[],
        imports: &["import_declaration"],
        modules: imports::java,
        visibility: Visibility::Always,
    },
    SourceLanguage {
        name: "C",
        extensions: &["c", "h"],
        grammar: || tree_sitter_c::LANGUAGE.into(),
        definitions: C_DEFINITIONS,
        containers: C_CONTAINERS,
        imports: &["preproc_include"],
        modules: imports::include,
        visibility: Visibility::NotStatic,
    },
    SourceLanguage {
        name: "C++",
        extensions: &["cc", "cpp", "cxx", "hh", "hpp", "hxx"],
        grammar: || tree_sitter_cpp::LANGUAGE.into(),
        definitions: C_DEFINITIONS,
        containers: C_CONTAINERS,
        imports: &["preproc_include"],
        modules: imports::include,
        visibility: Visibility::NotStatic,
    },
    SourceLanguage {
        name: "C#",
        extensions: &["cs"],
        grammar: || tree_sitter_c_sharp::LANGUAGE.into(),
        definitions: &[
            "class_declaration",
            "interface_declaration",
            "struct_declaration",
            "enum_declaration",
            "record_declaration",
            "delegate_declaration",
        ],
        containers: &["namespace_declaration", "file_scoped_namespace_declaration", "declaration_list"],
        imports: &["using_directive"],
        modules: imports::c_sharp,
        visibility: Visibility::Always,
    },
    SourceLanguage {
        name: "PHP",
        extensions: &["php"],
        grammar: || tree_sitter_php::LANGUAGE_PHP.into(),
        definitions: &["class_declaration", "interface_declaration", "trait_declaration", "enum_declaration", "function_definition"],
        containers: &["namespace_definition", "compound_statement"],
        imports: &["namespace_use_declaration"],
        modules: imports::php,
        visibility: Visibility::Always,
    },
];

/// Returns the place in [`LANGUAGES`] of the language of a file, by the extension of its name.
pub(super) fn language_of(path: &str) -> Option<usize> {
    let name = path.rsplit('/').next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    LANGUAGES.iter().position(|known| !stem.is_empty() && known.extensions.contains(&extension))
}
