//! Reader of callgrind's output files, which count how often each instruction was executed.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use metaspy_reader::files;

/// Arguments with which `valgrind` writes such a file, with a line for each instruction.
pub const ARGUMENTS: [&str; 6] = [
    "--tool=callgrind",
    "--dump-instr=yes",
    "--dump-line=no",
    "--compress-strings=no",
    "--compress-pos=no",
    "--quiet",
];

/// Counted instructions of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Path of the executed program.
    pub program: String,
    /// Executions by code file, then by the address of the instruction in that file.
    pub files: BTreeMap<String, BTreeMap<u64, u64>>,
}

impl Output {
    /// Reads an output file of callgrind.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or does not have the format that [`ARGUMENTS`] select.
    pub fn read(path: &Path) -> io::Result<Output> {
        Output::parse(BufReader::new(files::open(path)?))
    }

    fn parse(text: impl BufRead) -> io::Result<Output> {
        let mut output = Output::default();
        let mut file = String::new();
        let mut is_of_callee = false;
        let mut has_addresses = false;
        for (number, line) in text.lines().enumerate() {
            let line = line?;
            if let Some(positions) = line.strip_prefix("positions:") {
                has_addresses = positions.trim() == "instr";
            } else if let Some(command) = line.strip_prefix("cmd:") {
                output.program =
                    command.trim_start().split(' ').next().unwrap_or_default().to_owned();
            } else if let Some(name) = line.strip_prefix("ob=") {
                name.clone_into(&mut file);
            } else if line.starts_with("calls=") {
                // The next line counts the callee's instructions, which have their own lines.
                is_of_callee = true;
            } else if let Some(words) = line.strip_prefix("0x") {
                let cost =
                    cost(words).filter(|_| has_addresses).ok_or_else(|| unknown(number + 1))?;
                if !std::mem::take(&mut is_of_callee) {
                    output.add(&file, cost);
                }
            }
        }
        if has_addresses { Ok(output) } else { Err(unknown(1)) }
    }

    fn add(&mut self, file: &str, (address, count): (u64, u64)) {
        let of_file = match self.files.get_mut(file) {
            Some(known) => known,
            None => self.files.entry(file.to_owned()).or_default(),
        };
        let known = of_file.entry(address).or_default();
        *known = known.saturating_add(count);
    }

    /// Sums all executed instructions.
    pub fn all(&self) -> u64 {
        self.files
            .values()
            .flat_map(BTreeMap::values)
            .fold(0, |all, &count| all.saturating_add(count))
    }
}

/// Parses the address and the count of a line without its prefix.
fn cost(words: &str) -> Option<(u64, u64)> {
    let (address, count) = words.split_once(' ')?;
    Some((u64::from_str_radix(address, 16).ok()?, count.trim().parse().ok()?))
}

fn unknown(line: usize) -> io::Error {
    let text = format!(
        "line {line} is not of callgrind with addresses: write it with `valgrind {}`",
        ARGUMENTS.join(" ")
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# callgrind format\ncmd:  /bin/app --fast\npositions: instr\nevents: Ir\n\nob=/bin/app\nfl=???\nfn=main\n0x10 2\n0x14 3\n\
        cob=/lib/libc.so\ncfi=???\ncfn=malloc\ncalls=3 0x40\n0x14 900\n0x18 1\n\nob=/lib/libc.so\nfl=???\nfn=malloc\n0x40 300\n";

    #[test]
    fn a_call_s_cost_counts_once_in_the_lines_of_the_callee() {
        let output = Output::parse(TEXT.as_bytes()).expect("it is a file of callgrind");
        assert_eq!(output.program, "/bin/app");
        assert_eq!(output.files["/bin/app"], BTreeMap::from([(0x10, 2), (0x14, 3), (0x18, 1)]));
        assert_eq!(output.all(), 306);
    }

    #[test]
    fn another_file_is_refused() {
        let refused =
            |text: &str| Output::parse(text.as_bytes()).expect_err("it is refused").to_string();
        assert!(refused("").contains("line 1 is not of callgrind with addresses"));
        assert!(refused(&TEXT.replace("instr", "line")).starts_with("line 9 "));
        assert!(refused(&TEXT.replace("0x18 1", "0x18 many")).starts_with("line 16 "));
    }
}
