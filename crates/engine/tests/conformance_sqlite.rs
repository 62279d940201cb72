//! The conformance suite on SQLite.

contexture_testkit::conformance!(contexture_testkit::SqliteBackend);
