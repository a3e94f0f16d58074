//! A bar chart of the ratios in the tables that `examples/compare` prints.

use super::svg::{Picture, escaped};

const STYLE: &str = "\
    text { font: 12px system-ui, sans-serif; fill: #1f2328; }\n\
    .head { font-size: 16px; font-weight: 600; }\n\
    .pattern { font: 11px ui-monospace, monospace; }\n\
    .pattern, .value, .note { fill: #59636e; }\n\
    .value { font-size: 10px; }\n\
    .ground { fill: #ffffff; }\n\
    .line { stroke: #59636e; }\n\
    .program { fill: #8250df; }\n\
    .indexed { fill: #0969da; }\n\
    .watched { fill: #1a7f37; }\n\
    @media (prefers-color-scheme: dark) {\n\
    text { fill: #f0f6fc; }\n\
    .pattern, .value, .note { fill: #9198a1; }\n\
    .ground { fill: #0d1117; }\n\
    .line { stroke: #9198a1; }\n\
    .program { fill: #ab7df8; }\n\
    .indexed { fill: #4493f8; }\n\
    .watched { fill: #3fb950; }\n\
    }\n";

/// A kind of bar: its class, its name, the contestant, and the sections for searches and listings.
struct Series {
    class: &'static str,
    name: &'static str,
    contestant: &'static str,
    searches: &'static str,
    listings: Option<&'static str>,
}

const SERIES: [Series; 3] = [
    Series {
        class: "program",
        name: "the program",
        contestant: "cold process",
        searches: "Full searches",
        listings: Some("Listings"),
    },
    Series {
        class: "indexed",
        name: "the program with an index in a file",
        contestant: "cold process",
        searches: "With an index, full searches",
        listings: None,
    },
    Series {
        class: "watched",
        name: "in process with a watched index",
        contestant: "watched",
        searches: "With an index, full searches",
        listings: Some("With an index, listings"),
    },
];

/// The listing of which the numbers of files are those of `fd`.
const LISTING: &str = "everything, sorted";

const WIDTH: u32 = 760;
const LEFT: u32 = 250;
/// Pixels of the time of `rg`.
const UNIT: u32 = 380;
const TOP: u32 = 116;
const ROW: u32 = 36;
const BAR: u32 = 8;

/// The tables of a comparison.
struct Comparison<'a> {
    text: &'a str,
    tables: Vec<Table<'a>>,
}

struct Table<'a> {
    title: &'a str,
    head: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

/// The bars of one query, in the order of the series.
struct Group {
    name: String,
    pattern: String,
    ratios: Vec<Option<f64>>,
}

/// Draws the chart of a comparison.
pub(crate) fn draw(comparison: &str) -> Result<String, String> {
    let comparison = Comparison::parse(comparison);
    let groups = comparison.groups()?;
    let mean = |index: usize| {
        let mean = groups.first().and_then(|means| means.ratios.get(index).copied().flatten());
        mean.ok_or_else(|| format!("no ratios of {}", SERIES[index].name))
    };
    let means = [mean(0)?, mean(1)?, mean(2)?];
    let count = groups.len() - 2;
    let description = format!(
        "Bars for {count} searches and one listing. Geometric means of the searches, where rg is 1: \
         the program {:.2}, the program with an index in a file {:.2}, in process with a watched \
         index {:.2}.",
        means[0], means[1], means[2]
    );
    let [rg, fd, tree] = ["rg", "fd", "Tree"].map(|name| comparison.header(name));
    let [rg, fd, tree] = [rg?, fd?, tree?];
    let machine = comparison.header("Machine")?;
    let mut elements = vec![
        text("head", 16, 28, "Time of ripkit relative to rg and fd; shorter is faster"),
        text(
            "note",
            16,
            48,
            &format!("{tree}, {machine}, {rg}, {fd}; all results, files in the cache"),
        ),
    ];
    let mut left = 16;
    for series in SERIES {
        elements.push(format!(
            "<rect class=\"{}\" x=\"{left}\" y=\"64\" width=\"12\" height=\"12\"/>",
            series.class
        ));
        elements.push(text("legend", left + 18, 74, series.name));
        left += 42 + 7 * u32::try_from(series.name.len()).unwrap_or_default();
    }
    let bottom = TOP + ROW * u32::try_from(groups.len()).unwrap_or_default();
    let one = LEFT + UNIT;
    elements.push(format!(
        "<path class=\"line\" d=\"M{LEFT}.5 {}V{bottom}\"/>\n\
         <path class=\"line\" stroke-dasharray=\"4 3\" d=\"M{one}.5 {}V{bottom}\"/>",
        TOP - 8,
        TOP - 8
    ));
    elements.push(text("note", one - 40, TOP - 14, "rg, fd = 1"));
    for (index, group) in groups.iter().enumerate() {
        let top = TOP + ROW * u32::try_from(index).unwrap_or_default();
        elements.extend(group.elements(top));
    }
    let picture = Picture {
        width: WIDTH,
        height: bottom + 12,
        title: "Time of ripkit relative to rg and fd",
        description: &description,
        style: STYLE,
    };
    Ok(picture.with(&elements))
}

fn text(class: &str, x: u32, y: u32, content: &str) -> String {
    format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(content))
}

impl Group {
    fn elements(&self, top: u32) -> Vec<String> {
        let mut elements = vec![text("name", 16, top + 12, &self.name)];
        if !self.pattern.is_empty() {
            elements.push(text("pattern", 16, top + 26, &self.pattern));
        }
        for (index, (series, ratio)) in SERIES.iter().zip(&self.ratios).enumerate() {
            let Some(ratio) = ratio else { continue };
            let top = top + (BAR + 1) * u32::try_from(index).unwrap_or_default();
            let digits = if *ratio < 0.01 { 3 } else { 2 };
            let length = (ratio * f64::from(UNIT)).max(1.0);
            elements.push(format!(
                "<rect class=\"{}\" x=\"{LEFT}\" y=\"{top}\" width=\"{length:.0}\" height=\"{BAR}\"/>\n\
                 <text class=\"value\" x=\"{:.0}\" y=\"{}\">{ratio:.digits$}</text>",
                series.class,
                f64::from(LEFT) + length + 4.0,
                top + BAR
            ));
        }
        elements
    }
}

impl<'a> Comparison<'a> {
    fn parse(text: &'a str) -> Comparison<'a> {
        let mut tables: Vec<Table<'a>> = Vec::new();
        let mut title = "";
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(heading) = line.strip_prefix("## ") {
                title = heading;
            } else if line.starts_with("|---") {
                let rows = std::iter::from_fn(|| lines.next_if(|line| line.starts_with('|')));
                if let Some(table) = tables.last_mut() {
                    table.rows.extend(rows.map(cells));
                }
            } else if line.starts_with('|') {
                tables.push(Table { title, head: cells(line), rows: Vec::new() });
            }
        }
        Comparison { text, tables }
    }

    /// A line of the list before the tables.
    fn header(&self, name: &str) -> Result<&'a str, String> {
        let start = format!("- {name}: ");
        let line = self.text.lines().find_map(|line| line.strip_prefix(&start));
        line.ok_or_else(|| format!("the comparison has no line {start:?}"))
    }

    fn table(&self, title: &str) -> Result<&Table<'a>, String> {
        let is_it = |table: &&Table<'_>| {
            table.title == title
                || table.title.strip_prefix(title).is_some_and(|rest| rest.starts_with(" ("))
        };
        self.tables.iter().find(is_it).ok_or_else(|| format!("there is no table {title:?}"))
    }

    /// The means, each search, and the listing.
    fn groups(&self) -> Result<Vec<Group>, String> {
        let full = self.table(SERIES[0].searches)?;
        let names = full.rows.iter().filter_map(|row| row.first());
        let mut groups = Vec::new();
        for name in names {
            let ratio =
                |series: &Series| self.table(series.searches)?.ratio(name, series.contestant, "rg");
            let ratios = SERIES.iter().map(|series| ratio(series).map(Some));
            let (kind, pattern) = name.split_once(" `").unwrap_or((name, ""));
            groups.push(Group {
                name: kind.to_owned(),
                pattern: pattern.trim_end_matches('`').replace("\\|", "|"),
                ratios: ratios.collect::<Result<_, _>>()?,
            });
        }
        let mean = |index: usize| {
            let logarithms = groups.iter().filter_map(|group| group.ratios[index].map(f64::ln));
            let mean: f64 = logarithms.sum::<f64>() / groups.len().max(1) as f64;
            Some(mean.exp())
        };
        let means = Group {
            name: format!("geometric mean of {} searches", groups.len()),
            pattern: String::new(),
            ratios: (0..SERIES.len()).map(mean).collect(),
        };
        groups.insert(0, means);
        let ratio = |series: &Series| match series.listings {
            Some(title) => self.table(title)?.ratio(LISTING, series.contestant, "fd").map(Some),
            None => Ok(None),
        };
        groups.push(Group {
            name: "list everything, sorted".to_owned(),
            pattern: "beside fd".to_owned(),
            ratios: SERIES.iter().map(ratio).collect::<Result<_, _>>()?,
        });
        Ok(groups)
    }
}

impl Table<'_> {
    /// The ratio of a contestant to a baseline: a cell behind that of the contestant.
    fn ratio(&self, row: &str, contestant: &str, baseline: &str) -> Result<f64, String> {
        let missing =
            || format!("{}: no ratio of {contestant} to {baseline} for {row}", self.title);
        let row = self.rows.iter().find(|cells| cells.first() == Some(&row)).ok_or_else(missing)?;
        let column = self.head.iter().position(|head| *head == contestant).ok_or_else(missing)?;
        let ratios = self.head.iter().zip(row).skip(column + 1);
        let mut ratios = ratios.take_while(|(head, _)| head.starts_with("to "));
        let is_it = |head: &str| head.strip_prefix("to ") == Some(baseline);
        let (_, ratio) = ratios.find(|(head, _)| is_it(head)).ok_or_else(missing)?;
        ratio.parse().map_err(|_| missing())
    }
}

/// The cells of a row; a bar within a cell is escaped.
fn cells(row: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut start = 1;
    let bytes = row.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(1) {
        if *byte == b'|' && bytes.get(at - 1) != Some(&b'\\') {
            cells.push(row.get(start..at).unwrap_or_default().trim());
            start = at + 1;
        }
    }
    cells
}
