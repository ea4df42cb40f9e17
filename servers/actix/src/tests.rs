//! The behaviour of the whole server as clients observe it.

use std::future::pending;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use actix_codec::{Decoder, Encoder};
use actix_http::ws::{CloseCode, CloseReason, Codec, Frame, Message};
use actix_web::rt::System;
use actix_web::web::BytesMut;
use serde_json::json;

use crate::app;

/// More than the kernel's socket buffers and the server's queue hold together.
const DRAWS: u32 = 300;

const PROMPT: Duration = Duration::from_secs(5);

#[test]
fn a_slow_reader_is_disconnected_and_delays_nobody() {
    let address = start_server();
    let (mut sender, mut slow) = (User::join(address), User::join(address));
    for seq in 0..DRAWS {
        sender.say(large_draw(seq));
        assert_eq!(sender.hear(), Some(large_draw(seq)));
    }
    while let Some(draw) = slow.hear() {
        assert_ne!(draw, large_draw(DRAWS - 1), "all draws were queued");
    }
}

#[test]
fn a_burst_disconnects_no_member_that_reads() {
    let address = start_server();
    let (mut sender, member) = (User::join(address), User::join(address));
    let readers = [sender.another_reader(), member]
        .map(|mut reader| thread::spawn(move || (0..DRAWS).all(|seq| reader.hear() == Some(large_draw(seq)))));
    for seq in 0..DRAWS {
        sender.say(large_draw(seq));
    }
    for reader in readers {
        assert!(reader.join().unwrap(), "a draw was not received");
    }
}

#[test]
fn a_frame_that_is_too_large_is_refused_before_it_has_arrived() {
    let mut user = User::join(start_server());
    let gibibyte = (1_u64 << 30).to_be_bytes();
    user.socket
        .write_all(&[&[0x81, 0xff][..], &gibibyte, &[0; 4]].concat())
        .unwrap();
    assert_eq!(
        user.frame(),
        Some(Frame::Close(Some(CloseReason::from(CloseCode::Size))))
    );
}

fn start_server() -> SocketAddr {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    thread::spawn(move || System::new().block_on(app::serve(address, 2, pending())));
    address
}

fn large_draw(seq: u32) -> String {
    let pad = "x".repeat(60_000);
    json!({"type": "draw", "boardId": "b", "userId": "u", "seq": seq, "sentAt": 0, "stroke": [[1, 2]], "pad": pad})
        .to_string()
}

struct User {
    socket: TcpStream,
    codec: Codec,
    received: BytesMut,
}

impl User {
    fn new(socket: TcpStream) -> Self {
        Self {
            socket,
            codec: Codec::new().client_mode(),
            received: BytesMut::new(),
        }
    }

    /// Returns a member of the board "b".
    fn join(address: SocketAddr) -> Self {
        let mut user = Self::new(connect(address));
        user.say(json!({"type": "join", "boardId": "b", "userId": "u"}).to_string());
        assert!(user.hear().unwrap().contains("joined"));
        user
    }

    fn another_reader(&self) -> Self {
        Self::new(self.socket.try_clone().unwrap())
    }

    fn say(&mut self, text: String) {
        let mut bytes = BytesMut::new();
        self.codec.encode(Message::Text(text.into()), &mut bytes).unwrap();
        self.socket.write_all(&bytes).unwrap();
    }

    fn hear(&mut self) -> Option<String> {
        match self.frame() {
            Some(Frame::Text(bytes)) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
            _ => None,
        }
    }

    /// None once the connection has ended.
    fn frame(&mut self) -> Option<Frame> {
        let mut chunk = [0; 65536];
        loop {
            if let Some(frame) = self.codec.decode(&mut self.received).unwrap() {
                return Some(frame);
            }
            match self.socket.read(&mut chunk) {
                Ok(length @ 1..) => self.received.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("nothing comes"),
                _ => return None,
            }
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let attempts = (0..500).find_map(|_| {
        thread::sleep(Duration::from_millis(10)); // the server is starting
        TcpStream::connect(address).ok()
    });
    let mut socket = attempts.expect("the server listens");
    socket.set_read_timeout(Some(PROMPT)).unwrap();
    let request = format!(
        "GET /ws HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        head.extend(byte);
    }
    socket
}
