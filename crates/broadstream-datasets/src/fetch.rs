//! Downloads a dataset and prepares a file that is known to be correct.
//!
//! Raw files are downloaded to a folder of their own and prepared in one pass into a temporary file
//! beside the final one. Only a text with the catalogue's checksum gets the final name, so a wrong
//! or half-written dataset never appears, and a call continues the download that an interrupted
//! one began.
//!
//! Downloads have names that nobody else uses, `adult.zip.fetched` for `adult.zip`. Only these are
//! removed. A raw file that somebody put there under its own name is used and stays.

use std::{
    fs,
    io::{self, BufWriter},
    path::{Path, PathBuf},
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use tempfile::NamedTempFile;

use crate::{
    dataset::{Dataset, PreparedFile, RawFile},
    download::{DownloadLimits, FETCHED, FetchObserver, agent, download},
    error::DatasetError,
    output::Output,
    part::{Part, open_parts},
    verify::FileStatus,
};

/// Downloads and prepares datasets.
///
/// ```no_run
/// use broadstream_datasets::{Fetcher, dataset};
///
/// let path = Fetcher::default().fetch(dataset("letter")?, "data".as_ref(), &mut ())?;
/// assert!(path.ends_with("letter.csv.gz"));
/// # Ok::<(), broadstream_datasets::DatasetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fetcher {
    /// The address to download from instead of the publishers', such as `http://localhost:8000/raw`:
    /// the raw file `adult.zip` of dataset `adult` is then expected at `…/raw/adult/adult.zip`.
    pub mirror: Option<String>,
    /// How often a download is retried after a transient failure; 4 by default.
    pub retries: u32,
    /// The pause before the first retry, doubled before each further one; 1 second by default.
    pub pause: Duration,
    /// The maximum size of a raw file in bytes, downloaded and unpacked; 1 GiB by default.
    pub size_limit: u64,
}

impl Default for Fetcher {
    fn default() -> Self {
        Fetcher { mirror: None, retries: 4, pause: Duration::from_secs(1), size_limit: 1 << 30 }
    }
}

impl Fetcher {
    /// Stores the dataset in `folder` as `NAME.csv.gz`, unless an intact copy is there already.
    pub fn fetch(
        &self,
        dataset: &Dataset,
        folder: &Path,
        observer: &mut dyn FetchObserver,
    ) -> Result<PathBuf, DatasetError> {
        let file = dataset.file()?;
        let target = folder.join(format!("{}.csv.gz", dataset.name));
        if FileStatus::of(&target, file) == FileStatus::Intact {
            return Ok(target);
        }
        let raw_folder = folder.join("raw").join(dataset.name);
        fs::create_dir_all(&raw_folder).map_err(DatasetError::file("creating", &raw_folder))?;
        let mut given = None;
        for raw in file.raw {
            let path = raw_folder.join(raw.name);
            if path.is_file() {
                given.get_or_insert(path);
            } else {
                self.download(dataset, raw, &raw_folder, observer)?;
            }
        }
        observer.prepare(dataset.name);
        match self.prepare(dataset, file, &raw_folder, &target) {
            // If the local disk failed, the downloads are still good; after any other failure,
            // preparing them again would fail again.
            Err(error @ DatasetError::File { .. }) => return Err(error),
            outcome => {
                remove_downloads(file, &raw_folder)?;
                // These fail, and should, while anything else is in the folders.
                let _ = fs::remove_dir(&raw_folder);
                let _ = fs::remove_dir(folder.join("raw"));
                outcome.map_err(|error| with_given(error, given))?;
            }
        }
        Ok(target)
    }

    /// Tries each address of a raw file in turn; if all fail, returns the error of the first.
    fn download(
        &self,
        dataset: &Dataset,
        raw: &RawFile,
        folder: &Path,
        observer: &mut dyn FetchObserver,
    ) -> Result<(), DatasetError> {
        let urls: Vec<String> = match &self.mirror {
            Some(mirror) => {
                vec![format!("{}/{}/{}", mirror.trim_end_matches('/'), dataset.name, raw.name)]
            }
            None => raw.urls.iter().map(|url| (*url).to_owned()).collect(),
        };
        let limits =
            DownloadLimits { retries: self.retries, pause: self.pause, max_size: self.size_limit };
        let (agent, target) = (agent(), downloaded(folder, raw));
        let mut first_error = None;
        for url in urls {
            match download(&agent, &url, &target, limits, observer) {
                Ok(()) => return Ok(()),
                Err(error @ DatasetError::File { .. }) => return Err(error),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Prepares the dataset from its raw files, and renames it to `target` if its checksum matches.
    fn prepare(
        &self,
        dataset: &Dataset,
        file: &PreparedFile,
        raw_folder: &Path,
        target: &Path,
    ) -> Result<(), DatasetError> {
        let mut parts: Vec<Part> = Vec::new();
        for raw in file.raw {
            let given = raw_folder.join(raw.name);
            let path = if given.is_file() { given } else { downloaded(raw_folder, raw) };
            parts.extend(open_parts(raw, &path, self.size_limit)?);
        }
        let failed = |source| DatasetError::file("writing", target)(source);
        let temporary = temporary_beside(target).map_err(failed)?;
        let gzip = GzEncoder::new(BufWriter::new(temporary), Compression::best());
        let mut writer = BufWriter::new(gzip);
        let mut out = Output::new(&mut writer, target);
        (file.prepare)(parts, &mut out)?;
        let found = out.finish();
        if found.sha256 != file.sha256 {
            let (name, expected) = (dataset.name, file.sha256);
            return Err(DatasetError::Checksum { name, expected, found: found.sha256 });
        }
        let gzip = writer.into_inner().map_err(|error| failed(error.into_error()))?;
        let buffer = gzip.finish().map_err(failed)?;
        let temporary = buffer.into_inner().map_err(|error| failed(error.into_error()))?;
        temporary.as_file().sync_all().map_err(failed)?;
        temporary.persist(target).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// Where a raw file is downloaded to.
fn downloaded(folder: &Path, raw: &RawFile) -> PathBuf {
    folder.join(format!("{}{FETCHED}", raw.name))
}

/// Removes the downloads of a dataset, by name.
fn remove_downloads(file: &PreparedFile, folder: &Path) -> Result<(), DatasetError> {
    for raw in file.raw {
        let path = downloaded(folder, raw);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(DatasetError::file("removing", &path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Says of an error that it may be about a file that was not downloaded.
fn with_given(error: DatasetError, given: Option<PathBuf>) -> DatasetError {
    match given {
        Some(path) => DatasetError::Given { path, source: Box::new(error) },
        None => error,
    }
}

/// A temporary file in the folder of `target`, so that renaming it is atomic, with the permissions
/// of an ordinary file.
fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".preparing-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(target.parent().unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::{
        dataset::{Kind, Origin},
        prepare,
        test_server::{PreparedResponse, Server},
    };

    const RAW: &[u8] = b"T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n";

    /// A dataset of one letter.
    const TINY: Dataset = Dataset {
        name: "tiny",
        title: "Tiny",
        kind: Kind::Stationary,
        rows: 1,
        columns: 17,
        classes: 1,
        target: "class",
        drop: &[],
        preparation: "",
        page: "",
        licence: "",
        citation: "",
        origin: Origin::File(PreparedFile {
            sha256: "0d8a13d43bf389a1ea5227e778cce23a38032425889df080b973b07bf2f3431f",
            size: 137,
            raw: &[RawFile { name: "tiny.data", urls: &[], members: &[] }],
            prepare: prepare::letter,
        }),
    };

    fn fetcher(server: &Server) -> Fetcher {
        Fetcher {
            mirror: Some(server.address() + "/raw/"),
            retries: 1,
            pause: Duration::from_millis(1),
            ..Fetcher::default()
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_dataset_is_downloaded_prepared_and_stored_once() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(vec![PreparedResponse::whole(RAW)]);
        let fetcher = fetcher(&server);
        let path = fetcher.fetch(&TINY, folder.path(), &mut ()).unwrap();
        assert_eq!(server.finish()[0].path, "/raw/tiny/tiny.data");
        let mut text = String::new();
        let file = fs::File::open(&path).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        assert!(text.ends_with("yegvx,class\n2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8,T\n"));
        assert_eq!(names(folder.path()), ["tiny.csv.gz"], "no raw file is left");
        // The server is gone: the file must not be requested again.
        assert_eq!(fetcher.fetch(&TINY, folder.path(), &mut ()).unwrap(), path);
    }

    #[test]
    fn a_text_with_another_checksum_is_refused_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tiny.csv.gz"), "as it was").unwrap();
        let changed = [b"A", &RAW[1..]].concat();
        let server = Server::start(vec![PreparedResponse::whole(&changed)]);
        let error = fetcher(&server).fetch(&TINY, folder.path(), &mut ()).unwrap_err();
        assert!(matches!(error, DatasetError::Checksum { name: "tiny", .. }), "{error}");
        assert_eq!(names(folder.path()), ["tiny.csv.gz"]);
        let kept = fs::read_to_string(folder.path().join("tiny.csv.gz")).unwrap();
        assert_eq!(kept, "as it was");
    }

    #[test]
    fn a_page_in_place_of_the_file_is_downloaded_again_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let responses = vec![PreparedResponse::whole(b"<html>"), PreparedResponse::whole(RAW)];
        let server = Server::start(responses);
        let fetcher = fetcher(&server);
        let error = fetcher.fetch(&TINY, folder.path(), &mut ()).unwrap_err();
        assert!(matches!(error, DatasetError::Malformed { line: 1, .. }), "{error}");
        fetcher.fetch(&TINY, folder.path(), &mut ()).unwrap();
    }

    #[test]
    fn a_damaged_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tiny.csv.gz"), b"\x1f\x8bnot gzip").unwrap();
        let server = Server::start(vec![PreparedResponse::whole(RAW)]);
        fetcher(&server).fetch(&TINY, folder.path(), &mut ()).unwrap();
    }

    /// Whatever becomes of the dataset, and by whatever name it goes.
    #[test]
    fn only_downloads_are_removed() {
        for (content, is_good) in [(RAW, true), (b"<html>", false)] {
            let folder = tempfile::tempdir().unwrap();
            let raw = folder.path().join("raw/tiny");
            fs::create_dir_all(raw.join("notes")).unwrap();
            for name in ["mine.txt", "tiny.data.part", "notes/thesis.tex"] {
                fs::write(raw.join(name), "years of work").unwrap();
            }
            let server = Server::start(vec![PreparedResponse::whole(content)]);
            let outcome = fetcher(&server).fetch(&TINY, folder.path(), &mut ());
            assert_eq!(outcome.is_ok(), is_good);
            let mut left = names(&raw);
            left.sort();
            assert_eq!(left, ["mine.txt", "notes", "tiny.data.part"]);
            assert!(raw.join("notes/thesis.tex").is_file());
            assert_eq!(fs::read(raw.join("tiny.data.part")).unwrap(), b"years of work");
        }
    }

    #[test]
    fn a_raw_file_that_was_there_is_used_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let raw = folder.path().join("raw/tiny");
        fs::create_dir_all(&raw).unwrap();
        let server = Server::start(Vec::new());
        let fetcher = fetcher(&server);
        fs::write(raw.join("tiny.data"), "<html>").unwrap();
        let error = fetcher.fetch(&TINY, folder.path(), &mut ()).unwrap_err();
        let message = error.to_string();
        assert!(message.ends_with("tiny.data was there already: remove it to download it again"));
        fs::write(raw.join("tiny.data"), RAW).unwrap();
        fetcher.fetch(&TINY, folder.path(), &mut ()).unwrap();
        assert_eq!(names(&raw), ["tiny.data"]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let server = Server::start(Vec::new());
        let error = fetcher(&server).fetch(&TINY, &file, &mut ()).unwrap_err();
        assert!(error.to_string().starts_with("creating "), "{error}");
    }

    #[test]
    fn a_target_that_cannot_be_replaced_keeps_the_downloads() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("tiny.csv.gz/inside")).unwrap();
        let server = Server::start(vec![PreparedResponse::whole(RAW)]);
        let error = fetcher(&server).fetch(&TINY, folder.path(), &mut ()).unwrap_err();
        assert!(matches!(error, DatasetError::File { action: "writing", .. }), "{error}");
        assert!(folder.path().join("raw/tiny/tiny.data.fetched").is_file());
        assert_eq!(names(folder.path()).len(), 2, "the temporary file is gone");
    }
}
