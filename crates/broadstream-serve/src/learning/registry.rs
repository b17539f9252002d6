//! All models of a service, and the names that stand for others.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use broadstream::{
    OnlineBls, OnlineBlsConfig, Preset, Schema,
    model_file::{self, ModelFile},
    stream::{Categories, RowEncoder, TableOptions},
};
use broadstream_store::{Disk, LockedPath, StoreError};
use serde_json::{Map, Value};
use tracing::{error, info, warn};

use super::{
    ModelName, ModelOptions, ServeError, UnknownName,
    folder::ModelRules,
    model::{Model, Shared, now},
    workers::Workers,
};

/// How often models are asked whether something is due.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// What a new model is made of.
pub(crate) enum NewModel {
    /// Options, with the name of the target, and how columns become inputs.
    Options {
        preset: Preset,
        options: Map<String, Value>,
        target: String,
        columns: Box<TableOptions>,
    },
    /// A model file.
    File(Vec<u8>),
}

/// The models of a folder, which no other program may use meanwhile.
pub(crate) struct Registry {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    shared: Arc<Shared>,
    most_models: usize,
    entries: RwLock<Entries>,
    /// Held while a model is made or deleted, which may take a while.
    making: Mutex<()>,
    is_ready: AtomicBool,
    is_closed: Arc<AtomicBool>,
    ticker: Mutex<Option<JoinHandle<()>>>,
    _lock: LockedPath,
}

#[derive(Default)]
struct Entries {
    models: BTreeMap<ModelName, Entry>,
    aliases: BTreeMap<ModelName, ModelName>,
}

/// A model, or why it cannot be used.
#[derive(Clone)]
enum Entry {
    Usable(Arc<Model>),
    Unusable(Arc<ServeError>),
}

/// The name of a model that cannot be used, and the reason.
pub(crate) type Unusable = (ModelName, Arc<ServeError>);

impl Registry {
    /// The models of a folder, which is made if it does not exist. None is open yet.
    pub(crate) fn new(
        folder: &Path,
        disk: Arc<dyn Disk>,
        options: ModelOptions,
        most_models: usize,
    ) -> Result<Arc<Self>, ServeError> {
        let failed = |source| StoreError::Folder { folder: folder.to_owned(), source };
        make_private_folder(folder).map_err(failed)?;
        fs::create_dir_all(folder.join("models")).map_err(failed)?;
        let lock = LockedPath::lock(&folder.join("service"))?;
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let shared = Shared {
            writers: Workers::new("log", 4).map_err(failed)?,
            learners: Workers::new("learn", cores).map_err(failed)?,
            options,
        };
        Ok(Arc::new(Registry {
            folder: folder.to_owned(),
            disk,
            shared: Arc::new(shared),
            most_models,
            entries: RwLock::default(),
            making: Mutex::default(),
            is_ready: AtomicBool::new(false),
            is_closed: Arc::default(),
            ticker: Mutex::default(),
            _lock: lock,
        }))
    }

    /// Opens all models, which replays their logs. One that cannot be opened is listed with the reason.
    pub(crate) fn open_all(self: &Arc<Self>) -> Result<(), ServeError> {
        let folder = self.folder.join("models");
        let failed = |source| StoreError::Read { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(".new.") || name.starts_with(".deleted.") {
                // Making or deleting it was interrupted.
                let _ = fs::remove_dir_all(&path);
                continue;
            }
            let Ok(name) = ModelName::parse(&name) else {
                warn!(path = %path.display(), "this is not the folder of a model, and is passed over");
                continue;
            };
            let shared = Arc::clone(&self.shared);
            let opened = Model::open(shared, name.clone(), &path, Arc::clone(&self.disk));
            let entry = match opened {
                Ok(model) => Entry::Usable(model),
                Err(error) => {
                    error!(model = %name, %error, "a model cannot be opened");
                    let reason = error.to_string();
                    Entry::Unusable(Arc::new(ServeError::Unusable {
                        name: name.to_string(),
                        reason,
                    }))
                }
            };
            self.write().models.insert(name, entry);
        }
        self.read_aliases()?;
        self.start_ticker()?;
        self.is_ready.store(true, Ordering::Release);
        info!(models = self.read().models.len(), "all models are open");
        Ok(())
    }

    /// Whether all models are open.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// The model of that name, or the one that the alias stands for.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<Model>, ServeError> {
        let missing = || ServeError::NoModel { name: super::excerpt(name) };
        let name = ModelName::parse(name).map_err(|_| missing())?;
        let entries = self.read();
        let name = entries.aliases.get(&name).unwrap_or(&name);
        match entries.models.get(name).ok_or_else(missing)? {
            Entry::Usable(model) => Ok(Arc::clone(model)),
            Entry::Unusable(error) => Err((**error).clone()),
        }
    }

    /// All models that can be used, and those that cannot.
    pub(crate) fn all(&self) -> (Vec<Arc<Model>>, Vec<Unusable>) {
        let (mut usable, mut unusable) = (Vec::new(), Vec::new());
        for (name, entry) in &self.read().models {
            match entry {
                Entry::Usable(model) => usable.push(Arc::clone(model)),
                Entry::Unusable(error) => unusable.push((name.clone(), Arc::clone(error))),
            }
        }
        (usable, unusable)
    }

    /// The aliases, each with the model that it stands for.
    pub(crate) fn aliases(&self) -> BTreeMap<ModelName, ModelName> {
        self.read().aliases.clone()
    }

    /// Makes a model.
    pub(crate) fn create(
        &self,
        name: &ModelName,
        new: NewModel,
        unknown: UnknownName,
    ) -> Result<Arc<Model>, ServeError> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let entries = self.read();
            if entries.models.contains_key(name) || entries.aliases.contains_key(name) {
                return Err(ServeError::Exists { name: name.to_string() });
            }
            let (limit, found) = (self.most_models as u64, entries.models.len() as u64 + 1);
            if found > limit {
                return Err(ServeError::Limit { what: "the number of models", limit, found });
            }
        }
        if self.is_closed.load(Ordering::Acquire) {
            return Err(ServeError::ShuttingDown);
        }
        let saved = model_file::read(&mut new.into_file()?.as_slice())?;
        let most = saved.encoding.as_ref().map(|encoding| encoding.max_categories);
        let most = most.unwrap_or(TableOptions::MAX_CATEGORIES);
        let rules = ModelRules::new(random()?, now(), unknown, most);
        let (shared, disk) = (Arc::clone(&self.shared), Arc::clone(&self.disk));
        let path = self.folder.join("models").join(name.as_str());
        let model = Model::create(shared, name.clone(), &path, disk, &rules, saved)?;
        self.write().models.insert(name.clone(), Entry::Usable(Arc::clone(&model)));
        info!(model = %name, "a model was created");
        Ok(model)
    }

    /// Deletes a model and all that it has learned. Aliases of it are deleted too.
    pub(crate) fn delete(&self, name: &str) -> Result<(), ServeError> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = || ServeError::NoModel { name: super::excerpt(name) };
        let name = ModelName::parse(name).map_err(|_| missing())?;
        let model = match self.read().models.get(&name).ok_or_else(missing)? {
            Entry::Usable(model) => Arc::clone(model),
            Entry::Unusable(error) => return Err((**error).clone()),
        };
        model.delete()?;
        let mut entries = self.write();
        entries.models.remove(&name);
        entries.aliases.retain(|_, stands_for| *stands_for != name);
        let aliases = entries.aliases.clone();
        drop(entries);
        self.write_aliases(&aliases)?;
        info!(model = %name, "a model was deleted");
        Ok(())
    }

    /// Lets a name stand for a model.
    pub(crate) fn set_alias(&self, alias: &ModelName, model: &ModelName) -> Result<(), ServeError> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let mut aliases = {
            let entries = self.read();
            if entries.models.contains_key(alias) {
                return Err(ServeError::Exists { name: alias.to_string() });
            }
            if !entries.models.contains_key(model) {
                return Err(ServeError::NoModel { name: model.to_string() });
            }
            entries.aliases.clone()
        };
        aliases.insert(alias.clone(), model.clone());
        self.write_aliases(&aliases)?;
        self.write().aliases = aliases;
        Ok(())
    }

    /// Deletes an alias.
    pub(crate) fn delete_alias(&self, alias: &str) -> Result<(), ServeError> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = || ServeError::NoModel { name: super::excerpt(alias) };
        let name = ModelName::parse(alias).map_err(|_| missing())?;
        let mut aliases = self.aliases();
        aliases.remove(&name).ok_or_else(missing)?;
        self.write_aliases(&aliases)?;
        self.write().aliases = aliases;
        Ok(())
    }

    /// Accepts no more requests, carries out those that wait, and writes a snapshot of each model.
    pub(crate) fn close(&self) {
        self.is_ready.store(false, Ordering::Release);
        self.is_closed.store(true, Ordering::Release);
        let finishing: Vec<_> =
            self.all().0.into_iter().map(|model| (model.finish(), model)).collect();
        for (finished, model) in finishing {
            match finished.blocking_recv() {
                Ok(Ok(version)) => info!(model = %model.name, version, "a model was closed"),
                Ok(Err(error)) => {
                    warn!(model = %model.name, %error, "no last snapshot; the log has everything");
                }
                Err(_) => warn!(model = %model.name, "no last snapshot; the log has everything"),
            }
        }
        let ticker = self.ticker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ticker) = ticker {
            let _ = ticker.join();
        }
    }

    fn start_ticker(self: &Arc<Self>) -> Result<(), ServeError> {
        let (registry, is_closed) = (Arc::downgrade(self), Arc::clone(&self.is_closed));
        let ticker = thread::Builder::new().name("ticker".to_owned()).spawn(move || {
            while !is_closed.load(Ordering::Acquire) {
                thread::sleep(TICK);
                let Some(registry) = registry.upgrade() else { break };
                for entry in registry.read().models.values() {
                    if let Entry::Usable(model) = entry {
                        model.tick();
                    }
                }
            }
        });
        let failed = |source| StoreError::Folder { folder: self.folder.clone(), source };
        *self.ticker.lock().unwrap_or_else(PoisonError::into_inner) = Some(ticker.map_err(failed)?);
        Ok(())
    }

    fn read_aliases(&self) -> Result<(), ServeError> {
        let path = self.alias_file();
        let failed = |source| StoreError::Read { path: path.clone(), source };
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(failed(source).into()),
        };
        let read: BTreeMap<String, String> = serde_json::from_slice(&text)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        let mut entries = self.write();
        for (alias, model) in read {
            let (alias, model) = (ModelName::parse(&alias)?, ModelName::parse(&model)?);
            entries.aliases.insert(alias, model);
        }
        Ok(())
    }

    fn write_aliases(&self, aliases: &BTreeMap<ModelName, ModelName>) -> Result<(), ServeError> {
        let texts: BTreeMap<&str, &str> =
            aliases.iter().map(|(alias, model)| (alias.as_str(), model.as_str())).collect();
        let path = self.alias_file();
        let failed = |error: serde_json::Error| StoreError::Write {
            path: path.clone(),
            source: error.into(),
        };
        let bytes = serde_json::to_vec_pretty(&texts).map_err(failed)?;
        Ok(LockedPath::lock_on(Arc::clone(&self.disk), &path)?.write_bytes(&bytes)?)
    }

    fn alias_file(&self) -> PathBuf {
        self.folder.join("aliases.json")
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NewModel {
    /// A model file. A model that was made of options goes through one too, so that it is what it would be
    /// after a restart.
    fn into_file(self) -> Result<Vec<u8>, ServeError> {
        let (preset, options, target, columns) = match self {
            NewModel::File(file) => return Ok(file),
            NewModel::Options { preset, options, target, columns } => {
                (preset, options, target, columns)
            }
        };
        let encoder = RowEncoder::new(target.as_str(), Categories::default());
        let encoding = encoder.with_options(&columns)?.encoding();
        let model = OnlineBls::new(OnlineBlsConfig::resolve(preset, &options)?)?;
        let mut file = Vec::new();
        let schema = Schema::new(target);
        ModelFile { encoding: Some(&encoding), ..ModelFile::new(&model, &schema) }
            .write(&mut file)?;
        Ok(file)
    }
}

fn random() -> Result<u32, ServeError> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes)
        .map_err(|error| ServeError::Random { reason: error.to_string() })?;
    Ok(u32::from_le_bytes(bytes))
}

/// Makes a folder that nobody else can read, since it will have what people send. One that exists stays as it is.
pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
