//! Installation of the editors' plugins, which are part of the command.
//!
//! The plugins use no client library: the editor has a client, or the plugin speaks the protocol
//! itself, in one file without dependencies. The command contains them, and an installation needs
//! neither a network nor a build.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use metaspy_reader::files;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Editor with a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Editor {
    /// Neovim.
    Nvim,
    /// Visual Studio Code, VSCodium and others of this family.
    Vscode,
}

/// Path and text of a plugin's file.
type File = (&'static str, &'static str);

macro_rules! files {
    ($dir:literal: $($file:literal),+ $(,)?) => {
        [$(($file, include_str!(concat!("../editors/", $dir, "/", $file)))),+]
    };
}

const NVIM: [File; 4] = files!("nvim": "plugin/metaspy.lua", "lua/metaspy.lua", "lua/metaspy/signs.lua", "lua/metaspy/lists.lua");
const VSCODE: [File; 5] = files!("vscode": "package.json", "README.md", "src/extension.js", "src/client.js", "src/decorations.js");

/// Parts of a `.vsix` beside the extension itself.
const VSIX: [File; 2] = files!("vscode": "vsix/extension.vsixmanifest", "vsix/[Content_Types].xml");

impl Editor {
    /// All editors.
    pub const ALL: [Editor; 2] = [Editor::Nvim, Editor::Vscode];

    /// Returns the word for the command line.
    pub fn word(self) -> &'static str {
        match self {
            Editor::Nvim => "nvim",
            Editor::Vscode => "vscode",
        }
    }

    /// Returns the editor with this word, or `None` if there is no such editor.
    pub fn from_word(word: &str) -> Option<Editor> {
        Editor::ALL.into_iter().find(|editor| editor.word() == word)
    }

    /// Installs the plugin into this directory, or otherwise for the user. The plugin starts this
    /// program. The returned text describes the installation and the next steps.
    pub fn install(self, into: Option<&Path>, program: &Path) -> io::Result<String> {
        match self {
            Editor::Nvim => install_nvim(into, program),
            Editor::Vscode => install_vscode(into, program),
        }
    }
}

const NEXT: &str =
    "Next:  cargo metaspy test --timed    in a workspace; then open one of its files.";

fn install_nvim(into: Option<&Path>, program: &Path) -> io::Result<String> {
    let dir = match into {
        Some(dir) => dir.to_owned(),
        None => user_data()?.join("nvim/site/pack/metaspy/start/metaspy"),
    };
    for (path, text) in NVIM {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&dir))
            .map_err(|error| cannot_write(&path, &error))?;
        files::replace(&path, with_program(text, program).as_bytes())
            .map_err(|error| cannot_write(&path, &error))?;
    }
    let how = match into {
        Some(dir) => format!("Add it to Neovim:  set runtimepath+={}", dir.display()),
        None => "Neovim loads it when it starts.  :MetaspyRuns, :MetaspyMetric, :MetaspyCallers"
            .to_owned(),
    };
    Ok(format!("The plugin is in {}.\n{how}\n{NEXT}", dir.display()))
}

fn install_vscode(into: Option<&Path>, program: &Path) -> io::Result<String> {
    let dir = into.map_or_else(env::temp_dir, Path::to_owned);
    let file = dir.join(format!("metaspy-{}.vsix", env!("CARGO_PKG_VERSION")));
    let vsix = vsix(program).map_err(io::Error::other)?;
    fs::create_dir_all(&dir)
        .and_then(|()| files::replace(&file, &vsix))
        .map_err(|error| cannot_write(&file, &error))?;
    let by_hand = format!(
        "The extension is in {}.\nInstall it:  code --install-extension {}",
        file.display(),
        file.display()
    );
    if into.is_some() {
        return Ok(format!("{by_hand}\n{NEXT}"));
    }
    let installed = ["code", "codium", "cursor"].into_iter().find(|editor| {
        let mut command = Command::new(editor);
        command
            .arg("--install-extension")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    });
    Ok(match installed {
        Some(editor) => format!("`{editor}` has the extension. Reload its windows.\n{NEXT}"),
        None => format!("{by_hand}\n`code` is not in PATH, so this was not done.\n{NEXT}"),
    })
}

/// Builds the archive that VS Code installs.
fn vsix(program: &Path) -> zip::result::ZipResult<Vec<u8>> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (path, text) in VSIX {
        zip.start_file(path.trim_start_matches("vsix/"), stored)?;
        zip.write_all(text.replace("{version}", env!("CARGO_PKG_VERSION")).as_bytes())?;
    }
    for (path, text) in VSCODE {
        zip.start_file(format!("extension/{path}"), stored)?;
        zip.write_all(with_program(text, program).as_bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Returns the text of a plugin's file, which names the program as a string.
fn with_program(text: &str, program: &Path) -> String {
    let program = serde_json::Value::String(program.display().to_string()).to_string();
    text.replace("\"METASPY_PROGRAM\"", &program)
}

fn user_data() -> io::Result<PathBuf> {
    let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = of("XDG_DATA_HOME")
        .or_else(|| if cfg!(windows) { of("LOCALAPPDATA") } else { None })
        .or_else(|| Some(of("HOME")?.join(".local/share")));
    found.ok_or_else(|| {
        io::Error::other("there is no home directory: name a directory with --into DIR")
    })
}

fn cannot_write(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!(
        "cannot write {} ({error}): name another directory with --into DIR",
        path.display()
    ))
}
