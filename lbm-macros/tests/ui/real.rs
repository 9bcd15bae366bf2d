lbm_macros::lbm! { mod wrong(f16) = "method.lbm"; }

fn main() {}
