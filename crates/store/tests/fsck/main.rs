//! The checker against stores that are whole and stores damaged in one place.

mod artifacts;
mod commits;
mod engine;
mod envelopes;
mod fixture;
mod heads;
mod journal;
mod lines;
mod passages;
mod records;
mod report;
mod withheld;
