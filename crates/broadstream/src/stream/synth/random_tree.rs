//! Random tree: a decision tree drawn at random decides the class.
//!
//! Numeric inputs are uniform on [0, 1), categorical ones on 0, 1, …. A node of the tree splits on a
//! random input: a numeric one at a random value between the limits of its branch, a categorical one
//! into all its values, and then not again below. From a given level on a node is a leaf with a
//! fixed probability, and at the deepest level always; a leaf has a random class.
//!
//! P. Domingos and G. Hulten, "Mining high-speed data streams", KDD 2000; the arithmetic and the
//! order of draws are those of River's `synth.RandomTree`.

use super::{
    Generator, Samples, broken_rule, check_count, check_share, numbered,
    python_random::PythonRandom,
};
use crate::error::Error;

/// The options of [`RandomTree`]. The defaults are River's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomTreeOptions {
    /// Which concept: the seed that the tree is drawn from. Default 0.
    ///
    /// River's `seed_tree`, there random.
    pub variant: u64,

    /// How many classes there are, 1 to 10 000. Default 2.
    ///
    /// River's `n_classes`.
    pub classes: u32,

    /// How many numeric inputs a sample has, at most 10 000. Default 5.
    ///
    /// River's `n_num_features`.
    pub numeric_inputs: usize,

    /// How many categorical inputs follow them, at most 10 000. Default 5.
    ///
    /// River's `n_cat_features`.
    pub categorical_inputs: usize,

    /// How many values a categorical input has, 1 to 10 000. Default 5.
    ///
    /// River's `n_categories_per_feature`.
    pub categories: u32,

    /// The level at which every node is a leaf, the root being level 0; at most 100, and at most
    /// the number of categorical inputs where there are no numeric ones. Default 5.
    ///
    /// River's `max_tree_depth`. The tree may have a million nodes.
    pub depth: usize,

    /// The level from which on nodes may be leaves. Default 3.
    ///
    /// River's `first_leaf_level`.
    pub first_leaf_level: usize,

    /// How often a node from that level on is a leaf, between 0 and 1. Default 0.15.
    ///
    /// River's `fraction_leaves_per_level`.
    pub leaves: f64,

    /// Where the random numbers of the samples start: Python's `random.Random(seed)`. Default 42.
    ///
    /// River's `seed_sample`, there random.
    pub seed: u64,
}

impl Default for RandomTreeOptions {
    fn default() -> Self {
        RandomTreeOptions {
            variant: 0,
            classes: 2,
            numeric_inputs: 5,
            categorical_inputs: 5,
            categories: 5,
            depth: 5,
            first_leaf_level: 3,
            leaves: 0.15,
            seed: 42,
        }
    }
}

impl RandomTreeOptions {
    fn check(&self) -> Result<(), Error> {
        const NAME: &str = "random-tree";
        const MOST: usize = 10_000;
        const DEEPEST: usize = 100;
        check_count(NAME, "classes", self.classes as usize)?;
        check_count(NAME, "categories", self.categories as usize)?;
        for (parameter, inputs) in [
            ("numeric_inputs", self.numeric_inputs),
            ("categorical_inputs", self.categorical_inputs),
        ] {
            if inputs > MOST {
                return Err(broken_rule(NAME, parameter, "at most 10000", inputs.to_string()));
            }
        }
        if self.numeric_inputs + self.categorical_inputs == 0 {
            let rule = "at least 1 without categorical inputs";
            return Err(broken_rule(NAME, "numeric_inputs", rule, "0".to_owned()));
        }
        if self.depth > DEEPEST {
            return Err(broken_rule(NAME, "depth", "at most 100", self.depth.to_string()));
        }
        if self.numeric_inputs == 0 && self.depth > self.categorical_inputs {
            let rule = "at most the number of categorical inputs, of which a branch uses each once";
            let value = format!("{} for {}", self.depth, self.categorical_inputs);
            return Err(broken_rule(NAME, "depth", rule, value));
        }
        check_share(NAME, "leaves", self.leaves)
    }
}

/// The random tree generator: River's `synth.RandomTree`.
///
/// Categorical inputs are numeric inputs with the values that River has.
///
/// ```
/// use broadstream::stream::synth::{Generator, RandomTree, RandomTreeOptions};
///
/// let mut tree = RandomTree::new(RandomTreeOptions {
///     variant: 42,
///     numeric_inputs: 2,
///     categorical_inputs: 2,
///     categories: 2,
///     depth: 6,
///     ..RandomTreeOptions::default()
/// })?;
/// assert_eq!(tree.inputs(), ["x_num_0", "x_num_1", "x_cat_0", "x_cat_1"]);
/// let mut x = Vec::new();
/// assert_eq!(tree.next(&mut x), 0);
/// assert_eq!(x, [0.6394267984578837, 0.025010755222666936, 1.0, 0.0]);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RandomTree {
    options: RandomTreeOptions,
    root: Node,
    random: PythonRandom,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf { class: usize },
    Numeric { input: usize, threshold: f64, below: Box<Node>, above: Box<Node> },
    Categorical { input: usize, children: Vec<Node> },
}

impl RandomTree {
    /// A generator, from its first sample on.
    pub fn new(options: RandomTreeOptions) -> Result<Self, Error> {
        options.check()?;
        let inputs = options.numeric_inputs + options.categorical_inputs;
        let mut growth = Growth {
            options,
            random: PythonRandom::new(options.variant),
            limits: vec![(0.0, 1.0); options.numeric_inputs],
            nodes: 0,
        };
        let root = growth.node(0, &(0..inputs).collect::<Vec<_>>())?;
        Ok(RandomTree { options, root, random: PythonRandom::new(options.seed) })
    }

    /// The next `samples` samples as a stream.
    pub fn take(self, samples: u64) -> Samples<Self> {
        Samples::new(self, samples)
    }
}

impl Generator for RandomTree {
    fn inputs(&self) -> Vec<String> {
        let numeric = (0..self.options.numeric_inputs).map(|input| format!("x_num_{input}"));
        let categorical =
            (0..self.options.categorical_inputs).map(|input| format!("x_cat_{input}"));
        numeric.chain(categorical).collect()
    }

    fn labels(&self) -> Vec<String> {
        numbered(self.options.classes as usize)
    }

    fn next(&mut self, x: &mut Vec<f64>) -> usize {
        x.clear();
        x.extend((0..self.options.numeric_inputs).map(|_| self.random.random()));
        let categories = self.options.categories;
        let categorical = 0..self.options.categorical_inputs;
        x.extend(categorical.map(|_| f64::from(self.random.below(categories))));
        let mut node = &self.root;
        loop {
            node = match node {
                Node::Leaf { class } => return *class,
                Node::Numeric { input, threshold, below, above } => {
                    if x[*input] < *threshold {
                        below
                    } else {
                        above
                    }
                }
                Node::Categorical { input, children } => &children[x[*input] as usize],
            };
        }
    }
}

/// A tree in the making.
struct Growth {
    options: RandomTreeOptions,
    random: PythonRandom,
    /// By numeric input, the values it can have in the branch that grows.
    limits: Vec<(f64, f64)>,
    /// How many nodes there are so far.
    nodes: usize,
}

impl Growth {
    /// A node and all below it. `candidates` are the inputs it may split on, the numeric ones
    /// first.
    fn node(&mut self, level: usize, candidates: &[usize]) -> Result<Node, Error> {
        const MOST_NODES: usize = 1_000_000;
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            let rule = "small enough for a tree of a million nodes";
            return Err(broken_rule("random-tree", "depth", rule, self.options.depth.to_string()));
        }
        if self.ends(level) {
            let class = self.random.below(self.options.classes) as usize;
            return Ok(Node::Leaf { class });
        }
        let input = candidates[self.random.below(candidates.len() as u32) as usize];
        if input < self.options.numeric_inputs {
            let (low, high) = self.limits[input];
            let threshold = (high - low) * self.random.random() + low;
            self.limits[input] = (low, threshold);
            let below = Box::new(self.node(level + 1, candidates)?);
            self.limits[input] = (threshold, high);
            let above = Box::new(self.node(level + 1, candidates)?);
            self.limits[input] = (low, high);
            return Ok(Node::Numeric { input, threshold, below, above });
        }
        let rest: Vec<usize> = candidates.iter().copied().filter(|&other| other != input).collect();
        let children = (0..self.options.categories)
            .map(|_| self.node(level + 1, &rest))
            .collect::<Result<_, _>>()?;
        Ok(Node::Categorical { input, children })
    }

    /// Whether a node at `level` is a leaf; draws only where chance decides.
    fn ends(&mut self, level: usize) -> bool {
        level >= self.options.depth
            || level >= self.options.first_leaf_level
                && self.options.leaves >= 1.0 - self.random.random()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_checked() {
        let message = |options| RandomTree::new(options).unwrap_err().to_string();
        let tree = RandomTreeOptions::default();
        for (options, expected) in [
            (
                RandomTreeOptions { classes: 0, ..tree },
                "classes must be between 1 and 10000, got 0",
            ),
            (
                RandomTreeOptions { categories: 0, ..tree },
                "categories must be between 1 and 10000, got 0",
            ),
            (
                RandomTreeOptions { categorical_inputs: 10_001, ..tree },
                "categorical_inputs must be at most 10000, got 10001",
            ),
            (
                RandomTreeOptions { numeric_inputs: 0, categorical_inputs: 0, ..tree },
                "numeric_inputs must be at least 1 without categorical inputs, got 0",
            ),
            (RandomTreeOptions { depth: 101, ..tree }, "depth must be at most 100, got 101"),
            (
                RandomTreeOptions { numeric_inputs: 0, categorical_inputs: 4, ..tree },
                "depth must be at most the number of categorical inputs, of which a branch uses \
                 each once, got 5 for 4",
            ),
            (RandomTreeOptions { leaves: 1.5, ..tree }, "leaves must be between 0 and 1, got 1.5"),
            (
                RandomTreeOptions { depth: 50, leaves: 0.0, ..tree },
                "depth must be small enough for a tree of a million nodes, got 50",
            ),
        ] {
            assert_eq!(message(options), format!("random-tree: {expected}"));
        }
    }

    #[test]
    fn extreme_trees_grow() {
        let tree = RandomTreeOptions::default();
        for options in [
            RandomTreeOptions { depth: 0, ..tree },
            RandomTreeOptions { numeric_inputs: 0, ..tree },
            RandomTreeOptions { categorical_inputs: 0, depth: 15, ..tree },
            RandomTreeOptions { depth: 100, first_leaf_level: 0, leaves: 1.0, ..tree },
            RandomTreeOptions { classes: 1, categories: 1, depth: 9, ..tree },
        ] {
            let mut generator = RandomTree::new(options).unwrap();
            let mut x = Vec::new();
            for _ in 0..100 {
                assert!(generator.next(&mut x) < options.classes as usize);
                assert_eq!(x.len(), generator.inputs().len());
            }
        }
    }
}
