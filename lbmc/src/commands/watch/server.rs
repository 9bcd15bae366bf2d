//! A server of pages on the loopback address, beside some work. It ends with the work.
//!
//! Every connection has a thread, one request and a few seconds; there are a few connections at most. What pages ask for is answered by
//! [`Show`], and what is at fixed names by [`pages`](super::pages).

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use lbm_flows::watch::{Content, Order, Refused, Show};

use super::pages;
use super::request::{Guard, Refusal, Request, read};

/// Most connections at a time.
const CONNECTIONS: usize = 16;
/// Time for a request to arrive, and for its answer to leave.
const TIME: Duration = Duration::from_secs(5);
const TIME_TO_WRITE: Duration = Duration::from_secs(30);
const TIME_TO_DRAIN: Duration = Duration::from_millis(100);
/// How long pages may learn that the work is over, if one has asked within the last time.
const LINGER: Duration = Duration::from_millis(1500);
const ASKED_LATELY: Duration = Duration::from_secs(3);

/// What a page may load and do: its own files, questions to its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    guard: Guard,
}

/// What a server answers with.
struct Answers<'a> {
    show: &'a Show<'a>,
    /// Set to end the run.
    stop: Option<&'a AtomicBool>,
    /// When a page has asked last.
    asked: Mutex<Option<Instant>>,
    connections: AtomicUsize,
    is_over: AtomicBool,
}

/// An answer: status, type, content.
struct Answer(u16, &'static str, Vec<u8>);

impl Server {
    /// Listens at a port of the loopback address, or at a free one.
    pub fn listen(port: Option<u16>) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, guard: Guard::new().map_err(|error| io::Error::other(error.to_string()))? })
    }

    /// The address of the page, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.guard.token())
    }

    /// Serves pages while some work goes on. `stop` is set when a page orders the work to end.
    pub fn beside<T>(&self, show: &Show<'_>, stop: Option<&AtomicBool>, work: impl FnOnce() -> T) -> T {
        let answers = Answers {
            show,
            stop,
            asked: Mutex::new(None),
            connections: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        };
        thread::scope(|scope| {
            let answers = &answers;
            scope.spawn(move || {
                for stream in self.listener.incoming() {
                    if answers.is_over.load(Ordering::Acquire) {
                        return;
                    }
                    let Ok(stream) = stream else {
                        // There are no more handles of files; some may be free soon.
                        thread::sleep(Duration::from_millis(100));
                        continue;
                    };
                    if answers.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS {
                        refuse(stream, Refusal(503, "there are too many connections"));
                        answers.connections.fetch_sub(1, Ordering::AcqRel);
                        continue;
                    }
                    let serve = move || {
                        answers.serve(stream, &self.guard);
                        answers.connections.fetch_sub(1, Ordering::AcqRel);
                    };
                    if thread::Builder::new().name("lbmc-watch".into()).spawn_scoped(scope, serve).is_err() {
                        answers.connections.fetch_sub(1, Ordering::AcqRel);
                    }
                }
            });
            let _end = End { server: self, answers };
            work()
        })
    }
}

/// Ends a server, also if the work panics: pages that look may still learn of the end, then the listener is woken.
struct End<'a> {
    server: &'a Server,
    answers: &'a Answers<'a>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        let asked = *self.answers.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.is_some_and(|asked| asked.elapsed() < ASKED_LATELY) && !thread::panicking() {
            thread::sleep(LINGER);
        }
        self.answers.is_over.store(true, Ordering::Release);
        let _ = TcpStream::connect_timeout(&self.server.address, Duration::from_secs(1));
    }
}

impl Answers<'_> {
    /// Answers the request of a connection, and closes it.
    fn serve(&self, mut stream: TcpStream, guard: &Guard) {
        let request = read(&mut stream, Instant::now() + TIME);
        let is_unread = request.is_err();
        let answer = match request {
            Ok(request) => match guard.admit(&request) {
                Ok(name) => {
                    *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
                    let answer = catch_unwind(AssertUnwindSafe(|| self.answer(name, &request)));
                    answer.unwrap_or_else(|_| refused(Refusal(500, "a bug of lbmc: its standard error says more")))
                }
                Err(refusal) => refused(refusal),
            },
            Err(refusal) => refused(refusal),
        };
        send(&mut stream, &answer);
        if is_unread {
            drain(&mut stream);
        }
    }

    fn answer(&self, name: &str, request: &Request) -> Answer {
        if request.method == "POST" {
            return match self.order(name) {
                Ok(()) => Answer(200, "application/json", b"{}".to_vec()),
                Err(refusal) => refused(refusal),
            };
        }
        if let Some((kind, text)) = pages::find(name) {
            return Answer(200, kind, text.into_bytes());
        }
        let values = request.query.iter().map(|(name, value)| (&name[..], value.clone())).collect();
        match self.show.get(name, &values) {
            Ok(Content::Json(text)) => Answer(200, "application/json", text.into_bytes()),
            Ok(Content::Numbers(bytes)) => Answer(200, "application/octet-stream", bytes),
            Ok(Content::Picture(bytes)) => {
                let kind = if bytes.starts_with(b"GIF") { "image/gif" } else { "image/png" };
                Answer(200, kind, bytes)
            }
            // Nothing yet, or no more: this is no fault of the page, and browsers report none.
            Err(Refused::Busy | Refused::Over) => Answer(204, "text/plain; charset=utf-8", vec![]),
            Err(why) => Answer(status(why), "text/plain; charset=utf-8", why.to_string().into_bytes()),
        }
    }

    /// What a page orders by posting to a name.
    fn order(&self, name: &str) -> Result<(), Refusal> {
        let order = match name {
            "pause" => Order::Pause,
            "resume" => Order::Resume,
            "fields" => Order::Fields,
            "restart" => Order::Restart,
            "stop" => {
                let stop = self.stop.ok_or(Refusal(410, "the flow is over"))?;
                stop.store(true, Ordering::Relaxed);
                return Ok(());
            }
            _ => return Err(Refusal(404, "there is no such order")),
        };
        self.show.order(order).map_err(|_| Refusal(410, "the flow is over"))
    }
}

fn status(why: Refused) -> u16 {
    match why {
        Refused::Unknown => 404,
        Refused::Busy | Refused::Over => 204,
        Refused::Memory | Refused::TooLarge => 507,
        Refused::Number => 400,
    }
}

fn refused(Refusal(status, text): Refusal) -> Answer {
    Answer(status, "text/plain; charset=utf-8", text.into())
}

fn refuse(mut stream: TcpStream, refusal: Refusal) {
    send(&mut stream, &refused(refusal));
}

/// Reads a part of what was not read: a connection that is closed before may take the answer with it.
fn drain(stream: &mut TcpStream) {
    let mut rest = [0; 1024];
    let _ = stream.set_read_timeout(Some(TIME_TO_DRAIN));
    for _ in 0..64 {
        if !matches!(stream.read(&mut rest), Ok(1..)) {
            return;
        }
    }
}

/// Writes an answer within its time, and closes the connection.
fn send(stream: &mut TcpStream, Answer(status, kind, content): &Answer) {
    let head = format!(
        "HTTP/1.1 {status} \r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\r\n",
        content.len()
    );
    let deadline = Instant::now() + TIME_TO_WRITE;
    for mut rest in [head.as_bytes(), content] {
        while !rest.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || stream.set_write_timeout(Some(left)).is_err() {
                return;
            }
            match stream.write(rest) {
                Ok(written) if written > 0 => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return,
            }
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
}
