//! How often the steady part of a series is found where it is known.

use kumite_stats::{Better, Class, steady};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF, Normal};

/// Factors about 1, one for each point.
pub struct Noise {
    pub name: &'static str,
    draw: fn(&mut ChaCha8Rng, usize) -> Vec<f64>,
}

pub struct Shape {
    pub name: &'static str,
    /// The level at a share of the series.
    level: fn(f64) -> f64,
    class: Class,
    /// The share from which it is steady.
    since: f64,
}

pub const NOISES: [Noise; 6] = [
    Noise { name: "normal 3 %", draw: |rng, n| (0..n).map(|_| 1.0 + 0.03 * normal(rng)).collect() },
    Noise { name: "lognormal 8 %", draw: |rng, n| (0..n).map(|_| (0.08 * normal(rng)).exp()).collect() },
    Noise { name: "AR(1) 0.5, 3 %", draw: |rng, n| autoregressive(rng, n, 0.5, 0.03) },
    Noise { name: "AR(1) 0.8, 4 %", draw: |rng, n| autoregressive(rng, n, 0.8, 0.04) },
    Noise {
        name: "3 %, every 20th half",
        draw: |rng, n| {
            let factor = |rng: &mut ChaCha8Rng| if rng.random_range(0..20) == 0 { 0.5 } else { 1.0 };
            (0..n).map(|_| factor(rng) * (1.0 + 0.03 * normal(rng))).collect()
        },
    },
    Noise {
        name: "3 %, drifts 4 %",
        draw: |rng, n| {
            let up = if rng.random_range(0..2) == 0 { 0.04 } else { -0.04 };
            (0..n).map(|at| 1.0 + 0.03 * normal(rng) + up * at as f64 / n as f64).collect()
        },
    },
];

pub const SHAPES: [Shape; 13] = [
    Shape { name: "flat", level: |_| 1.0, class: Class::Flat, since: 0.0 },
    Shape {
        name: "flat, first point half",
        level: |x| if x == 0.0 { 0.5 } else { 1.0 },
        class: Class::Flat,
        since: 0.0,
    },
    Shape {
        name: "flat, −30 % for 1/10",
        level: |x| if (0.5..0.6).contains(&x) { 0.7 } else { 1.0 },
        class: Class::Flat,
        since: 0.0,
    },
    Shape {
        name: "+10 % at 1/3",
        level: |x| if x < 1.0 / 3.0 { 1.0 } else { 1.1 },
        class: Class::WarmUp,
        since: 1.0 / 3.0,
    },
    Shape {
        name: "+30 % at 1/5",
        level: |x| if x < 0.2 { 1.0 } else { 1.3 },
        class: Class::WarmUp,
        since: 0.2,
    },
    Shape {
        name: "+30 % at 1/3",
        level: |x| if x < 1.0 / 3.0 { 1.0 } else { 1.3 },
        class: Class::WarmUp,
        since: 1.0 / 3.0,
    },
    Shape {
        name: "+30 % at 2/3",
        level: |x| if x < 2.0 / 3.0 { 1.0 } else { 1.3 },
        class: Class::WarmUp,
        since: 2.0 / 3.0,
    },
    Shape {
        name: "×2 at 1/3",
        level: |x| if x < 1.0 / 3.0 { 1.0 } else { 2.0 },
        class: Class::WarmUp,
        since: 1.0 / 3.0,
    },
    // Within the tolerance of its end from 0.23 on.
    Shape { name: "×2, exponential", level: |x| 2.0 - (-x / 0.1).exp(), class: Class::WarmUp, since: 0.23 },
    Shape {
        name: "−10 % at 1/2",
        level: |x| if x < 0.5 { 1.0 } else { 0.9 },
        class: Class::Slowdown,
        since: 0.5,
    },
    Shape {
        name: "−30 % at 1/2",
        level: |x| if x < 0.5 { 1.0 } else { 0.7 },
        class: Class::Slowdown,
        since: 0.5,
    },
    Shape {
        name: "+30 % at 5/6",
        level: |x| if x < 5.0 / 6.0 { 1.0 } else { 1.3 },
        class: Class::NoSteadyState,
        since: 1.0,
    },
    Shape { name: "+50 %, all the way", level: |x| 1.0 + x / 2.0, class: Class::NoSteadyState, since: 1.0 },
];

fn normal(rng: &mut ChaCha8Rng) -> f64 {
    Normal::standard().inverse_cdf(rng.random_range(1e-12..1.0))
}

fn autoregressive(rng: &mut ChaCha8Rng, n: usize, correlation: f64, deviation: f64) -> Vec<f64> {
    let mut state = normal(rng);
    let mut next = || {
        let now = state;
        state = correlation * state + (1.0 - correlation * correlation).sqrt() * normal(rng);
        1.0 + deviation * now
    };
    (0..n).map(|_| next()).collect()
}

/// The share of series that are of the right class, steady from the right point, give or take a tenth of the series or
/// two points; and the share that are of the right class.
fn hits(shape: &Shape, noise: &Noise, n: usize, series: usize) -> (f64, f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let (mut hits, mut classes) = (0, 0);
    for _ in 0..series {
        let level = |at: usize| 1000.0 * (shape.level)(at as f64 / n as f64);
        let values: Vec<f64> =
            (noise.draw)(&mut rng, n).iter().enumerate().map(|(at, factor)| factor * level(at)).collect();
        let found = steady(&values, Better::Larger).unwrap();
        let off = found.since.map_or(0.0, |since| (since as f64 - shape.since * n as f64).abs());
        let is_class = found.class == shape.class;
        classes += usize::from(is_class);
        hits += usize::from(is_class && off <= (n as f64 / 10.0).max(2.0));
    }
    (hits as f64 / series as f64, classes as f64 / series as f64)
}

pub fn row(shape: &Shape, lengths: &[usize], series: usize) -> Vec<Vec<f64>> {
    let of_noise = |noise| lengths.iter().map(|n| hits(shape, noise, *n, series).0).collect();
    NOISES.iter().map(of_noise).collect()
}

#[test]
fn steady_in_series_of_known_shape_finds_the_shape() {
    const ALWAYS: [&str; 6] =
        ["flat", "flat, first point half", "+30 % at 1/3", "×2 at 1/3", "−30 % at 1/2", "+30 % at 5/6"];
    for shape in SHAPES.iter().filter(|shape| ALWAYS.contains(&shape.name)) {
        for (noise, hits) in NOISES.iter().zip(row(shape, &[60, 100], 30)) {
            let least = hits.into_iter().fold(1.0, f64::min);
            let wanted = if noise.name == "AR(1) 0.8, 4 %" { 0.75 } else { 0.8 };
            assert!(least >= wanted, "{} in {}: {least}", shape.name, noise.name);
        }
    }
}
