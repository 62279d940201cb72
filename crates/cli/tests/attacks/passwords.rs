//! Passwords in the address of a store: kept nowhere and shown nowhere.
