//! Typed launches in Rust.

use lbm_bundle::File;
use quote::quote;

use super::Method;

/// `<spec>.rs`
pub fn bindings(method: &Method) -> File {
    let _ = quote! {};
    File { name: format!("{}.rs", method.manifest.spec), text: String::new() }
}
