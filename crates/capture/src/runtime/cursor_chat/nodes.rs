//! Nodes of the database of a chat: records of numbered fields, of which one names the messages.

/// The field of a node that names a message, by the digest of it.
const MESSAGE: u64 = 1;
/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;

/// Returns the ids of the messages that a node names, in their order. What is no such record names none.
pub(super) fn children(node: &[u8]) -> Vec<String> {
    let mut ids = Vec::new();
    let mut rest = node;
    while let Some((field, content, after)) = field(rest) {
        if field == MESSAGE && content.len() == DIGEST_BYTES {
            ids.push(hex::encode(content));
        }
        rest = after;
    }
    if rest.is_empty() { ids } else { Vec::new() }
}

/// Reads one field: its number, its bytes where it has any, and what follows.
fn field(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (tag, rest) = number(bytes)?;
    let (content, after): (&[u8], &[u8]) = match tag & 7 {
        0 => (&[], number(rest)?.1),
        1 => (&[], rest.get(8..)?),
        2 => {
            let (length, rest) = number(rest)?;
            rest.split_at_checked(usize::try_from(length).ok()?)?
        }
        5 => (&[], rest.get(4..)?),
        _ => return None,
    };
    Some((tag >> 3, content, after))
}

/// Reads a number, seven bits a byte.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0_u64;
    for (place, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[place + 1..]));
        }
    }
    None
}

/// Returns the bytes that hexadecimal digits stand for.
pub(super) fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    let pairs = digits.chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_record_names_no_messages() {
        let digest = [7; DIGEST_BYTES];
        let node = [&[0x0A, 32][..], &digest, &[0x10, 0x96, 0x01, 0x1A, 1, b'x', 0x25, 0, 0, 0, 0]].concat();
        assert_eq!(children(&node), ["07".repeat(DIGEST_BYTES)]);
        for end in 1..node.len() {
            // Some beginnings are records, too.
            assert!(children(&node[..end]).len() <= 1, "{end}");
        }
        assert_eq!(children(b"{\"role\":\"user\"}"), Vec::<String>::new());
        assert_eq!(children(&[0xFF; 40]), Vec::<String>::new());
        assert_eq!((bytes_of("7b7d").as_deref(), bytes_of("7b7"), bytes_of("zz")), (Some(&b"{}"[..]), None, None));
    }
}
