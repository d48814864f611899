//! How good the findings are: of the planted faults those that are found, and what is said of
//! correct programs.

use std::fmt;
use std::path::Path;

use metaspy::Store;
use metaspy_report::findings::{self, Certainty, Config, Finding};

use crate::planted::{Case, Fault};

/// Findings of one recording, judged.
pub struct Judged {
    case: Case,
    /// The finding that states the planted fault.
    right: Option<Finding>,
    /// All others. In a correct program each of them is wrong.
    others: Vec<Finding>,
}

impl Judged {
    /// Judges what is found in the recording of a case.
    pub fn of(case: Case, file: &Path) -> Result<Judged, String> {
        let store = Store::open(file).map_err(|error| error.to_string())?;
        let mut others: Vec<Finding> =
            findings::find(&store, &Config::default()).listed().cloned().collect();
        let place = case
            .planted()
            .and_then(|fault| others.iter().position(|finding| states(finding, fault)));
        let right = place.map(|place| others.remove(place));
        Ok(Judged { case, right, others })
    }
}

/// True if the finding names the kind, the site and the subject of the fault.
fn states(finding: &Finding, fault: &Fault) -> bool {
    let has_segments = |path: &str| {
        let path = format!("::{path}::");
        fault.sites.iter().any(|site| path.contains(&format!("::{site}::")))
    };
    let names_site = finding.sites.iter().any(|site| has_segments(&site.path))
        || has_segments(&finding.subjects.kind);
    let worst = &finding.subjects.worst;
    let names_subject =
        fault.subject.is_none_or(|label| worst.iter().any(|subject| subject.text.contains(label)));
    fault.kinds.contains(&finding.kind.as_str()) && names_site && names_subject
}

/// One row, and one for each finding beside the expected one.
impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = self.case.title();
        match (self.case.planted(), &self.right) {
            (Some(fault), Some(right)) => {
                write!(f, "found   {title:<32} {fault}{}", estimated(right))?
            }
            (Some(fault), None) => write!(f, "MISSED  {title:<32} {fault}")?,
            (None, _) if self.others.is_empty() => write!(f, "silent  {title}")?,
            (None, _) => write!(f, "WRONG   {title}")?,
        }
        for other in &self.others {
            write!(
                f,
                "\n        {} {:<22} {}{}",
                share(other),
                other.kind,
                other.title,
                estimated(other)
            )?;
        }
        Ok(())
    }
}

fn estimated(finding: &Finding) -> &'static str {
    if is_estimated(finding) { "  (estimated)" } else { "" }
}

fn is_estimated(finding: &Finding) -> bool {
    matches!(finding.certainty, Certainty::Estimated(_))
}

fn share(finding: &Finding) -> String {
    format!("{:>5.1} %", f64::from(finding.cost.share_ppm()) / 1e4)
}

/// Numbers of all recordings.
pub struct Quality<'a>(pub &'a [Judged]);

impl fmt::Display for Quality<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (faults, correct): (Vec<&Judged>, Vec<&Judged>) =
            self.0.iter().partition(|judged| judged.case.planted().is_some());
        let right = faults.iter().filter(|judged| judged.right.is_some()).count();
        let beside: usize = faults.iter().map(|judged| judged.others.len()).sum();
        let wrong: usize = correct.iter().map(|judged| judged.others.len()).sum();
        let guessed = correct
            .iter()
            .flat_map(|judged| &judged.others)
            .filter(|wrong| is_estimated(wrong))
            .count();
        let blamed = correct.iter().filter(|judged| !judged.others.is_empty()).count();
        writeln!(f, "recall     {}: faults that are found", ratio(right, faults.len()))?;
        writeln!(
            f,
            "precision  {}: expected findings among all",
            ratio(right, right + beside + wrong)
        )?;
        writeln!(
            f,
            "wrong      {}: correct recordings of which something is said",
            ratio(blamed, correct.len())
        )?;
        writeln!(f, "           {wrong} findings in them, {guessed} of these estimated")?;
        write!(
            f,
            "beside     {beside} findings in recordings with a fault that are not the expected one"
        )
    }
}

fn ratio(part: usize, whole: usize) -> String {
    format!("{part:>3} of {whole:<3} {:>5.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}
