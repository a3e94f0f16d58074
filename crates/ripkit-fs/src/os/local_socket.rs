//! Connections between processes of one user on one machine, on systems where a [`Watcher`](super::watch::Watcher)
//! exists.

#[cfg(all(target_os = "linux", not(ripkit_portable), feature = "watch"))]
pub use super::posix::linux::local_socket::{Connection, Listener, mount_namespace};
#[cfg(not(all(target_os = "linux", not(ripkit_portable), feature = "watch")))]
pub use unsupported::{Connection, Listener, mount_namespace};

/// What systems and builds without a watcher have instead.
#[cfg(not(all(target_os = "linux", not(ripkit_portable), feature = "watch")))]
mod unsupported {
    use std::convert::Infallible;
    use std::io::{self, Read, Write};
    use std::path::Path;
    use std::time::Instant;

    /// Cannot be made.
    #[derive(Debug)]
    pub struct Listener(Infallible);

    /// Cannot be made.
    #[derive(Debug)]
    pub struct Connection(Infallible);

    impl Listener {
        /// Always `Unsupported`.
        pub fn bind(_: &Path, _: &str) -> io::Result<Listener> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Never called.
        pub fn accept(&self) -> io::Result<Connection> {
            match self.0 {}
        }

        /// Never called.
        pub fn close(&self) {
            match self.0 {}
        }
    }

    impl Connection {
        /// Always `Unsupported`.
        pub fn open(_: &Path, _: Instant) -> io::Result<Connection> {
            Err(io::ErrorKind::Unsupported.into())
        }

        /// Never called.
        pub fn limit(&mut self, _: Instant) {
            match self.0 {}
        }
    }

    impl Read for Connection {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            match self.0 {}
        }
    }

    impl Write for Connection {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            match self.0 {}
        }

        fn flush(&mut self) -> io::Result<()> {
            match self.0 {}
        }
    }

    /// Always `Unsupported`.
    pub fn mount_namespace() -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
