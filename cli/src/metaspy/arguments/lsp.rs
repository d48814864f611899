//! The arguments of `metaspy lsp`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use metaspy_lsp::install::Editor;

/// `metaspy lsp`.
#[derive(Debug, Args)]
pub struct Lsp {
    /// Installs the plugin of this editor, for the user
    #[arg(long, value_name = "EDITOR", value_parser = parse_editor())]
    pub install: Option<Editor>,
    /// Writes the plugin into this directory instead
    #[arg(long, value_name = "DIR", requires = "install")]
    pub into: Option<PathBuf>,
    /// What editors pass on; there is no other way
    #[arg(long, hide = true)]
    pub stdio: bool,
}

fn parse_editor() -> impl TypedValueParser<Value = Editor> {
    let values = PossibleValuesParser::new(Editor::ALL.map(Editor::word));
    values.map(|word| Editor::from_word(&word).expect("the parser accepts only these words"))
}
