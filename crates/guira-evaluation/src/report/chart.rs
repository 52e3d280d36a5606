/// Curves over one axis.
#[derive(Clone, Debug)]
pub(crate) struct Chart {
    /// The name of its file.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// With the unit.
    pub(crate) label: &'static str,
    pub(crate) scaling: Scaling,
    /// What the axis shows at least.
    pub(crate) shows: Option<[f64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scaling {
    Linear,
    /// By powers of ten.
    Logarithmic,
}

impl Axis {
    /// From 0 on.
    pub(crate) const fn linear(label: &'static str) -> Self {
        Self { label, scaling: Scaling::Linear, shows: Some([0.0, 0.0]) }
    }

    pub(crate) const fn linear_within(label: &'static str, shows: [f64; 2]) -> Self {
        Self { label, scaling: Scaling::Linear, shows: Some(shows) }
    }

    /// Whole powers of ten.
    pub(crate) const fn logarithmic(label: &'static str) -> Self {
        Self { label, scaling: Scaling::Logarithmic, shows: None }
    }

    /// Where a value stands on it.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self.scaling {
            Scaling::Linear => value,
            Scaling::Logarithmic => value.log10(),
        }
    }

    /// What stands beside a place of it.
    pub(crate) fn mark(&self, place: f64) -> String {
        let value = match self.scaling {
            Scaling::Linear => place,
            Scaling::Logarithmic => 10f64.powf(place),
        };
        // No more digits than it takes to tell marks apart.
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// The places where it begins and ends, for curves between two values.
    pub(crate) fn ends(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let shown = self.shows.into_iter().flatten();
        let places = values.chain(shown).map(|value| self.place(value)).filter(|place| place.is_finite());
        let [low, high] =
            places.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], place| [low.min(place), high.max(place)]);
        match self.scaling {
            _ if low > high => [0.0, 1.0],
            // Some air above the highest curve, unless the axis says where it ends.
            Scaling::Linear if self.shows.is_some_and(|[from, to]| to > from) => [low, high],
            Scaling::Linear => [low, high * 1.05],
            Scaling::Logarithmic => [low.floor(), high.ceil()],
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// The number of its colour and mark.
    pub(crate) style: usize,
    pub(crate) points: Vec<(f64, f64)>,
}
