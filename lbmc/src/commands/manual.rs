//! `lbmc completions` and `lbmc man`: what shells and `man` need, from the tree of commands itself.

use clap::CommandFactory;
use clap_mangen::Man as Page;
use lbm_setup::files;
use miette::Result;

use crate::cli::{Cli, Completions, Man};

/// Runs `lbmc completions`.
pub fn completions(args: &Completions) -> Result<()> {
    let mut text = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "lbmc", &mut text);
    print!("{}", String::from_utf8_lossy(&text));
    Ok(())
}

/// Runs `lbmc man`.
pub fn man(args: &Man) -> Result<()> {
    let mut top = Cli::command();
    top.build();
    let Some(folder) = &args.out else {
        print!("{}", text(&Page::new(top)));
        return Ok(());
    };
    files::create_folder(folder)?;
    for page in with_subcommands(top).into_iter().map(Page::new) {
        // `lbmc-run.1`, as the list of commands in lbmc.1 has it.
        let path = folder.join(page.get_filename());
        files::write(&path, text(&page))?;
        println!("{}", path.display());
    }
    Ok(())
}

/// A command and all below it.
fn with_subcommands(command: clap::Command) -> Vec<clap::Command> {
    let below: Vec<clap::Command> =
        command.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
    std::iter::once(command).chain(below.into_iter().flat_map(with_subcommands)).collect()
}

/// A manual page in roff.
fn text(page: &Page) -> String {
    let mut text = vec![];
    page.render(&mut text).expect("memory can be written to");
    String::from_utf8(text).expect("pages are text")
}
