//! Splits the code of the board into the part that every page needs and parts that are loaded with their pages, and makes the scripts that
//! load them. Must not know the pages: the sources mark where to split.

use std::error::Error;
use std::fs;
use std::path::Path;

use wasm_bindgen_cli_support::Bindgen;
use wasm_encoder::{Module, RawSection};
use wasm_split_cli_support::{Options, transform};
use wasmparser::Parser;

use crate::names;

/// The files that the page names. Those load the others.
pub(crate) const ENTRY: [&str; 3] = [BOARD, "board.wasm", LOADER];

const BOARD: &str = "board.js";
/// The script that loads the parts.
const LOADER: &str = "parts.js";

/// A script or module by the name that the others know.
type CodeFile = (String, Vec<u8>);

/// Returns the scripts and modules with the names by which they refer to each other. `scratch` is emptied first.
///
/// # Errors
/// When the wasm cannot be read or split, was linked without relocations, or has inline JavaScript.
pub(crate) fn split(wasm: &Path, scratch: &Path, release: bool) -> Result<Vec<CodeFile>, Box<dyn Error>> {
    if scratch.exists() {
        fs::remove_dir_all(scratch)?;
    }
    fs::create_dir_all(scratch)?;
    let input = fs::read(wasm)?;
    let main = scratch.join("main.wasm");
    let (link_name, main_module) = (format!("./{LOADER}"), format!("./{BOARD}"));
    let mut options = Options::new(&input);
    options.output_dir = scratch;
    options.main_out_path = &main;
    options.link_name = &link_name;
    options.main_module = &main_module;
    let parts = transform(options).map_err(|error| format!("splitting the board's code: {error:#}"))?;

    let mut bindgen = Bindgen::new();
    bindgen.input_path(&main).out_name("board").typescript(false).omit_default_module_path(true);
    // The parts share the function table and the memory of the main module, which the linker exports.
    bindgen.keep_lld_exports(true).remove_name_section(release).remove_producers_section(release).web(true)?;
    let mut output = bindgen.generate_output()?;
    // A crate that could bring snippets but has none is also listed.
    if !output.local_modules().is_empty() || output.snippets().values().any(|scripts| !scripts.is_empty()) {
        return Err("a dependency of `ui` contains inline JavaScript, which cannot be bundled".into());
    }
    let (script, wasm) = (output.js().to_owned(), output.wasm_mut().emit_wasm());
    let (script, wasm) = if release { names::shorten(&script, &wasm)? } else { (script, wasm) };
    let mut files =
        vec![(BOARD.to_owned(), script.into_bytes()), ("board.wasm".to_owned(), wasm), (LOADER.to_owned(), fs::read(scratch.join(LOADER))?)];
    for path in parts.split_modules {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a part of the board has no name")?;
        let bytes = fs::read(&path)?;
        files.push((name.to_owned(), if release { without_custom_sections(&bytes)? } else { bytes }));
    }
    files.sort_unstable();
    Ok(files)
}

/// Removes names of functions and other text for developers, which is half of a part.
fn without_custom_sections(wasm: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    const CUSTOM: u8 = 0;
    let mut module = Module::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Some((id, range)) = payload?.as_section()
            && id != CUSTOM
        {
            module.section(&RawSection { id, data: &wasm[usize::try_from(range.start)?..usize::try_from(range.end)?] });
        }
    }
    Ok(module.finish())
}
