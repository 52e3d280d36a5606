//! A service whose threads share a filter: requests insert, ask and remove sessions, and meanwhile one thread saves it. When the
//! service starts again, it goes on with what was saved.
//!
//! cargo run --release --example service

use std::path::Path;
use std::sync::Arc;
use std::thread;

use guira::{ConcurrentCuckooFilter, Error};

struct Service {
    sessions: Arc<ConcurrentCuckooFilter>,
}

impl Service {
    fn start(path: &Path) -> Result<Self, Error> {
        let builder =
            ConcurrentCuckooFilter::builder().capacity(1000).max_capacity(1_000_000).false_positive_rate(0.001);
        Ok(Self { sessions: Arc::new(builder.open_or_create(path)?) })
    }

    /// Opens 1000 sessions in each of some threads and closes every second one, while another thread saves.
    fn serve(&self, threads: u64, path: &Path) -> Result<(), Error> {
        let handlers: Vec<_> = (0..threads)
            .map(|thread| {
                let sessions = Arc::clone(&self.sessions);
                thread::spawn(move || -> Result<(), Error> {
                    let numbers: Vec<(u64, u64)> = (0..1000).map(|number| (thread, number)).collect();
                    sessions.insert_many(&numbers)?;
                    let closed: Vec<(u64, u64)> = numbers.into_iter().filter(|(_, number)| number % 2 == 1).collect();
                    sessions.remove_many(&closed);
                    Ok(())
                })
            })
            .collect();
        self.sessions.save(path)?;
        handlers.into_iter().try_for_each(|handler| handler.join().expect("it does not panic"))?;
        Ok(self.sessions.save(path)?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("sessions.guira");
    Service::start(&path)?.serve(4, &path)?;
    let again = Service::start(&path)?;
    println!("{} sessions are open after a new start", again.sessions.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Service;

    #[test]
    fn open_sessions_are_there_after_a_new_start() -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("sessions.guira");
        Service::start(&path)?.serve(2, &path)?;
        let again = Service::start(&path)?;
        assert_eq!(again.sessions.len(), 1000);
        assert!(
            (0..2_u64).all(|thread| (0..1000_u64).step_by(2).all(|number| again.sessions.contains(&(thread, number))))
        );
        Ok(())
    }
}
