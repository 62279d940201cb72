//! `ctx schema`.

use insta::assert_snapshot;

use super::harness::User;

#[test]
fn every_document_is_listed_with_what_prints_it() {
    let user = User::new();
    let listed = user.done(&["schema"]);
    let first: Vec<&str> = listed.lines().take(3).collect();
    assert_snapshot!(first.join("\n"), @"
    artifact             An artifact that was stored or written. (artifact put, artifact get)
    artifact-stat        How an artifact is stored. (artifact stat)
    assembled-envelope   What was assembled, and what each target is given. (assemble)
    ");
    let documents = user.done(&["schema", "--json"]);
    assert_eq!(documents.lines().count(), listed.lines().count());
    assert_snapshot!(documents.lines().next().unwrap(), @r#"{"schema":"contexture/1","name":"artifact","about":"An artifact that was stored or written.","commands":["artifact put","artifact get"],"version":"contexture/1"}"#);
}

#[test]
fn a_schema_says_what_a_document_holds() {
    let user = User::new();
    let shown = user.done(&["schema", "made-commit"]);
    assert_snapshot!(shown, @r##"
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "made-commit",
      "description": "A commit that was made.",
      "type": "object",
      "properties": {
        "created": {
          "description": "False when the commit was there before.",
          "type": "boolean"
        },
        "id": {
          "description": "Its id.",
          "$ref": "#/$defs/CommitId"
        },
        "schema": {
          "description": "Which shape it has.",
          "$ref": "#/$defs/SchemaVersion"
        }
      },
      "required": [
        "schema",
        "id",
        "created"
      ],
      "$defs": {
        "CommitId": {
          "description": "Names a commit: 128 bits over every immutable field of its record.",
          "type": "string",
          "pattern": "^ctx-[0-9a-f]{32}$"
        },
        "SchemaVersion": {
          "description": "The version of a document's shape; a document of another version cannot be read.",
          "oneOf": [
            {
              "description": "The first.",
              "type": "string",
              "const": "contexture/1"
            }
          ]
        }
      }
    }
    "##);
    let line = user.done(&["schema", "made-commit", "--json"]);
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!((line.lines().count(), read(&line)), (1, read(&shown)));
}

#[test]
fn a_document_that_is_not_there_is_refused() {
    let ran = User::new().run(&["schema", "made-comit"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("a similar value exists: 'made-commit'"), "{ran}");
}
