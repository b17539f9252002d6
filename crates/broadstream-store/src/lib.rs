//! Files that are replaced as a whole, by one program at a time.
//!
//! The library writes a model to any `Write` and knows no paths. This crate puts models, and any other
//! bytes, where a path says, so that neither a crash nor a second program can damage what is there:
//!
//! 1. A program that is going to write a file holds a lock on its path ([`LockedPath`]) from before it
//!    reads the file until after it has written it for the last time. A second program is refused. The
//!    lock belongs to the operating system, so it ends with its holder, however that ends.
//! 2. The new content goes to a hidden file beside the old one, which gets the old file's mode and, where
//!    the system permits it, its owner. It is brought to the disk, renamed over the old file, and the
//!    folder is brought to the disk too. A reader sees the old file or the new one, never a part.
//!
//! A symbolic link stays a link: the file that it points to is replaced.
//!
//! What happens to a model between two writes goes to its [`Journal`], if the program wants that: each entry
//! is on the disk before the program goes on. A program that serves many at once has a [`Log`] instead, which
//! takes what they all want in one go.
//!
//! ```
//! use broadstream::{Nodes, OnlineBls, OnlineBlsConfig, Schema, model_file::ModelFile};
//! use broadstream_store::{LockedPath, StoreError, read_model};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.bsm");
//! let enhancement_nodes = Nodes::Fixed(50);
//! let model = OnlineBls::new(OnlineBlsConfig { enhancement_nodes, ..OnlineBlsConfig::single() })?;
//! let locked = LockedPath::lock(&path)?;
//! assert!(matches!(LockedPath::lock(&path), Err(StoreError::Locked { .. })));
//! locked.write_model(&ModelFile::new(&model, &Schema::new("state")))?;
//! assert_eq!(read_model(&path)?.schema.target(), "state");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod disk;
mod error;
mod journal;
mod locked_path;
mod log;
mod ownership;
mod read;
mod temporary;

pub use self::{
    disk::{Disk, SystemDisk},
    error::StoreError,
    journal::{Journal, JournalEntries},
    locked_path::{LockedPath, write_bytes},
    log::{Log, LogEnd, read_log},
    read::{read_journal, read_model, read_model_or_sums},
};
