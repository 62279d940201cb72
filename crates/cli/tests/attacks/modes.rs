//! Who else may read what is written.
