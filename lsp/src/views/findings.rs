//! Diagnostics for the findings of the recordings.

use lsp_types::{Diagnostic, DiagnosticSeverity, NumberOrString, Range};
use metaspy_report::findings::text;
use metaspy_report::findings::{Certainty, FoundSite};
use metaspy_report::text::clean;

use crate::findings::RecordedFinding;
use crate::views::View;

/// Share above which a finding that is proved is a warning, in millionths.
const WARNING_PPM: u32 = 50_000;

/// Returns the findings whose site is in the document. A finding of a function that was edited
/// after the run is not shown.
pub fn of(view: &View<'_>) -> Vec<Diagnostic> {
    let Some(path) = &view.document.path else { return Vec::new() };
    let own = view.model.findings_of(path);
    own.filter_map(|found| Some(diagnostic(found, range(view, found.finding.sites.first()?)?)))
        .collect()
}

fn diagnostic(found: &RecordedFinding, range: Range) -> Diagnostic {
    let finding = &found.finding;
    let is_proved = matches!(finding.certainty, Certainty::Proved(_));
    let is_warning = is_proved && finding.cost.share_ppm() > WARNING_PPM;
    let mut lines = vec![format!("{}: {}", clean(&finding.title), text::cost(&finding.cost))];
    // The place is the diagnostic's own.
    lines.extend(found.parts.iter().filter(|part| part.word != "at").map(|part| match part.word {
        "" => part.text.clone(),
        word => format!("{word}: {}", part.text),
    }));
    lines.push(format!("metaspy findings {}", found.recording.display()));
    Diagnostic {
        range,
        severity: Some(if is_warning {
            DiagnosticSeverity::WARNING
        } else {
            DiagnosticSeverity::HINT
        }),
        code: Some(NumberOrString::String(finding.kind.clone())),
        source: Some("metaspy".into()),
        message: lines.join("\n"),
        ..Diagnostic::default()
    }
}

/// Returns the name of the function that is the site, or the line of a site that is no function.
fn range(view: &View<'_>, site: &FoundSite) -> Option<Range> {
    let is_site = |place: &usize| {
        let method = view.model.element(*place).method.as_deref();
        method
            .is_some_and(|method| method.site.path == site.path && method.site.lines.0 == site.line)
    };
    let functions = view.document.outline().functions.iter().zip(&view.matches);
    for (function, found) in functions {
        if let Some(found) = found.as_ref().filter(|found| found.places.iter().any(is_site)) {
            return (!found.is_stale).then(|| view.range(&function.ident));
        }
    }
    let path = view.document.path.as_deref()?;
    let is_function = view.model.methods_of(path).any(|(place, _)| is_site(&place));
    // A function that is not found was removed, or edited beyond recognition.
    let line =
        view.document.lines.line_bytes(site.line.checked_sub(1)?).filter(|_| !is_function)?;
    Some(view.range(&line))
}
