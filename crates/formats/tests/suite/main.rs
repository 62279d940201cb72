//! What the crate promises, seen from outside.

mod cbor;
mod check;
mod codecs;
mod corpus;
mod encode;
mod join;
mod slices;
mod summary;
mod transcripts;
