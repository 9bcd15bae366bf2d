//! Launches of the kernels of a method: a struct for each row of [`lbm_bundle::method_kernels!`].

use lbm_bundle::{Role, method_kernels};

use super::launch::{Arguments, Launch, Params, field, launches, put};
use crate::device::{Buffer, Double, Int, Part, Real, Stored};

macro_rules! of_method {
    ($($rows:tt)*) => { launches! { Role: $($rows)* } };
}

method_kernels!(of_method);
