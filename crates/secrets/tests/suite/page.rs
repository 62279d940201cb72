use std::{env, fmt::Write as _, fs, path::Path};

use contexture_secrets::{FAMILIES, UserRules};

/// Set to `always`, it lets the page be written again, as it does snapshots.
const UPDATE: &str = "INSTA_UPDATE";

const START: &str = "\
# Secrets

Contexture looks for secrets in all that it stores, with a table of what they look like.
A finding is shown as `[secret:RULE:FINGERPRINT]`: which rule found it, and a keyed hash of its value.
The same secret has the same fingerprint wherever it stands and however often it was quoted, and without the key nobody can try values against a fingerprint.

Content is searched as it is: JSON, text, or anything else.
Secrets in JSON are found behind and between escape sequences, also in JSON that is a text in JSON, and also where letters are written as `\\u0041`.
A placeholder stands for whole escape sequences, so JSON stays JSON, and is never taken for a secret itself.

## Your own rules

```toml
[[rule]]
id = \"acme-token\"            # small letters, digits and single hyphens
prefix = \"acme_\"             # three to 64 letters, digits, `_`, `-` and `.`
alphabet = \"alnum\"           # digits, hex, letters, upper, lower, base32, alnum, word, dotted, base64 or unreserved
length = 32                  # what follows the prefix; or the least and the greatest: [32, 40]

[[rule]]
id = \"acme-badge\"
keywords = [\"badge\"]         # what the name contains that the value is assigned to; instead of a prefix
alphabet = \"digits\"
length = [16, 20]

[allow]
values = [\"acme_00000000000000000000000000000000\"]
prefixes = [\"sk_test_\"]      # values that start so
rules = [\"json-web-token\"]   # rules that find nothing
```

A secret has at least 16 characters, its prefix included.
All mistakes are reported at once, each with its line.
Each rule of yours costs a pass over the content; those of the table share one.
There is no allow list of paths, because what an agent read from a file does not say so.

`ctx secrets scan` looks through what was stored before a rule was known.
Content is marked, so that it is shown with placeholders; summaries, labels and losses are replaced by what they are with placeholders, and the journal keeps the digest of what they said.
What a scan has replaced may be in the files of the database until `ctx purge --finish` has overwritten it.

## What is not found

- Passwords that are words: `correct horse battery staple` is a text like any other. A value counts as random when a tokenizer finds few characters per token in it.
- Values without a prefix that nothing names: a bare string of 32 hex digits may be anything.
- Identifiers of 128 bits (UUIDs), unless the name says whose secret they are.
- A key in base64 again, compressed or encrypted, in an image, or split over several lines or strings.
- A token of GitHub or npm whose checksum is wrong and that repeats itself as examples do.
- Values that say that they are examples: `example`, `your`, `changeme`, `test`, `xxxx`, references such as `${PASSWORD}`.
- Secrets longer than 64 KiB, and tokens longer than their family allows.
- Two values that differ only by a backslash before the end of a line have the same fingerprint.

## What is found

";

fn page() -> String {
    let mut page = START.to_owned();
    for (group, families) in FAMILIES {
        write!(page, "### {group}\n\n| rule | what | starts with |\n|---|---|---|\n").unwrap();
        for family in families {
            let mut prefixes: Vec<_> = family.shapes.iter().map(|shape| format!("`{}`", shape.prefix)).collect();
            prefixes.dedup();
            writeln!(page, "| `{}` | {} | {} |", family.id, family.name, prefixes.join(", ")).unwrap();
        }
        page.push('\n');
    }
    page.truncate(page.len() - 1);
    page
}

#[test]
fn the_page_of_secrets_is_the_one_that_the_table_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/secrets.md");
    if env::var(UPDATE).is_ok_and(|mode| mode == "always") {
        fs::write(&path, page()).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), page(), "{UPDATE}=always writes it again");
}

#[test]
fn the_rules_on_the_page_can_be_read() {
    let (_, rest) = START.split_once("```toml\n").unwrap();
    let (rules, _) = rest.split_once("```").unwrap();
    let rules = UserRules::parse(rules).unwrap();
    assert_eq!((rules.rules.len(), rules.allow.values.len()), (2, 1));
}
