//! What a file is that is no session, where its first bytes tell.

use super::{DocumentFields, is_object};

/// Bytes among which none of text is zero.
const TEXT_BYTES: usize = 4 * 1024;

/// Names what a document is, by its fields.
pub(super) fn document(fields: &DocumentFields<'_>) -> Option<&'static str> {
    let is_chat = is_object(fields.mapping) && fields.conversation_id.is_some();
    is_chat.then_some("a conversation exported from ChatGPT")
}

/// Names what a file is, by how it begins.
pub(super) fn what(head: &[u8]) -> Option<&'static str> {
    const BEGINNINGS: [(&[u8], &str); 6] = [
        (b"SQLite format 3\0", "a SQLite database of no runtime whose databases are known"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\xFD7zXZ\0", "compressed with xz"),
        (b"BZh", "compressed with bzip2"),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
        (b"%PDF-", "a PDF document"),
    ];
    let beginning = BEGINNINGS.into_iter().find(|(beginning, _)| head.starts_with(beginning));
    let is_binary = || head.iter().take(TEXT_BYTES).any(|byte| *byte == 0);
    beginning.map(|(_, name)| name).or_else(|| is_binary().then_some("no text"))
}
