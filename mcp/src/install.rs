//! Entries in the files of clients.
//!
//! An entry is added to the text of a file, so that all that stands in it stays as it is, with its
//! order and comments. A file that cannot be parsed is not changed.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use metaspy_reader::files;
use metaspy_report::text::file_name;
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// The name of the server in the files of clients.
const NAME: &str = "metaspy";
/// The key of the directory that VS Code starts a server in.
const DIRECTORY: &str = "cwd";
/// The mark of an encoding, at the beginning of a file.
const MARK: &str = "\u{feff}";
/// The table of servers in the file of Codex.
const CODEX_TABLE: &str = "mcp_servers";

/// A client with a file of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code: `.mcp.json` in the directory of the project.
    Claude,
    /// Codex: `config.toml` in the user's directory of Codex.
    Codex,
    /// Cursor: `.cursor/mcp.json` in the directory of the project.
    Cursor,
    /// Visual Studio Code: `.vscode/mcp.json` in the directory of the project.
    Vscode,
    /// Gemini CLI: `.gemini/settings.json` in the directory of the project.
    Gemini,
}

impl Client {
    /// All clients.
    pub const ALL: [Client; 5] =
        [Client::Claude, Client::Codex, Client::Cursor, Client::Vscode, Client::Gemini];

    /// Returns the word for the command line.
    pub fn word(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Codex => "codex",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Gemini => "gemini",
        }
    }

    /// Returns the client with this word, or `None` if there is no such client.
    pub fn from_word(word: &str) -> Option<Client> {
        Client::ALL.into_iter().find(|client| client.word() == word)
    }

    /// Returns the file that has the client's servers. `project` is the directory of the project.
    pub fn file(self, project: &Path) -> io::Result<PathBuf> {
        Ok(match self {
            Client::Claude => project.join(".mcp.json"),
            Client::Codex => codex_directory()?.join("config.toml"),
            Client::Cursor => project.join(".cursor/mcp.json"),
            Client::Vscode => project.join(".vscode/mcp.json"),
            Client::Gemini => project.join(".gemini/settings.json"),
        })
    }

    /// Returns the entry as a file with nothing else.
    pub fn entry(self, program: &str, arguments: &[String]) -> String {
        self.added_to("", program, arguments).expect("an entry can be added to an empty file")
    }

    /// Adds the entry to the text of a file. Of an entry of this name, other keys stay, as all else
    /// does.
    ///
    /// # Errors
    ///
    /// Returns a sentence that states why the text cannot have the entry.
    pub(crate) fn added_to(
        self,
        text: &str,
        program: &str,
        arguments: &[String],
    ) -> Result<String, String> {
        // Some editors of Windows begin a file with a mark of its encoding.
        let (mark, text) = text.strip_prefix(MARK).map_or(("", text), |text| (MARK, text));
        let added = match self {
            Client::Codex => added_to_toml(text, program, arguments),
            Client::Vscode => added_to_json(text, "servers", self.json(program, arguments)),
            Client::Claude | Client::Cursor | Client::Gemini => {
                added_to_json(text, "mcpServers", self.json(program, arguments))
            }
        };
        added.map(|text| format!("{mark}{text}"))
    }

    /// Writes the entry into the client's own file, which is replaced as a whole or not at all.
    pub fn write(self, project: &Path, program: &str, arguments: &[String]) -> io::Result<PathBuf> {
        let file = self.file(project)?;
        let wrong = |why: String| {
            let name = file_name(&file);
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{name}: {why}; nothing was written"),
            )
        };
        let text = match files::read_text(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(wrong(format!("{error}: add the entry by hand"))),
        };
        // It would be replaced all the same, because the directory can be written.
        if fs::metadata(&file).is_ok_and(|metadata| metadata.permissions().readonly()) {
            return Err(wrong("it is read-only: add the entry by hand".to_owned()));
        }
        let text = self.added_to(&text, program, arguments).map_err(wrong)?;
        let unwritten = |error: io::Error| {
            wrong(format!("it cannot be written ({error}): add the entry by hand"))
        };
        if let Some(directory) = file.parent() {
            fs::create_dir_all(directory).map_err(unwritten)?;
        }
        files::replace(&file, text.as_bytes()).map_err(unwritten)?;
        Ok(file)
    }

    /// The members of the entry.
    fn json(self, program: &str, arguments: &[String]) -> Vec<(String, CstInputValue)> {
        let text = |text: &str| CstInputValue::String(text.to_owned());
        let mut members = Vec::new();
        if matches!(self, Client::Claude | Client::Vscode) {
            members.push(("type".to_owned(), text("stdio")));
        }
        members.push(("command".to_owned(), text(program)));
        members.push((
            "args".to_owned(),
            CstInputValue::Array(arguments.iter().map(|word| text(word)).collect()),
        ));
        if self == Client::Vscode {
            members.push((DIRECTORY.to_owned(), text("${workspaceFolder}")));
        }
        members
    }
}

/// The directory of Codex: `CODEX_HOME`, otherwise `.codex` in the user's home.
fn codex_directory() -> io::Result<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = variable("CODEX_HOME")
        .or_else(|| Some(variable("HOME").or_else(|| variable("USERPROFILE"))?.join(".codex")));
    directory.ok_or_else(|| {
        io::Error::other("neither HOME nor CODEX_HOME is set: add the entry by hand")
    })
}

fn added_to_json(
    text: &str,
    servers: &str,
    entry: Vec<(String, CstInputValue)>,
) -> Result<String, String> {
    // Clients accept comments and trailing commas at most.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root = CstRootNode::parse(text, &options)
        .map_err(|error| format!("it is not JSON ({error}): correct it first"))?;
    let is_empty = root.value().is_none();
    let object =
        root.object_value_or_create().ok_or("it is JSON, and no object: add the entry by hand")?;
    let servers = match object.get(servers) {
        None => object.object_value_or_set(servers),
        Some(property) => property
            .object_value()
            .ok_or_else(|| format!("`{servers}` is no object: add the entry by hand"))?,
    };
    set(&servers, entry)?;
    let text = root.to_string();
    Ok(if is_empty && !text.ends_with('\n') { text + "\n" } else { text })
}

fn set(servers: &CstObject, members: Vec<(String, CstInputValue)>) -> Result<(), String> {
    let Some(property) = servers.get(NAME) else {
        servers.append(NAME, CstInputValue::Object(members));
        return Ok(());
    };
    let entry = property
        .object_value()
        .ok_or_else(|| format!("`{NAME}` is no object: add the entry by hand"))?;
    // Other keys, such as an environment, are the user's.
    for (name, value) in members {
        match entry.get(&name) {
            None => _ = entry.append(&name, value),
            Some(_) if name == DIRECTORY => {}
            Some(property) => property.set_value(value),
        }
    }
    Ok(())
}

fn added_to_toml(text: &str, program: &str, arguments: &[String]) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error| format!("it is not TOML ({error}): correct it first"))?;
    let mut parent = Table::new();
    parent.set_implicit(true);
    let servers = document.entry(CODEX_TABLE).or_insert(Item::Table(parent));
    let servers = servers
        .as_table_like_mut()
        .ok_or(format!("`{CODEX_TABLE}` is no table: add the entry by hand"))?;
    if !servers.contains_key(NAME) {
        servers.insert(NAME, Item::Table(Table::new()));
    }
    let entry = servers.get_mut(NAME).and_then(Item::as_table_like_mut);
    let entry =
        entry.ok_or(format!("`{CODEX_TABLE}.{NAME}` is no table: add the entry by hand"))?;
    // Other keys, such as a time limit, are the user's.
    entry.insert("command", value(program));
    entry.insert("args", value(arguments.iter().map(String::as_str).collect::<Array>()));
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(client: Client, text: &str) -> Result<String, String> {
        client.added_to(text, "metaspy", &["mcp".to_owned(), "run.spy".to_owned()])
    }

    #[test]
    fn all_that_stands_in_a_file_stays() {
        let before = "{\n  // My servers.\n  \"zeta\": 1,\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" },\n  },\n  \"alpha\": [1,2]\n}\n";
        let after = added(Client::Cursor, before).unwrap();
        for part in [
            "// My servers.",
            "\"other\": { \"command\": \"x\" }",
            "\"alpha\": [1,2]\n}\n",
            "\"metaspy\"",
        ] {
            assert!(after.contains(part), "{part}: {after}");
        }
        assert!(after.find("zeta") < after.find("alpha"), "{after}");
        assert_eq!(added(Client::Cursor, &after).unwrap(), after, "an entry is there once");
    }

    #[test]
    fn an_entry_keeps_what_the_user_set() {
        let before = "\u{feff}{ \"mcpServers\": { \"metaspy\": {\n  \"env\": { \"METASPY_DIR\": \"live\" }, // Mine.\n  \"command\": \"old\",\n  \"args\": [\"mcp\", \"run.spy\"]\n} } }\n";
        assert_eq!(added(Client::Gemini, before).unwrap(), before.replace("old", "metaspy"));
        let before =
            "{ \"servers\": { \"metaspy\": { \"cwd\": \"mine\", \"command\": \"old\" } } }";
        let after = added(Client::Vscode, before).unwrap();
        assert!(
            after.contains("\"cwd\": \"mine\"") && after.contains("\"command\": \"metaspy\""),
            "{after}"
        );
        assert!(
            after.contains("[\"mcp\", \"run.spy\"]") && after.contains("\"type\": \"stdio\""),
            "{after}"
        );
    }

    #[test]
    fn a_table_of_codex_keeps_what_the_user_set() {
        let before = "# Mine.\nmodel = \"x\"\n\n[mcp_servers.metaspy]\ncommand = \"old\"\nstartup_timeout_sec = 20\n\n[tui]\nn = 1\n";
        let after = added(Client::Codex, before).unwrap();
        let expected = before.replace("\"old\"", "\"metaspy\"");
        assert_eq!(after.replace("args = [\"mcp\", \"run.spy\"]\n", ""), expected);
        assert!(
            added(Client::Codex, "")
                .unwrap()
                .starts_with("[mcp_servers.metaspy]\ncommand = \"metaspy\"\n")
        );
    }

    #[test]
    fn a_file_that_does_not_parse_is_refused() {
        for (client, text) in [
            (Client::Claude, "{ \"mcpServers\": "),
            (Client::Claude, "[1]"),
            (Client::Gemini, "{ \"mcpServers\": 5 }"),
            (Client::Cursor, "{ \"mcpServers\": { \"metaspy\": 5 } }"),
            (Client::Vscode, "{ servers: {} }"),
            (Client::Codex, "[mcp_servers"),
            (Client::Codex, "mcp_servers = 5"),
        ] {
            assert!(added(client, text).is_err(), "{text}");
        }
    }
}
