//! `ctx secrets where`: all that held a secret.

use std::io::{self, Read as _};

use contexture::{Contexture, Reveal, SecretCommit, core::Fingerprint, wire::LocatedSecret};

use crate::{
    error::{Error, Result},
    input::Input,
    output::{self, Output, Shape},
};

/// A longer text is no secret.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

pub(super) async fn tell(engine: &Contexture, secret: &str, output: &mut Output) -> Result<()> {
    let fingerprints = if secret == "-" {
        let mut text = Vec::new();
        let unread = |source| Error::Read { input: Input::Stdin, source };
        io::stdin().take(MAX_SECRET_BYTES).read_to_end(&mut text).map_err(unread)?;
        let found = engine.secrets().fingerprints_of(text.trim_ascii()).await?;
        found.into_iter().map(|(_, fingerprint)| fingerprint).collect()
    } else {
        let fingerprint: Fingerprint = secret.parse()?;
        vec![fingerprint]
    };
    for fingerprint in fingerprints {
        let places = engine.secrets().places(fingerprint).await?;
        show(LocatedSecret { fingerprint, places }, output)?;
    }
    Ok(())
}

fn show(secret: LocatedSecret, output: &mut Output) -> Result<()> {
    if output.shape() == Shape::Json {
        return output.document(secret);
    }
    let LocatedSecret { fingerprint, places } = secret;
    let strong = output.palette.strong;
    output.line(format_args!("{strong}{fingerprint}{strong:#}"))?;
    if places.artifacts.is_empty() {
        return output.line("  nowhere in this space");
    }
    for artifact in &places.artifacts {
        output.line(format_args!("  artifact  {artifact}"))?;
    }
    for SecretCommit { commit, session, machine } in &places.commits {
        let of = |name: &str, value: Option<String>| value.map(|value| format!("  {name} {value}")).unwrap_or_default();
        let session = of("session", session.as_ref().map(ToString::to_string));
        let machine = of("machine", machine.as_ref().map(ToString::to_string));
        output.line(format_args!("  commit    {commit}{session}{machine}"))?;
    }
    for envelope in &places.envelopes {
        output.line(format_args!("  envelope  {envelope}"))?;
    }
    for Reveal { at, actor, subject } in &places.reveals {
        output.line(format_args!("  revealed  {at} to {actor}: {subject}"))?;
    }
    let held = places.commits.len() as u64;
    output.status(format_args!(
        "{} held it, on {}.",
        output::counted(held, "commit"),
        output::counted(places.machines.len() as u64, "machine")
    ));
    Ok(())
}
