use lbm_bundle::{Real, Target};
use lbm_codegen::{options::Options, pipeline};
fn main() {
    let mut args = std::env::args().skip(1);
    let out = args.next().unwrap();
    let only = args.next().unwrap_or_default();
    let block: Option<Vec<u32>> = args.next().map(|b| b.split('x').map(|n| n.parse().unwrap()).collect());
    for (name, text) in lbm_dsl::shipped::specs() {
        if !name.contains(&only) {
            continue;
        }
        let model =
            lbm_dsl::compile(&lbm_dsl::source::Source::new(&format!("{name}.lbm"), text), &lbm_dsl::shipped::Prelude)
                .unwrap_or_else(|r| panic!("{}", r.render(100)));
        let dim = model.lattice().dim();
        let block = block.clone().map_or(Options::default_block(dim), |b| [b[0], b[1], *b.get(2).unwrap_or(&1)]);
        for real in [Real::F32, Real::F64] {
            let bundles: Vec<_> = [Target::Cuda, Target::C]
                .map(|target| pipeline::compile(&model, &Options { target, real, block }).unwrap().bundle)
                .into();
            let dir = format!("{out}/{}", if real == Real::F32 { "f32" } else { "f64" });
            std::fs::create_dir_all(&dir).unwrap();
            for file in pipeline::files(&bundles) {
                std::fs::write(format!("{dir}/{}", file.name), file.text).unwrap();
            }
        }
    }
}
