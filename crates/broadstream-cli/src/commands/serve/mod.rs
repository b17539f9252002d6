//! `broadstream serve`: a service whose models learn.

mod demo;
mod token;

use std::{
    env, fs,
    io::{self, Write},
};

use anyhow::{Context, Result, anyhow};
use broadstream_serve::{Service, Settings};

use crate::{
    args::{BadUsage, ServeArguments, ServeCommand},
    output::{failure::to_stdout, printable::note},
};

pub(crate) fn serve(arguments: &ServeArguments) -> Result<()> {
    match &arguments.command {
        Some(ServeCommand::Token(command)) => return token::token(command),
        Some(ServeCommand::Openapi) => {
            let description = serde_json::to_string_pretty(&broadstream_serve::openapi())?;
            return to_stdout(writeln!(io::stdout(), "{description}"));
        }
        None => {}
    }
    let mut settings = Settings::load(arguments.config.as_deref())
        .map_err(|message| anyhow!(BadUsage(message)))?;
    if let Some(data) = &arguments.data {
        settings.data.clone_from(data);
    } else if arguments.demo {
        settings.data = env::temp_dir().join(format!("broadstream-demo-{}", std::process::id()));
    }
    settings.listen = arguments.listen.unwrap_or(settings.listen);
    settings.durability = arguments.durability.unwrap_or(settings.durability);
    let data = settings.data.clone();
    broadstream_serve::log_to_stderr(settings.log_level);
    let service = Service::start(settings)?;
    note(&format!("the live page is at http://{}/", service.address()));
    let outcome = match arguments.demo {
        false => service.run_until_signal().context("waiting for a signal"),
        true => demo::run(service),
    };
    if arguments.demo && arguments.data.is_none() {
        let _ = fs::remove_dir_all(data);
    }
    outcome
}
