//! Decompresses files of the Unix program `compress` (`.Z`), of which the UCI archive still has one.
//!
//! The format is LZW with codes that grow from 9 to 16 bits, least significant bit first. Code 256
//! clears the table. Codes are written in groups of eight, and when the width changes or the table
//! is cleared the rest of the group is padding. Because of that quirk the LZW crates for GIF and
//! TIFF cannot read these files, so the decoder is written out here.

use std::io;

/// The first two bytes of every such file.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x9d];

/// The code that clears the table.
const CLEAR: usize = 256;

/// Decompresses a file; more than `limit` bytes of output are an error.
pub(crate) fn decompress(bytes: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let [0x1f, 0x9d, flags, codes @ ..] = bytes else {
        return Err(invalid("it does not start like a file of 'compress'"));
    };
    let (widest, can_clear) = (usize::from(flags & 0x1f), flags & 0x80 != 0);
    if !(9..=16).contains(&widest) {
        return Err(invalid("its maximum code width is not between 9 and 16 bits"));
    }
    let mut codes = Codes { bytes: codes, bit: 0, group_start: 0, width: 9 };
    let mut table = Table::new(can_clear);
    let mut text = Vec::new();
    let mut previous = None;
    while let Some(code) = codes.next() {
        if can_clear && code == CLEAR {
            codes.change_width(9);
            table = Table::new(can_clear);
            previous = None;
            continue;
        }
        let start = text.len();
        match previous {
            // The one code that may be used before it is complete: it stands for the previous
            // string followed by that string's first byte.
            Some(previous) if code == table.len() => {
                table.append(previous, &mut text)?;
                let first = text[start];
                text.push(first);
            }
            _ => table.append(code, &mut text)?,
        }
        if text.len() as u64 > limit {
            return Err(invalid("it unpacks to more bytes than the size limit"));
        }
        if let Some(previous) = previous
            && table.len() < 1 << widest
        {
            table.entries.push((previous as u16, text[start]));
        }
        previous = Some(code);
        if table.len() >= 1 << codes.width && codes.width < widest {
            codes.change_width(codes.width + 1);
        }
    }
    Ok(text)
}

/// The strings of the codes from 257 on (from 256 on without a clear code), each as the code of its
/// prefix and its last byte.
struct Table {
    first: usize,
    entries: Vec<(u16, u8)>,
}

impl Table {
    fn new(can_clear: bool) -> Self {
        Table { first: if can_clear { CLEAR + 1 } else { CLEAR }, entries: Vec::new() }
    }

    /// The next code to be assigned.
    fn len(&self) -> usize {
        self.first + self.entries.len()
    }

    /// Appends the string of a code to `text`.
    fn append(&self, mut code: usize, text: &mut Vec<u8>) -> io::Result<()> {
        let start = text.len();
        while code >= self.first {
            // A prefix is always an earlier code, so this ends.
            let entry = self.entries.get(code - self.first);
            let &(prefix, byte) =
                entry.ok_or_else(|| invalid("a code is used before it is defined"))?;
            text.push(byte);
            code = usize::from(prefix);
        }
        text.push(u8::try_from(code).map_err(|_| invalid("a code stands for nothing"))?);
        text[start..].reverse();
        Ok(())
    }
}

/// The codes of a file.
struct Codes<'a> {
    bytes: &'a [u8],
    bit: usize,
    /// The bit where codes of the current width begin.
    group_start: usize,
    width: usize,
}

impl Codes<'_> {
    fn next(&mut self) -> Option<usize> {
        let end = self.bit + self.width;
        if end > 8 * self.bytes.len() {
            return None;
        }
        let mut code = 0;
        for (i, bit) in (self.bit..end).enumerate() {
            code |= usize::from(self.bytes[bit / 8] >> (bit % 8) & 1) << i;
        }
        self.bit = end;
        Some(code)
    }

    /// Skips the padding of the current group of eight codes and continues with another width.
    fn change_width(&mut self, width: usize) {
        let group = 8 * self.width;
        self.bit = self.group_start + (self.bit - self.group_start).next_multiple_of(group);
        self.group_start = self.bit;
        self.width = width;
    }
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output of `compress` for "abababababab\n".
    const REPEATS: &[u8] = &[0x1f, 0x9d, 0x90, 0x61, 0xc4, 0x04, 0x1c, 0x28, 0xb0, 0xa0, 0x02];

    fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
        range.map(|number| format!("{number}\n")).collect()
    }

    #[test]
    fn a_code_may_be_used_while_it_is_defined() {
        assert_eq!(decompress(REPEATS, 13).unwrap(), b"abababababab\n");
        assert!(decompress(REPEATS, 12).is_err(), "13 bytes are more than 12");
    }

    #[test]
    fn codes_grow_wider() {
        // Made by `seq 1 3000 | compress`: codes of 9 to 13 bits.
        let text = decompress(include_bytes!("../tests/data/numbers.Z"), 1 << 20).unwrap();
        assert!(text == numbers(1..=3000).as_bytes());
    }

    #[test]
    fn the_table_may_be_cleared() {
        // Made by `compress -b 10` of numbers and then letters, for which the table is useless.
        let text = decompress(include_bytes!("../tests/data/cleared.Z"), 1 << 20).unwrap();
        let letters: String = numbers(60_000..=62_000)
            .chars()
            .map(|c| c.to_digit(10).map_or(c, |digit| char::from(b'a' + digit as u8)))
            .collect();
        assert!(text == (numbers(1..=2600) + &letters).as_bytes());
    }

    #[test]
    fn no_prefix_or_noise_panics() {
        for end in 0..REPEATS.len() {
            let _ = decompress(&REPEATS[..end], 1000);
        }
        let mut state = 1u32;
        for _ in 0..2000 {
            let mut noise = vec![0x1f, 0x9d, 0x90];
            for _ in 0..60 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                noise.push((state >> 24) as u8);
            }
            let _ = decompress(&noise, 1000);
        }
        assert!(decompress(&[0x1f, 0x9d, 0x9f], 1000).is_err());
        assert!(decompress(b"plain", 1000).is_err());
    }
}
