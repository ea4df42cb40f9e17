//! The queue of frames for one client. Queueing never waits; actix writes everything queued in the meantime as one.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{Shutdown, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};

use actix_codec::Encoder;
use actix_http::body::{BodySize, MessageBody};
use actix_http::ws::{CloseReason, Codec, Message};
use actix_web::web::{Bytes, BytesMut};

/// A client that does not read is disconnected, because its queue would grow without bound.
const MAX_QUEUED_BYTES: usize = 1024 * 1024;

pub struct Outbox {
    socket: Weak<TcpStream>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<Bytes>,
    bytes: usize,
    /// Nothing more is queued.
    ended: bool,
    /// The connection ends when everything has been written.
    finished: bool,
    writer: Option<Waker>,
}

/// The response to a handshake: what is queued for the client.
pub struct Frames(Arc<Outbox>);

/// A server's frames are not masked, so one serves all members of a board.
pub fn frame(message: Message) -> Bytes {
    let mut bytes = BytesMut::new();
    Codec::new()
        .encode(message, &mut bytes)
        .expect("a whole message can be encoded");
    bytes.freeze()
}

impl Outbox {
    /// The socket is only borrowed: a remaining reference to the client must not keep it open.
    pub fn new(socket: Weak<TcpStream>) -> Arc<Self> {
        Arc::new(Self {
            socket,
            queue: Mutex::default(),
        })
    }

    /// Must be called only once.
    pub fn frames(self: &Arc<Self>) -> Frames {
        Frames(self.clone())
    }

    /// Queues a frame, and returns how many bytes are queued.
    pub fn push(&self, frame: Bytes) -> usize {
        let mut queue = self.queue.lock().unwrap();
        if queue.ended {
            return 0;
        }
        if queue.bytes + frame.len() > MAX_QUEUED_BYTES {
            drop(queue);
            self.abort();
            return 0;
        }
        queue.append(frame);
        queue.bytes
    }

    /// Queues a close frame, unless one has been queued.
    pub fn close(&self, reason: Option<CloseReason>) {
        let mut queue = self.queue.lock().unwrap();
        if !queue.ended {
            queue.ended = true;
            queue.append(frame(Message::Close(reason)));
        }
    }

    /// Ends both directions after what has been queued.
    pub fn finish(&self) {
        self.end(|_| {});
    }

    /// Ends the connection now.
    pub fn abort(&self) {
        self.end(|queue| queue.frames.clear());
        self.shutdown(Shutdown::Both);
    }

    /// Ends the direction to the client, but keeps reading.
    pub fn half_close(&self) {
        self.shutdown(Shutdown::Write);
    }

    fn end(&self, change: impl FnOnce(&mut Queue)) {
        let mut queue = self.queue.lock().unwrap();
        queue.ended = true;
        queue.finished = true;
        change(&mut queue);
        queue.wake();
    }

    fn shutdown(&self, how: Shutdown) {
        if let Some(socket) = self.socket.upgrade() {
            let _ = socket.shutdown(how); // it may be shut down already
        }
    }
}

impl Queue {
    fn append(&mut self, frame: Bytes) {
        self.bytes += frame.len();
        self.frames.push_back(frame);
        self.wake();
    }

    fn wake(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.wake();
        }
    }
}

impl MessageBody for Frames {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        let mut queue = self.0.queue.lock().unwrap();
        match queue.frames.pop_front() {
            Some(frame) => {
                queue.bytes -= frame.len();
                Poll::Ready(Some(Ok(frame)))
            }
            None if queue.finished => Poll::Ready(None),
            None => {
                queue.writer = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Frames {
    /// Without a connection nothing is queued.
    fn drop(&mut self) {
        self.0.end(|queue| queue.frames.clear());
    }
}
