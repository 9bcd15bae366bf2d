use lbm_macros::lbm;

lbm! {
    pub mod wrong(f32) {
        lattice L {
            cs2 = 1/3;
            shell (0, 0): 4/9;
            shell (1, 0): 1/9;
            shell (1, 1): 1/9;
        }
        lattice L;
        param omega in (0, 2);
        let rho = sum(i: f[i]);
        field rho;
        init f[i] <- w[i] * rho;
        collide { f[i] <- f[i] + omega * (w[i] * rho - f[i]); }
    }
}

fn main() {}
