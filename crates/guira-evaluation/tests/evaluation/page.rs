//! The report, opened in a browser. Its screenshots stay in Cargo's folder for files of tests, to be looked at.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

use crate::Failure;

const TABLES: [&str; 5] = ["table-1", "table-2", "table-3", "details", "floors"];
/// Figures, and how many drawings each has.
const FIGURES: [(&str, u64); 9] = [
    ("figure-2", 2),
    ("figure-3", 2),
    ("figure-4", 1),
    ("figure-5", 1),
    ("figure-6", 2),
    ("figure-7", 1),
    ("figure-8", 1),
    ("equation-3", 3),
    ("d-ary", 1),
];

/// What must be said of each by name, whether it holds or not.
const CLAIMS: [&str; 15] = [
    "ss-CF has the lowest rate of all filters",
    "CF, as printed takes fewer bits per key than BF below 3 %",
    "ss-CF, guira takes fewer bits per key than BF below 3 %",
    "b = 4 fills to 95 %",
    "b = 8 fills to 98 %",
    "b = 2 is the most compact above 0.2 %",
    "b = 4 is the most compact from 0.001 % to 0.2 %",
    "6-bit fingerprints suffice for b = 4",
    "CF, as printed lookups are steady against the share of present keys",
    "CF, guira lookups are steady against the share of present keys",
    "CF, as printed lookups of absent keys are steady against the load",
    "CF, guira lookups of present keys are steady against the load",
    "QF lookups of absent keys slow down as it fills",
    "dl-CBF refuses a key when about 78 % of it are full",
    "blk-BF is built fastest",
];

/// Asks the page, shown in a frame of so many pixels, what there is to see.
const QUESTIONS: &str = r##"
<pre id="answers"></pre>
<script>
window.onload = () => {
  const page = document.getElementById("frame").contentDocument, root = page.documentElement;
  const all = (place, selector) => [...place.querySelectorAll(selector)];
  const shown = element => element.getClientRects().length > 0;
  const sections = {};
  for (const section of all(page, "main > section")) {
    sections[section.id] = {
      heading: page.getElementById(section.getAttribute("aria-labelledby"))?.textContent ?? "",
      drawings: all(section, "svg[role=img]").filter(shown).length,
      unnamed: all(section, "svg").filter(svg => !svg.getAttribute("aria-labelledby")
        .split(" ").every(id => page.getElementById(id)?.textContent)).length,
      plotTables: all(section, "figure details table").length,
      tables: all(section, "table").length,
      captions: all(section, "table > caption").length,
      headings: all(section, "thead th[scope=col]").length,
      rows: all(section, "tbody tr").length,
      downloads: all(section, "a[download]").filter(link => link.href.startsWith("data:text/csv;base64,")).length,
      shownTables: all(section, "table").filter(shown).length,
      claims: all(section, ".statement").length, told: all(section, ".verdicts .verdict").length,
      verdicts: all(section, ".verdict").filter(verdict => /holds|does not hold|undecided|not judged/.test(verdict.textContent)).length,
    };
  }
  const ids = all(page, "[id]").map(element => element.id);
  document.getElementById("answers").textContent = JSON.stringify({
    width: root.clientWidth, scrolls: root.scrollWidth, sections,
    statements: all(page, ".statement").map(statement => statement.textContent),
    repeatedIds: ids.filter((id, place) => ids.indexOf(id) !== place),
    deadLinks: all(page, "a[href^='#']").filter(link => !page.getElementById(link.hash.slice(1))).map(link => link.hash),
    landmarks: ["header", "nav", "main", "footer"].filter(name => page.querySelector("body > " + name)),
    scrollersByKeyboard: all(page, ".scroll").every(scroller => scroller.tabIndex === 0 && scroller.getAttribute("aria-label")),
    first: page.querySelector("a").className,
    loaded: performance.getEntriesByType("resource").map(entry => entry.name).filter(name => !name.startsWith("about:")),
    ground: getComputedStyle(page.body).backgroundColor, ink: getComputedStyle(page.body).color,
    drawnInk: getComputedStyle(page.querySelector(".plot svg text")).fill,
  });
};
</script>
"##;

#[derive(Clone, Copy, Debug)]
enum Ground {
    Light,
    Dark,
}

struct Browser(PathBuf);

impl Browser {
    /// The first of those that there may be.
    fn find() -> Option<Self> {
        let is_there = |name: &&str| {
            let said = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            said.is_ok_and(|status| status.success())
        };
        ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there).map(|name| Self(name.into()))
    }

    fn open(&self, page: &Path, ground: Ground, arguments: &[String]) -> Result<Vec<u8>, Failure> {
        let profile = tempfile::tempdir()?;
        let preferred = match ground {
            Ground::Dark => 0,
            Ground::Light => 1,
        };
        let output = Command::new(&self.0)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=10000"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("--blink-settings=preferredColorScheme={preferred}"))
            .args(arguments)
            .arg(format!("file://{}", page.display()))
            .output()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(output.stdout)
    }

    /// The page in a frame of this width, as a window cannot be as narrow as a phone.
    fn ask(&self, html: &str, width: u32, ground: Ground) -> Result<Value, Failure> {
        let folder = tempfile::tempdir()?;
        let frame = folder.path().join("frame.html");
        let source = html.replace('&', "&amp;").replace('"', "&quot;");
        let style = format!("width: {width}px; height: 800px; border: 0");
        fs::write(
            &frame,
            format!(
                "<!doctype html><meta charset=utf-8><iframe id=frame style=\"{style}\" srcdoc=\"{source}\"></iframe>{QUESTIONS}"
            ),
        )?;
        let dumped = String::from_utf8(self.open(&frame, ground, &["--dump-dom".to_owned()])?)?;
        let answers = dumped.rsplit_once("<pre id=\"answers\">").and_then(|(_, rest)| rest.split_once("</pre>"));
        let (answers, _) = answers.ok_or("the browser did not answer")?;
        Ok(serde_json::from_str(&answers.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))?)
    }

    fn photograph(&self, html: &str, name: &str, width: u32, ground: Ground) -> Result<PathBuf, Failure> {
        const HEIGHT: u32 = 12_000;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let [frame, picture] = [folder.join(format!("{name}.html")), folder.join(format!("{name}.png"))];
        let source = html.replace('&', "&amp;").replace('"', "&quot;");
        let style = format!("width: {width}px; height: {HEIGHT}px; border: 0");
        fs::write(
            &frame,
            format!("<!doctype html><body style=margin:0><iframe style=\"{style}\" srcdoc=\"{source}\"></iframe>"),
        )?;
        let arguments = [format!("--screenshot={}", picture.display()), format!("--window-size={width},{HEIGHT}")];
        self.open(&frame, ground, &arguments)?;
        Ok(picture)
    }
}

/// Makes a page of the results in a folder, and measures those that are missing.
fn make(results: &Path, page: &Path) -> Result<Output, Failure> {
    Ok(Command::new(env!("CARGO_BIN_EXE_guira-evaluation"))
        .args(["report", "--commit", "<abc> & \"def\"", "--from"])
        .args([results, Path::new("--output"), page])
        .output()?)
}

/// The page, and the results that it was made of: measured once for all tests.
pub(crate) fn page() -> Result<(&'static str, &'static Path), Failure> {
    static MADE: LazyLock<Result<(String, TempDir), String>> = LazyLock::new(|| {
        let told = |failure: &dyn std::fmt::Display| failure.to_string();
        let folder = tempfile::tempdir().map_err(|failure| told(&failure))?;
        let path = folder.path().join("report.html");
        let output = make(folder.path(), &path).map_err(|failure| told(&failure))?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok((fs::read_to_string(path).map_err(|failure| told(&failure))?, folder))
    });
    let (html, folder) = MADE.as_ref().map_err(String::as_str)?;
    Ok((html, folder.path()))
}

fn check(answers: &Value, width: u64) {
    assert_eq!(answers["width"], width);
    assert_eq!(answers["scrolls"], width, "the page scrolls sideways at {width} pixels");
    for list in ["repeatedIds", "deadLinks", "loaded"] {
        assert_eq!(answers[list], Value::Array(Vec::new()), "{list}");
    }
    assert_eq!(answers["landmarks"], serde_json::json!(["header", "nav", "main", "footer"]));
    assert_eq!(answers["first"], "skip");
    assert_eq!(answers["scrollersByKeyboard"], true);
    let count = |section: &Value, what: &str| section[what].as_u64().unwrap_or(0);
    let sections = &answers["sections"];
    for name in TABLES.iter().chain(FIGURES.iter().map(|(name, _)| name)) {
        let section = &sections[name];
        assert!(section["heading"].as_str().is_some_and(|heading| heading.len() > 5), "{name} has no heading");
        assert!(count(section, "tables") > 0 && count(section, "rows") > 3, "{name} has no table");
        assert_eq!(section["captions"], section["tables"], "{name} has tables without captions");
        assert_eq!(section["downloads"], section["tables"], "{name} has tables that can't be taken along");
        assert!(count(section, "headings") >= count(section, "tables"), "{name} has tables without headings");
        assert_eq!(section["unnamed"], 0, "{name} has drawings that say nothing");
        assert!(count(section, "told") > 0, "{name} has no claims");
    }
    for name in ["of-the-paper", "of-others", "of-guira"] {
        let section = &sections[name];
        assert!(count(section, "claims") > 2, "{name} has no claims");
        assert_eq!(section["verdicts"], section["claims"], "{name} has claims without verdicts");
    }
    for name in TABLES {
        assert!(count(&sections[name], "shownTables") > 0, "{name} is not to be seen");
    }
    for (name, drawings) in FIGURES {
        assert_eq!(count(&sections[name], "drawings"), drawings, "{name}");
        assert_eq!(count(&sections[name], "plotTables"), drawings, "{name} has drawings without tables");
    }
    let statements: Vec<&str> =
        answers["statements"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for claim in CLAIMS {
        assert!(statements.iter().any(|statement| statement.starts_with(claim)), "nothing is said of: {claim}");
    }
    if cfg!(feature = "peers") {
        assert_eq!(count(&sections["peers"], "tables"), 9);
        assert_eq!(count(&sections["peers"], "drawings"), 4);
        assert!(count(&sections["peers"], "told") > 0);
    }
}

#[test]
fn a_browser_shows_every_table_and_figure() -> Result<(), Failure> {
    let Some(browser) = Browser::find() else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "there is no Chromium, which Debian has as `chromium`");
        eprintln!("skipped: there is no Chromium, which Debian has as `chromium`");
        return Ok(());
    };
    let (html, _) = page()?;
    for (width, ground, ink) in [
        (1280, Ground::Light, ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]),
        (390, Ground::Dark, ["rgb(13, 17, 23)", "rgb(230, 232, 235)"]),
    ] {
        let answers = browser.ask(html, width, ground)?;
        check(&answers, width.into());
        assert_eq!([&answers["ground"], &answers["drawnInk"]], ink, "{ground:?}");
    }
    for (name, width, ground) in
        [("light", 1280, Ground::Light), ("dark", 1280, Ground::Dark), ("phone", 390, Ground::Light)]
    {
        let picture = browser.photograph(html, &format!("report-{name}"), width, ground)?;
        assert!(fs::metadata(&picture)?.len() > 100_000, "{} shows next to nothing", picture.display());
    }
    Ok(())
}

#[test]
fn the_page_needs_nothing_beside_itself_and_escapes_what_it_is_told() -> Result<(), Failure> {
    let (html, _) = page()?;
    assert!(!html.contains("<abc>") && html.contains("abc&#62; &#38; &#34;def&#34;"), "the commit is not escaped");
    for foreign in ["<script", "<link", " src=", "@import", "url(", "href=\"http"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    Ok(())
}

#[test]
fn results_of_earlier_runs_make_the_same_page() -> Result<(), Failure> {
    let (html, results) = page()?;
    let folder = tempfile::tempdir()?;
    let again = folder.path().join("again.html");
    let output = make(results, &again)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // Times and all.
    let again = fs::read_to_string(again)?;
    let differs = html.lines().zip(again.lines()).find(|(one, other)| one != other);
    assert!(differs.is_none() && html.len() == again.len(), "{differs:?}");

    fs::write(folder.path().join("table-1.json"), "{")?;
    let output = make(folder.path(), &folder.path().join("never.html"))?;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("table-1.json"));
    Ok(())
}
