//! Images, documents and sounds, as addresses and as bytes.

use contexture_core::{BlobSource, EntryPart};

/// Stands for the media type of an image whose address does not tell it.
pub(crate) const SOME_IMAGE: &str = "image/*";
/// Stands for a media type that nothing tells.
pub(crate) const SOME_BYTES: &str = "application/octet-stream";
/// The media type of PDF documents, the only kind that model APIs take from an address.
pub(crate) const PDF: &str = "application/pdf";

/// Returns what an address leads to: the bytes in a `data:` address, a local file, or the address itself.
pub(crate) fn at_url(url: &str, media_type: &str) -> EntryPart {
    if let Some((declared, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        let media_type = if declared.is_empty() { media_type } else { declared };
        return EntryPart::Blob { media_type: media_type.to_owned(), source: BlobSource::Base64(data.to_owned()) };
    }
    let source = match url.strip_prefix("file://") {
        Some(path) => BlobSource::File(path.to_owned()),
        None => BlobSource::Url(url.to_owned()),
    };
    EntryPart::Blob { media_type: media_type.to_owned(), source }
}

/// Returns an address that holds the bytes.
pub(crate) fn data_url(media_type: &str, base64: &str) -> String {
    format!("data:{media_type};base64,{base64}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(media_type: &str, source: BlobSource) -> EntryPart {
        EntryPart::Blob { media_type: media_type.into(), source }
    }

    #[test]
    fn an_address_says_where_the_bytes_are() {
        let at = |url| at_url(url, SOME_IMAGE);
        assert_eq!(at("data:image/png;base64,AA=="), blob("image/png", BlobSource::Base64("AA==".into())));
        assert_eq!(at("data:;base64,AA=="), blob(SOME_IMAGE, BlobSource::Base64("AA==".into())));
        assert_eq!(at("data:text/plain,hi"), blob(SOME_IMAGE, BlobSource::Url("data:text/plain,hi".into())));
        assert_eq!(at("file:///tmp/a.png"), blob(SOME_IMAGE, BlobSource::File("/tmp/a.png".into())));
        assert_eq!(at("https://a.example/b"), blob(SOME_IMAGE, BlobSource::Url("https://a.example/b".into())));
        assert_eq!(at(&data_url("image/gif", "AA==")), blob("image/gif", BlobSource::Base64("AA==".into())));
    }
}
