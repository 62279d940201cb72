//! What the conformance suite asks of a storage engine beside the store itself.

use contexture::{Contexture, Location, Options, Result};
use contexture_core::ArtifactId;
use contexture_store::table::ColumnKind;

/// A place for one store, empty at first, that goes away with the value.
///
/// Implemented once per storage engine; the conformance suite calls it. An implementation must never open the store by
/// itself before the suite does: that a store can be made is part of what is tested.
pub trait Backend: Sized {
    /// Makes a place that holds nothing yet.
    fn create() -> impl Future<Output = Self>;

    /// Says where the store is.
    fn location(&self) -> Location;

    /// Opens the store there, as often as the suite likes.
    fn open(options: Options) -> impl Future<Output = Result<Contexture>> {
        Contexture::open(options)
    }

    /// Goes on with what a crash at this moment leaves, when nobody is writing. What a writer would have left half done
    /// is stood for by `torn`, where the engine has a place for that.
    fn crash(&mut self, torn: &[u8]) -> impl Future<Output = ()>;

    /// Deletes an artifact behind the store's back.
    fn lose_artifact(&self, id: ArtifactId) -> impl Future<Output = ()>;

    /// Puts zeros in the place of an artifact's bytes, or of its first part's, behind the store's back.
    fn damage_artifact(&self, id: ArtifactId) -> impl Future<Output = ()>;

    /// Asks the engine which columns the tables of the store have, in order. What only this engine has is left out.
    fn columns(&self) -> impl Future<Output = Vec<EngineColumn>>;
}

/// A column as an engine knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineColumn {
    /// The table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ColumnKind,
    /// Whether a row may have no value.
    pub is_optional: bool,
    /// Its place in the primary key, the first being 1; 0 when it is not in it.
    pub key_place: u32,
}
