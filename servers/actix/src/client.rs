//! One connection: turns what it says into joins, draws and leaves.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use actix_http::ws;
use actix_web::rt::task::yield_now;
use actix_web::rt::time::{sleep, timeout};
use bytestring::ByteString;
use serde_json::{Value, json};

use crate::app::CLOSE_TIMEOUT;
use crate::board::{Board, Boards};
use crate::clients::ClientId;
use crate::inbox::{End, Inbox, Message};
use crate::message::{BadMessage, Kind, parse_message};
use crate::outbox::{Outbox, frame};

/// A client that sends without pause is paused after this many frames, so that other clients get their turn. It is also
/// paused when this much is queued for its receivers; otherwise it would fill the queues of clients that do read faster
/// than they can be written. A pause is short because no sender waits for a slow reader.
const MAX_FRAMES_AT_ONCE: u32 = 64;
const MAX_UNREAD_BYTES: usize = 64 * 1024;
const PAUSE: Duration = Duration::from_millis(1);

pub struct Client<'a> {
    id: ClientId,
    outbox: Arc<Outbox>,
    boards: &'a Boards,
    joined: HashMap<String, Arc<Board>>,
}

impl<'a> Client<'a> {
    pub fn new(id: ClientId, outbox: Arc<Outbox>, boards: &'a Boards) -> Self {
        Self {
            id,
            outbox,
            boards,
            joined: HashMap::new(),
        }
    }

    /// Returns when the connection has ended, or is about to.
    pub async fn serve(mut self, mut inbox: Inbox) {
        let end = self.receive(&mut inbox).await;
        self.leave_all();
        match end {
            End::Closed(reason) => {
                self.outbox.close(reason.map(|reason| reason.code.into()));
                self.outbox.finish();
            }
            End::Violation(code) => {
                self.outbox.close(Some(code.into()));
                yield_now().await; // actix writes the close frame, in a task of this thread that is ready
                self.outbox.half_close();
            }
            End::Broken => self.outbox.finish(),
        }
        // Keep reading: otherwise the kernel would answer data still in flight with a reset, and the client might never
        // read why it was closed.
        match timeout(CLOSE_TIMEOUT, inbox.drain()).await {
            Ok(()) => self.outbox.finish(),
            Err(_) => self.outbox.abort(),
        }
    }

    /// Handles messages until one of them, or the end of the connection, ends the client.
    async fn receive(&mut self, inbox: &mut Inbox) -> End {
        let mut at_once = 0;
        loop {
            let message = match inbox.next().await {
                Ok(message) => message,
                Err(end) => return end,
            };
            let queued = self.handle(message);
            at_once += 1;
            if at_once == MAX_FRAMES_AT_ONCE || queued > MAX_UNREAD_BYTES {
                sleep(PAUSE).await;
                at_once = 0;
            }
        }
    }

    /// Returns how many bytes are queued for the receivers of the message.
    fn handle(&mut self, message: Message) -> usize {
        let handled = match message {
            Message::Text(text) => self.handle_text(text),
            Message::Binary => Err(BadMessage("a message must be a text frame".into())),
            Message::Ping(payload) => Ok(self.outbox.push(frame(ws::Message::Pong(payload)))),
            Message::Other => Ok(0),
        };
        handled.unwrap_or_else(|BadMessage(reason)| self.say(&json!({"type": "error", "reason": reason})))
    }

    fn handle_text(&mut self, text: ByteString) -> Result<usize, BadMessage> {
        let message = parse_message(&text)?;
        let board_id = message.board_id.as_str();
        if message.kind == Kind::Join {
            if !self.joined.contains_key(board_id) {
                let board = self.boards.join(board_id, self.id, &self.outbox);
                self.joined.insert(board_id.to_owned(), board);
            }
            return Ok(self.say(&json!({"type": "joined", "boardId": board_id, "userId": message.user_id})));
        }
        let Some(board) = self.joined.get(board_id) else {
            return Err(BadMessage(
                format!("{}: this connection has not joined the board", message.kind).into(),
            ));
        };
        if message.kind == Kind::Draw {
            Ok(board.broadcast(&frame(ws::Message::Text(text))))
        } else {
            self.boards.leave(board, self.id);
            self.joined.remove(board_id);
            Ok(0)
        }
    }

    fn leave_all(&mut self) {
        for (_, board) in self.joined.drain() {
            self.boards.leave(&board, self.id);
        }
    }

    fn say(&self, answer: &Value) -> usize {
        self.outbox.push(frame(ws::Message::Text(answer.to_string().into())))
    }
}

impl Drop for Client<'_> {
    /// A client leaves its boards even if it panics.
    fn drop(&mut self) {
        self.leave_all();
    }
}
