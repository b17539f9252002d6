//! The arguments of `broadstream serve`.

use std::{net::SocketAddr, path::PathBuf};

use broadstream_serve::{Durability, Role};
use clap::{Args, Subcommand, ValueHint};

/// Serve models that learn, over HTTP, with a live page.
///
/// Rows are sent and predictions come back; labels are sent when they are known. What is acknowledged is
/// in a log before, and is learned again if the program is killed. Everything is in one folder, of which a
/// copy is a backup. SIGTERM and Ctrl-C answer what was asked for, write snapshots and end the service.
///
/// Settings come from a file in TOML, from environment variables such as BROADSTREAM_SERVE_LISTEN, and from
/// these arguments, each over the one before.
#[derive(Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ServeArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ServeCommand>,

    /// The folder with everything that the service knows [default: broadstream-data]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Where to listen; another address than one of this machine needs tokens [default: 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,

    /// A file with settings
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// When what is acknowledged is on the disk: 'always', 'every N ms' or 'never' [default: every 50 ms]
    #[arg(long, value_name = "WHEN")]
    pub(crate) durability: Option<Durability>,

    /// Stream a generator with drift through the service, as a client would
    ///
    /// Without --data the folder is a temporary one.
    #[arg(long)]
    pub(crate) demo: bool,
}

#[derive(Subcommand)]
pub(crate) enum ServeCommand {
    /// Create, revoke and list the tokens of a service
    #[command(subcommand)]
    Token(TokenCommand),
    /// Write the description of the interface, as OpenAPI, to standard output
    Openapi,
}

#[derive(Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token, and print its secret, which is not stored
    Create {
        /// What to call it
        name: String,
        /// What it permits: predict, learn or admin, each with what those before permit
        #[arg(long)]
        role: Role,
        /// The models that it is for [default: all]
        #[arg(long = "model", value_name = "MODEL")]
        models: Vec<String>,
        #[command(flatten)]
        folder: ServiceFolder,
    },
    /// Revoke a token, at once
    Revoke {
        /// The token
        name: String,
        #[command(flatten)]
        folder: ServiceFolder,
    },
    /// List the tokens, without their secrets
    List {
        #[command(flatten)]
        folder: ServiceFolder,
    },
}

#[derive(Args)]
pub(crate) struct ServiceFolder {
    /// The folder of the service
    #[arg(long, value_name = "DIR", default_value = "broadstream-data", value_hint = ValueHint::DirPath)]
    pub(crate) data: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  broadstream serve --demo
      A service that is alive; its page is at http://127.0.0.1:7878/.
  broadstream serve --data /srv/models --durability always
  broadstream serve token create app --role learn --model fraud --data /srv/models
      From now on requests need a token, and this one may predict and learn with one model.";
