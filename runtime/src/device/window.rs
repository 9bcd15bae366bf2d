//! Windows: memory of a GPU into which GPUs of other processes of the host write, without the host.
//!
//! A window begins with two flags for each message, behind which are the values of the messages. A message goes from one GPU to another:
//!
//! ```text
//! sender     waits until the message is free ─ packs its values into the window of the receiver ─ says that it is full
//! receiver   waits until the message is full ─ unpacks its values ─ says that it is free
//! ```
//!
//! `free` is a flag in the window of the sender, `full` one in the window of the receiver: each GPU waits for its own memory. All of this are
//! launches, so steps with messages can be recorded. A GPU that waits is idle until the other has sent, so all processes must send and
//! receive the same messages, and each what it sends before what it receives. Windows that no message is under way in have all flags at 0.

use super::array::Array;
use super::buffer::{Buffer, Element};
use super::error::DeviceError;
use super::moving::{Moving, PackedSide};
use super::packing::Packing;
use super::{Device, Kernel, Scalar, Shape, Value};

/// Messages begin at multiples of this number of integers, so that they can be moved in words of any length.
const ALIGNED: usize = 64;

/// A window of a device of this process, or of another that this one has opened.
pub struct Window {
    memory: Array,
}

/// Where the flags and the values of a message are in windows, counted in integers of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    flag: usize,
    values: usize,
}

/// Places of messages in the windows of several devices.
#[derive(Debug)]
pub struct Messages {
    /// Number of messages so far.
    count: usize,
    /// End of the values in each window.
    ends: Vec<usize>,
}

impl Messages {
    /// No messages yet, out of `most`, between so many devices.
    pub fn new(most: usize, devices: usize) -> Messages {
        Messages { count: 0, ends: vec![(2 * most).next_multiple_of(ALIGNED); devices] }
    }

    /// The place of the next message, which has so many bytes, to a device.
    pub fn push(&mut self, to: usize, bytes: usize) -> Message {
        let end = &mut self.ends[to];
        let message = Message { flag: 2 * self.count, values: *end };
        *end += bytes.div_ceil(size_of::<i32>()).next_multiple_of(ALIGNED);
        self.count += 1;
        message
    }

    /// Bytes of the largest window.
    pub fn bytes(&self) -> usize {
        self.ends.iter().max().map_or(0, |end| end * size_of::<i32>())
    }
}

impl Window {
    /// A window of `bytes` bytes, with the handle by which other processes open it; `None` on devices without such memory.
    pub fn new(device: &Device, bytes: usize) -> Result<Option<(Window, Vec<u8>)>, DeviceError> {
        let shared = device.backend.clone().share(bytes)?;
        Ok(shared.map(|(memory, handle)| (Window::of(device, memory, bytes), handle)))
    }

    /// The window of `bytes` bytes of a device of another process, for kernels of this device.
    pub fn open(device: &Device, handle: &[u8], bytes: usize) -> Result<Window, DeviceError> {
        Ok(Window::of(device, device.backend.clone().open_shared(handle, bytes)?, bytes))
    }

    /// Sets all of a window of this device to 0, before later launches of any device.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        self.memory.memory.fill(0..self.memory.bytes(), 0)?;
        self.memory.device.synchronize()
    }

    fn of(device: &Device, memory: Box<dyn super::backend::Memory>, bytes: usize) -> Window {
        let len = bytes / size_of::<i32>();
        Window { memory: Array { scalar: Scalar::I32, len, memory, device: device.clone() } }
    }
}

/// What both ends of a message launch.
struct End {
    device: Device,
    moving: Moving,
    signal: Kernel,
    wait: Kernel,
    message: Message,
}

/// A reusable transfer of the values of a packing from arrays of a device to another process.
pub struct Sender(End);

/// A reusable transfer of the values of a packing from another process to arrays of a device.
pub struct Receiver(End);

/// Launches of one thread.
const ONE: Shape = Shape { items: 1, divisible: false, threads: 1, items_per_group: 1, passes: 1, shared: 0 };

impl End {
    fn new(device: &Device, packing: &Packing, scalar: Scalar, message: Message) -> Result<End, DeviceError> {
        let [signal, wait] = device.backend.signals()?;
        let moving = Moving::new(device, packing, scalar.bytes())?.ok_or_else(|| device.backend.shares_none())?;
        let kernel = |symbol: &str, entry| Kernel { symbol: symbol.to_string(), entry };
        let (signal, wait) = (kernel("signal", signal), kernel("await_signal", wait));
        Ok(End { device: device.clone(), moving, signal, wait, message })
    }

    /// Makes later launches wait until a flag of this device has a value, and gives it the next.
    fn wait(&self, own: &mut Window, flag: usize, value: i32, next: i32) -> Result<(), DeviceError> {
        let arguments = [Value::WriteFrom(&mut own.memory, flag), Value::Int(value), Value::Int(next)];
        self.device.launch(&self.wait, ONE, &arguments)
    }

    /// Gives a flag of another device a value, after all earlier launches.
    fn signal(&self, other: &mut Window, flag: usize, value: i32) -> Result<(), DeviceError> {
        self.device.launch(&self.signal, ONE, &[Value::WriteFrom(&mut other.memory, flag), Value::Int(value)])
    }
}

impl Message {
    /// The flag in the window of the receiver: 1 if the message is full.
    fn full(self) -> usize {
        self.flag
    }

    /// The flag in the window of the sender: 0 if the message is free.
    fn free(self) -> usize {
        self.flag + 1
    }
}

impl Sender {
    /// For arrays of this type, on a device with a window.
    pub fn new(device: &Device, packing: &Packing, scalar: Scalar, message: Message) -> Result<Sender, DeviceError> {
        Ok(Sender(End::new(device, packing, scalar, message)?))
    }

    /// Sends the values as all launches so far leave them. `own`: the window of this device; `other`: that of the receiver.
    pub fn send<E: Element>(
        &self,
        packing: &Packing,
        from: &Buffer<E>,
        own: &mut Window,
        other: &mut Window,
    ) -> Result<(), DeviceError> {
        let Sender(end) = self;
        packing.check(from.array())?;
        end.wait(own, end.message.free(), 0, 1)?;
        let to = Value::WriteFrom(&mut other.memory, end.message.values);
        end.moving.launch(PackedSide::Target, Value::Read(from.array()), to)?;
        end.signal(other, end.message.full(), 1)
    }
}

impl Receiver {
    /// For arrays of this type, on a device with a window.
    pub fn new(device: &Device, packing: &Packing, scalar: Scalar, message: Message) -> Result<Receiver, DeviceError> {
        Ok(Receiver(End::new(device, packing, scalar, message)?))
    }

    /// Makes later launches wait until the values are here, and sets them. `own`: the window of this device; `other`: that of the sender.
    pub fn receive<E: Element>(
        &self,
        packing: &Packing,
        to: &mut Buffer<E>,
        own: &mut Window,
        other: &mut Window,
    ) -> Result<(), DeviceError> {
        let Receiver(end) = self;
        packing.check(to.array())?;
        end.wait(own, end.message.full(), 1, 0)?;
        let from = Value::Slice(&own.memory, end.message.values..own.memory.len);
        end.moving.launch(PackedSide::Source, from, Value::Write(to.array_mut()))?;
        end.signal(other, end.message.free(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_share_no_flags_and_no_values() {
        let mut messages = Messages::new(3, 2);
        let sent = [(0, 10), (1, 300), (0, 4)].map(|(to, bytes)| (to, bytes, messages.push(to, bytes)));
        let in_window = |at: usize| sent.iter().filter(move |(to, ..)| *to == at);
        for window in 0..2 {
            let flags =
                sent.iter().flat_map(|(.., message)| [message.full(), message.free()]).map(|flag| flag..flag + 1);
            let values = in_window(window).map(|(_, bytes, message)| message.values..message.values + bytes / 4 + 1);
            let mut ranges: Vec<std::ops::Range<usize>> = flags.chain(values).collect();
            ranges.sort_by_key(|range| range.start);
            assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
            assert!(ranges.iter().all(|range| 4 * range.end <= messages.bytes()), "{ranges:?}");
        }
        assert!(sent.iter().all(|(.., message)| message.values % ALIGNED == 0));
    }

    #[test]
    fn the_host_has_no_windows() {
        let device = Device::host(1).unwrap();
        let message = Messages::new(1, 1).push(0, 4);
        assert!(Window::new(&device, 1024).unwrap().is_none() && Window::open(&device, &[0; 64], 1024).is_err());
        assert!(Sender::new(&device, &Packing::default(), Scalar::F32, message).is_err());
        assert!(Receiver::new(&device, &Packing::default(), Scalar::F32, message).is_err());
    }
}
