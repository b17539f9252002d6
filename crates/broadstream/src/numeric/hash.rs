//! A hash that is the same on every machine and in every version.
//!
//! What is hashed decides which input a text becomes, and a saved model continues with these inputs. The
//! hashes of the standard library and of crates may change with a version, so this one is our own:
//! FNV-1a of 64 bits, whose upper bits the finalizer of MurmurHash3 then mixes. It is not made to resist
//! texts that somebody chose to collide; these only share an input.

/// The hash of a text.
pub(crate) fn stable_hash(text: &[u8]) -> u64 {
    let hash = text.iter().fold(FNV_OFFSET, |hash, byte| fnv(hash, *byte));
    finalize(hash)
}

/// A number from 0 to n − 1 that a hash stands for. All are equally likely.
pub(crate) fn spread(hash: u64, n: u32) -> u32 {
    ((u128::from(hash) * u128::from(n)) >> 64) as u32
}

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

fn fnv(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
}

fn finalize(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_never_change() {
        let hashes = ["", "a", "user=17", "Zürich"].map(|text| stable_hash(text.as_bytes()));
        assert_eq!(
            hashes,
            [
                0xefd0_1f60_ba99_2926,
                0x82a2_a958_a9be_ce5b,
                0x89df_da4b_d442_5bf6,
                0x24b2_2821_293c_05d0
            ]
        );
    }

    #[test]
    fn hashes_of_similar_texts_spread_evenly() {
        let mut counts = [0; 500];
        for i in 0..100_000 {
            counts[spread(stable_hash(format!("u{i}").as_bytes()), 500) as usize] += 1;
        }
        // 200 each, with a standard deviation of 14.
        assert!(counts.iter().all(|count| (120..280).contains(count)), "{counts:?}");
        assert_eq!((spread(0, 7), spread(u64::MAX, 7), spread(u64::MAX, 1)), (0, 6, 0));
    }
}
