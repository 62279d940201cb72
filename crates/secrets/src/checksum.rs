//! Checksums that tokens carry.

/// Tells whether the last six characters are the CRC32 of those before them, in base 62.
pub(crate) fn ends_with_crc32(body: &[u8]) -> bool {
    body.len().checked_sub(6).is_some_and(|at| body[at..] == base62(crc32(&body[..at])))
}

/// The CRC32 of zip and Ethernet, bit by bit: it is needed for thirty bytes at a time.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}

/// Writes a number in base 62, which is six digits for every number of 32 bits.
pub(crate) fn base62(mut number: u32) -> [u8; 6] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(number % 62) as usize];
        number /= 62;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(&base62(0), b"000000");
        assert_eq!(&base62(61), b"00000z");
        assert_eq!(&base62(u32::MAX), b"4gfFC3");
    }

    #[test]
    fn a_body_shorter_than_its_checksum_has_none() {
        assert!(!ends_with_crc32(b"00000"));
        assert!(ends_with_crc32(b"000000"));
    }
}
