//! Copies of arrays to other memory of the host, by all threads.

use std::ops::Range;
use std::sync::Arc;

use super::{Host, Memory};
use crate::device::DeviceError;
use crate::device::array::Array;
use crate::device::backend::{self, Backend};

/// Memory for one copy at a time.
pub(super) struct Staging {
    host: Arc<Host>,
    memory: Option<Memory>,
    /// Bytes of the current copy.
    bytes: usize,
}

impl Staging {
    pub(super) fn new(host: Arc<Host>) -> Staging {
        Staging { host, memory: None, bytes: 0 }
    }
}

impl backend::Staging for Staging {
    fn copy(&mut self, parts: &[(&Array, Range<usize>)]) -> Result<(), DeviceError> {
        let pieces = parts.iter().map(|(array, range)| match array.memory.on_host() {
            Some(bytes) => Ok(&bytes[array.bytes_in(range)]),
            None => Err(array.wrong("as a copy from another device")),
        });
        let pieces = pieces.collect::<Result<Vec<&[u8]>, _>>()?;
        let bytes = pieces.iter().map(|piece| piece.len()).sum();
        if self.memory.as_ref().is_none_or(|memory| memory.as_slice().len() < bytes) {
            // Free a buffer that is too small before allocating the larger one.
            self.memory = None;
            self.memory = Some(Memory::new(bytes).ok_or_else(|| (&*self.host as &dyn Backend).out_of_memory(bytes))?);
        }
        let Some(memory) = &mut self.memory else { return Ok(()) };
        let mut rest = memory.as_mut_slice();
        for piece in pieces {
            let (to, later) = rest.split_at_mut(piece.len());
            self.host.copy_bytes(piece, to);
            rest = later;
        }
        self.bytes = bytes;
        Ok(())
    }

    fn bytes(&self) -> Result<&[u8], DeviceError> {
        Ok(self.memory.as_ref().map_or(&[], |memory| &memory.as_slice()[..self.bytes]))
    }
}
