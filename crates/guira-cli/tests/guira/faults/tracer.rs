//! A run of the program of which every system call is seen, and one can be made to go wrong.
//!
//! By `ptrace`, since a library that is loaded before the program's own does not see the calls that the program makes
//! without the C library.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{IoSliceMut, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use nix::errno::Errno;
use nix::libc::{self, c_long, user_regs_struct};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::cases::{Case, Program};
use super::disk::Effect;
use crate::workplace::Workplace;

/// A system call of the program's own: those that load it and set up its runtime are left out. Of a process that does more
/// than save or load, those between two marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) place: CallPlace,
    /// What it is about: the file behind a descriptor, or a path.
    pub(super) subject: String,
    pub(super) creates: bool,
}

/// The n-th call of its kind of the n-th thread: so it is the same call in each run, however threads take turns, and however
/// often memory is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub(super) thread: usize,
    pub(super) number: c_long,
    pub(super) ordinal: usize,
}

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It does nothing and fails.
    Refused(Errno),
    /// It does its work and fails, as `close` does.
    Late(Errno),
    /// It reads or writes one byte where more were asked for.
    Short,
    /// It says that it did its work, and did nothing: as if the program did not make it.
    Pretended,
    /// The process is killed after it.
    Killed,
}

/// What a run came to.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) end: End,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
    pub(super) calls: Vec<Call>,
    /// What it did to files, in order.
    pub(super) effects: Vec<Effect>,
    /// Whether the call that was to go wrong was made.
    pub(super) was_met: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited(i32),
    Signaled(Signal),
}

/// The paths that a process looks for to say where the calls begin and end that are tried.
const FIRST_MARK: &str = "guira-begin";
const LAST_MARK: &str = "guira-end";

/// A call that has begun and not ended.
struct Pending {
    registers: user_regs_struct,
    fault: Option<Fault>,
    is_own: bool,
}

#[derive(Default)]
struct Thread {
    index: usize,
    /// How many of each kind.
    made: HashMap<c_long, usize>,
    pending: Option<Pending>,
}

struct Tracer<'run> {
    place: &'run Workplace,
    threads: HashMap<Pid, Thread>,
    fault: Option<(CallPlace, Fault)>,
    /// Whether it marks where the calls begin and end that are tried.
    has_marks: bool,
    /// Whether the runtime is set up, or the first mark was seen and not the second.
    is_started: bool,
    calls: Vec<Call>,
    effects: Vec<Effect>,
    was_met: bool,
}

/// Whether the system lets processes trace their children; some containers don't.
pub(super) fn is_permitted(place: &Workplace) -> bool {
    let mut child = place.command("cat", [""; 0]).spawn().expect("cat starts");
    let process = Pid::from_raw(child.id().try_into().expect("a number of a process"));
    let seized = ptrace::seize(process, Options::PTRACE_O_EXITKILL);
    child.kill().and_then(|()| child.wait()).expect("a child");
    if let Err(error) = seized {
        println!("skipped: the program can't be traced here: {error}");
    }
    seized.is_ok()
}

/// Runs the program with one fault, or none.
pub(super) fn run(place: &Workplace, case: &Case, fault: Option<(CallPlace, Fault)>) -> Run {
    let outputs = tempfile::tempdir().expect("a temporary directory");
    let output = |name| outputs.path().join(name);
    let created = |name| Stdio::from(File::create(output(name)).expect("writable"));
    // The shell waits for a line until it is traced, and then becomes the program.
    let script = "read -r _ && exec \"$0\" \"$@\"";
    let words = case.words();
    let mut command = place.command("sh", ["-c", script].into_iter().chain(words.iter().map(String::as_str)));
    command.stdout(created("stdout")).stderr(created("stderr"));
    let mut child = command.spawn().expect("sh starts");
    let process = Pid::from_raw(child.id().try_into().expect("a number of a process"));
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(process, options).expect("a child of this thread");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Inputs are shorter than what a pipe holds.
    stdin.write_all(b"\n").and_then(|()| stdin.write_all(case.input)).expect("the shell reads");
    drop(stdin);

    let mut tracer = Tracer {
        place,
        threads: HashMap::new(),
        fault,
        has_marks: case.program != Program::Tool,
        is_started: false,
        calls: Vec::new(),
        effects: Vec::new(),
        was_met: false,
    };
    let end = tracer.follow(process);
    // It was waited for already, which only the standard library does not know.
    child.wait().ok();
    let Tracer { calls, effects, was_met, .. } = tracer;
    let read = |name| fs::read(output(name)).expect("readable");
    let stderr = String::from_utf8_lossy(&read("stderr")).into_owned();
    Run { end, stdout: read("stdout"), stderr, calls, effects, was_met }
}

impl Tracer<'_> {
    /// To the end of the process.
    fn follow(&mut self, process: Pid) -> End {
        loop {
            // Not the children of other threads, which other tests wait for.
            let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
            let (thread, signal) = match waitpid(None, Some(flags)).expect("the process has not ended") {
                WaitStatus::Exited(id, status) if id == process => return End::Exited(status),
                WaitStatus::Signaled(id, signal, _) if id == process => return End::Signaled(signal),
                WaitStatus::Exited(id, _) | WaitStatus::Signaled(id, ..) => {
                    self.threads.remove(&id);
                    continue;
                }
                WaitStatus::PtraceSyscall(id) => {
                    // A thread that was killed meanwhile can't be looked at.
                    match self.call(id) {
                        Err(Errno::ESRCH) | Ok(()) => {}
                        Err(error) => panic!("{error}"),
                    }
                    (id, None)
                }
                WaitStatus::PtraceEvent(id, ..) => (id, None),
                WaitStatus::Stopped(id, signal) => (id, Some(signal)),
                _ => continue,
            };
            match ptrace::syscall(thread, signal) {
                Err(Errno::ESRCH) | Ok(()) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// A call of a thread begins or ends.
    fn call(&mut self, id: Pid) -> Result<(), Errno> {
        let index = self.threads.len();
        let thread = self.threads.entry(id).or_insert(Thread { index, ..Thread::default() });
        let begins = ptrace::syscall_info(id)?.op == libc::PTRACE_SYSCALL_INFO_ENTRY;
        match thread.pending.take() {
            // The call that became the program.
            None if !begins => {}
            None => {
                let mut registers = ptrace::getregs(id)?;
                let number = number(&registers);
                let mark = mark(id, &registers).filter(|_| self.has_marks);
                if mark.as_deref() == Some(LAST_MARK) {
                    self.is_started = false;
                }
                let mut pending = Pending { registers, fault: None, is_own: self.is_started };
                let sets_up_runtime = number == libc::SYS_sigaltstack && registers.rdi != 0;
                if mark.as_deref() == Some(FIRST_MARK) || (sets_up_runtime && !self.has_marks) {
                    self.is_started = true;
                }
                if pending.is_own && !is_left_out(number) {
                    let ordinal = thread.made.entry(number).or_default();
                    let place = CallPlace { thread: thread.index, number, ordinal: *ordinal };
                    *ordinal += 1;
                    let call = Call { place, subject: subject(id, &registers), creates: creates(&registers) };
                    pending.fault = self.fault.filter(|(at, _)| *at == place).map(|(_, fault)| fault);
                    self.calls.push(call);
                }
                self.was_met |= pending.fault.is_some();
                match pending.fault {
                    // It has no errors: it returns where the memory ends, and did nothing if that has not changed.
                    Some(Fault::Refused(_)) if number == libc::SYS_brk => {
                        registers.rdi = 0;
                        ptrace::setregs(id, registers)?;
                    }
                    // No call has this number.
                    Some(Fault::Refused(_) | Fault::Pretended) => {
                        registers.orig_rax = u64::MAX;
                        ptrace::setregs(id, registers)?;
                    }
                    Some(Fault::Short) => {
                        registers.rdx = registers.rdx.min(1);
                        ptrace::setregs(id, registers)?;
                    }
                    Some(Fault::Late(_) | Fault::Killed) | None => {}
                }
                thread.pending = Some(pending);
            }
            Some(Pending { registers: begun, fault, is_own }) => {
                let mut ended = ptrace::getregs(id)?;
                let result = ended.rax.cast_signed();
                let is_done = !matches!(fault, Some(Fault::Refused(_) | Fault::Pretended));
                if is_own && is_done && result >= 0 {
                    self.effects.extend(effect(id, self.place, &begun, result));
                }
                // The compiler relies on the registers of arguments.
                ended.rdi = begun.rdi;
                ended.rdx = begun.rdx;
                ended.orig_rax = begun.orig_rax;
                match fault {
                    Some(Fault::Refused(_)) if number(&begun) == libc::SYS_brk => ptrace::setregs(id, ended)?,
                    Some(Fault::Refused(error) | Fault::Late(error)) => {
                        ended.rax = (-i64::from(error as i32)).cast_unsigned();
                        ptrace::setregs(id, ended)?;
                    }
                    Some(Fault::Pretended) => {
                        ended.rax = 0;
                        ptrace::setregs(id, ended)?;
                    }
                    Some(Fault::Short) => ptrace::setregs(id, ended)?,
                    Some(Fault::Killed) => {
                        let process = process_of(id);
                        nix::sys::signal::kill(process, Signal::SIGKILL)?;
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }
}

const fn number(registers: &user_regs_struct) -> c_long {
    registers.orig_rax.cast_signed()
}

/// Calls that can't fail with right arguments, and those by which threads wait for each other: how many of the latter there
/// are differs from run to run.
fn is_left_out(number: c_long) -> bool {
    [
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
    ]
    .contains(&number)
}

/// The process of a thread.
fn process_of(thread: Pid) -> Pid {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let process = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok());
    Pid::from_raw(process.expect("a thread is stopped"))
}

/// Which argument is a path.
fn path_argument(registers: &user_regs_struct) -> Option<u64> {
    match number(registers) {
        libc::SYS_openat | libc::SYS_newfstatat | libc::SYS_statx | libc::SYS_unlinkat | libc::SYS_readlinkat => {
            Some(registers.rsi)
        }
        libc::SYS_open
        | libc::SYS_stat
        | libc::SYS_lstat
        | libc::SYS_unlink
        | libc::SYS_readlink
        | libc::SYS_rename
        | libc::SYS_link => Some(registers.rdi),
        libc::SYS_renameat | libc::SYS_renameat2 | libc::SYS_linkat => Some(registers.rsi),
        _ => None,
    }
}

fn descriptor_argument(registers: &user_regs_struct) -> Option<u64> {
    let number = number(registers);
    let takes_descriptor = [
        libc::SYS_close,
        libc::SYS_connect,
        libc::SYS_copy_file_range,
        libc::SYS_fallocate,
        libc::SYS_fchmod,
        libc::SYS_fchown,
        libc::SYS_fcntl,
        libc::SYS_fdatasync,
        libc::SYS_fgetxattr,
        libc::SYS_flock,
        libc::SYS_fsetxattr,
        libc::SYS_fstat,
        libc::SYS_fsync,
        libc::SYS_ftruncate,
        libc::SYS_getdents64,
        libc::SYS_getpeername,
        libc::SYS_getsockname,
        libc::SYS_getsockopt,
        libc::SYS_ioctl,
        libc::SYS_lseek,
        libc::SYS_pread64,
        libc::SYS_pwrite64,
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_recvfrom,
        libc::SYS_recvmsg,
        libc::SYS_sendmsg,
        libc::SYS_sendto,
        libc::SYS_setsockopt,
        libc::SYS_shutdown,
        libc::SYS_write,
        libc::SYS_writev,
    ];
    takes_descriptor.contains(&number).then_some(registers.rdi)
}

fn subject(id: Pid, registers: &user_regs_struct) -> String {
    if let Some(address) = path_argument(registers) {
        text(id, address)
    } else if let Some(descriptor) = descriptor_argument(registers) {
        fs::read_link(format!("/proc/{id}/fd/{descriptor}")).unwrap_or_default().display().to_string()
    } else {
        String::new()
    }
}

/// The path that a call looks for.
fn mark(id: Pid, registers: &user_regs_struct) -> Option<String> {
    let looks = [libc::SYS_stat, libc::SYS_newfstatat, libc::SYS_statx].contains(&number(registers));
    looks.then(|| path_argument(registers)).flatten().map(|address| text(id, address))
}

fn creates(registers: &user_regs_struct) -> bool {
    let flags = match number(registers) {
        libc::SYS_openat => registers.rdx,
        libc::SYS_open => registers.rsi,
        _ => 0,
    };
    flags & u64::from(libc::O_CREAT.cast_unsigned()) != 0
}

/// The bytes of a process at an address.
fn bytes(id: Pid, address: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let base = usize::try_from(address).expect("64 bits");
    let read = process_vm_readv(id, &mut [IoSliceMut::new(&mut bytes)], &[RemoteIoVec { base, len: size }]);
    bytes.truncate(read.unwrap_or(0));
    bytes
}

/// The text at an address, to the byte 0.
fn text(id: Pid, address: u64) -> String {
    let mut text = Vec::new();
    loop {
        let at = address + u64::try_from(text.len()).expect("64 bits");
        // What follows the page may not be there.
        let to_end_of_page = usize::try_from(4096 - at % 4096).expect("64 bits");
        let more = bytes(id, at, to_end_of_page);
        let end = more.iter().position(|&byte| byte == 0);
        text.extend_from_slice(&more[..end.unwrap_or(more.len())]);
        if end.is_some() || more.is_empty() {
            return String::from_utf8_lossy(&text).into_owned();
        }
    }
}

/// The name of a path that is directly in the folder of the test.
fn name_in(place: &Workplace, path: &str) -> Option<String> {
    let folder = place.path("");
    let path = folder.join(path);
    (path.parent()? == Path::new(folder.to_str()?.trim_end_matches('/'))).then_some(())?;
    Some(path.file_name()?.to_str()?.to_owned())
}

/// What a call that succeeded did to files of the test's folder.
fn effect(id: Pid, place: &Workplace, registers: &user_regs_struct, result: i64) -> Option<Effect> {
    let described = |descriptor: u64| PathBuf::from(format!("/proc/{id}/fd/{descriptor}"));
    let inode = |descriptor: u64| fs::metadata(described(descriptor)).ok().map(|metadata| metadata.ino());
    let is_directory = |descriptor: u64| fs::metadata(described(descriptor)).is_ok_and(|metadata| metadata.is_dir());
    let is_ours = |descriptor: u64| {
        let folder = place.path("").canonicalize().expect("it is there");
        fs::read_link(described(descriptor)).is_ok_and(|path| path.starts_with(folder))
    };
    let size = || usize::try_from(result).ok();
    let Some(descriptor) = descriptor_argument(registers) else {
        return match number(registers) {
            libc::SYS_openat | libc::SYS_open if creates(registers) => {
                let name = name_in(place, &subject(id, registers))?;
                Some(Effect::Create { name, inode: inode(result.cast_unsigned())? })
            }
            libc::SYS_unlink | libc::SYS_unlinkat => {
                Some(Effect::Remove { name: name_in(place, &subject(id, registers))? })
            }
            libc::SYS_rename => rename(place, &text(id, registers.rdi), &text(id, registers.rsi)),
            libc::SYS_renameat | libc::SYS_renameat2 => {
                rename(place, &text(id, registers.rsi), &text(id, registers.r10))
            }
            libc::SYS_link | libc::SYS_linkat | libc::SYS_truncate | libc::SYS_mkdir | libc::SYS_symlink => {
                panic!("the model of the disk does not know call {}", number(registers))
            }
            _ => None,
        };
    };
    if !is_ours(descriptor) {
        return None;
    }
    match number(registers) {
        libc::SYS_write => {
            let bytes = bytes(id, registers.rsi, size()?);
            let info = fs::read_to_string(format!("/proc/{id}/fdinfo/{descriptor}")).ok()?;
            let position: usize = info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok())?;
            Some(Effect::Write { inode: inode(descriptor)?, offset: position - bytes.len(), bytes })
        }
        libc::SYS_pwrite64 => {
            let offset = usize::try_from(registers.r10).ok()?;
            Some(Effect::Write { inode: inode(descriptor)?, offset, bytes: bytes(id, registers.rsi, size()?) })
        }
        libc::SYS_fsync | libc::SYS_fdatasync if is_directory(descriptor) => Some(Effect::FlushNames),
        libc::SYS_fsync | libc::SYS_fdatasync => Some(Effect::Flush { inode: inode(descriptor)? }),
        libc::SYS_writev | libc::SYS_ftruncate | libc::SYS_fallocate | libc::SYS_copy_file_range => {
            panic!("the model of the disk does not know call {}", number(registers))
        }
        _ => None,
    }
}

fn rename(place: &Workplace, from: &str, to: &str) -> Option<Effect> {
    Some(Effect::Rename { from: name_in(place, from)?, to: name_in(place, to)? })
}
