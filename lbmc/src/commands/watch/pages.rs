//! The page and what belongs to it. All of it is in the program.

use lbm_flows::page::{PLOT, STYLE};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The type and the text of what is at a fixed name.
pub fn find(name: &str) -> Option<(&'static str, String)> {
    Some(match name {
        "" => (HTML, include_str!("page.html").into()),
        "style.css" => ("text/css; charset=utf-8", format!("{STYLE}{}", include_str!("page.css"))),
        "plot.js" => (SCRIPT, PLOT.into()),
        "section.js" => (SCRIPT, include_str!("section.js").into()),
        "surface.js" => (SCRIPT, include_str!("surface.js").into()),
        "page.js" => (SCRIPT, include_str!("page.js").into()),
        _ => return None,
    })
}
