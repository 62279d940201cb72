//! Who else can read what was kept.

use contexture::private::{self, ExposedFile};

use super::problem::{Check, FIX, Problem};
use crate::{
    commands::store::check,
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output},
};

/// Most files that are named.
const MAX_NAMED: usize = 20;

/// Returns what others can reach of the store and of what live capture keeps.
pub(super) fn of(invocation: &Invocation) -> Result<Vec<ExposedFile>> {
    let mut exposed = invocation.location()?.exposed();
    exposed.extend(private::exposed_below(&invocation.environment.state_directory()?));
    Ok(exposed)
}

/// Makes all of it the user's alone.
pub(super) fn close(invocation: &Invocation, output: &mut Output) -> Result<()> {
    let exposed = of(invocation)?;
    for file in &exposed {
        file.close().map_err(|source| Error::Write { path: file.path.clone(), source })?;
    }
    if !exposed.is_empty() {
        let files = output::counted(exposed.len() as u64, "file or directory");
        output.status(format_args!("Closed to others: {files}."));
    }
    Ok(())
}

pub(super) fn problems(exposed: &[ExposedFile]) -> Vec<Problem> {
    let problem = |what: String| Problem::new(Check::Store, what, FIX);
    let named = exposed.iter().take(MAX_NAMED).map(check::describe_exposure).map(problem);
    let more = exposed.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| problem(format!("{more} more files and directories are open to others")));
    named.chain(more).collect()
}
