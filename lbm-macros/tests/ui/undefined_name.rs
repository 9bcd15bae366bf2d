lbm_macros::lbm! {
    mod wrong(f64) {
        // The density is misspelt; the other lines are right.
        use lattices::D2Q9;
        use equilibria::quadratic;
        lattice D2Q9;
        param omega in (0, 2);

        let rho  = sum(i: f[i]);
        let u[a] = sum(i: c[i, a] * f[i]) / rhoo;
        field rho;
        field u;
        init f[i] <- quadratic[i](rho, u);
        collide { f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]); }
    }
}

fn main() {}
