//! `ctx secrets policy`, `mark`, `seal` and `rules`: what becomes of secrets.

use std::io::Read as _;

use contexture::{Contexture, SecretTreatment, wire::SecretPolicyState};

use super::key;
use crate::{
    error::{Error, Result},
    input::{Input, OpenInput},
    invocation::Invocation,
    keys,
    output::{Output, Shape},
};

/// Longest rules that are read.
const MAX_RULES_BYTES: u64 = 128 * 1024;

pub(super) async fn show(invocation: &Invocation, engine: &Contexture, output: &mut Output) -> Result<()> {
    let (treatment, rules) = engine.secrets().policy().await?;
    let can_open = match treatment {
        SecretTreatment::Mark => None,
        SecretTreatment::Seal { recipient } => {
            Some(keys::find(invocation, &recipient).is_some_and(|key| key.can_open()))
        }
    };
    if output.shape() == Shape::Json {
        return output.document(SecretPolicyState { treatment, rules, can_open });
    }
    match (treatment, can_open) {
        (SecretTreatment::Mark, _) => output.line("mark: bytes stay as they came, what is shown has placeholders")?,
        (SecretTreatment::Seal { recipient }, can_open) => {
            let here =
                if can_open == Some(true) { "this machine can open them" } else { "this machine cannot open them" };
            output.line(format_args!("seal: secrets are stored encrypted to key {}; {here}", recipient.short()))?;
        }
    }
    if let Some(rules) = rules {
        output.lines(&rules)?;
    }
    Ok(())
}

pub(super) async fn mark(engine: &Contexture, output: &mut Output) -> Result<()> {
    engine.secrets().mark().await?;
    output.status("From now on bytes stay as they come, and what is shown has placeholders.");
    Ok(())
}

pub(super) async fn seal(
    invocation: &Invocation,
    engine: &Contexture,
    key: Option<Input>,
    output: &mut Output,
) -> Result<()> {
    let key = match key {
        Some(file) => key::read(&file)?,
        None => engine.secrets().generate_key(),
    };
    // What is sealed to a key that is kept nowhere is lost.
    let place = keys::keep(invocation, &key)?;
    engine.secrets().seal(key.recipient()).await?;
    output.status(format_args!("From now on secrets are stored encrypted; the key is in {}.", place.display()));
    output.status("Keep a copy of it: without it nobody sees the originals again. `ctx secrets key --help` says more.");
    Ok(())
}

pub(super) async fn rules(engine: &Contexture, file: Option<Input>, clear: bool, output: &mut Output) -> Result<()> {
    let Some(file) = file else {
        if clear {
            engine.secrets().set_rules(None).await?;
            output.status("The space has no rules of its own any more.");
            return Ok(());
        }
        if let Some(rules) = engine.secrets().policy().await?.1 {
            return output.lines(&rules);
        }
        output.status("The space has no rules of its own.");
        return Ok(());
    };
    let OpenInput { reader, .. } = file.open()?;
    let mut text = String::new();
    let unread = |source| Error::Read { input: file.clone(), source };
    reader.take(MAX_RULES_BYTES).read_to_string(&mut text).map_err(unread)?;
    engine.secrets().set_rules(Some(text)).await.map_err(|error| Error::about(file, error))?;
    output.status("The rules hold for all that is stored from now on; `ctx secrets scan` looks through the rest.");
    Ok(())
}
