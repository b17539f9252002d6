//! Agrawal: loan applications, and ten rules about who belongs to which group.
//!
//! Nine inputs describe an applicant: salary, commission, age, level of education, car, zip code,
//! value of the house, years it was owned, and the loan. Each variant is one of the ten functions of
//! the paper that give the class from them, from ranges of age (0) to weighted sums (6 to 9).
//!
//! R. Agrawal, T. Imielinski and A. Swami, "Database mining: a performance perspective", IEEE
//! Transactions on Knowledge and Data Engineering 5, 1993; the functions, the arithmetic and the
//! order of draws are those of River's `synth.Agrawal`.

use super::{
    Generator, Samples, alternation::Alternation, broken_rule, check_share, numbered,
    python_random::PythonRandom,
};
use crate::error::Error;

/// The options of [`Agrawal`]. The defaults are River's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgrawalOptions {
    /// The function that decides the class, 0 to 9. Default 0.
    ///
    /// River's `classification_function`; the paper counts from 1.
    pub variant: usize,

    /// Whether classes take turns; samples of the other class are thrown away. Default false.
    ///
    /// River's `balance_classes`.
    pub balance: bool,

    /// How far inputs are moved after the class was decided, as a share of their range, between 0
    /// and 1. Default 0.
    ///
    /// River's `perturbation`. There, and so here, a house's value is not moved but becomes either
    /// 0 or (9 - zipcode) · 100 000, since its two limits are given in the wrong order.
    pub perturbation: f64,

    /// Where the random numbers start: Python's `random.Random(seed)`. Default 42.
    ///
    /// River's `seed`, there random.
    pub seed: u64,
}

impl Default for AgrawalOptions {
    fn default() -> Self {
        AgrawalOptions { variant: 0, balance: false, perturbation: 0.0, seed: 42 }
    }
}

/// The Agrawal generator: River's `synth.Agrawal`.
///
/// All nine are numeric inputs with the values that River has, though `elevel`, `car` and
/// `zipcode` are codes.
///
/// ```
/// use broadstream::stream::synth::{Agrawal, AgrawalOptions, Generator};
///
/// let mut agrawal = Agrawal::new(AgrawalOptions { variant: 6, ..AgrawalOptions::default() })?;
/// let mut x = Vec::new();
/// assert_eq!(agrawal.next(&mut x), 1);
/// assert_eq!(agrawal.inputs()[2], "age");
/// assert_eq!(x[2], 21.0);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Agrawal {
    variant: usize,
    alternation: Alternation,
    perturbation: f64,
    random: PythonRandom,
}

impl Agrawal {
    /// A generator, from its first sample on.
    pub fn new(options: AgrawalOptions) -> Result<Self, Error> {
        let AgrawalOptions { variant, balance, perturbation, seed } = options;
        if variant > 9 {
            return Err(broken_rule("agrawal", "variant", "between 0 and 9", variant.to_string()));
        }
        check_share("agrawal", "perturbation", perturbation)?;
        let alternation = Alternation::new(balance);
        Ok(Agrawal { variant, alternation, perturbation, random: PythonRandom::new(seed) })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }

    fn draw(&mut self) -> Applicant {
        let random = &mut self.random;
        let salary = 20_000.0 + 130_000.0 * random.random();
        let commission =
            if salary >= 75_000.0 { 0.0 } else { 10_000.0 + 75_000.0 * random.random() };
        let age = f64::from(random.between(20, 80));
        let elevel = random.below(5);
        let car = f64::from(random.between(1, 20));
        let zipcode = f64::from(random.below(9));
        let hvalue = (8.0 - zipcode) * 100_000.0 * (0.5 + random.random());
        let hyears = f64::from(random.between(1, 30));
        let loan = random.random() * 500_000.0;
        Applicant { salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan }
    }

    fn perturb(&mut self, applicant: &mut Applicant) {
        let Applicant { salary, commission, age, zipcode, hvalue, hyears, loan, .. } = applicant;
        *salary = self.moved(*salary, 20_000.0, 150_000.0, 130_000.0);
        if *commission > 0.0 {
            *commission = self.moved(*commission, 10_000.0, 75_000.0, 65_000.0);
        }
        *age = self.moved(*age, 20.0, 80.0, 60.0).round_ties_even();
        *hvalue = self.moved(*hvalue, (9.0 - *zipcode) * 100_000.0, 0.0, 135_000.0);
        *hyears = self.moved(*hyears, 1.0, 30.0, 29.0).round_ties_even();
        *loan = self.moved(*loan, 0.0, 500_000.0, 500_000.0);
    }

    /// `value` after a random step of at most the perturbation's share of `range`.
    fn moved(&mut self, value: f64, low: f64, high: f64, range: f64) -> f64 {
        let value = value + range * (2.0 * (self.random.random() - 0.5)) * self.perturbation;
        // No `clamp`: the limits of `hvalue` are the wrong way round.
        if value < low {
            low
        } else if value > high {
            high
        } else {
            value
        }
    }
}

impl Generator for Agrawal {
    fn inputs(&self) -> Vec<String> {
        let names =
            ["salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan"];
        names.map(str::to_owned).to_vec()
    }

    fn labels(&self) -> Vec<String> {
        numbered(2)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        let (mut applicant, class) = loop {
            let applicant = self.draw();
            let class = usize::from(applicant.is_of_group_one(self.variant));
            if self.alternation.accepts(class) {
                break (applicant, class);
            }
        };
        if self.perturbation > 0.0 {
            self.perturb(&mut applicant);
        }
        let Applicant { salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan } =
            applicant;
        x.clear();
        x.extend([salary, commission, age, elevel.into(), car, zipcode, hvalue, hyears, loan]);
        class
    }
}

/// The inputs by their names in the paper.
struct Applicant {
    salary: f64,
    commission: f64,
    age: f64,
    elevel: u32,
    car: f64,
    zipcode: f64,
    hvalue: f64,
    hyears: f64,
    loan: f64,
}

impl Applicant {
    /// The functions of the paper, the first being variant 0.
    fn is_of_group_one(&self, variant: usize) -> bool {
        let Applicant { salary, elevel, loan, .. } = *self;
        let income = salary + self.commission;
        let education = 5_000.0 * f64::from(elevel);
        match variant {
            0 => self.by_age(true, false, true),
            1 => self.is_typical_for_age(salary),
            2 => self.has_usual_education(),
            3 => self.is_typical_for_education(),
            4 => self.has_fitting_loan(),
            5 => self.is_typical_for_age(income),
            6 => 2.0 * income / 3.0 - loan / 5.0 - 20_000.0 <= 1.0,
            7 => 2.0 * income / 3.0 - education - 20_000.0 <= 1.0,
            8 => 2.0 * income / 3.0 - education - loan / 5.0 - 10_000.0 <= 1.0,
            _ => 2.0 * income / 3.0 - education + self.equity() / 5.0 - 10_000.0 <= 1.0,
        }
    }

    /// The value for those under 40, under 60, and from 60 on.
    fn by_age<T>(&self, young: T, middle: T, old: T) -> T {
        if self.age < 40.0 {
            young
        } else if self.age < 60.0 {
            middle
        } else {
            old
        }
    }

    fn is_typical_for_age(&self, income: f64) -> bool {
        self.by_age(
            (50_000.0..=100_000.0).contains(&income),
            (75_000.0..=125_000.0).contains(&income),
            (25_000.0..=75_000.0).contains(&income),
        )
    }

    fn has_usual_education(&self) -> bool {
        self.by_age(0..=1, 1..=3, 2..=4).contains(&self.elevel)
    }

    fn is_typical_for_education(&self) -> bool {
        let range = match (self.has_usual_education(), self.by_age(0, 1, 2)) {
            (true, 0) | (false, 2) => 25_000.0..=75_000.0,
            (true, _) | (false, 0) => 50_000.0..=100_000.0,
            (false, _) => 75_000.0..=125_000.0,
        };
        range.contains(&self.salary)
    }

    /// The fifth function. In three of its six cases River compares the salary where the paper has
    /// the loan, and no salary is that high: nobody of middle age is of the group, nor anybody young
    /// whose salary is unusual.
    fn has_fitting_loan(&self) -> bool {
        match (self.is_typical_for_age(self.salary), self.by_age(0, 1, 2)) {
            (true, 0) => (100_000.0..=300_000.0).contains(&self.loan),
            (true, 2) => (300_000.0..=500_000.0).contains(&self.loan),
            (false, 2) => (75_000.0..=300_000.0).contains(&self.loan),
            _ => false,
        }
    }

    /// What the house is worth to its owner: something from 20 years on.
    fn equity(&self) -> f64 {
        if self.hyears >= 20.0 { self.hvalue * (self.hyears - 20.0) / 10.0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked() {
        let message = |options| Agrawal::new(options).unwrap_err().to_string();
        let agrawal = AgrawalOptions::default();
        assert_eq!(
            message(AgrawalOptions { variant: 10, ..agrawal }),
            "agrawal: variant must be between 0 and 9, got 10"
        );
        assert_eq!(
            message(AgrawalOptions { perturbation: f64::NAN, ..agrawal }),
            "agrawal: perturbation must be between 0 and 1, got NaN"
        );
    }

    #[test]
    fn perturbed_values_stay_in_their_ranges() {
        let options = AgrawalOptions { perturbation: 1.0, ..AgrawalOptions::default() };
        let mut agrawal = Agrawal::new(options).unwrap();
        let mut x = Vec::new();
        for _ in 0..1000 {
            agrawal.next(&mut x);
            assert!((20_000.0..=150_000.0).contains(&x[0]));
            assert!((20.0..=80.0).contains(&x[2]) && x[2].fract() == 0.0);
            assert!(x[6] == 0.0 || x[6] == (9.0 - x[5]) * 100_000.0);
            assert!((1.0..=30.0).contains(&x[7]) && x[7].fract() == 0.0);
            assert!((0.0..=500_000.0).contains(&x[8]));
        }
    }
}
