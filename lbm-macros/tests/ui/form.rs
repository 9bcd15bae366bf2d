lbm_macros::lbm! { lattice D2Q9; }

fn main() {}
