/// A name for a temporary key in the hash slot of another one, so that it can be renamed in a cluster.
///
/// The slot is that of the text between the first braces, if it is not empty, otherwise of the whole name.
pub(super) fn temporary_name(name: &[u8], number: u64) -> Vec<u8> {
    let suffix = format!(":guira-push:{number:016x}").into_bytes();
    if tag(name).is_some() {
        return [name, &suffix].concat();
    }
    if !name.contains(&b'}') {
        return [b"{", name, b"}", &suffix].concat();
    }
    // The name itself can't be a tag, so the tag is a number with the same slot.
    let tag = (0u32..).map(|number| number.to_string()).find(|number| slot(number.as_bytes()) == slot(name));
    [b"{", tag.unwrap_or_default().as_bytes(), b"}", name, &suffix].concat()
}

fn tag(name: &[u8]) -> Option<&[u8]> {
    let start = name.iter().position(|&byte| byte == b'{')? + 1;
    let size = name[start..].iter().position(|&byte| byte == b'}')?;
    (size > 0).then(|| &name[start..start + size])
}

/// The slot of a name without a tag: CRC-16/XMODEM modulo the number of slots, by the cluster specification.
fn slot(name: &[u8]) -> u16 {
    const SLOTS: u16 = 16384;
    crc16(name) % SLOTS
}

fn crc16(bytes: &[u8]) -> u16 {
    const POLYNOMIAL: u16 = 0x1021;
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| crc << 1 ^ if crc >> 15 == 1 { POLYNOMIAL } else { 0 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot_of(name: &[u8]) -> u16 {
        slot(tag(name).unwrap_or(name))
    }

    #[test]
    fn the_checksum_is_that_of_the_specification() {
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }

    #[test]
    fn a_temporary_name_is_in_the_slot_of_the_name() {
        for name in [
            &b"birds"[..],
            b"{birds}",
            b"{user}:birds",
            b"user:{birds",
            b"}",
            b"{}birds",
            b"{}{birds}",
            b"a}b",
            b"}{birds}",
            b"{",
            b"\0\xff",
        ] {
            let (first, second) = (temporary_name(name, 1), temporary_name(name, 2));
            assert_eq!(slot_of(&first), slot_of(name), "{name:?}");
            assert!(first != second && first != name && first.ends_with(b":guira-push:0000000000000001"), "{name:?}");
        }
        assert_eq!(temporary_name(b"birds", 10), b"{birds}:guira-push:000000000000000a");
        assert_eq!(temporary_name(b"{user}:birds", 10), b"{user}:birds:guira-push:000000000000000a");
    }
}
