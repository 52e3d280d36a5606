//! `guira`: cuckoo filters on the command line.

use guira_cli::Ending;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: Ending<mimalloc::MiMalloc> = Ending(mimalloc::MiMalloc);

#[cfg(not(target_env = "musl"))]
#[global_allocator]
static ALLOCATOR: Ending<std::alloc::System> = Ending(std::alloc::System);

fn main() -> std::process::ExitCode {
    guira_cli::run()
}
