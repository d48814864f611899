//! `metaspy lsp`: the language server, and the plugins of editors.

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};

use crate::exit::{Ended, say};
use crate::metaspy::arguments::Lsp;

/// Serves an editor, or installs its plugin.
pub fn run(options: &Lsp) -> Result<Ended> {
    if let Some(editor) = options.install {
        let program = std::env::current_exe().context("cannot find the file of this command")?;
        let text = editor
            .install(options.into.as_deref(), &program)
            .map_err(|error| say(error.to_string()))?;
        println!("{text}");
        return Ok(Ended::Fine);
    }
    if io::stdin().is_terminal() {
        return Err(say(
            "editors start `metaspy lsp` and speak to it on standard input; for a plugin: metaspy lsp --install nvim",
        ));
    }
    metaspy_lsp::serve().context("the editor cannot be reached")?;
    Ok(Ended::Fine)
}
