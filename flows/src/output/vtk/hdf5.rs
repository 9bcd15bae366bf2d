//! A small subset of HDF5: groups, attributes and contiguous datasets, written sequentially.
//!
//! After the "HDF5 File Format Specification Version 3.0": superblock version 2, object headers version 2 that contain
//! all links, little-endian. Data come first and headers last, those of members before those of their groups, so that
//! every address is known when it is written.

use std::io::{self, Write};

/// The undefined address.
const NOWHERE: [u8; 8] = [0xff; 8];
/// Length of the superblock.
const FRONT: u64 = 48;
/// Alignment of data.
const ALIGNED: u64 = 8;

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    U8,
    I32,
    F32,
    F64,
    /// ASCII text of this length.
    Text(usize),
}

impl Type {
    /// Bytes of a value.
    pub(super) fn bytes(self) -> usize {
        match self {
            Type::U8 => 1,
            Type::I32 | Type::F32 => 4,
            Type::F64 => 8,
            Type::Text(length) => length,
        }
    }

    /// The datatype message: version 1 with the class, class bit field, size, properties.
    fn message(self) -> Vec<u8> {
        let size = self.bytes() as u32;
        let (class, bits, properties): (u8, [u8; 3], Vec<u8>) = match self {
            // Bit 3: signed.
            Type::U8 => (0, [0, 0, 0], vec![0, 0, 8, 0]),
            Type::I32 => (0, [8, 0, 0], vec![0, 0, 32, 0]),
            // Implied leading bit of the mantissa; position of the sign. Then offset and precision, position and size
            // of the exponent and of the mantissa, and the exponent bias.
            Type::F32 => (1, [0x20, 31, 0], [&[0, 0, 32, 0, 23, 8, 0, 23][..], &127u32.to_le_bytes()].concat()),
            Type::F64 => (1, [0x20, 63, 0], [&[0, 0, 64, 0, 52, 11, 0, 52][..], &1023u32.to_le_bytes()].concat()),
            Type::Text(_) => (3, [1, 0, 0], vec![]),
        };
        [&[0x10 | class][..], &bits, &size.to_le_bytes(), &properties].concat()
    }
}

/// A named value of a group.
pub(super) struct Attribute {
    pub(super) name: &'static str,
    pub(super) ty: Type,
    /// Number of values along each axis; empty for a single value.
    pub(super) shape: Vec<u64>,
    pub(super) bytes: Vec<u8>,
}

/// Writes the values of a dataset.
type Values<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

/// A member of a group.
pub(super) enum Node<'a> {
    Group(Group<'a>),
    /// The values are written in their turn; their number must match the shape.
    Data {
        ty: Type,
        shape: Vec<u64>,
        values: Values<'a>,
    },
}

/// A group.
#[derive(Default)]
pub(super) struct Group<'a> {
    pub(super) attributes: Vec<Attribute>,
    pub(super) members: Vec<(String, Node<'a>)>,
}

impl<'a> Group<'a> {
    /// Adds a member.
    pub(super) fn add(&mut self, name: &str, node: Node<'a>) {
        self.members.push((name.to_string(), node));
    }
}

/// Writes a file with this root group.
pub(super) fn write(out: &mut dyn Write, root: &Group<'_>) -> io::Result<()> {
    let mut plan = Plan { end: FRONT, data: vec![], headers: vec![] };
    plan.place_data(root);
    let headers = plan.end;
    let root = plan.group(root, headers);
    let end = headers + plan.headers.len() as u64;
    let mut front = b"\x89HDF\r\n\x1a\n\x02\x08\x08\x00".to_vec();
    front.extend([[0; 8], NOWHERE, end.to_le_bytes(), root.to_le_bytes()].as_flattened());
    front.extend(checksum(&front).to_le_bytes());
    out.write_all(&front)?;
    let mut at = FRONT;
    for (address, length, values) in &plan.data {
        out.write_all(&vec![0; (address - at) as usize])?;
        values(out)?;
        at = address + length;
    }
    out.write_all(&vec![0; (headers - at) as usize])?;
    out.write_all(&plan.headers)
}

/// Layout of the file.
struct Plan<'p, 'a> {
    end: u64,
    /// Address, length and values of each dataset, in order.
    data: Vec<(u64, u64, &'p Values<'a>)>,
    headers: Vec<u8>,
}

impl<'p, 'a> Plan<'p, 'a> {
    fn place_data(&mut self, group: &'p Group<'a>) {
        for (_, node) in &group.members {
            match node {
                Node::Group(group) => self.place_data(group),
                Node::Data { ty, shape, values } => {
                    let length = shape.iter().product::<u64>() * ty.bytes() as u64;
                    self.data.push((self.end, length, values));
                    self.end = (self.end + length).next_multiple_of(ALIGNED);
                }
            }
        }
    }

    /// Adds the headers of a group and of all its descendants, starting at an address; returns the address of the
    /// group's own header.
    fn group(&mut self, group: &Group<'_>, headers: u64) -> u64 {
        let mut next = 0;
        self.group_from(group, headers, &mut next)
    }

    /// `next` is the index of the next dataset.
    fn group_from(&mut self, group: &Group<'_>, headers: u64, next: &mut usize) -> u64 {
        let mut messages = vec![];
        // Links are stored in the header itself: there is neither a heap nor an index.
        message(&mut messages, 0x02, &[&[0, 0][..], &NOWHERE, &NOWHERE].concat());
        message(&mut messages, 0x0a, &[0, 0]);
        for Attribute { name, ty, shape, bytes } in &group.attributes {
            let (ty, space) = (ty.message(), dataspace(shape));
            let mut body = vec![3, 0];
            for length in [name.len() + 1, ty.len(), space.len()] {
                body.extend((length as u16).to_le_bytes());
            }
            body.push(0);
            body.extend([name.as_bytes(), &[0], &ty, &space, bytes].concat());
            message(&mut messages, 0x0c, &body);
        }
        for (name, node) in &group.members {
            let address = match node {
                Node::Group(group) => self.group_from(group, headers, next),
                Node::Data { ty, shape, .. } => {
                    let (address, length, _) = self.data[*next];
                    *next += 1;
                    let mut messages = vec![];
                    message(&mut messages, 0x01, &dataspace(shape));
                    message(&mut messages, 0x03, &ty.message());
                    // No fill value is written.
                    message(&mut messages, 0x05, &[3, 0x0a]);
                    message(
                        &mut messages,
                        0x08,
                        &[&[3, 1][..], &address.to_le_bytes(), &length.to_le_bytes()].concat(),
                    );
                    self.header(&messages, headers)
                }
            };
            let body = [&[1, 0, name.len() as u8][..], name.as_bytes(), &address.to_le_bytes()].concat();
            message(&mut messages, 0x06, &body);
        }
        self.header(&messages, headers)
    }

    /// Adds an object header; returns its address.
    fn header(&mut self, messages: &[u8], headers: u64) -> u64 {
        let start = self.headers.len();
        self.headers.extend(b"OHDR\x02\x02");
        self.headers.extend((messages.len() as u32).to_le_bytes());
        self.headers.extend(messages);
        self.headers.extend(checksum(&self.headers[start..]).to_le_bytes());
        headers + start as u64
    }
}

fn message(messages: &mut Vec<u8>, ty: u8, body: &[u8]) {
    messages.push(ty);
    messages.extend((body.len() as u16).to_le_bytes());
    messages.push(0);
    messages.extend(body);
}

/// The dataspace message, version 2; without dimensions for a single value.
fn dataspace(shape: &[u64]) -> Vec<u8> {
    let mut body = vec![2, shape.len() as u8, 0, u8::from(!shape.is_empty())];
    shape.iter().for_each(|length| body.extend(length.to_le_bytes()));
    body
}

/// Checksum of metadata: Bob Jenkins' `lookup3` of the bytes, with initial value 0.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = bytes;
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(std::array::from_fn(|byte| bytes.get(4 * at + byte).copied().unwrap_or(0)))
    };
    while !rest.is_empty() {
        a = a.wrapping_add(word(rest, 0));
        b = b.wrapping_add(word(rest, 1));
        c = c.wrapping_add(word(rest, 2));
        if rest.len() <= 12 {
            // The last twelve bytes or fewer are mixed more thoroughly.
            for (by_b, by_c, by_a) in [(14, 11, 25), (16, 4, 14)] {
                c = (c ^ b).wrapping_sub(b.rotate_left(by_b));
                a = (a ^ c).wrapping_sub(c.rotate_left(by_c));
                b = (b ^ a).wrapping_sub(a.rotate_left(by_a));
            }
            return (c ^ b).wrapping_sub(b.rotate_left(24));
        }
        for (by_c, by_a, by_b) in [(4, 6, 8), (16, 19, 4)] {
            a = a.wrapping_sub(c) ^ c.rotate_left(by_c);
            c = c.wrapping_add(b);
            b = b.wrapping_sub(a) ^ a.rotate_left(by_a);
            a = a.wrapping_add(c);
            c = c.wrapping_sub(b) ^ b.rotate_left(by_b);
            b = b.wrapping_add(a);
        }
        rest = &rest[12..];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_its_author() {
        // From the comments of lookup3.c.
        assert_eq!(checksum(b""), 0xdead_beef);
        assert_eq!(checksum(b"Four score and seven years ago"), 0x1777_0551);
    }
}
