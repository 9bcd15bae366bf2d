//! The page of a run, over sockets: what it shows and orders, and who is refused.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::mpi;

/// A program with a page.
struct Watched {
    process: Child,
    address: String,
    token: String,
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An answer: its status, its head, its content.
struct Answer {
    status: u16,
    head: String,
    content: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.content));
        serde_json::from_slice(&self.content).expect("JSON")
    }

    /// The head of a message of numbers, and the bytes behind it.
    fn message(&self) -> (Value, &[u8]) {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.content));
        let length = u32::from_le_bytes(self.content[..4].try_into().expect("four bytes")) as usize;
        let (head, body) = self.content[4..].split_at(length);
        (serde_json::from_slice(head).expect("JSON"), body)
    }
}

/// A case that goes on until it is stopped.
const ENDLESS: &str = "spec = \"d2q9_bgk\"\ntarget = \"cpu\"\n[domain]\nsize = [32, 32]\n[fluid]\nre = 100\n[faces]\n\
                       top = { rule = \"moving_wall\", velocity = [0.1, 0] }\nothers = \"bounce_back\"\n[stop]\nsteps = 100_000_000\n\
                       [output]\nseries = 1000\npicture = true\n";

impl Watched {
    /// Starts the program with arguments in a folder, and reads the address that it prints.
    fn start(folder: &Path, arguments: &[&str]) -> Watched {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
        command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
        Watched::of(command.spawn().expect("lbmc starts"))
    }

    fn of(mut process: Child) -> Watched {
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let mut all = String::new();
        let found = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let url = line.split("http://").nth(1).map(str::to_string);
            all += &line;
            url
        });
        let url = found.unwrap_or_else(|| panic!("no address: {all}"));
        // Whoever prints on must have a reader.
        thread::spawn(move || lines.for_each(drop));
        let (address, token) = url.trim_end_matches('/').split_once('/').expect("an address and a token");
        Watched { process, address: address.into(), token: token.into() }
    }

    fn endless(folder: &Path) -> Watched {
        std::fs::write(folder.join("endless.toml"), ENDLESS).expect("written");
        Watched::start(folder, &["run", "endless.toml", "--watch"])
    }

    /// Sends bytes and reads the answer.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        // A server may refuse before it has read all.
        let _ = stream.write_all(bytes);
        answer(stream)
    }

    fn request(&self, method: &str, path: &str, headers: &str) -> Answer {
        self.send(format!("{method} {path} HTTP/1.1\r\n{headers}\r\n").as_bytes())
    }

    /// What a page of this program gets.
    fn get(&self, name: &str) -> Answer {
        let Watched { address, token, .. } = self;
        // What the flow has no time for is asked for again.
        loop {
            let answer = self.request("GET", &format!("/{token}/{name}"), &format!("Host: {address}\r\n"));
            if answer.status != 204 {
                return answer;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn post(&self, name: &str) -> Answer {
        let Watched { address, token, .. } = self;
        let headers = format!("Host: {address}\r\nOrigin: http://{address}\r\nContent-Length: 0\r\n");
        self.request("POST", &format!("/{token}/{name}"), &headers)
    }

    /// Waits until the state is as it should be.
    fn until(&self, is: impl Fn(&Value) -> bool) -> Value {
        loop {
            let state = self.get("state").json();
            if is(&state) {
                return state;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn answer(mut stream: TcpStream) -> Answer {
    let mut bytes = vec![];
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head, content: bytes[end..].to_vec() }
}

fn step(state: &Value) -> u64 {
    state["status"]["step"].as_u64().unwrap_or(0)
}

#[test]
fn a_page_shows_a_run_and_orders_what_its_buttons_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = Watched::endless(folder.path());
    let state = run.until(|state| step(state) > 0);
    assert_eq!((&state["about"]["case"], &state["about"]["spec"]), (&"endless".into(), &"d2q9_bgk".into()));
    let first = step(&state);
    run.until(|state| step(state) > first);
    for name in ["", "style.css", "plot.js", "section.js", "surface.js", "page.js", "colours"] {
        assert_eq!(run.get(name).status, 200, "{name}");
    }
    let section = run.get("section?field=speed&normal=z&at=0.5");
    let (head, body) = section.message();
    assert_eq!((&head["width"], &head["height"], body.len()), (&32.into(), &32.into(), 5 * 32 * 32));
    let values: Vec<f32> =
        body[..4 * 1024].chunks(4).map(|four| f32::from_le_bytes(four.try_into().expect("four"))).collect();
    assert!(values.iter().all(|value| (0.0..0.11).contains(value)), "speeds below that of the lid");
    assert!(values[31 * 32 + 16] > values[16], "the lid moves the fluid");
    run.until(|state| state["tables"].as_array().is_some_and(|tables| !tables.is_empty()));
    let table = run.get("table?name=series.csv").json();
    assert!(table.is_null() || table["lines"].is_array());
    assert!(run.get("picture?name=velocity").content.starts_with(b"\x89PNG"));

    assert_eq!(run.post("pause").status, 200);
    let paused = step(&run.until(|state| state["phase"] == "paused"));
    assert!(run.get("section?field=vorticity&normal=z&at=0.5").message().0["step"].as_u64() >= Some(paused));
    assert_eq!(step(&run.get("state").json()), paused);
    let out = folder.path().join("out/endless");
    let frames = || {
        std::fs::read_dir(&out).unwrap().flatten().filter(|at| at.path().extension() == Some("vti".as_ref())).count()
    };
    assert_eq!((run.post("fields").status, run.post("restart").status), (200, 200));
    while frames() != 1 || !out.join("restart.lbmc").exists() {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(run.post("resume").status, 200);
    run.until(|state| state["phase"] == "running" && step(state) > paused);

    std::fs::remove_file(out.join("restart.lbmc")).expect("it is there");
    assert_eq!(run.post("stop").status, 200);
    assert_eq!(run.process.wait().expect("it ends").code(), Some(130));
    let summary: Value = serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["status"], &summary["stop"]), (&"interrupted".into(), &"interrupted".into()));
    assert!(out.join("restart.lbmc").exists());

    // The folder has a page, too.
    let past = Watched::start(folder.path(), &["watch", "out/endless"]);
    let state = past.get("state").json();
    assert_eq!((&state["phase"], &state["about"]["status"]), (&"over".into(), &"interrupted".into()));
    assert!(past.get("table?name=series.csv").json()["lines"].is_array());
    assert!(past.get("picture?name=velocity.png").content.starts_with(b"\x89PNG"));
    assert_eq!(past.post("stop").status, 410);
}

#[test]
fn who_has_not_the_token_or_comes_from_elsewhere_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = Watched::endless(folder.path());
    run.until(|state| step(state) > 0);
    let Watched { address, token, .. } = &run;
    let port = address.split(':').nth(1).expect("a port");
    let own = format!("Host: {address}\r\n");
    let get = |path: &str, headers: &str| run.request("GET", path, headers).status;
    let state = format!("/{token}/state");
    assert_eq!(get(&state, &own), 200);
    // Without the token, or with one of another length or letter.
    let wrong = format!("/{}x/state", &token[..31]);
    for path in [
        "/",
        "/state",
        "//state",
        "/0/state",
        &wrong,
        &format!("/{token}0/state"),
        &format!("/{token}"),
        "*",
        &state.to_uppercase(),
    ] {
        assert_eq!(get(path, &own), 404, "{path}");
    }
    // A name of another host that leads here, and none or two.
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "0.0.0.0",
        "127.0.0.1:x",
        "",
    ] {
        assert_eq!(get(&state, &format!("Host: {host}\r\n")), 403, "{host}");
    }
    assert_eq!(get(&state, ""), 403);
    assert_eq!(get(&state, &format!("{own}Host: evil.example\r\n")), 400);
    // Another name of this host, and another port of a tunnel.
    assert_eq!(get(&state, "Host: localhost:8080\r\n"), 200);
    // A page of another site that knows the address, or of another server of this host.
    let pause = format!("/{token}/pause");
    let post = |headers: &str| run.request("POST", &pause, headers).status;
    for origin in [
        "http://evil.example",
        "null",
        &format!("https://{address}"),
        &format!("http://localhost:{port}"),
        "http://127.0.0.1:1",
        "",
    ] {
        assert_eq!(post(&format!("{own}Origin: {origin}\r\n")), 403, "{origin}");
        assert_eq!(get(&state, &format!("{own}Origin: {origin}\r\n")), 403, "{origin}");
    }
    assert_eq!(post(&own), 403, "a request that says not where it comes from");
    // What changes something is posted.
    assert_eq!(get(&pause, &own), 404);
    for method in ["PUT", "DELETE", "OPTIONS", "HEAD", "TRACE"] {
        assert_eq!(run.request(method, &pause, &own).status, 405, "{method}");
    }
    assert_eq!(run.get("state").json()["pause"], false);
    assert_eq!(run.post("no_order").status, 404);
}

#[test]
fn a_page_may_load_and_do_nothing_but_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = Watched::endless(folder.path());
    for answer in [run.get(""), run.get("state"), run.get("nothing"), run.request("GET", "/", "")] {
        let head = answer.head.to_lowercase();
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{header}: {head}");
        }
        assert!(!head.contains("access-control"), "{head}");
    }
    let page = String::from_utf8(run.get("").content).expect("text");
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script>"), "{page}");
}

#[test]
fn names_of_files_elsewhere_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("secret.csv"), "step,a\n0,1\n1,2\n").expect("written");
    let run = Watched::endless(folder.path());
    run.until(|state| state["tables"].as_array().is_some_and(|tables| !tables.is_empty()));
    std::os::unix::fs::symlink("../../secret.csv", folder.path().join("out/endless/link.csv")).expect("a link");
    for name in [
        "../../secret.csv",
        "..%2f..%2fsecret.csv",
        "link.csv",
        "%2fetc%2fpasswd",
        "case.toml",
        "restart.lbmc",
        ".lbmc.files",
        "",
    ] {
        assert_eq!(run.get(&format!("table?name={name}")).status, 404, "{name}");
        assert_eq!(run.get(&format!("picture?name={name}")).status, 404, "{name}");
    }
    for name in ["../state", "state/", "./state", "table/../state", "..%2f", "case.toml", "page.html"] {
        assert_eq!(run.get(name).status, 404, "{name}");
    }
    for asked in [
        "field=speed&normal=z&at=nan",
        "field=speed&normal=z&at=2",
        "field=speed&normal=w&at=0.5",
        "field=speed&normal=x&at=0.5",
    ] {
        assert_eq!(run.get(&format!("section?{asked}")).status, 400, "{asked}");
    }
    assert_eq!(run.get("section?field=nothing&normal=z&at=0.5").status, 404);
    assert_eq!(run.get("surface?field=speed&colour=speed").status, 404, "in two dimensions there are none");
}

#[test]
fn requests_that_are_long_or_slow_and_connections_that_are_many_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = Watched::endless(folder.path());
    let Watched { address, token, .. } = &run;
    let long = format!("GET /{token}/state HTTP/1.1\r\nHost: {address}\r\nX: {}\r\n\r\n", "x".repeat(9000));
    assert_eq!(run.send(long.as_bytes()).status, 413);
    let many = format!("GET /{token}/state HTTP/1.1\r\nHost: {address}\r\n{}\r\n", "X: y\r\n".repeat(80));
    assert_eq!(run.send(many.as_bytes()).status, 400);
    let own = format!("Host: {address}\r\nOrigin: http://{address}\r\n");
    for body in [
        "Content-Length: 1000000000\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: 0\r\nContent-Length: 5\r\n",
    ] {
        assert_eq!(run.request("POST", &format!("/{token}/pause"), &format!("{own}{body}")).status, 400, "{body}");
    }
    for text in ["\r\n\r\n", "GET\r\n\r\n", "\0\0\0\0", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nA\r\n\r\n"] {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(text.as_bytes()).expect("sent");
        stream.shutdown(Shutdown::Write).expect("open");
        assert_eq!(answer(stream).status, 400, "{text:?}");
    }
    // These send nothing more: some have their time, and the others are refused at once.
    let idle: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("it listens");
            stream.write_all(b"GET /").expect("sent");
            stream
        })
        .collect();
    let statuses: Vec<u16> = idle.into_iter().map(|stream| answer(stream).status).collect();
    let count = |status: u16| statuses.iter().filter(|found| **found == status).count();
    assert!((1..=16).contains(&count(408)) && count(408) + count(503) == 40, "{statuses:?}");
    run.until(|state| step(state) > 0);
}

/// The addresses at which a process listens, as the system lists them.
#[cfg(target_os = "linux")]
fn listening(process: u32) -> Vec<String> {
    let handles = std::fs::read_dir(format!("/proc/{process}/fd")).expect("its handles");
    let own: Vec<String> =
        handles.flatten().filter_map(|at| Some(std::fs::read_link(at.path()).ok()?.display().to_string())).collect();
    let tables =
        ["tcp", "tcp6"].map(|name| std::fs::read_to_string(format!("/proc/{process}/net/{name}")).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let columns = rows.map(|row| row.split_whitespace().collect::<Vec<_>>());
    let of_process = columns.filter(|row| row[3] == "0A" && own.contains(&format!("socket:[{}]", row[9])));
    of_process.map(|row| row[1].to_string()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_listens_at_the_loopback_address_if_it_is_asked_to_and_else_nowhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = Watched::endless(folder.path());
    let found = listening(run.process.id());
    assert!(found.len() == 1 && found[0].starts_with("0100007F:"), "{found:?}");
    // At a port that is taken nothing starts.
    let port = run.address.split(':').nth(1).expect("a port");
    let mut taken = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    taken.args(["run", "endless.toml", "--out", "other", "--watch", port]).current_dir(folder.path());
    let refused = taken.output().expect("lbmc starts");
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("L0121"));
    drop(run);

    let mut command = Command::new(env!("CARGO_BIN_EXE_lbmc"));
    command.args(["run", "endless.toml"]).current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = command.spawn().expect("lbmc starts");
    let table = folder.path().join("out/endless/series.csv");
    while !table.exists() {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(listening(process.id()), Vec::<String>::new());
    process.kill().expect("it runs");
    process.wait().expect("it ends");
}

/// A flow in three dimensions around a sphere on two levels.
const SPHERE: &str = "spec = \"d3q19_bgk\"\ntarget = \"cpu\"\nblock = [4, 4, 4]\n[domain]\nsize = [24, 16, 16]\n[fluid]\nviscosity = 0.02\nvelocity = 0.05\nlength = 6\n\
                      [faces]\nothers = \"periodic\"\n[start]\nvelocity = [0.05, 0, 0]\n[refinement]\nfinest = 1\n\
                      boxes = [{ level = 1, from = [5, 5, 5], to = [11, 11, 11] }]\n[[solids]]\nshape = \"sphere\"\ncentre = [8, 8, 8]\nradius = 2.5\n\
                      rule = \"bounce_back\"\n[stop]\nsteps = 400\n[output]\nvtk = true\nforces = 20\n";

#[test]
fn a_run_that_is_watched_has_the_results_of_one_that_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("sphere.toml"), SPHERE).expect("written");
    let alone = Command::new(env!("CARGO_BIN_EXE_lbmc"))
        .args(["run", "sphere.toml", "--out", "alone", "--quiet"])
        .current_dir(folder.path())
        .output()
        .expect("lbmc starts");
    assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
    let mut run = Watched::start(folder.path(), &["run", "sphere.toml", "--out", "seen", "--watch"]);
    assert_eq!(run.post("pause").status, 200);
    run.until(|state| state["phase"] == "paused");
    let across = run.get("section?field=speed&normal=z&at=0.5");
    let (head, body) = across.message();
    let count = 48 * 32;
    assert_eq!(
        (&head["width"], &head["height"], &head["axes"]),
        (&48.into(), &32.into(), &serde_json::json!(["x", "y"]))
    );
    let levels = &body[4 * count..];
    assert!([0, 1, 255].iter().all(|level| levels.contains(level)), "two levels and a solid");
    let surface = run.get("surface?field=speed&colour=density&value=0.03");
    let (head, body) = surface.message();
    let corners: Vec<&[u8]> = body.chunks(12).collect();
    assert_eq!(head["triangles"].as_u64(), Some(corners.len() as u64 / 3));
    assert!(corners.iter().any(|corner| corner[9] == 1), "the sphere");
    assert_eq!(run.post("resume").status, 200);
    // It is asked for as often as it answers.
    let ask = |normal: &str| {
        run.request(
            "GET",
            &format!("/{}/section?field=vorticity&normal={normal}&at=0.4", run.token),
            &format!("Host: {}\r\n", run.address),
        )
    };
    for normal in ["x", "y", "z"].iter().cycle() {
        if ask(normal).status != 200 {
            break;
        }
    }
    assert_eq!(run.process.wait().expect("it ends").code(), Some(0));
    for name in ["fields_00000400.vtu", "fields_00000400.vtkhdf", "forces.csv"] {
        let [alone, seen] = ["alone", "seen"].map(|of| std::fs::read(folder.path().join(of).join(name)).ok());
        assert!(alone == seen, "{name}");
    }
    assert!(folder.path().join("seen/forces.csv").exists());
}

#[test]
fn in_several_processes_the_first_one_serves_the_page_and_all_answer() {
    if !mpi::is_there() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("endless.toml"), ENDLESS).expect("written");
    let settings = ["run", "endless.toml", "--watch", "--set", "stop.steps=500000"];
    let mut command = mpi::mpirun(folder.path(), &["-n", "2", mpi::LBMC]);
    command.args(settings).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut run = Watched::of(command.spawn().expect("mpirun starts"));
    assert_eq!(run.post("pause").status, 200);
    let paused = step(&run.until(|state| state["phase"] == "paused"));
    let section = run.get("section?field=vorticity&normal=z&at=0.5");
    let (head, body) = section.message();
    assert_eq!((head["step"].as_u64(), body.len()), (Some(paused), 5 * 32 * 32));
    assert!(run.get("picture?name=velocity").content.starts_with(b"\x89PNG"));
    assert_eq!((run.post("restart").status, run.post("resume").status), (200, 200));
    run.until(|state| step(state) > paused);
    assert_eq!(run.post("stop").status, 200);
    assert_eq!(run.process.wait().expect("it ends").code(), Some(130));
    assert!(folder.path().join("out/endless/restart.lbmc").exists());
}
