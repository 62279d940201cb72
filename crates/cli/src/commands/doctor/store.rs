//! Whether the store can be used.

use contexture::{
    Contexture,
    inspect::{Access, Inspection, Presence, StoreCondition},
    wire::{self, StoreHealth},
};

use super::problem::{Check, Problem};
use crate::{
    commands::{stats, store::check},
    error::{Error, Result},
    invocation::Invocation,
};

/// What says more about the store.
const SAY_MORE: &str = "ctx store check";

/// How the store is.
#[derive(Debug)]
pub(super) struct StoreState {
    path: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Found { place: StoreCondition, warnings: Vec<&'static str> },
    Unusable { problem: String },
}

impl StoreState {
    /// Tells programs of it.
    pub(super) fn document(&self) -> StoreHealth {
        let state = match &self.state {
            State::Found { place, warnings } => wire::StoreState::Found {
                place: place.clone(),
                warnings: warnings.iter().map(|warning| (*warning).to_owned()).collect(),
            },
            State::Unusable { problem } => wire::StoreState::Unusable { problem: problem.clone() },
        };
        StoreHealth { path: self.path.clone(), state }
    }

    /// Looks at the store, and opens it if there is one.
    pub(super) async fn of(invocation: &Invocation) -> Result<(Self, Option<Contexture>)> {
        let location = invocation.location()?;
        let path = location.to_string();
        let unusable = |error: Error| {
            let state = State::Unusable { problem: error.in_one_line() };
            Ok((Self { path: path.clone(), state }, None))
        };
        let (place, warnings) = match Contexture::inspect(&location, &invocation.environment.clock()?).await {
            Ok(Inspection::Sqlite(place)) => (place, Vec::new()),
            Ok(Inspection::Postgres(database)) => (database.place, check::warnings(&database.durability)),
            Err(error) => return unusable(error.into()),
        };
        if let Access::ReadOnly(obstacle) = &place.access
            && !place.is_usable()
        {
            return unusable(Error::NoStore { place: location, obstacle: obstacle.clone() });
        }
        // Who only looks makes no store.
        let engine = match place.store {
            Presence::Absent => None,
            Presence::Present(_) => match invocation.open().await {
                Ok(engine) => Some(engine),
                Err(error) => return unusable(error),
            },
        };
        Ok((Self { path, state: State::Found { place, warnings } }, engine))
    }

    /// Tells whether it can be read, or made.
    pub(super) fn is_usable(&self) -> bool {
        matches!(self.state, State::Found { .. })
    }

    /// Tells whether something can be taken in.
    pub(super) fn is_writable(&self) -> bool {
        matches!(&self.state, State::Found { place: StoreCondition { access: Access::ReadWrite, .. }, .. })
    }

    pub(super) fn line(&self) -> String {
        let what = match &self.state {
            State::Unusable { .. } => "it cannot be used".to_owned(),
            State::Found { place: StoreCondition { store: Presence::Absent, .. }, .. } => {
                "none yet; the first command that stores something makes it".to_owned()
            }
            State::Found { place: StoreCondition { store: Presence::Present(measures), .. }, .. } => {
                format!("{}, {}", check::store(measures), stats::files(&measures.footprint))
            }
        };
        format!("{}: {what}", self.path)
    }

    pub(super) fn problems(&self) -> Vec<Problem> {
        let problem = |what: String| Problem::new(Check::Store, what, SAY_MORE);
        match &self.state {
            State::Unusable { problem: why } => vec![problem(why.clone())],
            State::Found { place, warnings } => {
                let obstacle = match &place.access {
                    Access::ReadWrite => None,
                    Access::ReadOnly(obstacle) => Some(check::describe_obstacle(obstacle)),
                };
                let read_only = obstacle.map(|obstacle| format!("the store can only be read: {obstacle}"));
                let warnings = warnings.iter().map(|warning| format!("of the server, {warning}"));
                read_only.into_iter().chain(warnings).map(problem).collect()
            }
        }
    }
}
