//! Turns a wasm file and the sources of the page into named, compressed files and a Rust table of them.
//!
//! The address of every file except the page and its manifest contains a hash of its content, so browsers may cache it forever. The code
//! shares one, because its files name each other. Must not know how the wasm was built.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::split;

/// The style sheets of the first page in their order of concatenation; the first one declares the order of the layers.
const FIRST_STYLES: [&str; 5] = ["tokens.css", "base.css", "components.css", "shell.css", "board.css"];

/// Those of the other pages, which are loaded after the first one.
const FURTHER_STYLES: [&str; 9] =
    ["panel.css", "collaboration.css", "context.css", "warroom.css", "review.css", "land.css", "plan.css", "activity.css", "palette.css"];

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const WASM: &str = "application/wasm";

const PLACEHOLDER: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>vibe-relay</title>\
    <p>This binary was built with <code>VIBE_RELAY_UI=skip</code> and has no board. Rebuild it without that variable.</p>";

/// One file to serve.
pub(crate) struct File {
    path: String,
    content_type: &'static str,
    bytes: Vec<u8>,
    brotli: Option<Vec<u8>>,
    immutable: bool,
}

/// The page of a build without the board.
pub(crate) fn placeholder() -> File {
    fixed("/", "text/html; charset=utf-8", PLACEHOLDER.to_owned())
}

/// The page, its manifest, icons, style sheet and scripts, and the wasm modules. `scratch` is a folder for intermediate files.
///
/// # Errors
/// When a source file is missing, the wasm cannot be read, or the page names an unknown file.
pub(crate) fn board(sources: &Path, wasm: &Path, scratch: &Path, release: bool) -> Result<Vec<File>, Box<dyn Error>> {
    let read = |name: &str| fs::read_to_string(sources.join(name)).map_err(|error| format!("reading ui/{name}: {error}"));
    let code = split::split(wasm, scratch, release)?;

    let concatenated = |names: &[&str]| names.iter().map(|name| read(&format!("style/{name}"))).collect::<Result<String, _>>();
    let (first_style, further_style) = (concatenated(&FIRST_STYLES)?, concatenated(&FURTHER_STYLES)?);
    let quality = if release { 11 } else { 4 };
    let binary = |name: &str| fs::read(sources.join("style").join(name)).map_err(|error| format!("reading ui/style/{name}: {error}"));
    let font = binary("inter.woff2")?;
    let first_style = first_style.replace("{{inter.woff2}}", &asset_path("inter.woff2", &font));
    let folder = format!("/assets/{}", digest(&code.iter().flat_map(|(_, bytes)| bytes).copied().collect::<Vec<u8>>()));
    let code = code.into_iter().map(|(name, bytes)| {
        let content_type = if name.ends_with(".wasm") { WASM } else { SCRIPT };
        (format!("{folder}/{name}"), name, content_type, bytes)
    });
    let named = [
        ("inter.woff2", "font/woff2", font),
        ("board.css", STYLE, first_style.into_bytes()),
        ("pages.css", STYLE, further_style.into_bytes()),
        ("boot.js", SCRIPT, read("boot.js")?.into_bytes()),
        ("icon.svg", "image/svg+xml", read("style/icon.svg")?.into_bytes()),
        ("icon-marked.svg", "image/svg+xml", read("style/icon-marked.svg")?.into_bytes()),
        ("icon-192.png", "image/png", binary("icon-192.png")?),
        ("icon-512.png", "image/png", binary("icon-512.png")?),
        ("icon-maskable.png", "image/png", binary("icon-maskable.png")?),
        ("icon-touch.png", "image/png", binary("icon-touch.png")?),
    ];
    let (mut html, mut manifest) = (read("index.html")?, read("manifest.webmanifest")?);
    let mut files = Vec::new();
    let named = named.map(|(name, content_type, bytes)| (asset_path(name, &bytes), name.to_owned(), content_type, bytes));
    for (path, name, content_type, bytes) in named.into_iter().chain(code) {
        let mark = format!("{{{{{name}}}}}");
        // The other parts of the code are named by the script that loads them.
        let is_part = path.starts_with(&folder) && !split::ENTRY.contains(&name.as_str());
        if !is_part && !html.contains(&mark) && !manifest.contains(&mark) {
            return Err(format!("neither ui/index.html nor ui/manifest.webmanifest names {mark}").into());
        }
        html = html.replace(&mark, &path);
        manifest = manifest.replace(&mark, &path);
        let is_compressed = matches!(content_type, "font/woff2" | "image/png");
        let brotli = if is_compressed { None } else { Some(compress(&bytes, quality)?) };
        files.push(File { path, content_type, bytes, brotli, immutable: true });
    }
    if html.contains("{{") || manifest.contains("{{") {
        return Err("ui/index.html or ui/manifest.webmanifest names an unknown file".into());
    }
    // An installed board keeps the address of its manifest.
    files.push(fixed("/manifest.webmanifest", "application/manifest+json", manifest));
    files.push(fixed("/", "text/html; charset=utf-8", html));
    Ok(files)
}

/// Writes the files and `assets.rs`, the table that names them.
///
/// # Errors
/// When the output folder cannot be written.
pub(crate) fn write(out: &Path, files: &[File]) -> Result<(), Box<dyn Error>> {
    let mut table = String::from("&[\n");
    for (index, file) in files.iter().enumerate() {
        fs::write(out.join(format!("{index}.raw")), &file.bytes)?;
        let brotli = match &file.brotli {
            Some(bytes) => {
                fs::write(out.join(format!("{index}.br")), bytes)?;
                format!("Some(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{index}.br\")))")
            }
            None => "None".to_owned(),
        };
        writeln!(
            table,
            "    Asset {{\n        path: {:?},\n        content_type: {:?},\n        \
             bytes: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{index}.raw\")),\n        brotli: {brotli},\n        \
             etag: \"\\\"{}\\\"\",\n        immutable: {},\n    }},",
            file.path,
            file.content_type,
            digest(&file.bytes),
            file.immutable,
        )?;
    }
    table.push_str("]\n");
    fs::write(out.join("assets.rs"), table)?;
    Ok(())
}

/// The address of a file, with a hash of its content.
fn asset_path(name: &str, bytes: &[u8]) -> String {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    format!("/assets/{stem}-{}.{extension}", digest(bytes))
}

/// A file whose address stays when its content changes.
fn fixed(path: &str, content_type: &'static str, text: String) -> File {
    File { path: path.to_owned(), content_type, bytes: text.into_bytes(), brotli: None, immutable: false }
}

/// The first 64 bits of the SHA-256, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    let mut name = String::new();
    for byte in &Sha256::digest(bytes)[..8] {
        let _infallible = write!(name, "{byte:02x}");
    }
    name
}

fn compress(bytes: &[u8], quality: i32) -> std::io::Result<Vec<u8>> {
    let parameters = brotli::enc::BrotliEncoderParams { quality, size_hint: bytes.len(), ..Default::default() };
    let mut compressed = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut compressed, &parameters)?;
    Ok(compressed)
}
