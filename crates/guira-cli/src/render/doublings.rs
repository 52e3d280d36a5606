use std::fmt;

use serde::{Serialize, Serializer};

/// How often tables were doubled: halves of a doubling, which are counted as halves of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Doublings {
    pub(crate) halves: u32,
}

/// `0`, `1`, `1.5`
impl fmt::Display for Doublings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (f64::from(self.halves) / 2.0).fmt(formatter)
    }
}

impl Doublings {
    /// `half a doubling`, `1 doubling`, `1.5 doublings`
    pub(crate) fn counted(self) -> String {
        match self.halves {
            1 => "half a doubling".to_owned(),
            2 => "1 doubling".to_owned(),
            _ => format!("{self} doublings"),
        }
    }
}

/// A whole number where it is one.
impl Serialize for Doublings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.halves.is_multiple_of(2) {
            serializer.serialize_u32(self.halves / 2)
        } else {
            serializer.serialize_f64(f64::from(self.halves) / 2.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_shown_where_there_are_some() {
        for (halves, text, json) in [
            (0, "0 doublings", "0"),
            (1, "half a doubling", "0.5"),
            (2, "1 doubling", "1"),
            (3, "1.5 doublings", "1.5"),
            (4, "2 doublings", "2"),
        ] {
            let doublings = Doublings { halves };
            assert_eq!((&*doublings.counted(), &*doublings.to_string()), (text, json));
            assert_eq!(serde_json::to_string(&doublings).expect("a number"), json);
        }
    }
}
