//! The watchdog of a program that somebody waits for: it ends the program in time, whatever that is stuck in.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

/// The part of the limit that is left for what must be said or kept at its end.
const RESERVE: Duration = Duration::from_millis(400);

/// Watches over a program from the moment it is made.
#[derive(Clone)]
pub struct Watchdog {
    limit: Duration,
    duty: Arc<Mutex<Option<LastDuty>>>,
}

/// What is still to be done when there is no more time.
type LastDuty = Box<dyn FnOnce() + Send>;

impl Watchdog {
    /// Starts to watch. Shortly before the limit the last duty is done, and at the limit the program is ended, done or not.
    ///
    /// Nothing that the program does can hold it up: it waits for nobody and takes no lock that is kept for long.
    pub fn start(limit: Duration, duty: impl FnOnce() + Send + 'static, end: fn() -> !) -> Self {
        let duty: LastDuty = Box::new(duty);
        let watchdog = Self { limit, duty: Arc::new(Mutex::new(Some(duty))) };
        let theirs = watchdog.clone();
        let watch = move || {
            let reserve = RESERVE.min(limit / 4);
            thread::sleep(limit.saturating_sub(reserve));
            let (done, waiting) = mpsc::channel::<()>();
            let duty = theirs.take();
            // It may get stuck like what it stands for.
            let doing = thread::Builder::new().spawn(move || {
                if let Some(duty) = duty {
                    duty();
                }
                drop(done);
            });
            if doing.is_ok() {
                // Nothing is ever sent: it is over or there is no more time.
                _ = waiting.recv_timeout(reserve);
            }
            end();
        };
        // Without a thread there is no limit; a machine that has none left has other troubles.
        _ = thread::Builder::new().name("watchdog".to_owned()).spawn(watch);
        watchdog
    }

    /// Says what is to be done from now on when there is no more time.
    pub fn in_case(&self, duty: impl FnOnce() + Send + 'static) {
        *self.duty.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(duty));
    }

    /// Returns how long all of it may take.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    fn take(&self) -> Option<LastDuty> {
        self.duty.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
