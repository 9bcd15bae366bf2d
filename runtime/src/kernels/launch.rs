//! Typed launches, generated from the tables of kernels.

use lbm_bundle::{Manifest, Real as Precision};

use crate::device::{Array, Buffer, Element, Int, Scalar, Slice, Value};

/// A kernel with its arguments.
pub trait Launch<'a>: Put<'a> {
    /// Identifies a kernel of a bundle.
    type Role;

    /// The role of the kernel.
    fn role(&self) -> Self::Role;
}

/// Arguments of a kernel, all of them or a group.
pub trait Put<'a> {
    /// Appends them in the order of the kernel's parameters.
    fn put(self, arguments: &mut Arguments<'a>);
}

/// Element type in a bundle of some precision, if it depends on the precision.
type OfBundle = fn(Precision) -> Option<Scalar>;

/// The arguments of a launch, in the order of the kernel's parameters.
#[derive(Default)]
pub struct Arguments<'a> {
    values: Vec<Value<'a>>,
    /// Number of items.
    items: Option<usize>,
    params: Option<&'a Params>,
    /// Expected and actual types of the arrays.
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

    /// Number of items; one if the kernel has no list of items.
    pub(super) fn items(&self) -> usize {
        self.items.unwrap_or(1)
    }

    /// Whether arrays and parameters have the real type of a bundle, and the number of parameters matches.
    pub(super) fn are_of(&self, manifest: &Manifest) -> bool {
        let fits = |params: &Params| (params.real, params.members) == (manifest.real, manifest.members.len());
        let same =
            |(of_bundle, scalar): &(OfBundle, Scalar)| of_bundle(manifest.real).is_none_or(|wanted| wanted == *scalar);
        self.typed.iter().all(same) && self.params.is_none_or(fits)
    }

    /// Appends the list of items and its length.
    pub(super) fn list(&mut self, list: Slice<'a, Int>) {
        self.items = Some(list.len());
        self.slice(list);
    }

    pub(super) fn slice(&mut self, slice: Slice<'a, Int>) {
        let length = slice.len() as i32;
        self.values.extend([Value::Slice(slice.buffer.array(), slice.range), Value::Int(length)]);
    }

    /// Appends the number of items.
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

    pub(super) fn section<E: Element>(&mut self, (buffer, start): (&'a mut Buffer<E>, usize)) {
        self.note::<E>(buffer.array());
        self.values.push(Value::WriteFrom(buffer.array_mut(), start));
    }

    fn note<E: Element>(&mut self, array: &Array) {
        self.typed.push((E::of_bundle, array.scalar()));
    }
}

/// The parameters of a method in the form that kernels take: a struct of reals of the bundle's type, with the members
/// [`Manifest::members`].
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    real: Precision,
    members: usize,
    /// The struct, in words for alignment.
    words: Vec<u64>,
}

impl Params {
    /// Converts the values of all parameters of the method, in the order of the manifest, to the bundle's type.
    ///
    /// # Panics
    /// If a parameter has no value, or fewer components than in the manifest.
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

/// Type of a field, from its access and element.
#[rustfmt::skip]
macro_rules! field {
    ($life:lifetime group $group:ident) => { $group<$life> };
    ($life:lifetime list $element:ident) => { Slice<$life, $element> };
    ($life:lifetime slice $element:ident) => { Slice<$life, $element> };
    ($life:lifetime count $element:ident) => { usize };
    ($life:lifetime value Int) => { i32 };
    ($life:lifetime value Params) => { &$life Params };
    ($life:lifetime read $element:ident) => { &$life Buffer<$element> };
    ($life:lifetime write $element:ident) => { &$life mut Buffer<$element> };
    ($life:lifetime section $element:ident) => { (&$life mut Buffer<$element>, usize) };
}

/// What is said of a field.
#[rustfmt::skip]
macro_rules! about {
    ($element:ident $text:literal) => { $text };
    ($group:ident) => { concat!("Those of [`", stringify!($group), "`].") };
}

/// Appends a field as its access requires.
#[rustfmt::skip]
macro_rules! put {
    ($to:ident, group $group:ident, $value:expr) => { $value.put($to) };
    ($to:ident, value Params, $value:expr) => { $to.params($value) };
    ($to:ident, $access:ident $element:ident, $value:expr) => { $to.$access($value) };
}

/// A struct for each group of a table, and for the lines of a row, with the arguments as fields.
macro_rules! arguments {
    ($($(#[doc = $doc:tt])+ $name:ident {
        $($arg:ident: $access:ident $element:ident $([$($index:tt)+])* $(in $unit:ident)? $($text:literal)?,)*
    })+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Debug)]
            pub struct $name<'a> {
                $(#[doc = about!($element $($text)?)] pub $arg: field!('a $access $element),)*
            }

            impl<'a> Put<'a> for $name<'a> {
                fn put(self, arguments: &mut Arguments<'a>) {
                    $(put!(arguments, $access $element, self.$arg);)*
                }
            }
        )+
    };
}

/// A struct that launches a kernel; none of one that gathers, which [`Gather`](super::Gather) launches.
macro_rules! launch {
    ($role:ty: $(#[doc = $doc:tt])+ $kernel:ident { gathers $($product:tt)* }) => {};
    ($role:ty: $(#[doc = $doc:tt])+ $kernel:ident { $($lines:tt)* }) => {
        arguments! { $(#[doc = $doc])+ $kernel { $($lines)* } }

        impl<'a> Launch<'a> for $kernel<'a> {
            type Role = $role;

            fn role(&self) -> $role {
                <$role>::$kernel
            }
        }
    };
}

/// A struct for each row of a table.
macro_rules! launches {
    ($role:ty: $($(#[doc = $doc:tt])+ $kernel:ident = $name:tt { $($lines:tt)* })+) => {
        $(launch! { $role: $(#[doc = $doc])+ $kernel { $($lines)* } })+
    };
}

pub(super) use {about, arguments, field, launch, launches, put};
