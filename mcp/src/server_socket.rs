//! The Unix socket of the server, through which bridges and commands reach it. Only this user can connect, and no other program can take it.
//!
//! It is in a folder of its own beside the database, so that a sandbox can show an agent the folder and nothing else. It must not know what
//! is said over it.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// The folder beside the database.
const FOLDER: &str = "sockets";

/// The length of a path that fits into an address everywhere; on Linux, 107 bytes fit.
const MAX_PATH: usize = 100;

#[derive(Debug, thiserror::Error)]
#[error("could not {attempted} {}", path.display())]
pub struct SocketError {
    attempted: &'static str,
    path: PathBuf,
    source: io::Error,
}

/// The socket of a running server. It stays in the file system until [`ServerSocket::remove`].
#[derive(Debug)]
pub struct ServerSocket {
    path: PathBuf,
    /// The device and the inode: a later server replaces the file.
    identity: (u64, u64),
}

/// Returns the folder that holds the socket of the server of `db_path`, and nothing else. A sandbox binds the folder, because a bound file
/// would stay the socket of a server that has ended.
pub fn folder(db_path: &Path) -> PathBuf {
    db_path.with_file_name(FOLDER)
}

/// Returns the path of the socket of the server of `db_path`.
pub fn path(db_path: &Path) -> PathBuf {
    let name = db_path.file_stem().unwrap_or(FOLDER.as_ref());
    folder(db_path).join(name).with_extension("sock")
}

/// Listens on the socket of `db_path`, which replaces that of a server that was killed. The caller holds the lock of the database. Call it
/// inside a Tokio runtime.
///
/// # Errors
/// When the folder or the socket cannot be made, for example because the file system has no sockets.
pub fn bind(db_path: &Path) -> Result<(ServerSocket, UnixListener), SocketError> {
    let (folder, path) = (folder(db_path), path(db_path));
    let failed = |attempted, path: &Path| {
        let path = path.to_owned();
        move |source| SocketError { attempted, path, source }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed("create the folder", &folder))?;
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).map_err(failed("restrict access to the folder", &folder))?;
    // Bound under another name first, so that a client never finds the name without a listener.
    let new = path.with_extension("new");
    match fs::remove_file(&new) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(failed("remove", &new)(source)),
        _ => {}
    }
    let listener = with_short_path(&new, |path| UnixListener::bind(path)).map_err(failed("listen on", &new))?;
    fs::set_permissions(&new, Permissions::from_mode(0o600)).map_err(failed("restrict access to", &new))?;
    fs::rename(&new, &path).map_err(failed("replace", &path))?;
    let metadata = fs::metadata(&path).map_err(failed("find", &path))?;
    Ok((ServerSocket { path, identity: (metadata.dev(), metadata.ino()) }, listener))
}

impl ServerSocket {
    /// Removes the socket, unless a later server has replaced it.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self) -> Result<(), SocketError> {
        let removed = match fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == self.identity => fs::remove_file(&self.path),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        removed.map_err(|source| SocketError { attempted: "remove", path: self.path.clone(), source })
    }
}

/// Connects to the server of `db_path`.
pub(crate) async fn connect(db_path: &Path) -> io::Result<UnixStream> {
    let path = path(db_path);
    let connecting = with_short_path(&path, |path| std::os::unix::net::UnixStream::connect(path))?;
    connecting.set_nonblocking(true)?;
    UnixStream::from_std(connecting)
}

/// Calls `use_path` with a path of the same file that is short enough for the address of a socket. A path through the descriptor of the
/// open folder is, on Linux; a program with several threads cannot change its folder to shorten one.
fn with_short_path<T>(path: &Path, use_path: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= MAX_PATH || cfg!(not(target_os = "linux")) {
        return use_path(path);
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return use_path(path) };
    let folder = File::open(folder)?;
    use_path(&Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn socket_is_private_and_its_path_may_be_long() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a".repeat(90)).join("b".repeat(90));
        fs::create_dir_all(&deep).unwrap();
        for db in [folder.path().join("board.db"), deep.join("board.db")] {
            assert!(connect(&db).await.is_err());
            // Left open to others by an earlier version or by hand.
            fs::create_dir(super::folder(&db)).unwrap();
            fs::set_permissions(super::folder(&db), Permissions::from_mode(0o755)).unwrap();
            let (socket, listener) = bind(&db).unwrap();
            let names: Vec<_> = fs::read_dir(super::folder(&db)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, ["board.sock"], "nothing else is in the folder");
            assert_eq!((mode(&super::folder(&db)), mode(&path(&db))), (0o700, 0o600));
            let (connected, accepted) = tokio::join!(connect(&db), listener.accept());
            assert!(connected.is_ok() && accepted.is_ok());
            socket.remove().unwrap();
            socket.remove().unwrap();
            assert!(!path(&db).exists());
        }
    }

    #[tokio::test]
    async fn later_server_replaces_the_socket_of_a_killed_one() {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("board.db");
        let (killed, listener) = bind(&db).unwrap();
        drop(listener);
        assert!(connect(&db).await.is_err());
        let (_later, listener) = bind(&db).unwrap();
        killed.remove().unwrap();
        let (connected, accepted) = tokio::join!(connect(&db), listener.accept());
        assert!(connected.is_ok() && accepted.is_ok(), "the socket of another server stays");
    }
}
