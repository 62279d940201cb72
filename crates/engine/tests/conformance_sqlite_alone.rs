//! The conformance suite on SQLite, opened for one caller.

contexture_testkit::conformance!(contexture_testkit::LoneSqliteBackend);
