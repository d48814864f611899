//! The files that a command line names for output, checked before the command does anything.
//!
//! An option whose file is written has the type [`OutputPath`] or [`JsonFile`], so no command has a
//! list of its own.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use anyhow::Result;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgMatches, Parser};
use metaspy_reader::files::{OutputFile, input};
use metaspy_report::findings::settings_file;
use metaspy_report::text::{clean, file_name};

use crate::exit::{UNUSABLE, cannot_write, complain, say};
use crate::options::JsonFile;

/// Path of a file that a command writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPath {
    path: PathBuf,
    /// True if the file may be a recording, which may take the place of another recording.
    may_be_recording: bool,
}

/// Parses the name of a file that is written beside the report. Standard output has the report.
pub fn document() -> impl TypedValueParser<Value = OutputPath> {
    PathBufValueParser::new().try_map(|path| {
        if path.as_os_str() == "-" {
            Err("standard output has the report: name a file")
        } else {
            Ok(OutputPath { path, may_be_recording: false })
        }
    })
}

/// Parses the name of a file that may become a recording.
pub fn recording() -> impl TypedValueParser<Value = OutputPath> {
    PathBufValueParser::new().map(|path| OutputPath { path, may_be_recording: true })
}

impl Deref for OutputPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

/// Parses the arguments of a command, and collects the files that they name for output. Otherwise
/// prints the help, or what is wrong, and returns the exit code.
pub fn parse<C: Parser>(arguments: Vec<OsString>) -> Result<(C, Outputs), ExitCode> {
    let matches = C::command().try_get_matches_from(&arguments);
    let error = match matches
        .and_then(|matches| Ok((C::from_arg_matches(&matches)?, Outputs::of(&matches))))
    {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    if error.kind() == ErrorKind::InvalidSubcommand
        && let Some(file) = arguments.get(1).map(Path::new)
        && file.is_file()
    {
        let command = C::command().get_name().to_owned();
        let name = file_name(file);
        complain(
            &command,
            &format!(
                "unrecognized subcommand '{name}', which is a file: `metaspy open {name}` shows a recording"
            ),
        );
        return Err(ExitCode::from(UNUSABLE));
    }
    // The message quotes arguments as they are, so it is made again of clean ones.
    let clean = arguments.iter().map(|argument| clean(&argument.to_string_lossy()).into_owned());
    let error = C::try_parse_from(clean).err().unwrap_or(error);
    let _ = error.print();
    Err(ExitCode::from(error.exit_code() as u8))
}

/// Files that a command line names.
#[derive(Debug, Default)]
pub struct Outputs {
    outputs: Vec<Output>,
    inputs: Vec<PathBuf>,
}

#[derive(Debug)]
struct Output {
    /// The option, such as `--json`.
    option: String,
    path: OutputPath,
}

impl Outputs {
    /// Collects the files of a parsed command line.
    pub fn of(matches: &ArgMatches) -> Outputs {
        let mut files = Outputs::default();
        let mut level = Some(matches);
        while let Some(matches) = level {
            matches.ids().for_each(|id| files.add(matches, id.as_str()));
            level = matches.subcommand().map(|(_, matches)| matches);
        }
        files
    }

    /// The options that name a file to write.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        self.outputs.iter().map(|output| output.option.as_str())
    }

    /// Fails if a file cannot be written, if it is an input, or if two options name the same file.
    pub fn check(&self) -> Result<()> {
        if self.outputs.is_empty() {
            return Ok(());
        }
        // The settings are read late, for the line about findings that other commands end with.
        let settings = env::current_dir().ok().and_then(|here| settings_file(&here));
        // A directory is an input as a whole only where all of it is read.
        let inputs = self.inputs.iter().chain(&settings).filter(|path| path.is_file());
        inputs.for_each(|path| input::note(path));
        for (at, output) in self.outputs.iter().enumerate() {
            let place = place_of(&output.path);
            let earlier = self.outputs[..at]
                .iter()
                .find(|earlier| place.is_some() && place_of(&earlier.path) == place);
            if let Some(earlier) = earlier {
                let (first, second, file) =
                    (&earlier.option, &output.option, file_name(&output.path));
                return Err(say(format!(
                    "{first} and {second} both name {file}: give each a file of its own"
                )));
            }
        }
        let documents = self.outputs.iter().filter(|output| !output.path.may_be_recording);
        documents
            .map(|output| &output.path)
            .try_for_each(|path| OutputFile::check(path).map_err(cannot_write(path)))
    }

    fn add(&mut self, matches: &ArgMatches, id: &str) {
        let document = |path: &Path| OutputPath { path: path.to_owned(), may_be_recording: false };
        let path = match matches.try_get_one::<JsonFile>(id) {
            Ok(Some(JsonFile::File(file))) => Some(document(file)),
            _ => matches.try_get_one::<OutputPath>(id).ok().flatten().cloned(),
        };
        if let Some(path) = path {
            self.outputs.push(Output { option: format!("--{}", id.replace('_', "-")), path });
        }
        if let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id) {
            self.inputs.extend(paths.cloned());
        }
        // A program that the command starts, and the files that it is given.
        if id == "command"
            && let Ok(Some(words)) = matches.try_get_many::<OsString>(id)
        {
            let words: Vec<&OsString> = words.collect();
            self.inputs.extend(words.iter().map(PathBuf::from));
            if let Some(program) =
                words.first().filter(|program| Path::new(program).components().count() == 1)
            {
                let directories = env::var_os("PATH").unwrap_or_default();
                self.inputs.extend(
                    env::split_paths(&directories).map(|directory| directory.join(program)),
                );
            }
        }
    }
}

/// Returns the path of a file without links; `None` for a device or a pipe, which several may write
/// to.
fn place_of(path: &Path) -> Option<PathBuf> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return None;
    }
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let beside = || Some(fs::canonicalize(directory).ok()?.join(path.file_name()?));
    Some(fs::canonicalize(path).ok().or_else(beside).unwrap_or_else(|| path.to_owned()))
}
