//! Finds what is in the folders of a checkout besides its tracked files.
//!
//! Must not know which of it git ignores, and does not look into folders without tracked files.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::parallel;
use crate::tracked::TrackedFile;

/// The tracked names of one folder.
#[derive(Default)]
struct Names<'a> {
    files: HashSet<&'a [u8]>,
    folders: HashSet<&'a [u8]>,
}

/// Lists the paths in `workdir` that are neither one of `files` nor a folder above one.
pub(super) fn extra_paths(workdir: &Path, files: &[TrackedFile]) -> Vec<PathBuf> {
    let folders: Vec<(&[u8], Names<'_>)> = tracked_folders(files).into_iter().collect();
    let Ok(found) = parallel::each(&folders, || Ok::<_, Infallible>(()), |(), (folder, names)| Ok(extra_names(workdir, folder, names)));
    found.into_iter().flatten().collect()
}

fn tracked_folders(files: &[TrackedFile]) -> HashMap<&[u8], Names<'_>> {
    let mut folders: HashMap<&[u8], Names<'_>> = HashMap::from([(&b""[..], Names::default())]);
    for file in files {
        let (mut folder, name) = split(&file.path);
        let mut is_known = folders.contains_key(folder);
        folders.entry(folder).or_default().files.insert(name);
        while !is_known {
            let (parent, name) = split(folder);
            is_known = folders.contains_key(parent);
            folders.entry(parent).or_default().folders.insert(name);
            folder = parent;
        }
    }
    folders
}

/// The folder of a path, and its name.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    path.iter().rposition(|byte| *byte == b'/').map_or((&b""[..], path), |place| (&path[..place], &path[place + 1..]))
}

fn extra_names(workdir: &Path, folder: &[u8], names: &Names<'_>) -> Vec<PathBuf> {
    let folder = Path::new(OsStr::from_bytes(folder));
    // A folder that cannot be read has no verified file either, and the comparison reports those.
    let entries = fs::read_dir(workdir.join(folder)).into_iter().flatten().flatten();
    let extra = entries.filter(|entry| {
        let name = entry.file_name();
        let is_tracked_folder = names.folders.contains(name.as_bytes()) && entry.file_type().is_ok_and(|kind| kind.is_dir());
        !(is_tracked_folder || names.files.contains(name.as_bytes()) || name == ".git")
    });
    extra.map(|entry| folder.join(entry.file_name())).collect()
}
