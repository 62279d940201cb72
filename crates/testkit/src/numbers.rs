//! Numbers that look random and are the same each time.

/// Gives such numbers, from a seed.
#[derive(Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// Returns the next one below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits are a number of things") % bound
    }
}
