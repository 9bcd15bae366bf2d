//! Files of an earlier run that a resumed one goes on with.

use std::io::Read;

use super::{OutputError, Sink};
use crate::output::error::Why;
use crate::output::owned::Stamper;

impl Sink {
    /// Goes on with a file that an earlier run has written and that stays: cuts it to a length, to append to it. Returns whether there is such a
    /// file, which begins so and has that length at least.
    pub fn go_on(&mut self, name: &str, begins: &[u8], length: u64) -> Result<bool, OutputError> {
        let path = self.folder.path().join(name);
        let fail = |source| OutputError { path: path.clone(), why: Why::Io("write", source) };
        if !self.has(name) {
            return Ok(false);
        }
        let mut file = self.folder.shared(name).map_err(fail)?;
        if file.metadata().map_err(fail)?.len() < length {
            return Ok(false);
        }
        let (mut stamper, mut start, mut piece) = (Stamper::default(), Vec::<u8>::new(), vec![0; 1 << 16]);
        while stamper.length() < length {
            let room = piece.len().min((length - stamper.length()) as usize);
            file.read_exact(&mut piece[..room]).map_err(fail)?;
            start.extend(piece[..room].iter().take(begins.len().saturating_sub(start.len())));
            stamper.add(&piece[..room]);
        }
        if start != begins {
            return Ok(false);
        }
        self.owned.add(name, stamper.stamp(), true).map_err(fail)?;
        file.set_len(length).map_err(fail)?;
        self.own.insert(name.to_string());
        self.tables.insert(name.to_string(), stamper);
        if !self.files.iter().any(|file| file == name) {
            self.files.push(name.to_string());
        }
        Ok(true)
    }
}
