//! The requirements that fuzzing checks of a reader: whatever the bytes, it neither panics nor
//! takes much memory, and what it reads does not depend on the block size.
//!
//! Each target is a file in `src/bin`. Those for readers open a stream on their input bytes and call
//! [`check`]; the others say in their first lines what must hold. `run.sh` finds targets by these files and their first inputs in `seeds`.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    io::Cursor,
    sync::atomic::{AtomicUsize, Ordering},
};

use broadstream::{
    Block, Error,
    stream::{Categories, Stream, TableOptions},
};

/// The most samples that are read from one input: a few bytes may decompress to millions.
const MOST_SAMPLES: usize = 3000;

/// The largest allocation that is allowed. Inputs have a few kilobytes, and a line at most 16 MiB;
/// a target may allow more.
static LARGEST_ALLOCATION: AtomicUsize = AtomicUsize::new(96 << 20);

#[global_allocator]
static ALLOCATOR: BoundedAllocator = BoundedAllocator;

/// Refuses allocations that no input justifies, which ends the program and is thus detected.
struct BoundedAllocator;

// SAFETY: all memory is the system allocator's, and a refused request gives null as is allowed.
unsafe impl GlobalAlloc for BoundedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_ALLOCATION.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > LARGEST_ALLOCATION.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > LARGEST_ALLOCATION.load(Ordering::Relaxed) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are handed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Allows a target allocations of that many bytes: some formats declare such sizes, and memory that
/// is never written costs nothing.
pub fn allow_allocations(bytes: usize) {
    LARGEST_ALLOCATION.store(bytes, Ordering::Relaxed);
}

/// Lets a reader catch panics and turn them into errors: by default the first one ends the program.
/// Those that it does not catch still do.
pub fn allow_caught_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Reads a stream sample by sample and again in blocks, and checks that both agree.
pub fn check<S: Stream>(open: impl Fn() -> Result<S, Error>) {
    let single = read(open(), 1);
    let blocks = read(open(), 64);
    assert_eq!(single, blocks, "what is read must not depend on the size of blocks");
}

/// The bytes as a source.
pub fn source(data: &[u8]) -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(data.to_vec()))
}

/// Options that depend only on the length of the input, so that seeds are plain files.
pub fn table_options(data: &[u8]) -> TableOptions {
    let [first, second] = ["1", "2"].map(|column| move || column.to_owned());
    let chosen = |bit: usize| data.len() & (1 << bit) != 0;
    TableOptions {
        target: (chosen(1) && chosen(2)).then(first),
        categorical: if chosen(1) && !chosen(2) { vec![first()] } else { Vec::new() },
        categories: chosen(0).then_some(Categories::IntegerCodes),
        max_categories: chosen(3).then_some(3),
        text: if chosen(1) && chosen(4) && chosen(5) { vec![second()] } else { Vec::new() },
        dates: if chosen(1) && chosen(4) && !chosen(5) { vec![second()] } else { Vec::new() },
        ..TableOptions::default()
    }
}

/// A sample's inputs with the bits of their values, its class and the bits of its weight.
type Sample = (Vec<(usize, u64)>, usize, u64);

/// The contents of a stream: the names of its inputs, its labels, its samples and the error at the
/// end.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    inputs: Vec<String>,
    labels: Vec<String>,
    samples: Vec<Sample>,
    error: Option<String>,
}

fn read(stream: Result<impl Stream, Error>, most: usize) -> Reading {
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return Reading { error: Some(error.to_string()), ..Reading::default() },
    };
    assert!(stream.inputs_per_sample() > 0, "a sample has at least one input");
    let mut block = Block::new();
    let error = loop {
        let before = block.len();
        let left = MOST_SAMPLES - before;
        match stream.read_block(&mut block, most.min(left)) {
            Ok(0) => break None,
            Ok(read) => assert_eq!(block.len(), before + read),
            Err(error) => break Some(error.to_string()),
        }
    };
    if error.is_some() {
        let again = stream.read_block(&mut Block::new(), 1);
        assert!(matches!(again, Ok(0)), "after an error a stream is at its end");
    }
    let schema = stream.schema();
    let samples = (0..block.len()).map(|i| {
        assert!(block.class(i) < schema.labels().len(), "every class has a label");
        let inputs: Vec<_> =
            block.sample(i).iter().map(|(k, value)| (k, value.to_bits())).collect();
        assert!(inputs.iter().all(|(k, _)| *k < schema.inputs().len()), "every input has a name");
        assert!(inputs.is_sorted_by(|a, b| a.0 < b.0), "inputs increase");
        (inputs, block.class(i), block.weight(i).to_bits())
    });
    Reading {
        samples: samples.collect(),
        inputs: schema.inputs().iter().map(|input| input.name.clone()).collect(),
        labels: schema.labels().to_vec(),
        error,
    }
}
