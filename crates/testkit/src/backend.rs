//! What the conformance suite asks of a storage engine beside the store itself.

use contexture::{Contexture, Location, Options, Result};
use contexture_core::ArtifactId;

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
}
