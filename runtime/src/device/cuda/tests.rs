//! Tests on a GPU.

use lbm_bundle::Real;

use crate::device::{Accesses, Device, DeviceError, Devices, Packing, Resource, Route, Shape, Source, Value};

const TRIPLE: &str = r#"
    extern "C" __global__ void triple(const int *ids, int count, const double *src, double *dst, float factor) {
        int at = blockIdx.x * blockDim.x + threadIdx.x;
        if (at < count) dst[ids[at]] = factor * src[ids[at]];
    }
    extern "C" __global__ void increment(double *dst, int count) {
        int at = blockIdx.x * blockDim.x + threadIdx.x;
        if (at < count) dst[at] += 1;
    }"#;

fn load(device: &Device) -> crate::device::Module {
    device.load(Source { name: "triple.cu", text: TRIPLE, fuses: true }).unwrap()
}

#[test]
fn a_launch_covers_the_listed_items_with_arguments_of_every_type() {
    let device = Device::cuda(0).unwrap();
    let kernel = load(&device).kernel("triple").unwrap();
    let count = 1001;
    let ids = device.ints(&(0..count).map(|at| (at * 5 % count) as i32).collect::<Vec<_>>()).unwrap();
    let mut src = device.alloc_doubles(count).unwrap();
    src.write_reals(0, &(0..count).map(|at| at as f64).collect::<Vec<_>>()).unwrap();
    let mut dst = device.alloc_doubles(count).unwrap();
    dst.poison().unwrap();
    let shape = Shape { items: count, divisible: true, threads: 128, items_per_group: 128, passes: 1, shared: 0 };
    let args = [
        Value::Slice(ids.array(), 0..count),
        Value::Int(count as i32),
        Value::Read(src.array()),
        Value::Write(dst.array_mut()),
        Value::Struct(&[u64::from(3f32.to_bits())]),
    ];
    device.launch(&kernel, shape, &args).unwrap();
    let expected: Vec<f64> = (0..count).map(|at| 3.0 * at as f64).collect();
    assert_eq!(dst.read_reals(0..count).unwrap(), expected);
}

#[test]
fn recorded_launches_run_only_when_repeated_and_outlive_their_buffers() {
    let device = Device::cuda(0).unwrap();
    let kernel = load(&device).kernel("increment").unwrap();
    let mut dst = device.alloc_doubles(10).unwrap();
    let shape = Shape { items: 10, divisible: false, threads: 32, items_per_group: 32, passes: 1, shared: 0 };
    let graph = device
        .record(|| {
            let accesses = Accesses { writes: vec![Resource(0)], ..Accesses::default() };
            device.accessing(&accesses, || {
                device.launch(&kernel, shape, &[Value::Write(dst.array_mut()), Value::Int(10)])
            })
        })
        .unwrap()
        .expect("one launch was recorded");
    assert_eq!(dst.read_reals(0..10).unwrap(), [0.0; 10]);
    (0..3).for_each(|_| graph.launch().unwrap());
    assert_eq!(dst.read_reals(0..10).unwrap(), [3.0; 10]);
    drop(dst);
    graph.launch().unwrap();
    device.synchronize().unwrap();
}

/// Two streams of one GPU behave like two GPUs with peer access.
#[test]
fn values_go_to_the_same_places_of_an_array_of_another_device_at_once_or_recorded() {
    let (here, there) = (Device::cuda(0).unwrap(), Device::cuda(0).unwrap());
    let devices = Devices::new([&here, &there]);
    assert!(devices.connect().unwrap().is_empty());
    let mut packing = Packing::new(vec![vec![0..3, 5..6], vec![0..8]]);
    (0..50).for_each(|at| packing.push(16 * at, at % 2));
    for real in [Real::F16F32, Real::F32, Real::F64] {
        let mut from = here.alloc_stored(real, 800).unwrap();
        from.write_reals(0, &(0..800).map(|at| f64::from(at) / 1024.0).collect::<Vec<_>>()).unwrap();
        let route = Route::new(&here, &there, &packing, from.value_bytes()).unwrap();
        assert!(route.is_direct());
        let bytes = from.pack(&packing).unwrap();
        let mut expected = there.alloc_stored(real, 800).unwrap();
        expected.unpack(&packing, &bytes).unwrap();
        assert_eq!(bytes.len(), packing.values() * from.value_bytes());
        let mut to = there.alloc_stored(real, 800).unwrap();
        devices.meet().unwrap();
        route.send(&packing, &from, &mut to).unwrap();
        devices.meet().unwrap();
        assert_eq!(to.read_reals(0..800).unwrap(), expected.read_reals(0..800).unwrap());
        to.write_reals(0, &[0.0; 800]).unwrap();
        let accesses = Accesses { reads: vec![Resource(0)], writes: vec![Resource(1)], ahead: true };
        let graph = devices.record(|| here.accessing(&accesses, || route.send(&packing, &from, &mut to)));
        graph.unwrap().expect("a launch was recorded").launch().unwrap();
        assert_eq!(to.read_reals(0..800).unwrap(), expected.read_reals(0..800).unwrap());
        let host = expected.read_reals(0..800).unwrap();
        assert_eq!((host[16], host[2], host[3], host[5]), (1.0 / 64.0, 2.0 / 1024.0, 0.0, 5.0 / 1024.0));
    }
}

#[test]
fn memory_comes_and_goes_and_what_is_needed_stays() {
    let device = Device::cuda(0).unwrap();
    assert!(Devices::new([&device]).share_memory().unwrap());
    const PART: usize = 1 << 20;
    let part = |number: usize| number * PART..(number + 1) * PART;
    let mut array = device.sparse_for_now(64).alloc_doubles(16 * PART).unwrap();
    array.back([part(0), part(2)].into_iter()).unwrap();
    array.seal().unwrap();
    assert_eq!((array.own_bytes(), array.read_reals(part(2)).unwrap()), (16 * PART, vec![0.0; PART]));
    array.write_reals(part(0).end - 1, &[1.5]).unwrap();
    array.back([part(15)].into_iter()).unwrap();
    array.write_reals(part(15).start, &[2.5]).unwrap();
    array.back_only([part(0), part(7), part(15)].into_iter()).unwrap();
    array.write_reals(part(7).start, &vec![3.5; PART]).unwrap();
    assert_eq!(array.own_bytes(), 24 * PART);
    assert_eq!(array.read_reals(part(0).end - 1..part(0).end).unwrap(), [1.5]);
    assert_eq!(array.read_reals(part(15).start..part(15).start + 1).unwrap(), [2.5]);
    // Unbacked values may still be written and read.
    array.poison().unwrap();
    let like = device.alloc_like(&array).unwrap();
    assert_eq!(like.own_bytes(), array.own_bytes());
    array.back_only([part(7)].into_iter()).unwrap();
    device.release();
    assert_eq!((array.own_bytes(), array.read_reals(part(7)).unwrap()[0].is_nan()), (8 * PART, true));
}

#[test]
fn a_second_load_takes_the_cached_kernels() {
    let device = Device::cuda(0).unwrap();
    let first = load(&device);
    let second = load(&device);
    assert!(first.notices().is_empty() && second.notices().is_empty());
    second.kernel("triple").unwrap();
}

#[test]
fn copies_and_poison_reach_the_gpu() {
    let device = Device::cuda(0).unwrap();
    let mut from = device.alloc_reals(Real::F32, 1000).unwrap();
    from.write_reals(10, &[0.5; 20]).unwrap();
    let mut to = device.alloc_reals(Real::F32, 1000).unwrap();
    to.poison().unwrap();
    assert!(to.read_reals(0..1000).unwrap().iter().all(|value| value.is_nan()));
    device.copy(&from, &mut to).unwrap();
    assert_eq!(to.read_reals(0..1000).unwrap(), from.read_reals(0..1000).unwrap());
}

#[test]
fn errors_say_what_is_wrong() {
    let device = Device::cuda(0).unwrap();
    let refused =
        device.load(Source { name: "broken.cu", text: "int broken( {", fuses: true }).err().expect("not CUDA");
    assert!(refused.to_string().contains("broken.cu"), "{refused}");
    let missing = load(&device).kernel("quadruple").err().expect("no such kernel");
    assert!(matches!(missing, DeviceError::MissingKernel { symbol } if symbol == "quadruple"));
    let large = device.alloc_doubles(1 << 44).expect_err("128 TiB");
    assert!(matches!(large, DeviceError::Memory { .. }), "{large}");
}

#[test]
fn events_measure_the_time_between_them() {
    let device = Device::cuda(0).unwrap();
    let from = device.alloc_doubles(1 << 24).unwrap();
    let mut to = device.alloc_doubles(1 << 24).unwrap();
    let start = device.event().unwrap();
    device.copy(&from, &mut to).unwrap();
    let end = device.event().unwrap();
    let seconds = device.seconds(&start, &end).unwrap();
    assert!(seconds > 1e-6 && seconds < 1.0, "{seconds}");
}
