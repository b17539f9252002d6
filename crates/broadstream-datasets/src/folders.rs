//! The folders that hold datasets on this machine.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::{catalogue::dataset, error::DatasetError};

/// The environment variable that names a folder with datasets.
const VARIABLE: &str = "BROADSTREAM_DATA";

/// The suffixes of a dataset's file: plain, gzip and zstd.
const SUFFIXES: [&str; 3] = ["csv", "csv.gz", "csv.zst"];

/// Finds the file of a dataset by name.
///
/// The search goes through `data`, then the folder named by the environment variable
/// `BROADSTREAM_DATA`, then the user's cache, for `NAME.csv`, `NAME.csv.gz` or `NAME.csv.zst`. The
/// content is not checked; [`Verification`](crate::Verification) does that.
pub fn find(name: &str, data: Option<&Path>) -> Result<PathBuf, DatasetError> {
    let dataset = dataset(name)?;
    dataset.file()?;
    let folders = folders(data);
    find_in(&folders, name).ok_or_else(|| {
        let list: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        DatasetError::NotFound { name: dataset.name, folders: list.join(" or ") }
    })
}

/// The folder that fetched datasets are stored in: `data` if given, else the folder named by the
/// environment variable `BROADSTREAM_DATA`, else the user's cache.
pub fn storage_folder(data: Option<&Path>) -> Result<PathBuf, DatasetError> {
    folders(data).into_iter().next().ok_or(DatasetError::NoFolder)
}

/// The first file in the folders that has one of the dataset's file names.
fn find_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    folders
        .iter()
        .flat_map(|folder| SUFFIXES.map(|suffix| folder.join(format!("{name}.{suffix}"))))
        .find(|path| path.is_file())
}

/// All folders to search, in order.
fn folders(data: Option<&Path>) -> Vec<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let cache = ProjectDirs::from("", "", "broadstream").map(|dirs| dirs.cache_dir().join("data"));
    data.map(Path::to_owned).into_iter().chain(named).chain(cache).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn earlier_folders_and_plain_files_go_first() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folders = [first.path().to_owned(), second.path().to_owned()];
        assert_eq!(find_in(&folders, "adult"), None);
        for path in ["adult.csv.zst", "adult.csv.gz", "adult.csv"].map(|n| second.path().join(n)) {
            fs::write(&path, "").unwrap();
            assert_eq!(find_in(&folders, "adult"), Some(path));
        }
        let path = first.path().join("adult.csv.zst");
        fs::write(&path, "").unwrap();
        assert_eq!(find_in(&folders, "adult"), Some(path));
    }

    #[test]
    fn a_folder_with_the_file_s_name_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("adult.csv")).unwrap();
        assert_eq!(find_in(&[folder.path().to_owned()], "adult"), None);
    }

    #[test]
    fn a_missing_dataset_is_an_error_that_helps() {
        let folder = tempfile::tempdir().unwrap();
        let message = find("sea", Some(folder.path())).unwrap_err().to_string();
        assert_eq!(message, "dataset 'sea' has no file: it is produced by the generator 'sea'");
        let message = find("seal", None).unwrap_err().to_string();
        assert!(message.starts_with("there is no dataset 'seal'"), "{message}");
        assert_eq!(storage_folder(Some(folder.path())).unwrap(), folder.path());
    }
}
