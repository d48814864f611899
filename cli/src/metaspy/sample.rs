//! `metaspy sample`: where the processor time of a program goes.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use metaspy_reader::files::OutputFile;
use metaspy_report::table::Top;
use metaspy_report::text::print_message;
use metaspy_sampler::export::{Collapsed, Exporter, Firefox, Flame, Pprof, Speedscope};
use metaspy_sampler::options::{Choice, Instances, Output};
use metaspy_sampler::record::{self, Appended};
use metaspy_sampler::run::Ended as TargetEnded;
use metaspy_sampler::{Options, Profile, SampleError, Target, json, sample, sample_live, text};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::exit::{Ended, cannot_write, complain, say};
use crate::metaspy::arguments;
use crate::outputs::OutputPath;

/// A format: the option's file, and its exporter.
type Format<'a> = (&'a Option<OutputPath>, &'a dyn Exporter<Profile>);

/// Samples the target, then writes the report and the files.
pub fn run(options: &arguments::Sample, out: &mut impl Write) -> Result<Ended> {
    let target = match options.pid {
        Some(pid) => Target::Process(pid),
        None => Target::Command(options.command.clone()),
    };
    let sampling = Options {
        clock: options.clock,
        back_end: if options.timer { Choice::Timer } else { Choice::Best },
        rate_hz: options.rate,
        stacks: options.stacks,
        instances: if options.split_generics { Instances::Split } else { Instances::Merged },
        stack_bytes: options.stack_size.unwrap_or(metaspy_sampler::options::STACK_BYTES),
        limit: options.seconds.map(std::time::Duration::from_secs_f64),
        output: if options.json.replaces_text() { Output::StandardError } else { Output::Shared },
    };
    // Ctrl-C ends the program, or the sampling of a process, and the report follows. Programs do
    // not inherit a handler.
    let stop = Arc::new(AtomicBool::new(false));
    flag::register(SIGINT, stop.clone()).context("cannot handle Ctrl-C")?;
    let formats: [Format<'_>; 5] = [
        (&options.html, &Flame),
        (&options.collapsed, &Collapsed),
        (&options.speedscope, &Speedscope),
        (&options.firefox, &Firefox),
        (&options.pprof, &Pprof),
    ];
    let run = if options.live {
        sample_live(&target, &sampling, &stop, |profile| show(profile, options.top.rows()))
    } else {
        sample(&target, &sampling, &stop)
    };
    let run = run.map_err(refused)?;
    let failed = matches!(run.ended, TargetEnded::Exited(status) if !status.success());
    let profile = Profile::new(run);
    append(&profile);
    for (path, exporter) in
        formats.into_iter().filter_map(|(path, exporter)| Some((path.as_ref()?, exporter)))
    {
        let mut file = OutputFile::create(path).map_err(cannot_write(path))?;
        exporter
            .export(&profile, &mut file)
            .and_then(|_| file.complete())
            .map_err(cannot_write(path))?;
        print_message(&format!("metaspy: written to {}", path.display()));
    }
    let layout = text::Layout { top: options.top.rows(), callers: options.callers };
    options.json.write(
        out,
        |out| json::write(out, &profile),
        |out| text::write(out, &profile, layout),
    )?;
    Ok(if failed { Ended::Failed } else { Ended::Fine })
}

/// Draws the recent samples over the last drawing; below it, if the output is no terminal.
fn show(profile: &Profile, top: Top) {
    let mut out = io::stdout();
    let mut text = Vec::from(if out.is_terminal() { "\x1b[2J\x1b[H" } else { "\n" });
    // The run goes on, whatever becomes of its output: it is the report that must be written.
    let _ = text::write_live(&mut text, profile, top)
        .and_then(|()| out.write_all(&text))
        .and_then(|()| out.flush());
}

/// Writes the samples into the recordings of the sampled processes.
fn append(profile: &Profile) {
    for (path, appended) in record::append(profile) {
        let path = path.display();
        let text = match appended {
            Ok(Appended::All) => {
                format!(
                    "{path} has the samples: metaspy report {path} --functions, or --by subject --cpu"
                )
            }
            Ok(Appended::WithoutFunctions) => format!(
                "{path} has the samples: metaspy report {path} --by subject --cpu; their functions found no room: record \
                 with a larger METASPY_BUDGET"
            ),
            Ok(Appended::StillWritten) => {
                format!("{path} is still written, so its samples are in this report only")
            }
            Ok(Appended::NoSamples) => {
                format!("{path} has no samples: its process used too little processor time")
            }
            Ok(Appended::NoRoom) => {
                format!("{path} has no room for samples: record with a larger METASPY_BUDGET")
            }
            Err(error) => format!("{path} does not get its samples: {error}"),
        };
        complain("metaspy", &text);
    }
}

fn refused(error: SampleError) -> anyhow::Error {
    say(error.to_string())
}
