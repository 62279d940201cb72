//! Content that arrives in slices.

use contexture_formats::{Checker, Concatenation, Ending, FormatError, JoinError, JoinPlan, Joiner, Measure};

pub(crate) fn check(rule: Concatenation, content: &[u8]) -> Result<Measure, FormatError> {
    check_slices(rule, [content])
}

pub(crate) fn check_slices<'s>(
    rule: Concatenation,
    slices: impl IntoIterator<Item = &'s [u8]>,
) -> Result<Measure, FormatError> {
    let mut checker = Checker::new(rule);
    for slice in slices {
        checker.push(slice)?;
    }
    checker.finish()
}

/// Checks that cutting the content changes nothing, and returns the answer.
pub(crate) fn check_every_cut(rule: Concatenation, content: &[u8]) -> Result<Measure, FormatError> {
    let whole = check(rule, content);
    assert_eq!(check_slices(rule, content.chunks(1)), whole, "byte by byte");
    for cut in 0..=content.len() {
        let (head, tail) = content.split_at(cut);
        assert_eq!(check_slices(rule, [head, tail]), whole, "cut at {cut}");
    }
    whole
}

pub(crate) fn join(
    plan: JoinPlan,
    parts: &[impl AsRef<[u8]>],
    slice_len: usize,
) -> Result<(Vec<u8>, Measure), JoinError> {
    let mut joiner = Joiner::new(plan);
    let mut out = Vec::new();
    for part in parts {
        for slice in part.as_ref().chunks(slice_len) {
            let joined = joiner.push(slice)?;
            out.extend_from_slice(&joined.glue);
            out.extend_from_slice(joined.body);
        }
        joiner.end_part()?;
    }
    let Ending { glue, measure } = joiner.finish()?;
    out.extend_from_slice(&glue);
    Ok((out, measure))
}

/// Joins with slices of several lengths, checks that they give the same, and returns it.
pub(crate) fn join_every_way(plan: JoinPlan, parts: &[impl AsRef<[u8]>]) -> Result<(Vec<u8>, Measure), JoinError> {
    let whole = join(plan, parts, usize::MAX);
    for slice_len in [1, 2, 3, 5, 8, 13] {
        assert_eq!(join(plan, parts, slice_len), whole, "slices of {slice_len}");
    }
    whole
}
