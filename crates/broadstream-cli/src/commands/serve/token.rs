//! `broadstream serve token`: who may do what.

use std::io::{self, Write};

use anyhow::Result;
use broadstream_serve::{Token, TokenFile};

use crate::{args::TokenCommand, output::failure::to_stdout};

pub(super) fn token(command: &TokenCommand) -> Result<()> {
    let (TokenCommand::Create { folder, .. }
    | TokenCommand::Revoke { folder, .. }
    | TokenCommand::List { folder }) = command;
    let data = &folder.data;
    let tokens = TokenFile::open(data)?;
    match command {
        TokenCommand::Create { name, role, models, .. } => {
            let secret = tokens.create(name, *role, models)?;
            to_stdout(writeln!(io::stdout(), "{secret}"))
        }
        TokenCommand::Revoke { name, .. } => Ok(tokens.revoke(name)?),
        TokenCommand::List { .. } => {
            let mut text = String::new();
            for Token { name, role, models, .. } in tokens.tokens() {
                let models = match models.is_empty() {
                    true => "all models".to_owned(),
                    false => models.join(", "),
                };
                text += &format!("{name}: {role}, {models}\n");
            }
            to_stdout(io::stdout().write_all(text.as_bytes()))
        }
    }
}
