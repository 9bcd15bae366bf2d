//! Requests of HTTP, as far as pages make them: a method, a path, a few values. After [`read`] a request was whole within its time and its
//! length, and it is one of a page of ours: [`Guard::admit`] says so, or why not.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::Instant;

/// Most bytes of a request, which has no body.
const BYTES: usize = 8 << 10;
/// Most headers of a request.
const HEADERS: usize = 64;
/// Names of this host, which no other host's page can have.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// A request.
#[derive(Debug, Default, PartialEq)]
pub struct Request {
    pub method: String,
    /// What it asks for, without the query.
    pub path: String,
    pub query: BTreeMap<String, String>,
    host: Option<String>,
    origin: Option<String>,
    /// Whether it has a body, or more than one host or origin.
    is_odd: bool,
}

/// Why a request is refused: a status of HTTP and its words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal(pub u16, pub &'static str);

const BAD: Refusal = Refusal(400, "this is no request");
const LATE: Refusal = Refusal(408, "the request took too long");
const LONG: Refusal = Refusal(413, "the request is too long");

/// Reads a request until a deadline.
pub fn read(stream: &mut TcpStream, deadline: Instant) -> Result<Request, Refusal> {
    let (mut bytes, mut length) = ([0; BYTES], 0);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(LATE);
        }
        length += match stream.read(&mut bytes[length..]) {
            Ok(0) => return Err(BAD),
            Ok(more) => more,
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Err(error) => return Err(late(&error)),
        };
        if let Some(request) = parse(&bytes[..length])? {
            return Ok(request);
        }
        if length == BYTES {
            return Err(LONG);
        }
    }
}

fn late(error: &io::Error) -> Refusal {
    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) { LATE } else { BAD }
}

/// The request that bytes begin with; none if they are not all of it.
fn parse(bytes: &[u8]) -> Result<Option<Request>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(BAD),
    }
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_string(),
        path: path.to_string(),
        query: query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(a, b)| Some((plain(a)?, plain(b)?)))
            .collect::<Option<_>>()
            .ok_or(BAD)?,
        ..Request::default()
    };
    for header in parsed.headers.iter() {
        let value = || std::str::from_utf8(header.value).map(str::to_string).map_err(|_| BAD);
        let place = match header.name.to_ascii_lowercase().as_str() {
            "host" => &mut request.host,
            "origin" => &mut request.origin,
            "transfer-encoding" => {
                request.is_odd = true;
                continue;
            }
            "content-length" => {
                request.is_odd |= header.value != b"0";
                continue;
            }
            _ => continue,
        };
        request.is_odd |= place.is_some();
        *place = Some(value()?);
    }
    Ok(Some(request))
}

/// A text with its `%` sequences and `+` resolved; none if they are no text.
fn plain(text: &str) -> Option<String> {
    let (mut bytes, mut letters) = (vec![], text.bytes());
    while let Some(letter) = letters.next() {
        let mut digit = || char::from(letters.next()?).to_digit(16);
        bytes.push(match letter {
            b'+' => b' ',
            b'%' => (16 * digit()? + digit()?) as u8,
            letter => letter,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Who may ask: pages whose address has a token that was given to the user alone.
#[derive(Debug)]
pub struct Guard {
    token: String,
}

impl Guard {
    /// With a token that nobody can guess.
    pub fn new() -> Result<Guard, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Guard { token: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// What a request asks for behind the token, `state` of `/TOKEN/state`; or why it is refused.
    pub fn admit<'r>(&self, request: &'r Request) -> Result<&'r str, Refusal> {
        if request.is_odd {
            return Err(Refusal(400, "a request has one host and no body"));
        }
        // A name of another host that leads here (DNS rebinding) stays the name of another host.
        let host = request.host.as_deref().unwrap_or_default();
        let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
        if !HOSTS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return Err(Refusal(403, "this is not a host of that name"));
        }
        let (token, name) = request.path.strip_prefix('/').and_then(|path| path.split_once('/')).unwrap_or_default();
        // Hashes are compared in constant time.
        if blake3::hash(token.as_bytes()) != blake3::hash(self.token.as_bytes()) {
            return Err(Refusal(404, "the address is not the one that was printed"));
        }
        let own = format!("http://{host}");
        let is_own = request.origin.as_ref().is_none_or(|origin| *origin == own);
        match (&request.method[..], &request.origin) {
            ("GET", _) | ("POST", Some(_)) if is_own => Ok(name),
            ("GET" | "POST", _) => Err(Refusal(403, "only the page itself may ask for this")),
            _ => Err(Refusal(405, "this method is not known")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_a_browser_writes_them() {
        let request =
            parse(b"GET /t/section?field=a%20b%2Bc&at=0.5 HTTP/1.1\r\nHost: localhost:1\r\n\r\n").unwrap().unwrap();
        assert_eq!(request.path, "/t/section");
        assert_eq!((&request.query["field"][..], &request.query["at"][..]), ("a b+c", "0.5"));
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: a\r\n"), Ok(None));
        for bad in ["\0", "GET /?a=%zz HTTP/1.1\r\n\r\n", "GET /?a=%ff HTTP/1.1\r\n\r\n", "GET / HTTP/9\r\n\r\n"] {
            assert_eq!(parse(bad.as_bytes()), Err(BAD), "{bad}");
        }
    }

    #[test]
    fn damaged_requests_are_requests_or_refused() {
        let whole = b"GET /t/section?field=a%20b&at=0.5 HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://a\r\nContent-Length: 0\r\n\r\n";
        let guard = Guard::new().unwrap();
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut damaged = whole.to_vec();
                damaged[at] = byte;
                if let Ok(Some(request)) = parse(&damaged) {
                    assert!(guard.admit(&request).is_err(), "without the token nothing is given");
                }
            }
            assert!(matches!(parse(&whole[..at]), Ok(None)), "a part is no request");
        }
    }

    #[test]
    fn tokens_differ_and_are_long() {
        let tokens = [(); 2].map(|()| Guard::new().unwrap().token);
        assert!(tokens[0] != tokens[1] && tokens[0].len() == 32);
    }
}
