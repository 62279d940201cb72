//! Secrets in sessions: what everything shows of them, and what not.
