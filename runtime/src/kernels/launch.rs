//! What a kernel is launched with, from the tables of kernels.

use lbm_bundle::{Manifest, Real as Precision};

use crate::device::{Array, Buffer, Element, Int, Part, Scalar, Value};

/// A kernel with its arguments.
pub trait Launch<'a> {
    /// What tells the kernels of a bundle apart.
    type Role;

    /// Which kernel it is.
    fn role(&self) -> Self::Role;

    /// Hands the arguments over, in the kernel's order.
    fn put(self, arguments: &mut Arguments<'a>);
}

/// The type of some elements in a bundle of a precision, where it depends on that.
type OfBundle = fn(Precision) -> Option<Scalar>;

/// The arguments of a launch, in the kernel's order.
#[derive(Default)]
pub struct Arguments<'a> {
    values: Vec<Value<'a>>,
    /// How many items the launch works on.
    items: Option<usize>,
    params: Option<&'a Params>,
    /// What types the arrays have, and what they should have.
    typed: Vec<(OfBundle, Scalar)>,
}

impl<'a> Arguments<'a> {
    pub(super) fn of(kernel: impl Launch<'a>) -> Self {
        let mut arguments = Arguments::default();
        kernel.put(&mut arguments);
        arguments
    }

    pub(super) fn values(&self) -> &[Value<'a>] {
        &self.values
    }

    /// How many items the launch works on; one where it is no list of them.
    pub(super) fn items(&self) -> usize {
        self.items.unwrap_or(1)
    }

    /// Whether the arrays and parameters have the types of a bundle, and the parameters are as many as it has.
    pub(super) fn are_of(&self, manifest: &Manifest) -> bool {
        let fits = |params: &Params| (params.real, params.members) == (manifest.real, manifest.members.len());
        let same =
            |(of_bundle, scalar): &(OfBundle, Scalar)| of_bundle(manifest.real).is_none_or(|wanted| wanted == *scalar);
        self.typed.iter().all(same) && self.params.is_none_or(fits)
    }

    /// What the launch works on.
    pub(super) fn list(&mut self, list: Part<'a, Int>) {
        self.items = Some(list.len());
        self.slice(list);
    }

    pub(super) fn slice(&mut self, part: Part<'a, Int>) {
        let length = part.len() as i32;
        self.values.extend([Value::Part(part.buffer.array(), part.range), Value::Int(length)]);
    }

    /// How many items the launch works on.
    pub(super) fn count(&mut self, count: usize) {
        self.items = Some(count);
        self.value(count as i32);
    }

    pub(super) fn value(&mut self, value: i32) {
        self.values.push(Value::Int(value));
    }

    pub(super) fn params(&mut self, params: &'a Params) {
        self.params = Some(params);
        if params.members > 0 {
            self.values.push(Value::Struct(&params.words));
        }
    }

    pub(super) fn read<E: Element>(&mut self, buffer: &'a Buffer<E>) {
        self.note::<E>(buffer.array());
        self.values.push(Value::Read(buffer.array()));
    }

    pub(super) fn write<E: Element>(&mut self, buffer: &'a mut Buffer<E>) {
        self.note::<E>(buffer.array());
        self.values.push(Value::Write(buffer.array_mut()));
    }

    fn note<E: Element>(&mut self, array: &Array) {
        self.typed.push((E::of_bundle, array.scalar()));
    }
}

/// The parameters of a method as its kernels take them: a struct of the bundle's reals, the members of [`Manifest::members`].
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    real: Precision,
    members: usize,
    /// The struct, in words so that it is aligned.
    words: Vec<u64>,
}

impl Params {
    /// From the values of each parameter of the method, in the order of the manifest, rounded to the bundle's type.
    ///
    /// # Panics
    /// Where a parameter has no value, or fewer components than in the manifest.
    pub fn new(manifest: &Manifest, values: &[Vec<f64>]) -> Self {
        let value = |member| manifest.param_of(member).map(|(param, component)| values[param][component]);
        let values: Vec<f64> = manifest.members.iter().filter_map(value).collect();
        let bytes = |value: &f64| match manifest.real {
            Precision::F32 | Precision::F16F32 => (*value as f32).to_ne_bytes().to_vec(),
            Precision::F64 => value.to_ne_bytes().to_vec(),
        };
        let bytes: Vec<u8> = values.iter().flat_map(bytes).collect();
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        };
        Params { real: manifest.real, members: values.len(), words: bytes.chunks(8).map(word).collect() }
    }
}

/// The type of a field, from access and element.
#[rustfmt::skip]
macro_rules! field {
    ($life:lifetime list $element:ident) => { Part<$life, $element> };
    ($life:lifetime slice $element:ident) => { Part<$life, $element> };
    ($life:lifetime count $element:ident) => { usize };
    ($life:lifetime value Int) => { i32 };
    ($life:lifetime value Params) => { &$life Params };
    ($life:lifetime read $element:ident) => { &$life Buffer<$element> };
    ($life:lifetime write $element:ident) => { &$life mut Buffer<$element> };
}

/// Hands a field over, as its access says.
#[rustfmt::skip]
macro_rules! put {
    ($to:ident, value Params, $value:expr) => { $to.params($value) };
    ($to:ident, $access:ident $element:ident, $value:expr) => { $to.$access($value) };
}

/// A struct for each row of a table, its fields the arguments.
macro_rules! launches {
    ($role:ty:
        $($(#[doc = $doc:tt])+ $kernel:ident = $name:tt {
            $($arg:ident: $access:ident $element:ident $([$($index:tt)+])* $(in $unit:ident)? $text:literal,)*
        })+
    ) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug)]
            pub struct $kernel<'a> {
                $(#[doc = $text] pub $arg: field!('a $access $element),)*
            }

            impl<'a> Launch<'a> for $kernel<'a> {
                type Role = $role;

                fn role(&self) -> $role {
                    <$role>::$kernel
                }

                fn put(self, arguments: &mut Arguments<'a>) {
                    $(put!(arguments, $access $element, self.$arg);)*
                }
            }
        )+
    };
}

pub(super) use {field, launches, put};
