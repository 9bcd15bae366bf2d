//! What is said of a key, and the macro that makes a table's raw structure, its reader and its rows of the reference of one list.

use crate::case::takes::Takes;

/// A key as a path from the top of the file, what its values are, and what it is. A last part `*` stands for names that the case chooses: a
/// parameter or a field of the method, or a parameter of a boundary rule.
pub(in crate::case) struct Key {
    pub(in crate::case) path: &'static str,
    pub(in crate::case) takes: Takes,
    pub(in crate::case) doc: &'static str,
}

pub(super) const fn key(path: &'static str, takes: Takes, doc: &'static str) -> Key {
    Key { path, takes, doc }
}

impl Key {
    /// Its name in its table.
    pub(in crate::case) fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }
}

/// Keys of a table: `NAME: TYPE = METHOD(ARGUMENTS), TAKES, DOC;`. The method is one of `Reader`, which gets the table and the name before the
/// arguments. A key that is not given is `None` in the raw structure. One that must be given has `, else WHAT, EXAMPLE` behind it; one with a
/// default has `, or DEFAULT`. `PREFIX` is the path of the table with its dot.
///
/// Makes the raw structure, `KEYS`, which are its rows of the reference, and `read`, which reports all that is wrong.
macro_rules! keys {
    (@type $type:ty;) => { Option<$type> };
    (@type $type:ty; $($given:tt)+) => { $type };
    (@value $name:ident;) => { $name };
    (@value $name:ident; else $($missing:tt)+) => { $name? };
    (@value $name:ident; or $default:expr) => { $name.unwrap_or($default) };
    (
        $(#[$meta:meta])*
        $raw:ident, $prefix:literal {
            $(
                $name:ident: $type:ty = $method:ident($($argument:expr),*), $takes:expr, $doc:expr
                $(, else $what:expr, $example:expr)? $(, or $default:expr)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub(in crate::case) struct $raw {
            $(pub(in crate::case) $name: keys!(@type $type; $(else $what)? $(or $default)?),)*
        }

        impl $raw {
            /// Its keys.
            pub(in crate::case) const KEYS: &'static [$crate::case::keys::table::Key] =
                &[$($crate::case::keys::table::key(concat!($prefix, stringify!($name)), $takes, $doc)),*];

            /// Reads them; `span` is where a key is missing.
            pub(in crate::case) fn read(
                reader: &mut $crate::case::keys::reader::Reader,
                table: &$crate::case::tree::Table,
                span: &$crate::case::diag::Span,
            ) -> Option<$raw> {
                reader.require(table, span, $prefix, &[$($((stringify!($name), $what, $example),)?)*]);
                $(let $name = reader.$method(table, stringify!($name) $(, $argument)*);)*
                Some($raw { $($name: keys!(@value $name; $(else $what)? $(or $default)?)),* })
            }
        }
    };
}
