//! `lbmc explain`: the long form of a code, or the list of codes.

use lbm_bundle::plain::shown;
use lbm_dsl::diag;
use lbm_flows::case;
use lbm_setup::codes;
use miette::{Result, miette};

use crate::cli::Explain;

/// Runs the command.
pub fn explain(args: &Explain) -> Result<()> {
    let Some(code) = &args.code else {
        list();
        return Ok(());
    };
    let text = spec(code).or_else(|| case(code)).or_else(|| other(code)).ok_or_else(|| {
        miette!(
            code = "L0101",
            help = "codes look like E0204 (specs), C0102 (cases) and L0107 (all else); `lbmc explain` alone lists them",
            "there is no code `{code}`"
        )
    })?;
    print!("{text}");
    Ok(())
}

fn list() {
    println!("specs");
    for code in diag::Code::ALL {
        println!("  {}  {}", code.code(), code.message());
    }
    println!("case files");
    for code in case::CODES {
        println!("  {}  {}{}", code.id, code.title, if code.warning { " (advice)" } else { "" });
    }
    println!("runs, and all else");
    for code in codes::CODES {
        println!("  {}  {}", code.id, code.title);
    }
}

fn spec(code: &str) -> Option<String> {
    let code = diag::Code::find(code)?;
    let long = code.long()?;
    let place = match long.instead {
        "" => String::new(),
        part => format!("in d2q9_bgk.lbm, instead of\n{}", example(part)),
    };
    let mut text = page(code.code(), code.message(), long.text, &place, long.wrong, long.right);
    if !code.hint().is_empty() {
        text += &format!("\nhint: {}\n", code.hint());
    }
    Some(text)
}

fn case(code: &str) -> Option<String> {
    let code = case::Code::find(code)?;
    let long = code.long()?;
    Some(page(code.id, code.title, long.text, "", long.wrong, long.right))
}

fn other(code: &str) -> Option<String> {
    codes::Code::find(code).map(|code| format!("{}: {}\n\n{}", code.id, code.title, filled(code.text)))
}

fn page(code: &str, title: &str, text: &str, place: &str, wrong: &str, right: &str) -> String {
    format!("{code}: {title}\n\n{}\n{place}wrong\n{}right\n{}", filled(text), example(wrong), example(right))
}

fn example(text: &str) -> String {
    shown(text).lines().map(|line| format!("    {line}\n")).collect()
}

/// Words in lines of at most 80 columns.
fn filled(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= 80 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines.join("\n") + "\n"
}
