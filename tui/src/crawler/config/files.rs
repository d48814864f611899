//! Files of the configuration.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use metaspy_reader::files;

use super::{Browser, Config, Filters, with_place};

/// Returns the directory of the configuration: `METASPY_CONFIG`, or `metaspy` in the user's
/// configuration directory.
pub fn directory() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("METASPY_CONFIG").or_else(|| {
        let home = if cfg!(windows) { variable("APPDATA") } else { variable("XDG_CONFIG_HOME") };
        let home = home
            .filter(|home| home.is_absolute())
            .or_else(|| Some(variable("HOME")?.join(".config")));
        home.map(|home| home.join("metaspy"))
    })
}

/// Configuration files in a directory.
#[derive(Clone, Debug)]
pub struct Files(PathBuf);

impl Files {
    /// Refers to the files in a directory, which need not exist.
    pub fn new(directory: PathBuf) -> Self {
        Files(directory)
    }

    /// Reads the configuration. A missing file counts as empty.
    pub fn config(&self) -> Result<Config, String> {
        let file = self.0.join("config.toml");
        Config::parse(&file.display().to_string(), &read(&file)?)
    }

    /// Reads the filters. A missing file counts as empty.
    pub fn filters(&self) -> Result<Filters, String> {
        let file = self.0.join("filters.toml");
        let text = read(&file)?;
        toml::from_str(&text)
            .map_err(|error| with_place(&file.display().to_string(), &text, &error))
    }

    /// Reads the browsers in `browsers/`, by name of file. Each file that cannot be parsed gives an
    /// error.
    pub fn browsers(&self) -> Vec<Result<Browser, String>> {
        let entries = fs::read_dir(self.0.join("browsers")).into_iter().flatten();
        let mut files: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        files.iter().map(|file| Browser::parse(&file.display().to_string(), &read(file)?)).collect()
    }

    /// Saves the filters, and creates the directory if necessary.
    pub(crate) fn save_filters(&self, filters: &Filters) -> Result<(), String> {
        let file = self.0.join("filters.toml");
        let text = toml::to_string(filters).map_err(|error| error.to_string())?;
        let written =
            fs::create_dir_all(&self.0).and_then(|()| files::replace(&file, text.as_bytes()));
        written.map_err(|error| format!("{}: {error}", file.display()))
    }
}

fn read(file: &Path) -> Result<String, String> {
    match files::read_text(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        result => result.map_err(|error| format!("{}: {error}", file.display())),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_pipe_is_no_configuration() {
        let directory =
            env::temp_dir().join(format!("metaspy-configuration-{}", std::process::id()));
        fs::create_dir_all(directory.join("browsers")).expect("there is room");
        for pipe in ["config.toml", "filters.toml", "browsers/a.toml"] {
            assert!(
                Command::new("mkfifo")
                    .arg(directory.join(pipe))
                    .status()
                    .expect("every Unix has it")
                    .success()
            );
        }
        let files = Files::new(directory.clone());
        let errors =
            [files.config().err(), files.filters().err(), files.browsers().remove(0).err()];
        for error in errors {
            assert!(
                error.as_ref().is_some_and(|error| error.ends_with("it is not a regular file")),
                "{error:?}"
            );
        }
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
