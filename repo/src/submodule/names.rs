//! Reads `.gitmodules` of a commit: the names, folders and addresses of submodules.

use std::path::{Component, Path};

use git2::{Config, ConfigLevel, Oid};

use crate::error::{Attempt, RepoError};
use crate::handle::find_commit;

const FILE: &str = ".gitmodules";

/// One submodule, as a commit names it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) url: String,
}

/// Lists the submodules that `.gitmodules` of `commit` names. Leaves out those whose name or folder leads elsewhere.
pub(super) fn of_commit(handle: &git2::Repository, commit: Oid) -> Result<Vec<Named>, RepoError> {
    let reading = || format!("read {FILE} of {commit}");
    let tree = find_commit(handle, commit)?.tree().attempting(reading)?;
    let Some(blob) = tree.get_path(Path::new(FILE)).ok().and_then(|entry| handle.find_blob(entry.id()).ok()) else { return Ok(Vec::new()) };
    // libgit2 reads configuration from files only.
    let file = tempfile::NamedTempFile::new().attempting(reading)?;
    std::fs::write(file.path(), blob.content()).attempting(reading)?;
    let mut config = Config::new().attempting(reading)?;
    config.add_file(file.path(), ConfigLevel::Local, false).attempting(reading)?;
    let mut found: Vec<Named> = Vec::new();
    let mut entries = config.entries(Some(r"^submodule\..*\.(path|url)$")).attempting(reading)?;
    while let Some(entry) = entries.next() {
        let entry = entry.attempting(reading)?;
        let (Ok(key), Ok(value)) = (entry.name(), entry.value()) else { continue };
        let Some((name, field)) = key.strip_prefix("submodule.").and_then(|rest| rest.rsplit_once('.')) else { continue };
        let place = found.iter().position(|named| named.name == name).unwrap_or_else(|| {
            found.push(Named { name: name.to_owned(), ..Named::default() });
            found.len() - 1
        });
        match field {
            "path" => value.trim_end_matches('/').clone_into(&mut found[place].path),
            _ => value.clone_into(&mut found[place].url),
        }
    }
    found.retain(|named| is_inside(&named.name) && is_inside(&named.path));
    Ok(found)
}

/// Whether a path stays in its folder, and out of git's own.
fn is_inside(path: &str) -> bool {
    let is_usual = |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
    !path.is_empty() && Path::new(path).components().all(is_usual)
}

/// Returns the address of a submodule, which may be relative to that of the repository above. `None` if there is none.
pub(super) fn resolved(url: &str, above: Option<&str>) -> Option<String> {
    if !(url.starts_with("./") || url.starts_with("../")) {
        // git would take it for an option.
        return (!url.is_empty() && !url.starts_with('-')).then(|| url.to_owned());
    }
    let (mut base, mut rest) = (above?.trim_end_matches('/'), url);
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            // In the short form of ssh, a colon is before the first folder.
            let end = base.rfind('/').or_else(|| base.rfind(':').map(|colon| colon + 1))?;
            (base, rest) = (&base[..end], after);
        } else {
            break;
        }
    }
    let separator = if base.ends_with(':') { "" } else { "/" };
    Some(format!("{base}{separator}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::oid;
    use crate::testing::TestRepository;

    #[test]
    fn submodules_are_read_and_those_that_lead_elsewhere_left_out() {
        let sample = TestRepository::new();
        let text = "[submodule \"lib/a.b\"]\n\tpath = vendor/a/\n\turl = ../a.git\n[submodule \"../evil\"]\n\tpath = b\n\turl = x\n\
                    [submodule \"c\"]\n\tpath = ../c\n\turl = x\n[submodule \"d\"]\n\tpath = .git/d\n\turl = x\n";
        let commit = sample.commit_on("main", &[(FILE, Some(text))], "modules");
        let found = of_commit(&sample.repository().handle().unwrap(), oid(&commit).unwrap()).unwrap();
        assert_eq!(found, [Named { name: "lib/a.b".into(), path: "vendor/a".into(), url: "../a.git".into() }]);
    }

    #[test]
    fn relative_addresses_begin_at_that_of_the_repository_above() {
        for (url, above, expected) in [
            ("../b.git", "https://host/x/a.git", "https://host/x/b.git"),
            ("../../y/b", "https://host/x/a", "https://host/y/b"),
            ("../b.git", "git@host:a.git", "git@host:b.git"),
            ("../b.git", "git@host:x/a.git", "git@host:x/b.git"),
            ("./b", "/srv/a", "/srv/a/b"),
        ] {
            assert_eq!(resolved(url, Some(above)).as_deref(), Some(expected), "{url} above {above}");
        }
        assert_eq!(resolved("https://host/b", None).as_deref(), Some("https://host/b"));
        for url in ["../b", "", "--upload-pack=evil"] {
            assert_eq!(resolved(url, None), None, "{url}");
        }
    }
}
