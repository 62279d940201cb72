//! What is meant where no commit is named: the last session here.

use contexture::{Contexture, Reference};

use crate::{
    error::Result,
    output::{self, Output},
};

/// Returns what was named, or else the last session of the project, and says which that is.
pub(crate) async fn or_last(named: Option<Reference>, engine: &Contexture, output: &mut Output) -> Result<Reference> {
    let Some(named) = named else {
        let session = engine.last_session().await?;
        let request = engine.measure_session(&session).await?.request;
        let request = request.map(|text| format!(": {}", output::first_line(text.as_str()))).unwrap_or_default();
        let when = output::relative(engine.now(), session.tip.at);
        output.status(format_args!("The last session here is {}, {when}{request}", session.id));
        return Ok(Reference::of_session(&session.id));
    };
    Ok(named)
}
