use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use serde::{Deserialize, Serialize};

/// The machine and the program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    processor: String,
    /// Family, model and stepping, which identify a processor whose name does not.
    model: String,
    /// The clock rate reported by the system, which may differ from the real one.
    clock: String,
    /// The instructions that loops can be compiled for.
    instructions: String,
    processors: usize,
    /// Such as "L1d 48K, L2 2048K".
    caches: String,
    memory: String,
    /// The setting for large pages, such as "always" or "madvise".
    large_pages: String,
    system: String,
    kernel: String,
    date: String,
    compiler: String,
    /// The revision of the source.
    commit: String,
}

impl Machine {
    /// This machine. The commit is what git says of the working directory, unless it is given.
    pub(crate) fn here(commit: Option<&str>) -> Self {
        let known = |text: Option<String>| text.unwrap_or_else(|| UNKNOWN.to_owned());
        Self {
            processor: known(field_of("/proc/cpuinfo", "model name")),
            model: known(model()),
            clock: known(
                field_of("/proc/cpuinfo", "cpu MHz").map(|clock| format!("{clock} MHz, as the system tells it")),
            ),
            instructions: known(instructions()),
            processors: available_parallelism().map_or(1, usize::from),
            caches: known(caches()),
            memory: known(memory()),
            large_pages: known(large_pages()),
            system: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: known(fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned())),
            date: known(said_by("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
            compiler: known(said_by("rustc", &["--version"])),
            // Ends with CHANGED if files differ from it.
            commit: known(
                commit
                    .map(str::to_owned)
                    .or_else(|| said_by("git", &["describe", "--always", "--dirty", "--abbrev=40"])),
            ),
        }
    }

    /// Names and values, for people.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("processor", format!("{}, {} of them", self.processor, self.processors)),
            ("its model", self.model.clone()),
            ("clock", self.clock.clone()),
            ("instructions", self.instructions.clone()),
            ("caches", self.caches.clone()),
            ("memory", self.memory.clone()),
            ("large pages", self.large_pages.clone()),
            ("system", format!("{}, kernel {}", self.system, self.kernel)),
            ("compiled", COMPILED.to_owned()),
            ("date", self.date.clone()),
            ("compiler", self.compiler.clone()),
            ("commit", self.commit.clone()),
        ]
    }

    /// The facts that are equal in all runs of one program on this machine.
    pub(crate) fn lasting_facts(&self) -> Vec<(&'static str, String)> {
        self.facts().into_iter().filter(|(name, _)| !["clock", "date"].contains(name)).collect()
    }

    /// A summary, to print beside a table.
    pub(crate) fn in_short(&self) -> String {
        let Self { processor, processors, caches, compiler, commit, date, .. } = self;
        let processors = match processors {
            1 => "one processor".to_owned(),
            count => format!("{count} processors"),
        };
        let changed = if commit.ends_with(CHANGED) { CHANGED } else { "" };
        let commit = format!("commit {}{changed}", commit.get(..12).unwrap_or(commit));
        let facts = [processor, &processors, caches, compiler, &commit, date];
        facts.into_iter().filter(|fact| !fact.contains(UNKNOWN)).map(String::as_str).collect::<Vec<_>>().join("; ")
    }

    /// Returns `true` if another run was of the same program on the same machine, at any time.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.lasting_facts() == other.lasting_facts()
    }

    pub(crate) fn to_markdown(&self) -> String {
        self.facts().into_iter().map(|(name, value)| format!("- {name}: {value}\n")).collect()
    }
}

/// The suffix that git adds to a commit if files differ from it.
const CHANGED: &str = "-dirty";

/// The text for a fact that the system does not tell.
const UNKNOWN: &str = "unknown";

/// How Cargo compiles the program, and which parts are compiled differently.
const COMPILED: &str = "profile release, for every x86-64 processor; the loops of baselines and floors also for AVX2 and \
                        AVX-512, where there are such";

fn model() -> Option<String> {
    let of = |name| field_of("/proc/cpuinfo", name);
    // "model name" begins with "model" too, but comes after it.
    Some(format!(
        "{}, family {}, model {}, stepping {}",
        of("vendor_id")?,
        of("cpu family")?,
        of("model\t")?,
        of("stepping")?
    ))
}

fn instructions() -> Option<String> {
    let flags = field_of("/proc/cpuinfo", "flags")?;
    let known = ["sse4_2", "avx", "avx2", "bmi2", "avx512f", "avx512vl"];
    let found = known.into_iter().filter(|flag| flags.split_whitespace().any(|other| other == *flag));
    Some(found.collect::<Vec<_>>().join(" "))
}

/// The memory in GiB, from a line such as "24561232 kB".
fn memory() -> Option<String> {
    let kibibytes: u64 = field_of("/proc/meminfo", "MemTotal")?.split_once(' ')?.0.parse().ok()?;
    Some(format!("{:.1} GiB", crate::cast::approximate(kibibytes) / 1_048_576.0))
}

/// A field of a file of Linux, with lines such as "model name : …".
fn field_of(file: &str, name: &str) -> Option<String> {
    let description = fs::read_to_string(file).ok()?;
    let line = description.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The data caches of the first processor.
fn caches() -> Option<String> {
    let folder = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").ok()?;
    let of = |cache: &fs::DirEntry| {
        let read = |file| fs::read_to_string(cache.path().join(file)).ok().map(|text| text.trim().to_owned());
        let kind = read("type")?;
        let letter = if kind == "Data" { "d" } else { "" };
        (kind != "Instruction").then_some(format!("L{}{letter} {}", read("level")?, read("size")?))
    };
    let mut caches: Vec<String> = folder.flatten().filter_map(|cache| of(&cache)).collect();
    caches.sort();
    (!caches.is_empty()).then(|| caches.join(", "))
}

/// The setting for large pages: the choice in brackets.
fn large_pages() -> Option<String> {
    let choices = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    Some(choices.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// The first line of what a program prints.
fn said_by(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
