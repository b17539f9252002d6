//! Signals that ask the program to end, and input that ends when one arrives.
//!
//! A command that has something to save calls [`watch`]. From then on the first SIGINT, SIGTERM or SIGHUP
//! does not end the program but is [`received`], and a read from [`stoppable`] input fails instead of
//! waiting on. The command saves, and ends with [`Stopped`]. Further signals change nothing: a shell or
//! `timeout` may send the same signal twice, and saving takes a moment only. SIGQUIT (Ctrl-\) and
//! SIGKILL end the program at once, as ever.

use std::{
    fmt,
    fs::File,
    io::{self, Read},
};

/// A signal that asked the program to end, and what the command did about it.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) signal: Signal,
    /// What was saved, and where.
    pub(crate) saved: String,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stopped by {}; {}", self.signal.name, self.saved)
    }
}

impl std::error::Error for Stopped {}

/// A signal that asks the program to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    name: &'static str,
    number: u8,
}

impl Signal {
    /// The exit code of a program that such a signal ended, as shells have it.
    pub(crate) fn exit_code(self) -> u8 {
        128 + self.number
    }
}

/// Input that fails, instead of waiting on, once a signal was received.
pub(crate) fn stoppable(file: File) -> Box<dyn Read + Send> {
    Box::new(StoppableInput(file))
}

/// Standard input, which fails, instead of waiting on, once a signal was received.
#[cfg(unix)]
pub(crate) fn standard_input() -> io::Result<Box<dyn Read + Send>> {
    use std::os::fd::AsFd;
    // Not `io::stdin`: whether that has bytes in its buffer cannot be asked.
    Ok(stoppable(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
pub(crate) fn standard_input() -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(io::stdin()))
}

struct StoppableInput(File);

impl Read for StoppableInput {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        wait(&self.0)?;
        self.0.read(out)
    }
}

#[cfg(unix)]
pub(crate) use self::unix::{received, watch};

#[cfg(unix)]
use self::unix::wait;

/// Elsewhere a program ends at once.
#[cfg(not(unix))]
pub(crate) fn watch() -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn received() -> Option<Signal> {
    None
}

#[cfg(not(unix))]
fn wait(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::{
        fs::File,
        io::{self, PipeReader, PipeWriter},
        os::fd::AsFd,
        sync::{
            OnceLock,
            atomic::{AtomicI32, Ordering},
        },
    };

    use nix::{
        errno::Errno,
        libc::c_int,
        poll::{PollFd, PollFlags, PollTimeout, poll},
        sys::signal::{self, SaFlags, SigAction, SigHandler, SigSet},
        unistd,
    };

    use super::Signal;

    const SIGNALS: [(signal::Signal, &str); 3] = [
        (signal::Signal::SIGINT, "SIGINT"),
        (signal::Signal::SIGTERM, "SIGTERM"),
        (signal::Signal::SIGHUP, "SIGHUP"),
    ];

    /// The number of the first signal that arrived, or 0.
    static RECEIVED: AtomicI32 = AtomicI32::new(0);

    /// Has a byte to read as soon as a signal has arrived, so that a read can wait for both.
    static WAKE: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

    /// Keeps signals from ending the program from now on.
    pub(crate) fn watch() -> io::Result<()> {
        if WAKE.get().is_some() {
            return Ok(());
        }
        let _ = WAKE.set(io::pipe()?);
        for (number, _) in SIGNALS {
            let handler = SigHandler::Handler(handle);
            let action = SigAction::new(handler, SaFlags::SA_RESTART, SigSet::empty());
            // SAFETY: `handle` does only what a signal handler may: it reads and writes atomic numbers,
            // writes to a pipe, and leaves `errno` as it was.
            let before = unsafe { signal::sigaction(number, &action) }?;
            // `nohup` and shells that start a program in the background ignore signals for it.
            if matches!(before.handler(), SigHandler::SigIgn) {
                // SAFETY: this action was in force a moment ago.
                unsafe { signal::sigaction(number, &before) }?;
            }
        }
        Ok(())
    }

    extern "C" fn handle(signal: c_int) {
        let is_first =
            RECEIVED.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        // Only once, so that the pipe cannot be full.
        if let (true, Some((_, writer))) = (is_first, WAKE.get()) {
            let before = Errno::last();
            let _ = unistd::write(writer, &[1]);
            before.set();
        }
    }

    /// The signal that asked the program to end, if one did.
    pub(crate) fn received() -> Option<Signal> {
        let number = RECEIVED.load(Ordering::SeqCst);
        let named = |(signal, name): &(signal::Signal, &'static str)| {
            (*signal as c_int == number).then_some(Signal { name, number: number as u8 })
        };
        SIGNALS.iter().find_map(named)
    }

    /// Waits until a file has something to read, or until a signal arrives, which is an error.
    pub(super) fn wait(file: &File) -> io::Result<()> {
        let Some((wake, _)) = WAKE.get() else { return Ok(()) };
        loop {
            if let Some(signal) = received() {
                return Err(io::Error::other(format!("stopped by {}", signal.name)));
            }
            let mut files =
                [file.as_fd(), wake.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            match poll(&mut files, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
                // The end of a file and its errors are there to be read too.
                Ok(_) if files[0].any() != Some(false) => return Ok(()),
                Ok(_) => {}
            }
        }
    }
}
