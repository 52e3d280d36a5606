//! Every combination of layout, addressing and bucket size that there is.

use guira::{Addressing, Layout, Shape};

pub(crate) fn all_shapes() -> Vec<Shape> {
    let packed = [
        Addressing::Regional,
        Addressing::PowerOfTwo,
        Addressing::Ternary,
        Addressing::Quaternary,
        Addressing::Doubling,
    ]
    .into_iter()
    .flat_map(|addressing| [1, 2, 4, 8].map(|slots_per_bucket| (Layout::Packed, addressing, slots_per_bucket)));
    let others = [
        (Layout::SemiSorted, Addressing::Regional, 4),
        (Layout::SemiSorted, Addressing::PowerOfTwo, 4),
        (Layout::Windowed, Addressing::Regional, 2),
        (Layout::Windowed, Addressing::Regional, 3),
        (Layout::Windowed, Addressing::Regional, 4),
    ];
    packed
        .chain(others)
        .map(|(layout, addressing, slots_per_bucket)| {
            Shape::new(layout, addressing, slots_per_bucket).expect("there is such a table")
        })
        .collect()
}
