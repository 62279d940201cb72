//! Stores under several processes, killed processes and failing disks.

mod check;
mod faults;
mod kill;
mod many;
mod preload;
mod writer;
