//! A proxy that cuts connections where it is told to.

use std::{
    collections::HashMap,
    io::{Read as _, Write as _},
    mem,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

/// Stands on a loopback port in front of a server on another, and hands on what both sides say.
///
/// When it is dropped, its connections are cut and nobody listens on its port any more.
pub struct Proxy {
    address: SocketAddr,
    lines: Arc<Lines>,
    listener: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy to a port of this machine. Whoever connects while nobody listens there is hung up on.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let lines = Arc::new(Lines::default());
        let accepting = Arc::clone(&lines);
        let listener = thread::spawn(move || accept(&listener, port, &accepting));
        Self { address, lines, listener: Some(listener) }
    }

    /// Returns the port to connect to.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Cuts all connections there are. New ones are accepted.
    pub fn cut(&self) {
        let live = self.lines.lock().disconnect();
        hang_up(live);
    }

    /// Cuts all connections once, after this many more bytes have gone from clients to the server.
    ///
    /// No byte beyond them gets through. With 0, the cut is where the next byte would have gone. A later call replaces
    /// an earlier one; [`Proxy::cut`] leaves it.
    pub fn cut_after_sent(&self, bytes: u64) {
        self.lines.lock().sent.left = Some(bytes);
    }

    /// Does what [`Proxy::cut_after_sent`] does, but counts the bytes from the server to clients.
    ///
    /// The server may have done what it was asked for, and its answer is lost.
    pub fn cut_after_received(&self, bytes: u64) {
        self.lines.lock().received.left = Some(bytes);
    }

    /// Chooses whether new connections are closed as soon as they are accepted.
    pub fn refuse(&self, refusing: bool) {
        self.lines.lock().refusing = refusing;
    }

    /// Returns how many bytes have gone from clients to the server, and from the server to clients.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.lines.lock();
        (state.sent.passed, state.received.passed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.lines.lock().closed = true;
        // Only a connection wakes the listener. If none can be made, it is not there to be woken.
        let _ = TcpStream::connect(self.address);
        if let Some(listener) = self.listener.take() {
            listener.join().expect("accepting does not panic");
        }
        self.cut();
    }
}

/// What the threads of a proxy share.
#[derive(Default)]
struct Lines {
    state: Mutex<State>,
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct State {
    live: HashMap<u64, [TcpStream; 2]>,
    connected: u64,
    sent: Meter,
    received: Meter,
    refusing: bool,
    closed: bool,
}

/// Counts what passes in one direction.
#[derive(Default)]
struct Meter {
    passed: u64,
    left: Option<u64>,
}

#[derive(Clone, Copy)]
enum ProxyDirection {
    Sent,
    Received,
}

/// What becomes of bytes that have arrived.
enum ProxyVerdict {
    Pass,
    /// So many are handed on, then all these connections are cut.
    Cut(usize, Vec<[TcpStream; 2]>),
    /// The connection has been given up.
    Discard,
}

impl State {
    /// Gives up all connections; the caller hangs up on them.
    fn disconnect(&mut self) -> Vec<[TcpStream; 2]> {
        mem::take(&mut self.live).into_values().collect()
    }

    fn judge(&mut self, id: u64, direction: ProxyDirection, arrived: usize) -> ProxyVerdict {
        if !self.live.contains_key(&id) {
            return ProxyVerdict::Discard;
        }
        let meter = match direction {
            ProxyDirection::Sent => &mut self.sent,
            ProxyDirection::Received => &mut self.received,
        };
        let last = meter.left.and_then(|left| usize::try_from(left).ok()).filter(|left| *left <= arrived);
        let passing = last.unwrap_or(arrived);
        meter.passed += passing as u64;
        meter.left = if last.is_some() { None } else { meter.left.map(|left| left - passing as u64) };
        match last {
            None => ProxyVerdict::Pass,
            Some(last) => ProxyVerdict::Cut(last, self.disconnect()),
        }
    }
}

fn accept(listener: &TcpListener, port: u16, lines: &Arc<Lines>) {
    for client in listener.incoming().flatten() {
        let (refusing, closed) = {
            let state = lines.lock();
            (state.refusing, state.closed)
        };
        if closed {
            return;
        }
        if !refusing && let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            join(client, server, lines);
        }
    }
}

fn join(client: TcpStream, server: TcpStream, lines: &Arc<Lines>) {
    let copy = |stream: &TcpStream| {
        stream.set_nodelay(true).expect("a connection can be told not to wait");
        stream.try_clone().expect("there is room for another descriptor")
    };
    let ends = [copy(&client), copy(&server)];
    let (to_client, to_server) = (copy(&client), copy(&server));
    let id = {
        let mut state = lines.lock();
        state.connected += 1;
        let id = state.connected;
        state.live.insert(id, ends);
        id
    };
    for (from, to, direction) in
        [(client, to_server, ProxyDirection::Sent), (server, to_client, ProxyDirection::Received)]
    {
        let lines = Arc::clone(lines);
        thread::spawn(move || hand_on(id, direction, from, to, &lines));
    }
}

/// Hands on what comes until one of both sides, or a cut, ends the connection.
fn hand_on(id: u64, direction: ProxyDirection, mut from: TcpStream, mut to: TcpStream, lines: &Lines) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(arrived @ 1..) = from.read(&mut buffer) {
        // Nothing is written under the lock: a side that does not read must not keep the other from being read.
        let verdict = lines.lock().judge(id, direction, arrived);
        let written = match verdict {
            ProxyVerdict::Pass => to.write_all(&buffer[..arrived]),
            ProxyVerdict::Cut(last, live) => {
                let written = to.write_all(&buffer[..last]);
                hang_up(live);
                written
            }
            // Whoever cuts hangs up soon, and may be waiting for this side to be read until then.
            ProxyVerdict::Discard => Ok(()),
        };
        if written.is_err() {
            break;
        }
    }
    let ended = lines.lock().live.remove(&id);
    hang_up(ended);
}

fn hang_up(connections: impl IntoIterator<Item = [TcpStream; 2]>) {
    for end in connections.into_iter().flatten() {
        // It fails if the other side was faster.
        let _ = end.shutdown(Shutdown::Both);
    }
}
