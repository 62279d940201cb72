use contexture_secrets::{Alphabet, Scanner, UserRules};

use crate::generate::Random;

fn found(text: &str) -> Vec<String> {
    let spans = Scanner::new().scan(text.as_bytes());
    spans.iter().map(|span| format!("{}: {}", span.rule, &text[span.start..span.end()])).collect()
}

#[test]
fn what_is_no_secret_is_left_alone() {
    let mut random = Random::new(9);
    let digest = random.text(Alphabet::HEX, 64);
    let commit = random.text(Alphabet::HEX, 40);
    let image = random.text(Alphabet::BASE64, 20_000);
    let integrity = random.text(Alphabet::BASE64, 86);
    for text in [
        "{\"input_tokens\": 123, \"output_tokens\": 4567, \"cache_read_input_tokens\":89012345}".to_owned(),
        format!("commit {commit}\nsha256:{digest}\n\"hash\": \"{digest}\""),
        format!("data:image/png;base64,{image}=="),
        format!("\"integrity\": \"sha512-{integrity}==\""),
        "\"id\": \"4f1c2a9e-1b1d-4a53-9a1e-0d7b1f6f9a11\", \"sessionToken\": \"4f1c2a9e-1b1d-4a53-9a1e-0d7b1f6f9a11\""
            .to_owned(),
        "const password = document.getElementById('password').value;".to_owned(),
        "token = self.tokenizer.encode(text); api_key = os.environ[\"OPENAI_API_KEY\"]".to_owned(),
        "password: ${DB_PASSWORD}\napi_key: {{ secrets.API_KEY }}\nsecret: <your-secret-here>".to_owned(),
        "OPENAI_API_KEY=sk-your-key-here AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
        "postgres://user:password@localhost/db https://user:${PASS}@host <scheme>://user:<password>@host a://b:***@c"
            .to_owned(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(),
        "function a(e,t){return e.token=t.key,e.password=n(t.secret),sk-1}".to_owned(),
        "\"password\": \"correct horse battery staple\", \"passwordResetUrl\": \"/account/reset/password\"".to_owned(),
        "https://medium.com/@user:post https://cdn.host/pkg@1.2.3/file.js:10".to_owned(),
        "next_page_token: CAUQAAa8sdf76asd8f7a6sd8f76a".to_owned(),
    ] {
        assert_eq!(found(&text), [""; 0], "{text}");
    }
}

#[test]
fn values_that_look_random_are_found_where_secrets_are() {
    let mut random = Random::new(10);
    for _ in 0..50 {
        let value = format!("{}7x", random.text(Alphabet::ALNUM, 30));
        for (text, rule) in [
            (format!("password = \"{value}\""), "assigned-password"),
            (format!("{{\"apiKey\": \"{value}\"}}"), "assigned-secret"),
            (format!("{{\"env\":\"API_SECRET={value}\\n\"}}"), "assigned-secret"),
            (format!("{{\"a\":\"{{\\\"clientSecret\\\":\\\"{value}\\\"}}\"}}"), "assigned-secret"),
            (format!("  access_token: {value}\n"), "assigned-token"),
            (format!("tool --auth-token {value} --more"), "assigned-token"),
            (format!("Authorization: Bearer {value}"), "authorization-header"),
            (format!("<password>{value}</password>"), "assigned-password"),
            (format!("postgres://app:{value}@db.internal:5432/main"), "url-password"),
            (format!("postgres:\\/\\/app:{value}@db.internal"), "url-password"),
        ] {
            assert_eq!(found(&text), [format!("{rule}: {value}")], "{text}");
        }
    }
}

#[test]
fn secrets_are_told_by_what_stands_around_them() {
    let mut random = Random::new(11);
    let mut text = |alphabet, length| random.text(alphabet, length);
    let (id, time, signature) = (text(Alphabet::ALNUM, 24), text(Alphabet::ALNUM, 6), text(Alphabet::ALNUM, 38));
    let hex = text(Alphabet::HEX, 32);
    for (secret, rule) in [
        (format!("{}:AA{}", text(Alphabet::DIGITS, 10), text(Alphabet::ALNUM, 33)), "telegram-bot-token"),
        (format!("M{}.{time}.{signature}", &id[1..]), "discord-bot-token"),
        (format!("{}8Q~{}", text(Alphabet::ALNUM, 3), text(Alphabet::ALNUM, 34)), "azure-client-secret"),
        (format!("S{}{hex}", "K"), "twilio-api-key"),
        (format!("{hex}-us{}", 12), "mailchimp-key"),
        (format!("sha256~{}", text(Alphabet::ALNUM, 43)), "openshift-token"),
        (format!("access_token$production${}${hex}", text(Alphabet::LOWER, 16)), "braintree-token"),
    ] {
        assert_eq!(found(&format!("see {secret}, there")), [format!("{rule}: {secret}")]);
    }
    let path = format!("T{}/B{}/{}", text(Alphabet::UPPER, 9), text(Alphabet::UPPER, 10), text(Alphabet::ALNUM, 24));
    assert_eq!(found(&format!("https://hooks.slack.com/services/{path}")), [format!("slack-webhook: {path}")]);
    let token = text(Alphabet::WORD, 68);
    assert_eq!(
        found(&format!("https://discord.com/api/webhooks/123456789012345678/{token}")),
        [format!("discord-webhook: {token}")]
    );
}

#[test]
fn keys_in_armour_are_found_whole_and_without_their_end() {
    let mut random = Random::new(12);
    let lines: Vec<String> = (0..20).map(|_| random.text(Alphabet::ALNUM, 64)).collect();
    for kind in ["RSA PRIVATE", "PRIVATE", "EC PRIVATE", "OPENSSH PRIVATE", "ENCRYPTED PRIVATE", "DSA PRIVATE"] {
        let whole = format!("-----BEGIN {kind} KEY-----\n{}\n-----END {kind} KEY-----", lines.join("\n"));
        assert_eq!(found(&format!("a\n{whole}\nb")), [format!("private-key: {whole}")]);
        let json = serde_json::to_string(&whole).unwrap();
        assert_eq!(found(&json), [format!("private-key: {}", &json[1..json.len() - 1])]);
        let cut = &whole[..whole.len() / 2];
        assert_eq!(found(cut), [format!("private-key: {cut}")]);
    }
    let numbered: Vec<String> = lines.iter().zip(2..).map(|(line, at)| format!("\n{at:6}→{line}")).collect();
    let shown =
        format!("     1→-----BEGIN RSA PRIVATE KEY-----{}\n    22→-----END RSA PRIVATE KEY-----", numbered.concat());
    assert_eq!(found(&shown).len(), 1);
    assert!(found(&shown)[0].ends_with("-----END RSA PRIVATE KEY-----"));
}

#[test]
fn users_add_rules_and_allow_values() {
    let rules = UserRules::parse(
        "[[rule]]\nid = \"corp-token\"\nprefix = \"corp_\"\nalphabet = \"base64\"\nlength = 24\n\
         [[rule]]\nid = \"badge\"\nkeywords = [\"badge\"]\nalphabet = \"digits\"\nlength = [16, 20]\n\
         [allow]\nvalues = [\"corp_000000000000000000000000\"]\nprefixes = [\"corp_11\"]\nrules = [\"url-password\"]\n",
    )
    .unwrap();
    let scanner = Scanner::with_rules(&rules);
    let found = |text: &str| -> Vec<String> {
        scanner
            .scan(text.as_bytes())
            .iter()
            .map(|span| format!("{}: {}", span.rule, &text[span.start..span.end()]))
            .collect()
    };
    assert_eq!(found("\\ncorp_ab/cdefghijklmnop+rstuvw."), ["corp-token: corp_ab/cdefghijklmnop+rstuvw"]);
    assert_eq!(found("BADGE_NUMBER: 1234567890123456"), ["badge: 1234567890123456"]);
    assert_eq!(found("corp_000000000000000000000000 corp_11cdefghijklmnopqrstuvwx"), [""; 0]);
    assert_eq!(found("ftp://me:k3jh4kj5h@host/"), [""; 0]);
}

#[test]
fn all_mistakes_in_rules_are_told_with_their_lines() {
    let mistakes = UserRules::parse(
        "[[rule]]\nid = \"Corp\"\nprefix = \"c\"\nalphabet = \"greek\"\nlength = \"long\"\n\
         [[rule]]\nid = \"github-token\"\nprefix = \"corp_\"\nkeywords = [\"badge\"]\nalphabet = \"hex\"\nlength = 4\ncolour = 1\n\
         [allow]\nprefixes = [\"a\"]\nrules = [\"no-such-rule\"]\n",
    )
    .unwrap_err();
    let lines: Vec<usize> = mistakes.0.iter().map(|mistake| mistake.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 12, 14, 15], "{mistakes}");
    let broken = UserRules::parse("[allow]\nvalues = [\n").unwrap_err();
    assert_eq!(broken.0.len(), 1);
}

#[test]
fn a_text_of_cbor_ends_where_its_head_says() {
    let scanner = Scanner::new();
    let mut random = Random::new(13);
    for (length, prefix) in [(54, "gsk_"), (60, "gsk_"), (73, "nvapi-"), (84, "xai-")] {
        let secret = format!("{prefix}{}", random.text(Alphabet::ALNUM, length - prefix.len() - 1) + "7");
        let mut content = b"\xa2ckeyx".to_vec();
        content.push(u8::try_from(secret.len()).unwrap());
        content.extend_from_slice(secret.as_bytes());
        content.extend_from_slice(b"dname");
        let spans = scanner.scan(&content);
        assert_eq!(spans.len(), 1, "{secret}");
        assert_eq!(&content[spans[0].start..spans[0].end()], secret.as_bytes());
    }
}
