//! The conformance suite on PostgreSQL.

contexture_testkit::conformance!(contexture_testkit::postgres::PostgresBackend);
