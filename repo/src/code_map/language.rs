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

/// JavaScript, and what is written like it.
const fn script(name: &'static str, extensions: &'static [&'static str], grammar: fn() -> Language) -> SourceLanguage {
    SourceLanguage {
        name,
        extensions,
        grammar,
        definitions: &[
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
        ],
        containers: &["export_statement", "export_clause", "lexical_declaration", "variable_declaration", "ambient_declaration"],
        imports: &["import_statement"],
        modules: imports::script,
        visibility: Visibility::Exported,
    }
}

/// C and C++.
const fn c(name: &'static str, extensions: &'static [&'static str], grammar: fn() -> Language) -> SourceLanguage {
    SourceLanguage {
        name,
        extensions,
        grammar,
        definitions: &[
            "function_definition",
            "declaration",
            "struct_specifier",
            "class_specifier",
            "union_specifier",
            "enum_specifier",
            "type_definition",
            "alias_declaration",
        ],
        containers: &[
            "preproc_ifdef",
            "preproc_if",
            "preproc_else",
            "preproc_elif",
            "linkage_specification",
            "namespace_definition",
            "declaration_list",
            "template_declaration",
        ],
        imports: &["preproc_include"],
        modules: imports::include,
        visibility: Visibility::NotStatic,
    }
}

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
    script("JavaScript", &["js", "jsx", "mjs", "cjs"], || tree_sitter_javascript::LANGUAGE.into()),
    script("TypeScript", &["ts", "mts", "cts"], || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
    // A grammar of its own, because `<T>` begins a cast in the other one.
    script("TypeScript", &["tsx"], || tree_sitter_typescript::LANGUAGE_TSX.into()),
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
    c("C", &["c", "h"], || tree_sitter_c::LANGUAGE.into()),
    c("C++", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"], || tree_sitter_cpp::LANGUAGE.into()),
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
