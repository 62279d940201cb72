//! Removing what nothing refers to, beside those who write.
