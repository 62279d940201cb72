//! What the crate promises, seen from outside.

mod cbor;
mod check;
mod corpus;
mod join;
mod slices;
mod summary;
mod transcripts;
