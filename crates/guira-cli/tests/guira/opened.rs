//! How often a filter file is opened. Others may replace it at any time, so whoever opens it twice may read two files.

use std::mem::MaybeUninit;

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

use crate::workplace::Workplace;

fn openings(place: &Workplace, name: &str, arguments: &[&str]) -> usize {
    let watcher = init(CreateFlags::NONBLOCK).expect("inotify");
    // Equal events in a row are reported as one: a closing stands between two openings.
    add_watch(&watcher, place.path(name), WatchFlags::OPEN | WatchFlags::CLOSE_NOWRITE).expect("a file");
    let done = place.guira_with(arguments, b"ani\n");
    assert_eq!((done.status, done.stderr.as_str()), (0, ""), "{arguments:?}");
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut events = Reader::new(&watcher, &mut buffer);
    let mut count = 0;
    loop {
        match events.next() {
            Ok(event) => count += usize::from(event.events().contains(ReadFlags::OPEN)),
            Err(Errno::AGAIN) => return count,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn each_command_opens_a_filter_once() {
    let place = Workplace::new();
    for name in ["set.guira", "set.guira.gz"] {
        let built = place.guira_with(["build", "--lowercase", "-q", "-o", name], b"ani\n");
        assert_eq!(built.status, 0, "{}", built.stderr);
        let commands: [&[&str]; 5] = [
            &["check", name],
            &["check", "--no-verify", name],
            &["count", name, "ani"],
            &["info", name],
            &["verify", name],
        ];
        for command in commands {
            assert_eq!(openings(&place, name, command), 1, "{command:?}");
        }
    }
}
