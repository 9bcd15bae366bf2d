lbm_macros::lbm! { mod wrong(f64) { use lattices::D2Q9; use equilibria::quadratic; lattice D2Q9;
    let rho = sum(i: f[i]);
    let u[a] = sum(i: c[i, a] * f[i]) / rho;
    field rho;
    field u;
    init f[i] <- quadratic[i](rho, u);
    collide { f[i] <- 2 * f[i]; }
}}

fn main() {}
