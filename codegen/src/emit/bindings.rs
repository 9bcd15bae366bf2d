//! Typed launches in Rust: a struct for each kernel, its fields the arguments.

use lbm_bundle::{ArgType, File, HALF_SCALE, Kernel, Layout, Manifest, Real, Role, Target};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use super::banner;
use super::constants::{rest, rule_constants, weight};
use super::method::Method;
use super::rust;
use super::signature::{self, doc};
use super::text::Comment;

/// `<spec>.rs`: no dependencies, no `unsafe`.
pub fn bindings(method: &Method) -> File {
    let manifest = method.manifest;
    let layout = constants(manifest);
    let params = (!manifest.members.is_empty()).then(|| params(manifest));
    let launches = manifest.kernels.iter().map(|kernel| launch(manifest, kernel));
    let tokens = quote! {
        use core::ffi::c_void;
        #layout
        #params
        #(#launches)*
    };
    let file = syn::parse2(tokens).unwrap_or_else(|error| panic!("bindings of {}: {error}", manifest.spec));
    let mut lines = banner::origin(method, &banner::options(manifest));
    let pointers = "Pointers are to device memory for the CUDA kernels, to host memory for the C kernels.";
    lines.extend(["", pointers].map(Comment::new));
    let mut text: String = lines.iter().map(|line| format!("//! {line}").trim_end().to_string() + "\n").collect();
    text.push('\n');
    // A blank line before every item, as rustfmt leaves it.
    for (at, line) in prettyplease::unparse(&file).lines().enumerate() {
        let opens = line.starts_with("/// ") || line.starts_with("#[derive") || line.starts_with("impl");
        let continues = text.ends_with("\n\n") || text.lines().last().is_some_and(|last| last.starts_with("///"));
        if at > 0 && opens && !continues {
            text.push('\n');
        }
        text += line;
        text.push('\n');
    }
    if manifest.layout == Layout::Soa {
        text += &rust::functions(method);
    }
    File { name: format!("{}.rs", manifest.spec), text }
}

/// A line of documentation.
fn spoken(text: &str) -> String {
    format!(" {}", Comment::new(text))
}

fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Constants of the method, then those of its layout.
fn constants(manifest: &Manifest) -> TokenStream {
    let velocities = manifest.directions.iter().map(|direction| {
        let [x, y, z] = direction.c.map(|c| proc_macro2::Literal::i32_unsuffixed(c.abs())).map(|c| quote!(#c));
        let [x, y, z] = [(x, 0), (y, 1), (z, 2)].map(|(c, at)| if direction.c[at] < 0 { quote!(-#c) } else { c });
        quote!([#x, #y, #z])
    });
    let opposites = manifest.directions.iter().map(|direction| number(direction.opposite as usize));
    let weights = manifest.directions.iter().map(|direction| {
        let quotient: syn::Expr = syn::parse_str(&weight(direction)).expect("a quotient of numbers");
        quote!(#quotient)
    });
    let (q, dim, fields) = (number(manifest.q()), number(manifest.dim as usize), number(manifest.field_components()));
    let abi = proc_macro2::Literal::u32_unsuffixed(manifest.abi);
    let field_doc =
        spoken(&format!("Components of the macroscopic fields: {}.", manifest.component_names().join(", ")));
    let own = match manifest.layout {
        Layout::Blocks => blocks(manifest),
        Layout::Soa => TokenStream::new(),
    };
    quote! {
        /// Version of the interface: kernels, their arguments and their memory.
        pub const ABI: u32 = #abi;
        /// Number of axes.
        pub const DIM: usize = #dim;
        /// Number of directions.
        pub const Q: usize = #q;
        /// Velocity of each direction.
        pub const VELOCITIES: [[i32; 3]; Q] = [#(#velocities),*];
        /// Weight of each direction.
        pub const WEIGHTS: [f64; Q] = [#(#weights),*];
        /// The direction with the reversed velocity, for each direction.
        pub const OPPOSITES: [usize; Q] = [#(#opposites),*];
        #[doc = #field_doc]
        pub const FIELDS: usize = #fields;
        #own
    }
}

fn number(value: usize) -> proc_macro2::Literal {
    proc_macro2::Literal::usize_unsuffixed(value)
}

/// Layout of blocks: constants, rules, index functions.
fn blocks(manifest: &Manifest) -> TokenStream {
    let [bx, by, bz] = manifest.block.map(|side| number(side as usize));
    let (cells, near) = (number(manifest.cells()), number(3usize.pow(manifest.dim)));
    let stride = number(manifest.wall_stride as usize);
    let rules = manifest.boundaries.iter().zip(rule_constants(manifest)).map(|(rule, name)| {
        let name = ident(&name);
        let code = proc_macro2::Literal::i32_unsuffixed(rule.code);
        let doc = spoken(&if rule.doc.is_empty() { format!("Rule `{}`.", rule.name) } else { rule.doc.clone() });
        quote! { #[doc = #doc] pub const #name: i32 = #code; }
    });
    let rests = manifest.directions.iter().map(|direction| {
        let quotient: syn::Expr = syn::parse_str(&rest(direction)).expect("a quotient of numbers");
        quote!(#quotient)
    });
    let half_scale = (manifest.real == Real::F16F32).then(|| {
        quote! {
            /// It is stored in 16 bits, as an IEEE 754 binary16 number, times this.
            pub const HALF_SCALE: f32 = #HALF_SCALE;
        }
    });
    let pitch = manifest.pitch_of(Target::C);
    let place = if pitch == manifest.cells() {
        population(manifest, "population", "", &quote!(CELLS))
    } else {
        let host = population(manifest, "population", ", by kernels in C", &quote!(PITCH));
        let gpu = population(manifest, "population_gpu", ", by kernels of GPUs", &quote!(CELLS));
        let pitch = number(pitch);
        quote! {
            /// Values from a direction's populations in a block to those of the next, of kernels in C: a cache line lies between them.
            pub const PITCH: usize = #pitch;
            #host
            #gpu
        }
    };
    quote! {
        /// The population of each direction at rest: what is stored is the difference from it.
        pub const REST: [f64; Q] = [#(#rests),*];
        #half_scale
        /// Cells of a block along each axis.
        pub const BLOCK: [usize; 3] = [#bx, #by, #bz];
        /// Cells of a block.
        pub const CELLS: usize = #cells;
        /// Neighbours of a block, itself included.
        pub const NEAR: usize = #near;
        /// Values of a wall instance in `wall_values`.
        pub const WALL_VALUES: usize = #stride;
        #(#rules)*
        /// Index of cell `(x, y, z)` in its block.
        pub const fn cell(x: usize, y: usize, z: usize) -> usize {
            x + BLOCK[0] * (y + BLOCK[1] * z)
        }
        #place
        /// Where a component of the macroscopic fields at a cell of the block in `slot` is.
        pub const fn field(slot: usize, component: usize, cell: usize) -> usize {
            (slot * FIELDS + component) * CELLS + cell
        }
    }
}

/// The function that says where a population is stored, `pitch` values from those of the next direction.
fn population(manifest: &Manifest, name: &str, by: &str, pitch: &TokenStream) -> TokenStream {
    let name = ident(name);
    let doc = format!("Where the population of a direction is stored, at a cell of the block in `slot`{by}.");
    let rows = if manifest.rows() == manifest.q() { quote!(Q) } else { number(manifest.rows()).into_token_stream() };
    match manifest.first_in_halves() {
        None => quote! {
            #[doc = #doc]
            pub const fn #name(slot: usize, direction: usize, cell: usize) -> usize {
                (slot * #rows + direction) * #pitch + cell
            }
        },
        Some(first) => {
            let doc = format!(
                "{doc} From direction {first} on they are states, which have 32 bits (IEEE 754 binary32): the upper half is there, the lower \
                 half `{pitch}` numbers behind it."
            );
            quote! {
                #[doc = #doc]
                pub const fn #name(slot: usize, direction: usize, cell: usize) -> usize {
                    let row = if direction < #first { direction } else { 2 * direction - #first };
                    (slot * #rows + row) * #pitch + cell
                }
            }
        }
    }
}

/// How many thread blocks a CUDA launch has.
fn shape(manifest: &Manifest, kernel: &Kernel) -> TokenStream {
    if manifest.layout == Layout::Soa && kernel.role != Role::Collide {
        let [x, y, z] = manifest.block.map(proc_macro2::Literal::u32_unsuffixed);
        let deep = if manifest.dim == 3 { quote!((self.nz as u32).div_ceil(Self::THREADS[2])) } else { quote!(1) };
        return quote! {
            /// CUDA: threads of a thread block along each axis.
            pub const THREADS: [u32; 3] = [#x, #y, #z];
            /// CUDA: thread blocks of the grid along each axis.
            pub const fn groups(&self) -> [u32; 3] {
                [(self.nx as u32).div_ceil(Self::THREADS[0]), (self.ny as u32).div_ceil(Self::THREADS[1]), #deep]
            }
        };
    }
    let threads = proc_macro2::Literal::u32_unsuffixed(kernel.threads);
    let items = proc_macro2::Literal::u32_unsuffixed(kernel.items_per_group);
    let passes = (kernel.passes > 1).then(|| {
        let passes = proc_macro2::Literal::u32_unsuffixed(kernel.passes);
        quote! {
            /// CUDA: thread blocks of the grid along y.
            pub const PASSES: u32 = #passes;
        }
    });
    let shared = (kernel.shared > 0).then(|| {
        let bytes = proc_macro2::Literal::u32_unsuffixed(kernel.shared);
        quote! {
            /// CUDA: bytes of dynamic shared memory of a thread block.
            pub const SHARED: u32 = #bytes;
        }
    });
    quote! {
        #shared
        /// CUDA: threads of a thread block.
        pub const THREADS: u32 = #threads;
        /// CUDA: list entries that a thread block works on.
        pub const ITEMS_PER_GROUP: u32 = #items;
        #passes
        /// CUDA: thread blocks of the grid.
        pub const fn groups(&self) -> u32 {
            (self.count as u32).div_ceil(Self::ITEMS_PER_GROUP)
        }
    }
}

fn real(manifest: &Manifest) -> Ident {
    ident(manifest.real.computed().name())
}

/// What a population is stored as; 16 bits as an integer, for want of a type in the standard library.
fn stored(manifest: &Manifest) -> Ident {
    if manifest.real == Real::F16F32 { ident("u16") } else { real(manifest) }
}

/// The struct of the method's parameters.
fn params(manifest: &Manifest) -> TokenStream {
    let real = real(manifest);
    let names = manifest.members.iter().map(|member| ident(&member.name));
    let docs = manifest.members.iter().map(|member| spoken(&member.doc));
    let capitals = manifest.members.iter().any(|member| member.name.contains(|letter: char| letter.is_uppercase()));
    let allow = capitals.then(|| quote!(#[allow(non_snake_case)]));
    quote! {
        /// Parameters of the method, as kernels take them.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        #allow
        pub struct Params {
            #(#[doc = #docs] pub #names: #real,)*
        }
    }
}

fn launch(manifest: &Manifest, kernel: &Kernel) -> TokenStream {
    let name: String = kernel.role.name().split('_').map(capital).collect();
    let name = ident(&name);
    let (real, stored) = (real(manifest), stored(manifest));
    let fields: Vec<Ident> = kernel.args.iter().map(|arg| ident(&arg.name)).collect();
    let types = kernel.args.iter().map(|arg| match arg.ty {
        ArgType::Int => quote!(i32),
        ArgType::Long => quote!(i64),
        ArgType::Params => quote!(Params),
        ArgType::Ints => quote!(*const i32),
        ArgType::IntsOut => quote!(*mut i32),
        ArgType::Reals => quote!(*const #real),
        ArgType::RealsOut => quote!(*mut #real),
        ArgType::Stored => quote!(*const #stored),
        ArgType::StoredOut => quote!(*mut #stored),
        ArgType::Doubles => quote!(*const f64),
        ArgType::DoublesOut => quote!(*mut f64),
    });
    let docs = kernel.args.iter().map(|arg| spoken(&signature::spoken(arg)));
    let about = spoken(doc(manifest.layout, kernel.role));
    let symbol = &kernel.symbol;
    let arity = proc_macro2::Literal::usize_unsuffixed(kernel.args.len());
    let shape = shape(manifest, kernel);
    quote! {
        #[doc = #about]
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct #name {
            #(#[doc = #docs] pub #fields: #types,)*
        }
        impl #name {
            /// Symbol of the kernel; on the host, `_packed` behind it takes `arguments()`.
            pub const SYMBOL: &'static str = #symbol;
            #shape
            /// Pointers to the arguments in order, as a launch takes them. They live as long as `self` stays in place.
            pub fn arguments(&mut self) -> [*mut c_void; #arity] {
                [#((&raw mut self.#fields).cast()),*]
            }
        }
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}
