//! `ctx secrets scan`: looking through what is stored already.

use contexture::{Contexture, SecretTreatment};

use crate::{
    error::Result,
    output::{self, Output, Shape},
    time::When,
};

pub(super) async fn run(engine: &Contexture, since: Option<When>, output: &mut Output) -> Result<()> {
    let since = since.map(|since| since.resolve(engine.now())).transpose()?;
    let scanned = {
        let progress = output.progress("Looking through artifacts", None);
        engine.secrets().scan(since, &mut |done| progress.advance("artifacts", done, done)).await?
    };
    if output.shape() == Shape::Json {
        return output.document(scanned);
    }
    output.line(format_args!(
        "Looked through {} ({}): {} that {} not known before, in {}.",
        output::counted(scanned.artifacts, "artifact"),
        output::size(scanned.bytes),
        output::counted(scanned.new_findings, "place"),
        if scanned.new_findings == 1 { "was" } else { "were" },
        output::counted(scanned.artifacts_with_new, "artifact"),
    ))?;
    if scanned.masked_annotations > 0 {
        let masked = output::counted(scanned.masked_annotations, "statement");
        output.line(format_args!("Masked {masked} about commits."))?;
    }
    if scanned.unread > 0 {
        let unread = output::counted(scanned.unread, "artifact");
        output.status(format_args!("{unread} could not be read; `ctx fsck` says why."));
    }
    if scanned.new_findings > 0 && matches!(engine.secrets().policy().await?.0, SecretTreatment::Seal { .. }) {
        output.status("What was stored before the space was sealed is masked, not encrypted; `ctx purge` removes it.");
    }
    Ok(())
}
