//! Who may do what.

mod tokens;

pub use self::tokens::{Role, Token, TokenError, TokenFile};
