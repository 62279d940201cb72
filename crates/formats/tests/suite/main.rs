//! What the crate promises, seen from outside.

mod cbor;
mod check;
mod codecs;
mod corpus;
mod decode;
mod encode;
mod golden;
mod join;
mod opencode;
mod pairs;
mod readers;
mod records;
mod slices;
mod summary;
mod transcripts;
mod translate;
