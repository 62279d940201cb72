//! The table of secrets that are known.
//!
//! Facts about tokens as their issuers publish them. Order does not matter: the longest prefix that fits wins.

mod assigned;
mod chat;
mod cloud;
mod forges;
mod marked;
mod models;
mod payment;
mod registries;
mod services;

use crate::family::Family;

pub(crate) use marked::{FAMILIES as MARKED, Marked};

/// Families by what they open.
pub const FAMILIES: [(&str, &[Family]); 9] = [
    ("Clouds", cloud::FAMILIES),
    ("Forges and builds", forges::FAMILIES),
    ("Model providers", models::FAMILIES),
    ("Chat", chat::FAMILIES),
    ("Payment and shops", payment::FAMILIES),
    ("Package registries", registries::FAMILIES),
    ("Other services", services::FAMILIES),
    ("Told by the name that they are assigned to", assigned::FAMILIES),
    ("Told by what stands around them", marked::FAMILIES),
];

/// Lists the families that have a row in the table.
pub fn families() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().flat_map(|(_, families)| families.iter())
}
