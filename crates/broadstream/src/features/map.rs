//! The broad features of a sample (equations 1 to 3 of the paper).
//!
//! ```text
//! z = W_fᵀ x + β_f        feature_groups × feature_nodes linear nodes
//! h = σ(W_eᵀ x + β_e)     enhancement_groups × enhancement_nodes non-linear nodes
//! a = [z; h]
//! ```
//!
//! The weights are random and never change. The paper's equation 2 computes h from x, as above, but
//! gives W_e a shape that fits only z, and its appendix uses z; [`EnhancementSource`] offers both.
//! The paper's groups of nodes share no weights, so several groups of some nodes are one group of
//! all of them, and groups appear only in the numbering of the weights.
//!
//! An input's weights are drawn from a sequence named after the input, so that inputs may appear in
//! any order and at any time. Each node sums its inputs in increasing order, whatever the size of
//! the block, which fixes the bits.
//!
//! A model that chooses its own nodes also has nodes whose weights are differences of the stream's
//! first samples, beside the random ones: see [`NodeKind`].
//!
//! Parts: `draw` generates the random weights and `sampled_nodes` the others, `layer` multiplies by
//! them, `label_inputs` adds earlier labels.

use std::{ops::Range, sync::Arc};

use super::{
    NodeKind, RowLayout, SampleColumns,
    draw::{self, Origin},
    label_inputs::LabelInputs,
    layer::{Layer, NodeSums, SAMPLES, SampleGroup, Terms},
    sampled_nodes::SampledNodes,
};
use crate::{
    config::{EnhancementSource, OnlineBlsConfig, WeightScale},
    data::{Columns, Input, Sample},
    error::{Error, ModelFileError},
    numeric::{Activation, InstructionSet, Threads},
    preprocessing::ScaledSample,
    state::{ReadScope, WriteScope},
};

/// How many multiply-adds take as long as the non-linearity of a node.
const ACTIVATION: u64 = 16;

/// The least number of samples that a thread takes at a time. The weights of the whole map, which may
/// be larger than the cache, are read once for each such batch.
const LEAST_BATCH: usize = if cfg!(test) { 5 } else { 16 };

/// And the largest, so that the samples' own rows stay in the cache.
const MOST_BATCH: usize = 64;

/// The random map from inputs to broad features.
#[derive(Clone, Debug)]
pub(crate) struct FeatureMap {
    shape: Shape,
    /// The usual number of inputs of a sample, by which weights are scaled. Until it is known,
    /// inputs are kept by name only.
    fan_in: Option<usize>,
    waiting: Vec<String>,
    /// The layers never change while samples are transformed, so copies of a map share them.
    linear: Arc<Layer>,
    /// The random nodes.
    enhancement: Arc<Layer>,
    /// What the other kinds of nodes are drawn from, once there are enough samples.
    sampled_nodes: Option<SampledNodes>,
    /// The nodes of the other kinds, in the order of [`NodeKind::ALL`].
    sampled: [Arc<Layer>; NodeKind::ALL.len() - 1],
    labels: LabelInputs,
    /// The kind of the nodes that labels are fed into.
    labelled_kind: NodeKind,
    instructions: InstructionSet,
    threads: Threads,
}

/// The features of samples, one row each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Features {
    /// What a row of `plain` consists of.
    pub(crate) layout: RowLayout,
    /// The features of the inputs alone.
    pub(crate) plain: Vec<f64>,
    /// The linear nodes and the first nodes of one kind again, computed with earlier labels as
    /// further inputs; empty if none use labels.
    pub(crate) labelled: Vec<f64>,
}

/// The sizes and options that define the map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) seed: u64,
    /// The way in which weights are drawn.
    pub(crate) version: u64,
    /// The numbers of linear and of enhancement nodes.
    pub(crate) linear: usize,
    pub(crate) enhancement: usize,
    /// Whether the linear nodes are the inputs themselves and a constant, instead of random sums.
    pub(crate) input_nodes: bool,
    /// The largest number of enhancement nodes of each kind, and how many kinds there may be.
    pub(crate) most_nodes: usize,
    pub(crate) kinds: usize,
    pub(crate) activation: Activation,
    pub(crate) weight_scale: WeightScale,
    pub(crate) source: EnhancementSource,
}

impl Shape {
    /// The shape that a configuration describes.
    pub(crate) fn of(config: &OnlineBlsConfig) -> Self {
        Shape {
            seed: config.seed,
            version: draw::VERSION,
            linear: config.linear(),
            enhancement: config.enhancement(),
            input_nodes: false,
            most_nodes: config.most_enhancement(),
            kinds: if config.is_adaptive() { NodeKind::ALL.len() } else { 1 },
            activation: config.activation,
            weight_scale: config.weight_scale,
            source: config.enhancement_source,
        }
    }

    /// The bytes that the weights of `inputs` inputs take at most.
    pub(crate) fn bytes(&self, inputs: usize) -> u128 {
        let linear = Layer::bytes_per_input(self.linear);
        let enhancement =
            Layer::bytes_per_input(self.most_nodes).saturating_mul(self.kinds as u128);
        // The biases take as much as an input.
        let (inputs, of_linear) = (inputs as u128 + 1, linear.saturating_mul(inputs as u128 + 1));
        let rows = match self.source {
            EnhancementSource::Inputs => inputs,
            EnhancementSource::FeatureNodes => self.linear as u128 + 1,
        };
        enhancement.saturating_mul(rows).saturating_add(of_linear)
    }
}

impl FeatureMap {
    pub(crate) fn new(shape: Shape) -> Self {
        let Shape { seed, linear, enhancement, input_nodes, weight_scale, source, .. } = shape;
        let linear_biases = match input_nodes {
            true => draw::constant_node(linear),
            false => draw::uniform(seed, "feature bias", "", linear),
        };
        let enhancement = match source {
            EnhancementSource::Inputs => Layer::new(&draw::biases_from_inputs(seed, enhancement)),
            EnhancementSource::FeatureNodes => {
                let biases = draw::uniform(seed, "enhancement bias", "", enhancement);
                let mut layer = Layer::new(&biases);
                let weights = draw::from_linear(seed, linear, enhancement, weight_scale);
                weights.chunks_exact(enhancement).for_each(|row| layer.push_input(row));
                layer
            }
        };
        FeatureMap {
            shape,
            fan_in: None,
            waiting: Vec::new(),
            linear: Arc::new(Layer::new(&linear_biases)),
            enhancement: Arc::new(enhancement),
            sampled_nodes: None,
            sampled: Default::default(),
            labels: LabelInputs::default(),
            labelled_kind: NodeKind::Random,
            instructions: InstructionSet::detect(),
            threads: Threads::default(),
        }
    }

    /// Feeds the last `lags` labels into the first `features` features, in addition to the plain
    /// ones.
    pub(crate) fn feed_labels(&mut self, features: usize, lags: usize) {
        self.labels = LabelInputs::new(features, lags);
    }

    /// The same map, empty, with the inputs themselves as linear nodes: one for each of as many
    /// inputs, and a constant.
    pub(crate) fn with_input_nodes(&self, inputs: usize) -> Self {
        let shape = Shape { linear: inputs + 1, input_nodes: true, ..self.shape };
        let mut map = FeatureMap::new(shape);
        map.threads = self.threads.clone();
        map
    }

    /// The number of inputs that are linear nodes themselves; 0 if these are random.
    pub(crate) fn input_nodes(&self) -> usize {
        if self.shape.input_nodes { self.shape.linear - 1 } else { 0 }
    }

    /// Takes the samples that nodes of other kinds than random ones are drawn from.
    pub(crate) fn sample_nodes_from(&mut self, samples: Vec<ScaledSample>, inputs: usize) {
        self.sampled_nodes = Some(SampledNodes::new(&self.shape, samples, inputs));
    }

    /// Changes the number of nodes of a kind. The first ones stay as they are. Nodes other than
    /// random ones need [samples](Self::sample_nodes_from).
    pub(crate) fn set_nodes(&mut self, kind: NodeKind, count: usize, inputs: &[Input]) {
        if self.layout().nodes[kind.index()] == count {
            return;
        }
        let Some(fan_in) = self.fan_in else { return };
        let Shape { seed, version, .. } = self.shape;
        if kind == NodeKind::Random {
            self.shape.enhancement = count;
            let mut layer = Layer::new(&draw::biases_from_inputs(seed, count));
            for input in inputs {
                let row =
                    draw::from_inputs(seed, version, Origin::Sample, &input.name, count, fan_in);
                layer.push_input(&row);
            }
            self.enhancement = Arc::new(layer);
        } else if let Some(nodes) = &self.sampled_nodes {
            let weights = nodes.weights(kind, count, inputs, fan_in);
            let mut layer = Layer::new(&weights.biases);
            weights.rows.iter().for_each(|row| layer.push_input(row));
            self.sampled[kind.index() - 1] = Arc::new(layer);
        }
    }

    /// The number of indicators of codes; none before [samples](Self::sample_nodes_from) are known.
    pub(crate) fn code_indicators(&self) -> usize {
        self.sampled_nodes.as_ref().map_or(0, |nodes| nodes.coded().indicators())
    }

    /// Whether features depend on the codes of values.
    pub(crate) fn reads_codes(&self) -> bool {
        self.sampled[NodeKind::Coded.index() - 1].nodes() > 0
    }

    /// Feeds labels into this many features from now on: the linear nodes and nodes of this kind.
    pub(crate) fn set_labelled(&mut self, features: usize, kind: NodeKind) {
        self.labelled_kind = kind;
        if let Some(fan_in) = self.fan_in
            && self.labels.features() != features
        {
            let last = self.labels.classes().checked_sub(1);
            self.labels = LabelInputs::new(features, self.labels.lags());
            if let Some(class) = last {
                self.labels.declare(class, &self.shape, fan_in);
            }
        }
    }

    /// What a row of features consists of.
    pub(crate) fn layout(&self) -> RowLayout {
        let mut nodes = [self.shape.enhancement; NodeKind::ALL.len()];
        for (nodes, layer) in nodes[1..].iter_mut().zip(&self.sampled) {
            *nodes = layer.nodes();
        }
        RowLayout { linear: self.shape.linear, nodes }
    }

    /// Draws weights for the labels of a class; the number of inputs must be fixed.
    pub(crate) fn declare_label(&mut self, class: usize) {
        if let Some(fan_in) = self.fan_in {
            self.labels.declare(class, &self.shape, fan_in);
        }
    }

    /// The number of features of a sample.
    pub(crate) fn len(&self) -> usize {
        self.layout().len()
    }

    pub(crate) fn declare_input(&mut self, name: &str) {
        match self.fan_in {
            Some(fan_in) => self.push_input(Origin::Sample, name, fan_in),
            None => self.waiting.push(name.to_owned()),
        }
    }

    /// Removes the last input.
    pub(crate) fn withdraw_last(&mut self) {
        if self.fan_in.is_none() {
            self.waiting.pop();
            return;
        }
        Arc::make_mut(&mut self.linear).pop_input();
        if self.shape.source == EnhancementSource::Inputs {
            Arc::make_mut(&mut self.enhancement).pop_input();
        }
        self.sampled.iter_mut().for_each(|layer| Arc::make_mut(layer).pop_input());
    }

    /// Fixes the number of inputs per sample that weights are scaled for; only the first call has
    /// an effect.
    pub(crate) fn fix_fan_in(&mut self, inputs: usize) {
        if self.fan_in.is_none() {
            self.fan_in = Some(inputs);
            for name in std::mem::take(&mut self.waiting) {
                self.push_input(Origin::Sample, &name, inputs);
            }
        }
    }

    fn push_input(&mut self, origin: Origin, name: &str, fan_in: usize) {
        let Shape { seed, version, linear, enhancement, input_nodes, weight_scale, source, .. } =
            self.shape;
        let own = self.linear.inputs();
        // The last node is constant. Inputs that come later are summed at random.
        Arc::make_mut(&mut self.linear).push_input(&match input_nodes && own + 1 < linear {
            true => draw::input_node(own, linear, fan_in),
            false => draw::linear(seed, origin, name, linear, weight_scale, fan_in),
        });
        if source == EnhancementSource::Inputs {
            let row = draw::from_inputs(seed, version, origin, name, enhancement, fan_in);
            Arc::make_mut(&mut self.enhancement).push_input(&row);
        }
        for layer in &mut self.sampled {
            let row = draw::from_inputs(seed, version, origin, name, layer.nodes(), fan_in);
            Arc::make_mut(layer).push_input(&row);
        }
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
    }

    /// Saves the map, either with its weights or only with what is needed to draw them again.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>, with_weights: bool) {
        to.integer("generator", self.shape.version);
        to.value("fan_in", self.fan_in);
        to.integer("label_classes", self.labels.classes());
        to.value("has_weights", with_weights);
        if with_weights {
            self.linear.save(&mut to.scope("linear"));
            self.enhancement.save(&mut to.scope("enhancement"));
            self.labels.save(&mut to.scope("labels"));
        }
        // A model that chooses its own nodes has as many as it has chosen.
        to.integers("nodes", self.layout().nodes.map(|nodes| nodes as u64).to_vec());
        to.integer("input_nodes", self.input_nodes());
        to.integer("labelled_features", self.labels.features());
        to.integer("labelled_kind", self.labelled_kind.index());
        let Some(nodes) = &self.sampled_nodes else { return };
        nodes.save(&mut to.scope("sampled_nodes"));
        if with_weights {
            for (kind, layer) in NodeKind::ALL[1..].iter().zip(&self.sampled) {
                layer.save(&mut to.scope("sampled").scope(&kind.index().to_string()));
            }
        }
    }

    /// Takes over a map of these inputs, in a model with `classes` known classes.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        inputs: &[Input],
        classes: usize,
    ) -> Result<(), ModelFileError> {
        if from.value("fan_in")?.is_null() {
            from.check("fan_in", self.fan_in.is_none(), "the number of inputs per sample")?;
            self.waiting = inputs.iter().map(|input| input.name.clone()).collect();
            return Ok(());
        }
        let fan_in = from.count("fan_in", u32::MAX as usize)?;
        let sound = self.fan_in.is_none_or(|given| given == fan_in);
        from.check("fan_in", sound, "the number of inputs per sample that was given")?;
        let label_classes = from.count("label_classes", classes)?;
        self.fan_in = Some(fan_in);
        let has_weights = from.flag("has_weights")?;
        let version = from.integer("generator")?;
        let known = (draw::CATEGORIES_ALONE..=draw::VERSION).contains(&version);
        from.check("generator", known, "a way of drawing weights that this program knows")?;
        self.shape.version = version;
        self.restore_nodes(from, inputs, has_weights)?;
        if has_weights {
            let seen = match self.shape.source {
                EnhancementSource::Inputs => inputs.len(),
                EnhancementSource::FeatureNodes => self.shape.linear,
            };
            Arc::make_mut(&mut self.linear).restore(&from.scope("linear")?, inputs.len())?;
            let enhancement = Arc::make_mut(&mut self.enhancement);
            enhancement.restore(&from.scope("enhancement")?, seen)?;
            return self.labels.restore(&from.scope("labels")?, label_classes);
        }
        for input in inputs {
            self.push_input(Origin::Sample, &input.name, fan_in);
        }
        if let Some(last) = label_classes.checked_sub(1) {
            self.labels.declare(last, &self.shape, fan_in);
        }
        Ok(())
    }

    /// Takes over how many nodes of each kind there are, and those that are not random ones. The
    /// files of models that choose nothing need not say it.
    fn restore_nodes(
        &mut self,
        from: &ReadScope<'_>,
        inputs: &[Input],
        has_weights: bool,
    ) -> Result<(), ModelFileError> {
        if !from.has("sampled_nodes") && from.length("nodes") == 0 {
            return Ok(());
        }
        let [random, ..] = NodeKind::ALL.map(NodeKind::index);
        let Shape { seed, linear, most_nodes, source, .. } = self.shape;
        let mut nodes = from.any_integers("nodes")?;
        // Files of earlier versions know fewer kinds.
        let sound = (1..=NodeKind::ALL.len()).contains(&nodes.len())
            && nodes.iter().all(|count| *count <= most_nodes as u64);
        from.check("nodes", sound, "numbers of nodes within their bounds")?;
        nodes.resize(NodeKind::ALL.len(), 0);
        if nodes[random] != self.shape.enhancement as u64 {
            let sees_inputs = source == EnhancementSource::Inputs;
            from.check("nodes", sees_inputs, "as many random nodes as the options say")?;
            self.shape.enhancement = nodes[random] as usize;
            let biases = draw::biases_from_inputs(seed, self.shape.enhancement);
            self.enhancement = Arc::new(Layer::new(&biases));
        }
        let features = from.count("labelled_features", linear + most_nodes)?;
        let kind = from.count("labelled_kind", NodeKind::ALL.len() - 1)?;
        self.labels = LabelInputs::new(features, self.labels.lags());
        self.labelled_kind = NodeKind::ALL[kind];
        if !from.has("sampled_nodes") {
            return Ok(());
        }
        let source = &from.scope("sampled_nodes")?;
        let drawn_from = SampledNodes::restore(&self.shape, source, inputs.len())?;
        let coded_rows = drawn_from.coded().rows_of(inputs.len());
        self.sampled_nodes = Some(drawn_from);
        for kind in &NodeKind::ALL[1..] {
            let count = nodes[kind.index()] as usize;
            if count == 0 {
                continue;
            }
            if has_weights {
                let from = from.scope("sampled")?.scope(&kind.index().to_string())?;
                let mut layer = Layer::new(&from.floats("biases", count)?);
                let rows = if *kind == NodeKind::Coded { coded_rows } else { inputs.len() };
                layer.restore(&from, rows)?;
                self.sampled[kind.index() - 1] = Arc::new(layer);
            } else {
                self.set_nodes(*kind, count, inputs);
            }
        }
        Ok(())
    }

    /// The number of classes whose labels have weights.
    pub(crate) fn label_classes(&self) -> usize {
        self.labels.classes()
    }

    /// The way in which weights are drawn.
    pub(crate) fn version(&self) -> u64 {
        self.shape.version
    }

    /// Draws weights in the way of another map. No input may be known yet.
    pub(crate) fn draw_as(&mut self, other: &FeatureMap) {
        self.shape.version = other.shape.version;
    }

    /// The usual number of inputs of a sample, once that is known.
    pub(crate) fn fan_in(&self) -> Option<usize> {
        self.fan_in
    }

    /// Appends the features of each sample to `features`. `scaled` holds the samples' values after
    /// scaling, one sample after the other, `codes` their codes if the map [reads
    /// them](Self::reads_codes), and `labels` the labels before each sample, the latest first.
    pub(crate) fn transform<'a>(
        &self,
        samples: impl Iterator<Item = Sample<'a>>,
        scaled: &[f64],
        codes: &[i8],
        labels: &[Vec<usize>],
        features: &mut Features,
    ) {
        let (mut rest, mut rest_of_codes) = (scaled, codes);
        let samples: Vec<MapSample<'_>> = samples
            .map(|x| {
                let (values, codes);
                (values, rest) = rest.split_at(x.len());
                (codes, rest_of_codes) = rest_of_codes.split_at(x.len().min(rest_of_codes.len()));
                MapSample { x, values, codes }
            })
            .collect();
        let room = |rows: &mut Vec<f64>, length: usize| {
            let start = rows.len();
            rows.resize(start + samples.len() * length, 0.0);
            start
        };
        let (length, labelled) = (self.len(), self.labels.features());
        features.layout = self.layout();
        let start = room(&mut features.plain, length);
        let labelled_start = room(&mut features.labelled, labelled);
        // As few batches as there are threads.
        let batch = samples.len().div_ceil(self.threads.count()).next_multiple_of(SAMPLES);
        let batch = batch.clamp(LEAST_BATCH, LEAST_BATCH.max(MOST_BATCH));
        let mut labels = labels.chunks(batch);
        let mut labelled_rows =
            features.labelled[labelled_start..].chunks_mut((batch * labelled).max(1));
        let batches = samples.chunks(batch).zip(features.plain[start..].chunks_mut(batch * length));
        let batches = batches.map(|(samples, rows)| FeatureBatch {
            samples,
            labels: labels.next().unwrap_or_default(),
            rows,
            labelled: labelled_rows.next().unwrap_or_default(),
        });
        let nodes = (samples.len() * (length + labelled)) as u64;
        let inputs = scaled.len().checked_div(samples.len()).unwrap_or(0) as u64;
        let multiply_adds = nodes * (inputs + ACTIVATION);
        self.threads.share(multiply_adds, batches, || (), |(), batch| self.fill(batch));
    }

    /// Computes the feature rows of a batch.
    fn fill(&self, batch: FeatureBatch<'_>) {
        let FeatureBatch { samples, labels, rows, labelled } = batch;
        if self.fan_in.is_none() {
            return self.fill_early(samples, rows);
        }
        let (layout, length, linear) = (self.layout(), self.len(), self.shape.linear);
        let inputs = groups(samples);
        self.instructions.run(
            #[inline(always)]
            || self.linear.apply(&inputs, rows, length, 0),
        );
        match self.shape.source {
            EnhancementSource::Inputs => self.instructions.run(
                #[inline(always)]
                || self.enhancement.apply(&inputs, rows, length, linear),
            ),
            EnhancementSource::FeatureNodes => self.fill_from_linear(rows),
        }
        let coded = self.coded_inputs(samples);
        let coded = coded.iter().map(|(inputs, values)| SampleGroup::new(Some(inputs), &[values]));
        let coded: Vec<SampleGroup<'_>> = coded.collect();
        for (kind, layer) in NodeKind::ALL[1..].iter().zip(&self.sampled) {
            let inputs = if *kind == NodeKind::Coded { &coded } else { &inputs };
            self.instructions.run(
                #[inline(always)]
                || layer.apply(inputs, rows, length, layout.start(*kind)),
            );
        }
        self.finish(rows, labelled, labels.iter().map(Vec::as_slice));
    }

    /// Makes features of the sums of all nodes of samples, those with labels too.
    fn finish<'a>(
        &self,
        rows: &mut [f64],
        labelled: &mut [f64],
        labels: impl Iterator<Item = &'a [usize]>,
    ) {
        let (layout, length, linear) = (self.layout(), self.len(), self.shape.linear);
        let with_labels = labelled.chunks_exact_mut(self.labels.features().max(1));
        for ((row, labelled), labels) in rows.chunks_exact(length).zip(with_labels).zip(labels) {
            let (z, nodes) = labelled.split_at_mut(linear);
            z.copy_from_slice(&row[..linear]);
            nodes.copy_from_slice(&row[layout.start(self.labelled_kind)..][..nodes.len()]);
            self.labels.add(labels, labelled);
            self.shape.activation.apply_on(self.instructions, &mut labelled[linear..]);
        }
        for row in rows.chunks_exact_mut(length) {
            self.shape.activation.apply_on(self.instructions, &mut row[linear..]);
        }
    }

    /// The columns of a sample, scaled, whose absence may change its features. A value of 0 contributes as
    /// much as an absent one, unless it is read as a code.
    pub(crate) fn columns_of(&self, x: Sample<'_>, columns: &Columns) -> SampleColumns {
        // Before the first sample is learned features have no weights.
        if self.fan_in.is_none() {
            return SampleColumns::default();
        }
        let coded = self.sampled_nodes.as_ref().filter(|_| self.reads_codes());
        let is_coded = |input| coded.is_some_and(|nodes| nodes.coded().has(input));
        SampleColumns::of(x, columns, |input, value| value != 0.0 || is_coded(input))
    }

    /// Calls `each` with the features of a sample without some of its columns, one column after the other:
    /// a range of places in `columns`, and as many rows of features. `x` is scaled. At least one sample must
    /// have been learned, or there are no columns.
    pub(crate) fn without_each(
        &self,
        x: Sample<'_>,
        codes: &[i8],
        labels: &[usize],
        columns: &SampleColumns,
        selected: &[Range<usize>],
        mut each: impl FnMut(Range<usize>, &Features) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (layout, length, linear) = (self.layout(), self.len(), self.shape.linear);
        let places = columns.places();
        let inputs: Vec<u32> = match x.inputs() {
            Some(inputs) => places.iter().map(|place| inputs[*place]).collect(),
            None => places.iter().map(|place| *place as u32).collect(),
        };
        let values: Vec<f64> = places.iter().map(|place| x.values()[*place]).collect();
        let coded = self.coded_inputs(&[MapSample { x, values: x.values(), codes }]).pop();
        let (coded_rows, factors) = coded.unwrap_or_default();
        let of_places = |rows: &[u32]| places.iter().map(|place| rows[*place]).collect();
        let coded_rows: Vec<u32> =
            if coded_rows.is_empty() { Vec::new() } else { of_places(&coded_rows) };
        let factors: Vec<f64> = match factors.is_empty() {
            true => Vec::new(),
            false => places.iter().map(|place| factors[*place]).collect(),
        };
        let plain = Terms { inputs: &inputs, values: &values };
        let coded = Terms { inputs: &coded_rows, values: &factors };
        // The layers that see inputs, with the terms that they see and where their nodes are.
        let mut layers = vec![(&self.linear, plain, 0)];
        if self.shape.source == EnhancementSource::Inputs {
            layers.push((&self.enhancement, plain, linear));
        }
        for (kind, layer) in NodeKind::ALL[1..].iter().zip(&self.sampled) {
            if layer.nodes() > 0 {
                let terms = if *kind == NodeKind::Coded { coded } else { plain };
                layers.push((layer, terms, layout.start(*kind)));
            }
        }
        let parts = SampleColumns::parts(selected);
        let places_of: Vec<Range<usize>> =
            parts.iter().map(|part| columns.places_of(part.clone())).collect();
        let outside: Vec<Vec<NodeSums>> = layers
            .iter()
            .map(|(layer, terms, _)| {
                self.instructions.run(
                    #[inline(always)]
                    || layer.sums_outside(*terms, &places_of),
                )
            })
            .collect();
        let mut features = Features { layout, ..Features::default() };
        for (p, part) in parts.iter().enumerate() {
            let groups: Vec<Range<usize>> =
                part.clone().map(|column| columns.places_of(column..column + 1)).collect();
            features.plain.resize(part.len() * length, 0.0);
            features.labelled.resize(part.len() * self.labels.features(), 0.0);
            let rows = &mut features.plain;
            for ((layer, terms, first), outside) in layers.iter().zip(&outside) {
                let outside = outside.iter().skip(p).step_by(parts.len());
                self.instructions.run(
                    #[inline(always)]
                    || layer.apply_without(*terms, &groups, outside, rows, length, *first),
                );
            }
            if self.shape.source == EnhancementSource::FeatureNodes {
                self.fill_from_linear(rows);
            }
            self.finish(rows, &mut features.labelled, std::iter::repeat(labels));
            each(part.clone(), &features)?;
        }
        Ok(())
    }

    /// Computes the sums of enhancement nodes that see the linear nodes, which the rows have already.
    fn fill_from_linear(&self, rows: &mut [f64]) {
        let (length, linear) = (self.len(), self.shape.linear);
        let z: Vec<&[f64]> = rows.chunks_exact(length).map(|row| &row[..linear]).collect();
        let groups: Vec<SampleGroup<'_>> =
            z.chunks(SAMPLES).map(|z| SampleGroup::new(None, z)).collect();
        self.instructions.run(
            #[inline(always)]
            || self.enhancement.apply(&groups, rows, length, linear),
        );
    }

    /// The rows of weights that nodes on codes take for each sample, if there are such nodes.
    fn coded_inputs(&self, samples: &[MapSample<'_>]) -> Vec<CodedInputs> {
        let Some(nodes) = self.sampled_nodes.as_ref().filter(|_| self.reads_codes()) else {
            return Vec::new();
        };
        let rows = |sample: &MapSample<'_>| {
            let inputs = sample.x.iter().map(|(input, _)| input);
            nodes.coded().rows(inputs, sample.values, sample.codes)
        };
        samples.iter().map(rows).collect()
    }

    /// The same before the first sample is learned, when any of these samples could be the one that
    /// fixes the number of inputs. No class is known yet, so there are no labels.
    fn fill_early(&self, samples: &[MapSample<'_>], rows: &mut [f64]) {
        for (sample, row) in samples.iter().zip(rows.chunks_exact_mut(self.len())) {
            let mut map = self.clone();
            map.fix_fan_in(sample.x.len());
            let samples = std::slice::from_ref(sample);
            map.fill(FeatureBatch { samples, labels: &[], rows: row, labelled: &mut [] });
        }
    }
}

/// A batch of samples and where their features go.
struct FeatureBatch<'a> {
    samples: &'a [MapSample<'a>],
    labels: &'a [Vec<usize>],
    rows: &'a mut [f64],
    labelled: &'a mut [f64],
}

/// A sample with its values after scaling, and their codes if the map reads them.
struct MapSample<'a> {
    x: Sample<'a>,
    values: &'a [f64],
    codes: &'a [i8],
}

/// The rows of weights that a sample takes, and their factors.
type CodedInputs = (Vec<u32>, Vec<f64>);

/// Groups consecutive samples that have the same inputs.
fn groups<'a>(samples: &'a [MapSample<'a>]) -> Vec<SampleGroup<'a>> {
    let alike = |a: &MapSample<'_>, b: &MapSample<'_>| {
        a.x.is_dense() && b.x.is_dense() && a.values.len() == b.values.len()
    };
    samples
        .chunk_by(alike)
        .flat_map(|run| run.chunks(SAMPLES))
        .map(|group| {
            let values: Vec<&[f64]> = group.iter().map(|sample| sample.values).collect();
            SampleGroup::new(group[0].x.inputs().filter(|_| !group[0].x.is_dense()), &values)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCES: [EnhancementSource; 2] =
        [EnhancementSource::Inputs, EnhancementSource::FeatureNodes];

    fn map(
        source: EnhancementSource,
        linear: usize,
        enhancement: usize,
        names: &[&str],
    ) -> FeatureMap {
        let mut map = FeatureMap::new(Shape {
            seed: 3,
            version: draw::VERSION,
            linear,
            enhancement,
            input_nodes: false,
            most_nodes: enhancement,
            kinds: 1,
            activation: Activation::Tanh,
            weight_scale: WeightScale::FanIn,
            source,
        });
        for name in names {
            map.declare_input(name);
        }
        map.fix_fan_in(names.len());
        map
    }

    fn features(map: &FeatureMap, samples: &[Sample<'_>]) -> Vec<f64> {
        let scaled: Vec<f64> = samples.iter().flat_map(|x| x.values()).copied().collect();
        let mut features = Features::default();
        map.transform(samples.iter().copied(), &scaled, &[], &[], &mut features);
        features.plain
    }

    /// The equations, node by node.
    fn definition(map: &FeatureMap, x: Sample<'_>) -> Vec<f64> {
        let node = |layer: &Layer, inputs: &[(usize, f64)], j: usize| {
            let sum: f64 = inputs.iter().map(|(i, x)| x * layer.weight(*i, j)).sum();
            sum + layer.bias(j)
        };
        let x: Vec<(usize, f64)> = x.iter().collect();
        let mut a: Vec<f64> = (0..map.shape.linear).map(|j| node(&map.linear, &x, j)).collect();
        let z: Vec<(usize, f64)> = a.iter().copied().enumerate().collect();
        let seen = if map.shape.source == EnhancementSource::Inputs { x } else { z };
        let enhancement = 0..map.shape.enhancement;
        a.extend(enhancement.map(|j| node(&map.enhancement, &seen, j).tanh()));
        a
    }

    #[test]
    fn features_follow_their_equations() {
        let sizes = [(1, 1), (5, 11), (12, 12), (13, 25), (24, 7), (30, 1)];
        for (source, (linear, enhancement)) in
            SOURCES.into_iter().flat_map(|source| sizes.map(|size| (source, size)))
        {
            let map = map(source, linear, enhancement, &["a", "b", "c"]);
            for x in [Sample::dense(&[0.3, -2.0, 0.7]), Sample::sparse(&[1], &[1.5]).unwrap()] {
                let found = features(&map, &[x]);
                let expected = definition(&map, x);
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn a_block_has_the_bits_of_its_samples() {
        for source in SOURCES {
            check_blocks(map(source, 13, 26, &["a", "b"]));
        }
    }

    fn check_blocks(mut map: FeatureMap) {
        let rows: Vec<[f64; 2]> = (0..17).map(|i| [i as f64 * 0.3 - 1.0, 0.1]).collect();
        let samples: Vec<Sample<'_>> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| match i {
                6 | 7 => Sample::sparse(&[1], &row[1..]).unwrap(),
                9 => Sample::dense(&row[..1]),
                _ => Sample::dense(row),
            })
            .collect();
        let whole = features(&map, &samples);
        let alone = InstructionSet::available().map(|instructions| (instructions, 1));
        for (instructions, threads) in alone.chain([(InstructionSet::detect(), 3)]) {
            map.instructions = instructions;
            map.share_threads(&Threads::new(threads).unwrap());
            for size in [1, 2, 3, 4, 5, 7] {
                let parts: Vec<f64> =
                    samples.chunks(size).flat_map(|part| features(&map, part)).collect();
                assert_eq!(parts, whole, "blocks of {size}");
            }
        }
    }

    #[test]
    fn the_order_of_inputs_does_not_matter() {
        let forward =
            features(&map(SOURCES[0], 10, 20, &["a", "b"]), &[Sample::dense(&[0.5, -1.0])]);
        let backward =
            features(&map(SOURCES[0], 10, 20, &["b", "a"]), &[Sample::dense(&[-1.0, 0.5])]);
        for (forward, backward) in forward.iter().zip(&backward) {
            assert!((forward - backward).abs() < 1e-14);
        }
    }

    #[test]
    fn before_the_first_sample_features_are_those_it_would_be_learned_with() {
        for source in SOURCES {
            let fixed = map(source, 4, 9, &["a", "b"]);
            let mut open = FeatureMap::new(fixed.shape);
            ["a", "b"].iter().for_each(|name| open.declare_input(name));
            let x = Sample::dense(&[0.5, -1.0]);
            assert_eq!(features(&open, &[x]), features(&fixed, &[x]));
            open.fix_fan_in(2);
            assert_eq!(features(&open, &[x]), features(&fixed, &[x]));
        }
    }

    #[test]
    fn labels_are_inputs_like_others() {
        let mut map = map(SOURCES[0], 4, 30, &["a", "b"]);
        map.feed_labels(21, 2);
        map.declare_label(2);
        let rows = [[0.5, -1.0], [0.1, 0.2], [0.7, 0.7]];
        let samples = rows.iter().map(|row| Sample::dense(row));
        let labels = [vec![], vec![2], vec![0, 2]];
        let mut features = Features::default();
        map.transform(samples, &rows.concat(), &[], &labels, &mut features);
        // The same map with the labels declared as inputs.
        let names = ["label 1 ago is 0", "label 1 ago is 2", "label 2 ago is 2"];
        names.iter().for_each(|name| map.push_input(Origin::Label, name, 2));
        let inputs = [vec![], vec![3], vec![2, 4]];
        for (i, (row, labels)) in rows.iter().zip(inputs).enumerate() {
            let inputs: Vec<u32> = [0, 1].into_iter().chain(labels).collect();
            let mut values = row.to_vec();
            values.resize(inputs.len(), 1.0);
            let expected = self::features(&map, &[Sample::sparse(&inputs, &values).unwrap()]);
            for (found, expected) in features.labelled[i * 21..][..21].iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-14);
            }
        }
        assert_eq!(features.plain.len(), 3 * 34);
        assert_eq!(features.labelled.len(), 3 * 21);
    }

    #[test]
    fn a_class_that_appears_while_no_node_sees_labels_is_known_later() {
        let labelled = |map: &FeatureMap| {
            let mut features = Features::default();
            let row = [0.5, -1.0];
            map.transform(
                std::iter::once(Sample::dense(&row)),
                &row,
                &[],
                &[vec![2]],
                &mut features,
            );
            features.labelled
        };
        let mut always = map(SOURCES[0], 4, 30, &["a", "b"]);
        always.feed_labels(21, 1);
        let mut later = always.clone();
        always.declare_label(2);
        later.declare_label(0);
        later.set_labelled(0, NodeKind::Random);
        later.declare_label(2);
        assert!(labelled(&later).is_empty());
        later.set_labelled(21, NodeKind::Random);
        assert_eq!(labelled(&later), labelled(&always));
    }
}
