//! The service as a whole: it listens, opens its models, answers, and ends in order.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, thread, time::Duration};

use axum::Router;
use broadstream_store::SystemDisk;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    runtime::Runtime,
    sync::{Semaphore, watch},
    time::timeout,
};
use tracing::{debug, error, info, warn};

use crate::{
    LogLevel, Settings,
    http::{self, app::App},
    learning::{Registry, ServeError},
    security::{TokenError, TokenFile},
};

/// How many live pages may be watched at once.
const WATCHERS: usize = 64;

/// Why a service could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },

    /// Others than this machine could reach a service that has no tokens.
    #[error(
        "listening on {address} needs tokens, since others than this machine could reach it: create \
         one with 'broadstream serve token create NAME --role admin --data {}'", data.display()
    )]
    NoTokens {
        /// The address.
        address: SocketAddr,
        /// The folder of the service.
        data: PathBuf,
    },

    /// The folder of the service cannot be used.
    #[error("{}", chain(.0))]
    Folder(ServeError),

    /// The tokens cannot be read.
    #[error(transparent)]
    Tokens(#[from] TokenError),

    /// The certificate or its key cannot be used.
    #[error("TLS: {0}")]
    Tls(String),

    /// The system refused threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}

/// An error and what led to it, for people.
fn chain(error: &ServeError) -> String {
    let mut text = error.to_string();
    if let ServeError::Storage(store) = error {
        text = store.to_string();
        let mut source = std::error::Error::source(&**store);
        while let Some(error) = source {
            text += &format!(": {error}");
            source = error.source();
        }
    }
    text
}

/// A service that is running.
///
/// ```
/// use broadstream_serve::{Service, Settings};
///
/// # let folder = tempfile::tempdir()?;
/// let mut settings = Settings::default();
/// settings.data = folder.path().join("data");
/// settings.listen = ([127, 0, 0, 1], 0).into(); // any port that is free
/// let service = Service::start(settings)?;
/// assert!(service.address().ip().is_loopback());
/// service.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Service {
    address: SocketAddr,
    runtime: Runtime,
    registry: Arc<Registry>,
    ending: watch::Sender<bool>,
    accepting: tokio::task::JoinHandle<()>,
    opening: thread::JoinHandle<bool>,
}

impl Service {
    /// Starts a service. It listens when this returns, and is ready when all logs are replayed.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let registry = Registry::new(
            &settings.data,
            Arc::new(SystemDisk),
            settings.model_options(),
            settings.most_models,
        )
        .map_err(StartError::Folder)?;
        let tokens = TokenFile::open(&settings.data)?;
        let is_local = settings.listen.ip().is_loopback();
        if !is_local && tokens.is_empty() {
            let (address, data) = (settings.listen, settings.data);
            return Err(StartError::NoTokens { address, data });
        }
        let tls = Tls::load(&settings)?;
        if !is_local && tls.is_none() {
            warn!(
                "requests and tokens are not encrypted: give a certificate, or put a proxy in front"
            );
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(StartError::Threads)?;
        let address = settings.listen;
        let listener = runtime
            .block_on(TcpListener::bind(address))
            .and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) =
            listener.map_err(|source| StartError::Listen { address, source })?;
        let (ending, watching) = watch::channel(false);
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let app = Arc::new(App {
            registry: Arc::clone(&registry),
            tokens,
            ending: watching.clone(),
            workers: Semaphore::new(cores),
            watchers: Arc::new(Semaphore::new(WATCHERS)),
            answers: Default::default(),
            settings,
        });
        let router = http::router(&app);
        let accepting = runtime.spawn(accept(listener, tls, router, app, watching));
        let opening = {
            let registry = Arc::clone(&registry);
            let opening = thread::Builder::new().name("open".to_owned());
            let open = move || match registry.open_all() {
                Ok(()) => true,
                Err(error) => {
                    error!(%error, "models cannot be opened");
                    false
                }
            };
            opening.spawn(open).map_err(StartError::Threads)?
        };
        info!(%address, "listening");
        Ok(Service { address, runtime, registry, ending, accepting, opening })
    }

    /// Where the service listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits until all models are open; `false` if that is not possible.
    pub fn wait_until_ready(&self) -> bool {
        while !self.opening.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
        self.registry.is_ready()
    }

    /// Runs until the program is asked to end by SIGTERM or SIGINT, and then ends in order.
    pub fn run_until_signal(self) -> io::Result<()> {
        let waited = self.wait_for_signal();
        self.stop();
        waited
    }

    /// Waits until the program is asked to end by SIGTERM or SIGINT.
    pub fn wait_for_signal(&self) -> io::Result<()> {
        self.runtime.block_on(signal())
    }

    /// Ends in order: no new requests, answers to those that there are, and a snapshot of each model.
    pub fn stop(self) {
        info!("ending");
        let Service { runtime, registry, ending, accepting, opening, .. } = self;
        let _ = opening.join();
        let _ = ending.send(true);
        if runtime.block_on(accepting).is_err() {
            error!("the listener has panicked, which is a bug");
        }
        registry.close();
        runtime.shutdown_timeout(Duration::from_secs(1));
        info!("ended");
    }
}

/// Has the service say what it does on standard error, a JSON object per line.
pub fn log_to_stderr(level: LogLevel) {
    let level = match level {
        LogLevel::Error => tracing::Level::ERROR,
        LogLevel::Warn => tracing::Level::WARN,
        LogLevel::Info => tracing::Level::INFO,
        LogLevel::Debug => tracing::Level::DEBUG,
    };
    // An error means that the program has a log already.
    let _ = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_max_level(level)
        .with_writer(io::stderr)
        .try_init();
}

async fn signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// Accepts connections until the service ends, and then waits for their requests.
async fn accept(
    listener: TcpListener,
    tls: Option<Tls>,
    router: Router,
    app: Arc<App>,
    mut ending: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(app.settings.connections));
    let patience = Duration::from_secs(app.settings.header_seconds);
    loop {
        // Who comes when all places are taken waits to be accepted.
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = end_of(&mut ending) => break,
        };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            () = end_of(&mut ending) => break,
        };
        let Ok((stream, _)) = stream else {
            // Mostly too many open files, which takes a moment to end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Answers are small, and should not wait for more to send.
        let _ = stream.set_nodelay(true);
        let (router, tls, ending) = (router.clone(), tls.clone(), ending.clone());
        tokio::spawn(async move {
            let _place = place;
            match tls {
                None => answer(stream, router, ending, patience).await,
                Some(tls) => match timeout(patience, tls.accept(stream)).await {
                    Ok(Ok(stream)) => answer(stream, router, ending, patience).await,
                    _ => debug!("a client has not agreed on TLS"),
                },
            }
        });
    }
    drop(listener);
    drain(&places, &app).await;
}

/// Waits until the service is about to end.
async fn end_of(ending: &mut watch::Receiver<bool>) {
    // An error means that it has ended.
    let _ = ending.wait_for(|ending| *ending).await;
}

/// Waits until all connections are closed, for a while.
async fn drain(places: &Semaphore, app: &App) {
    let all = u32::try_from(app.settings.connections).unwrap_or(u32::MAX);
    let drained = places.acquire_many(all);
    if timeout(Duration::from_secs(app.settings.drain_seconds), drained).await.is_err() {
        warn!("some requests were not answered in time");
    }
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    mut ending: watch::Receiver<bool>,
    patience: Duration,
) {
    let service = TowerToHyperService::new(router);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(patience);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = end_of(&mut ending) => {
            // The request that is being answered is the last one.
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a connection has ended");
    }
}

#[cfg(feature = "tls")]
#[derive(Clone)]
struct Tls(tokio_rustls::TlsAcceptor);

#[cfg(feature = "tls")]
impl Tls {
    fn load(settings: &Settings) -> Result<Option<Self>, StartError> {
        use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

        let (Some(certificate), Some(key)) = (&settings.tls_certificate, &settings.tls_key) else {
            return Ok(None);
        };
        let failed = |what: &std::path::Path, error: &dyn std::fmt::Display| {
            StartError::Tls(format!("{}: {error}", what.display()))
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| failed(certificate, &error))?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| failed(key, &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|error| failed(certificate, &error))?;
        Ok(Some(Tls(Arc::new(config).into())))
    }

    async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<tokio_rustls::server::TlsStream<TcpStream>> {
        self.0.accept(stream).await
    }
}

#[cfg(not(feature = "tls"))]
#[derive(Clone)]
struct Tls;

#[cfg(not(feature = "tls"))]
impl Tls {
    fn load(settings: &Settings) -> Result<Option<Self>, StartError> {
        match &settings.tls_certificate {
            None => Ok(None),
            Some(_) => {
                Err(StartError::Tls("this program was built without the feature tls".to_owned()))
            }
        }
    }

    async fn accept(&self, stream: TcpStream) -> io::Result<TcpStream> {
        Ok(stream)
    }
}
