//! What the program writes of itself, and pictures.

use crate::workplace::Workplace;

#[test]
fn every_shell_gets_completions_that_name_the_commands() {
    let place = Workplace::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let completions = place.guira(["completions", shell]);
        assert_eq!((completions.status, &*completions.stderr), (0, ""));
        let script = String::from_utf8(completions.stdout).expect("UTF-8");
        for word in ["verify", "fingerprint-bits", "semi-sorted"] {
            // PowerShell gets no values.
            assert!(script.contains(word) || (shell, word) == ("powershell", "semi-sorted"), "{word} for {shell}");
        }
    }
    assert_eq!(place.guira(["completions", "dosh"]).status, 2);
}

#[test]
fn there_is_a_manual_page_for_each_command() {
    let place = Workplace::new();
    let page = String::from_utf8(place.guira(["man"]).stdout).expect("UTF-8");
    assert!(page.contains(".TH guira 1") && page.contains("certainly not"), "{page}");

    std::fs::create_dir(place.path("man1")).expect("a new directory");
    assert_eq!(place.guira(["man", "--output-dir", "man1"]).status, 0);
    for command in [
        "build",
        "check",
        "add",
        "remove",
        "count",
        "merge",
        "diff",
        "convert",
        "shrink",
        "unique",
        "info",
        "verify",
        "plan",
        #[cfg(feature = "redis")]
        "push",
        #[cfg(feature = "redis")]
        "pull",
        "completions",
        "man",
    ] {
        let page = String::from_utf8(place.read(&format!("man1/guira-{command}.1"))).expect("UTF-8");
        assert!(page.contains(&format!("guira\\-{command}")), "{page}");
    }
    let refused = place.guira(["man", "--output-dir", "missing"]);
    assert_eq!((refused.status, &*refused.stderr), (2, "guira: missing: No such file or directory\n"));
}

#[test]
fn a_plan_is_drawn_with_all_its_lines_and_the_chosen_one() {
    let place = Workplace::new();
    let mut arguments = vec!["plan", "--capacity", "1000000", "--rate", "0.001"];
    let expected = place.guira(&arguments).stdout;
    arguments.extend(["--plot", "rates.svg"]);
    assert_eq!(place.guira(&arguments).stdout, expected);
    let svg = String::from_utf8(place.read("rates.svg")).expect("UTF-8");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    for text in [
        "1,000,000 keys",
        "false positive rate",
        "memory (bits per key)",
        "0.00001",
        "packed",
        "semi-sorted",
        "Bloom filter",
        "limit of all filters",
        "chosen: packed, 13.",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    // The rate stands in the middle of the picture: the ring and the ends of every line say so.
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let ring = svg.split("<circle cx=\"").nth(1).and_then(|rest| rest.split('"').next()).map(number).expect("a ring");
    let bloom = svg.split("<polyline ").find(|line| line.contains("#C04F9A")).expect("a line");
    let points = bloom.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("points");
    let ends: Vec<f64> = points.split_whitespace().map(|point| number(point.split(',').next().expect("x"))).collect();
    assert!((ring - (ends[0] + ends[ends.len() - 1]) / 2.0).abs() <= 2.0, "{ring} in {ends:?}");
    assert!(!svg.contains("NaN") && !svg.contains("inf\""));
    arguments.extend(["--prefer", "space"]);
    assert_eq!(place.guira(&arguments).status, 0);
    assert!(place.read("rates.svg") != svg.into_bytes());
}

#[test]
fn a_picture_can_be_drawn_of_every_plan_and_not_everywhere() {
    let place = Workplace::new();
    for (capacity, rate) in [("1", "0.999"), ("1", "1e-9"), ("1000000000", "0.9"), ("3000000000", "1e-8")] {
        let drawn = place.guira(["plan", "--capacity", capacity, "--rate", rate, "--plot", "rates.svg"]);
        assert_eq!((drawn.status, &*drawn.stderr), (0, ""), "{capacity} keys, rate {rate}");
        assert!(place.read("rates.svg").starts_with(b"<svg "));
    }
    let refused = place.guira(["plan", "--capacity", "10", "--rate", "0.1", "--plot", "missing/rates.svg"]);
    assert_eq!((refused.status, &*refused.stderr), (2, "guira: missing/rates.svg: there is no directory missing\n"));
    assert_eq!(refused.stdout, b"");
}

#[test]
fn a_picture_replaces_another_picture_and_nothing_else() {
    let place = Workplace::new();
    place.write("keys", "ani\n");
    let draw = |name| place.guira(["plan", "--capacity", "10", "--rate", "0.1", "--plot", name]);
    let refused = draw("keys");
    let message = "guira: keys: there is such a file already, and it is no picture: give another name to --plot\n";
    assert_eq!((refused.status, &*refused.stderr), (2, message));
    assert_eq!(place.read("keys"), b"ani\n");
    assert_eq!([draw("rates.svg").status, draw("rates.svg").status], [0, 0]);
}

#[test]
#[cfg(unix)]
fn a_picture_that_can_not_be_written_leaves_the_old_one() {
    let place = Workplace::new();
    let script = "trap '' XFSZ; ulimit -f 1; exec \"$0\" plan --capacity 1M --rate 0.001 --plot rates.svg";
    for old in [None, Some("<svg/>")] {
        if let Some(old) = old {
            place.write("rates.svg", old);
        }
        let child = place.command("sh", ["-c", script, crate::workplace::GUIRA]).spawn().expect("sh starts");
        let refused = crate::workplace::outcome(child, b"");
        assert_eq!((refused.status, &*refused.stderr), (2, "guira: rates.svg: File too large\n"));
        assert_eq!(place.files(), old.map(|_| "rates.svg").as_slice());
        assert!(old.is_none_or(|old| place.read("rates.svg") == old.as_bytes()));
    }
}

#[test]
fn a_reader_that_never_listens_stops_none_of_it() {
    let place = Workplace::new();
    place.build("ani\n");
    for arguments in
        [&["man"][..], &["completions", "bash"], &["verify", "set.guira"], &["verify", "--json", "set.guira"]]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = place.command(crate::workplace::GUIRA, arguments);
        let child = command.stdout(writer).spawn().expect("the program starts");
        let outcome = crate::workplace::outcome(child, b"");
        assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{arguments:?}");
    }
}
