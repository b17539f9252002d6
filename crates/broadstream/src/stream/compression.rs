//! Compression.
/// todo
pub fn decompress() {}
