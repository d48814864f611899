//! Output of findings as SARIF 2.1.0, so that GitHub, GitLab and editors show them at their lines.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Certainty, Finding, Findings, FoundSite, State, explain};
use crate::text::grouped;

/// Schema of the document.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Address of the explanations of the kinds.
const HELP: &str = "https://github.com/metaspy/metaspy/blob/main/docs/findings.md";
/// Name for the base directory of relative paths. The reader of the document knows the directory.
const ROOT: &str = "%SRCROOT%";
/// Name of our fingerprints. Its number changes if the same finding gets another fingerprint.
const FINGERPRINT: &str = "metaspy/v1";

/// Writes all findings that are not small.
///
/// An estimated finding is a note, and others are warnings. Accepted findings are suppressed, with
/// their reason.
pub fn write(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    let kinds: Vec<&str> = findings.looked_for.iter().map(String::as_str).collect();
    let results = findings
        .found
        .iter()
        .filter(|finding| !finding.is_small)
        .map(|it| result(it, &kinds, findings));
    let notifications = findings.not_looked_for.iter().map(
        |it| json!({ "level": "note", "message": { "text": format!("{} was not looked for: {}", it.kind, it.why) } }),
    );
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "metaspy",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": kinds.iter().map(|kind| rule(kind)).collect::<Vec<_>>(),
                },
            },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications.collect::<Vec<_>>(),
            }],
            "results": results.collect::<Vec<_>>(),
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn rule(kind: &str) -> Value {
    // A user's own kind has no section.
    let Some(text) = explain::explain(kind) else {
        return json!({ "id": kind, "defaultConfiguration": { "level": "warning" } });
    };
    json!({
        "id": kind,
        "shortDescription": { "text": explain::statement(kind) },
        "help": { "text": text, "markdown": text },
        "helpUri": format!("{HELP}#{}", kind.replace('+', "")),
        "defaultConfiguration": { "level": "warning" },
    })
}

fn result(finding: &Finding, kinds: &[&str], findings: &Findings) -> Value {
    let level =
        if matches!(finding.certainty, Certainty::Estimated(_)) { "note" } else { "warning" };
    let mut text = format!("{}. {}", finding.title, finding.evidence.text);
    if !finding.advice.is_empty() {
        text.push_str(&format!(" Advice: {}.", finding.advice));
    }
    let mut result = json!({
        "ruleId": finding.kind,
        "level": level,
        "message": { "text": text },
        "locations": finding.sites.first().map(location).into_iter().collect::<Vec<_>>(),
        "relatedLocations": finding.sites.iter().skip(1).map(location).collect::<Vec<_>>(),
        "partialFingerprints": { FINGERPRINT: finding.fingerprint },
        "rank": f64::from(finding.cost.share_ppm()) / 1e4,
        "properties": {
            "certainty": finding.certainty.word(),
            "cost": super::json::cost(&finding.cost),
            "filter": finding.evidence.filter,
            "subjects": finding.subjects.worst.iter().map(|it| format!("{} {}", it.text, grouped(it.events))).collect::<Vec<_>>(),
        },
    });
    if let Some(at) = kinds.iter().position(|kind| *kind == finding.kind) {
        result["ruleIndex"] = at.into();
    }
    if findings.is_compared {
        let is_known = finding.state == State::Known;
        result["baselineState"] = if is_known { "unchanged" } else { "new" }.into();
    }
    if let State::Accepted(reason) = &finding.state {
        result["suppressions"] = json!([{ "kind": "external", "justification": reason }]);
    }
    result
}

fn location(site: &FoundSite) -> Value {
    let mut location = json!({
        "logicalLocations": [{ "fullyQualifiedName": site.path, "kind": "function" }],
    });
    if !site.file.is_empty() {
        let mut physical = json!({ "artifactLocation": artifact(&site.file) });
        if site.line > 0 {
            physical["region"] = json!({ "startLine": site.line });
        }
        location["physicalLocation"] = physical;
    }
    location
}

/// Returns a relative path as it is, or the URI of an absolute path.
fn artifact(file: &str) -> Value {
    let path = file.replace('\\', "/");
    let is_drive = path.as_bytes().get(1) == Some(&b':');
    match path.strip_prefix('/') {
        Some(below) => json!({ "uri": format!("file:///{}", encoded(below)) }),
        None if is_drive => {
            json!({ "uri": format!("file:///{}:{}", &path[..1], encoded(&path[2..])) })
        }
        None => json!({ "uri": encoded(&path), "uriBaseId": ROOT }),
    }
}

/// Replaces the bytes of a path that a URI may not have by percent codes.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
