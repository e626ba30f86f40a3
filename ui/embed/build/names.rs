//! Shortens the names by which a module calls the functions of its script. Must not know what they do.
//!
//! wasm-bindgen ends each name with a hash, which cannot be compressed and is in both files.

use std::collections::BTreeMap;
use std::error::Error;

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{ImportSection, Module, RawSection};
use wasmparser::{Parser, Payload};

const PREFIX: &str = "__wbg_";
/// The digits of the hash at the end of a name.
const HASH_DIGITS: usize = 16;

/// Returns the script and the module with short names.
///
/// # Errors
/// When the module cannot be read.
pub(crate) fn shorten(script: &str, wasm: &[u8]) -> Result<(String, Vec<u8>), Box<dyn Error>> {
    let (mut module, mut short) = (Module::new(), BTreeMap::new());
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload?;
        if let Payload::ImportSection(section) = payload {
            let mut imports = ImportSection::new();
            for import in section.into_imports() {
                let import = import?;
                let next = short.len();
                let name = if has_hash(import.name) { short.entry(import.name).or_insert_with(|| format!("_{next}")) } else { import.name };
                imports.import(import.module, name, RoundtripReencoder.entity_type(import.ty)?);
            }
            module.section(&imports);
        } else if let Some((id, range)) = payload.as_section() {
            module.section(&RawSection { id, data: &wasm[usize::try_from(range.start)?..usize::try_from(range.end)?] });
        }
    }
    Ok((replace(script, &short), module.finish()))
}

fn has_hash(name: &str) -> bool {
    let hash = name.strip_prefix(PREFIX).and_then(|name| name.rsplit_once('_')).map(|(_, hash)| hash);
    hash.is_some_and(|hash| hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Replaces the names in a script, of which none is a part of another word.
fn replace(script: &str, short: &BTreeMap<&str, String>) -> String {
    let mut replaced = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(start) = rest.find(PREFIX) {
        let (before, name) = rest.split_at(start);
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (name, after) = name.split_at(name.find(|letter| !is_part(letter)).unwrap_or(name.len()));
        replaced.push_str(before);
        replaced.push_str(short.get(name).map_or(name, String::as_str));
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, FunctionSection, TypeSection};

    use super::*;

    fn module(names: &[&str]) -> Vec<u8> {
        let (mut types, mut imports) = (TypeSection::new(), ImportSection::new());
        types.ty().function([], []);
        for name in names {
            imports.import("./board_bg.js", name, EntityType::Function(0));
        }
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&FunctionSection::new());
        module.finish()
    }

    #[test]
    fn names_with_a_hash_are_shortened_in_both_files() {
        let long = ["__wbg_get_0123456789abcdef", "__wbindgen_init_externref_table", "__wbg_set_fedcba9876543210"];
        let script =
            "a = { __wbg_get_0123456789abcdef: f, __wbindgen_init_externref_table: g, __wbg_set_fedcba9876543210: h, __wbg_get_imports() {} }";
        let (script, wasm) = shorten(script, &module(&long)).unwrap();
        assert_eq!(script, "a = { _0: f, __wbindgen_init_externref_table: g, _1: h, __wbg_get_imports() {} }");
        assert_eq!(wasm, module(&["_0", "__wbindgen_init_externref_table", "_1"]));
    }

    #[test]
    fn same_name_stays_the_same() {
        let twice = ["__wbg_get_0123456789abcdef", "__wbg_get_0123456789abcdef"];
        assert_eq!(shorten("", &module(&twice)).unwrap().1, module(&["_0", "_0"]));
    }
}
