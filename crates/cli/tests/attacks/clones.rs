//! Repositories of strangers: what they name is read only inside them, and only once they are trusted.
