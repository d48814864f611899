//! The arguments of `metaspy mcp`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use metaspy_mcp::Pattern;
use metaspy_mcp::install::Client;

/// `metaspy mcp`.
#[derive(Debug, Args)]
pub struct Mcp {
    /// Recordings that an agent asks about: files, directories of them, or the names or the
    /// processes of live recordings [default: those in this directory, and all that your processes
    /// record]
    #[arg(value_name = "FILE|PID|NAME")]
    pub recordings: Vec<PathBuf>,
    /// Lets an agent start commands that match, word by word and without a shell: 'cargo metaspy *'; any number of times
    #[arg(long, value_name = "PATTERN")]
    pub allow_run: Vec<Pattern>,
    /// Prints the entry for this client, with the recordings and patterns of this command
    #[arg(long, value_name = "CLIENT", value_parser = parse_client())]
    pub install: Option<Client>,
    /// Writes the entry into the client's own file, and keeps all that is there
    #[arg(long, requires = "install")]
    pub write: bool,
}

fn parse_client() -> impl TypedValueParser<Value = Client> {
    let values = PossibleValuesParser::new(Client::ALL.map(Client::word));
    values.map(|word| Client::from_word(&word).expect("the parser accepts only these words"))
}
