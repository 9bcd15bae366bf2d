//! Arguments of kernels, and how the tables describe them.
//!
//! A row reads
//!
//! ```text
//! /// What the kernel does.
//! Name = "name_in_symbols" {
//!     argument: access Element [index][space] in unit "what it is",
//!     arguments: group Group,
//! }
//! ```
//!
//! | access | argument |
//! | --- | --- |
//! | `list` | what a launch works on: the array that lists its items, then how many there are, by the name of the index |
//! | `count` | how many items there are where no array lists them |
//! | `slice` | a part of an array: where it begins, then its length, by the name of the index |
//! | `read`, `write` | an array |
//! | `value` | a number, or all parameters of the method in a struct |
//! | `group` | those of a group, one behind the other ([`method_groups!`](crate::method_groups)) |
//!
//! A row of a kernel that gathers what arrives in cells reads `{ gathers Action [source source] }` instead ([`Sources`](crate::Sources)).
//!
//! Elements are `Int`, `Real` (the bundle's type), `Stored` (populations as they are stored), `Double` whatever those are, `Long`, and
//! `Params`, the struct of the method's parameters.

use serde::{Deserialize, Serialize};

/// Type of a kernel argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgType {
    /// `int32_t` by value.
    Int,
    /// `long long` by value, 64 bits.
    Long,
    /// The struct of the method's parameters by value: [`Manifest::members`](crate::Manifest::members).
    Params,
    /// `const int32_t *`.
    Ints,
    /// `int32_t *`, written by the kernel.
    IntsOut,
    /// `const real *`.
    Reals,
    /// `real *`, written by the kernel.
    RealsOut,
    /// Populations as they are stored: `const real *`, or `const uint16_t *` where they are in 16 bits.
    Stored,
    /// The same, written by the kernel.
    StoredOut,
    /// `const double *`, whatever the bundle's real type.
    Doubles,
    /// The same, written by the kernel.
    DoublesOut,
}

impl ArgType {
    /// Whether it is an array, not a value.
    pub fn is_array(self) -> bool {
        !matches!(self, ArgType::Int | ArgType::Long | ArgType::Params)
    }

    /// Whether it is an array that the kernel writes.
    pub fn is_written(self) -> bool {
        matches!(self, ArgType::IntsOut | ArgType::RealsOut | ArgType::StoredOut | ArgType::DoublesOut)
    }
}

/// One kernel argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arg {
    /// Name: `ids`, `count`, `neighbours`, `src`.
    pub name: String,
    /// Type, and whether the kernel writes there.
    pub ty: ArgType,
    /// Index space of an array, the last index the fastest: `[slot][19][64]`. Each index is an extent, or what it counts.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shape: String,
    /// Unit of the values, if they have one: `lattice units`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// What it is.
    pub doc: String,
}

/// A line of a row: an argument, or an array and its length.
#[derive(Clone, Copy)]
pub(crate) struct Declared {
    pub(crate) name: &'static str,
    pub(crate) ty: ArgType,
    /// Whether its length follows, by the name of its index.
    pub(crate) length: bool,
    pub(crate) shape: &'static [&'static str],
    pub(crate) unit: &'static str,
    pub(crate) doc: &'static str,
}

impl Declared {
    /// The arguments that it stands for; `index` spells an index, `text` completes what is said.
    pub(crate) fn args(&self, index: impl Fn(&str) -> String, text: impl Fn(&str) -> String) -> Vec<Arg> {
        let unit = if self.unit.is_empty() { String::new() } else { format!("{} units", self.unit) };
        let arg = Arg {
            name: self.name.into(),
            ty: self.ty,
            shape: self.shape.iter().map(|name| index(name)).collect(),
            unit,
            doc: text(self.doc),
        };
        let length = self.length.then(|| Arg {
            name: self.shape[0].into(),
            ty: ArgType::Int,
            shape: String::new(),
            unit: String::new(),
            doc: format!("entries of `{}`", self.name),
        });
        std::iter::once(arg).chain(length).collect()
    }
}

/// The type of an argument, from its access and element.
#[rustfmt::skip]
macro_rules! arg_type {
    (list Int) => { $crate::ArgType::Ints };
    (slice Int) => { $crate::ArgType::Ints };
    (count Int) => { $crate::ArgType::Int };
    (value Int) => { $crate::ArgType::Int };
    (value Long) => { $crate::ArgType::Long };
    (value Params) => { $crate::ArgType::Params };
    (read Int) => { $crate::ArgType::Ints };
    (write Int) => { $crate::ArgType::IntsOut };
    (read Real) => { $crate::ArgType::Reals };
    (write Real) => { $crate::ArgType::RealsOut };
    (read Stored) => { $crate::ArgType::Stored };
    (write Stored) => { $crate::ArgType::StoredOut };
    (read Double) => { $crate::ArgType::Doubles };
    (write Double) => { $crate::ArgType::DoublesOut };
    (section Double) => { $crate::ArgType::DoublesOut };
}

/// Whether the length of an argument follows it.
#[rustfmt::skip]
macro_rules! has_length {
    (list) => { true };
    (slice) => { true };
    ($access:ident) => { false };
}

/// A line of a row as data.
macro_rules! line {
    ($arg:ident: group $group:ident) => {
        $crate::groups::Group::$group.declared()
    };
    ($arg:ident: $access:ident $element:ident $([$($index:tt)+])* $(in $unit:ident)? $text:literal) => {
        vec![$crate::args::Declared {
            name: stringify!($arg),
            ty: $crate::args::arg_type!($access $element),
            length: $crate::args::has_length!($access),
            shape: &[$(stringify!($($index)+)),*],
            unit: concat!($(stringify!($unit))?),
            doc: $text,
        }]
    };
}

/// The lines of a row as data, those of groups in their place.
macro_rules! declared {
    () => {
        Vec::new()
    };
    (gathers $action:ident [$($source:ident)*]) => {
        $crate::gather::arguments(
            $crate::Action::$action,
            $crate::Sources { $($source: true,)* ..Default::default() },
        )
    };
    ($($arg:ident: $access:ident $element:ident $([$($index:tt)+])* $(in $unit:ident)? $($text:literal)?,)*) => {
        [$($crate::args::line!($arg: $access $element $([$($index)+])* $(in $unit)? $($text)?)),*].concat()
    };
}

/// An enum of the kernels of a table, with what it says of them.
macro_rules! roles {
    ($(#[$about:meta])* $roles:ident:
        $($(#[doc = $doc:tt])+ $role:ident = $name:tt { $($args:tt)* })+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $roles {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $role,)+
        }

        impl $roles {
            /// All of them, in the order of the table.
            pub const ALL: &[$roles] = &[$($roles::$role),+];

            /// Name in symbols.
            pub fn name(self) -> &'static str {
                match self {
                    $($roles::$role => $name,)+
                }
            }

            /// What the kernel does, in a sentence.
            pub fn doc(self) -> &'static str {
                match self {
                    $($roles::$role => [$($doc),+][0].trim(),)+
                }
            }

            fn declared(self) -> Vec<$crate::args::Declared> {
                match self {
                    $($roles::$role => $crate::args::declared!($($args)*),)+
                }
            }

            /// The arrays that the kernel takes, by their names.
            pub fn arrays(self) -> impl Iterator<Item = (&'static str, $crate::ArgType)> {
                self.declared().into_iter().filter(|arg| arg.ty.is_array()).map(|arg| (arg.name, arg.ty))
            }

            /// Whether a launch may be cut into several: a list says what to work on, entry by entry.
            pub fn is_divisible(self) -> bool {
                self.declared().first().is_some_and(|arg| arg.length)
            }
        }
    };
}

pub(crate) use {arg_type, declared, has_length, line, roles};

/// Whether arguments agree in all but their documentation.
pub(crate) fn same_args(one: &[Arg], other: &[Arg]) -> bool {
    let same = |(one, other): (&Arg, &Arg)| {
        (&one.name, one.ty, &one.shape, &one.unit) == (&other.name, other.ty, &other.shape, &other.unit)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}
