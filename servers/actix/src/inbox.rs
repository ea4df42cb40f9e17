//! Assembles the messages of one client from its frames.

use actix_codec::Decoder;
use actix_http::ws::{CloseCode, CloseReason, Codec, Frame, Item};
use actix_web::web::{Bytes, BytesMut, Payload};
use bytestring::ByteString;
use futures_util::StreamExt;

const MAX_MESSAGE_BYTES: usize = 64 * 1024;

pub struct Inbox {
    payload: Payload,
    codec: Codec,
    received: BytesMut,
    fragments: Option<Fragments>,
}

struct Fragments {
    is_text: bool,
    bytes: BytesMut,
}

pub enum Message {
    Text(ByteString),
    Binary,
    Ping(Bytes),
    /// A frame that requires no action.
    Other,
}

/// Why there are no more messages.
pub enum End {
    Closed(Option<CloseReason>),
    Violation(CloseCode),
    Broken,
}

impl Inbox {
    pub fn new(payload: Payload) -> Self {
        let codec = Codec::new().max_size(MAX_MESSAGE_BYTES);
        Self {
            payload,
            codec,
            received: BytesMut::new(),
            fragments: None,
        }
    }

    pub async fn next(&mut self) -> Result<Message, End> {
        loop {
            // The codec checks a frame's length only once the frame is complete, and would buffer one of any length.
            if declared_length(&self.received).is_some_and(|length| length > MAX_MESSAGE_BYTES as u64) {
                return Err(End::Violation(CloseCode::Size));
            }
            let decoded = self.codec.decode(&mut self.received);
            match decoded.map_err(|_| End::Violation(CloseCode::Protocol))? {
                Some(Frame::Text(bytes)) => return text(bytes),
                Some(Frame::Binary(_)) => return Ok(Message::Binary),
                Some(Frame::Continuation(item)) => return self.fragment(item),
                Some(Frame::Ping(bytes)) => return Ok(Message::Ping(bytes)),
                Some(Frame::Pong(_)) => return Ok(Message::Other),
                Some(Frame::Close(reason)) => return Err(End::Closed(reason)),
                None => self.receive().await?,
            }
        }
    }

    /// Reads and discards what is still in flight.
    pub async fn drain(&mut self) {
        while let Some(Ok(_)) = self.payload.next().await {}
    }

    async fn receive(&mut self) -> Result<(), End> {
        let Some(Ok(bytes)) = self.payload.next().await else {
            return Err(End::Broken);
        };
        if self.received.is_empty() {
            self.received = BytesMut::from(bytes);
        } else {
            self.received.extend_from_slice(&bytes);
        }
        Ok(())
    }

    fn fragment(&mut self, item: Item) -> Result<Message, End> {
        let (bytes, is_last) = match item {
            Item::FirstText(bytes) => return self.start(true, &bytes),
            Item::FirstBinary(bytes) => return self.start(false, &bytes),
            Item::Continue(bytes) => (bytes, false),
            Item::Last(bytes) => (bytes, true),
        };
        // The codec rejects a continuation that has no beginning.
        let fragments = self.fragments.as_mut().ok_or(End::Violation(CloseCode::Protocol))?;
        if fragments.bytes.len() + bytes.len() > MAX_MESSAGE_BYTES {
            return Err(End::Violation(CloseCode::Size));
        }
        fragments.bytes.extend_from_slice(&bytes);
        match self.fragments.take_if(|_| is_last) {
            Some(Fragments { is_text: true, bytes }) => text(bytes.freeze()),
            Some(_) => Ok(Message::Binary),
            None => Ok(Message::Other),
        }
    }

    fn start(&mut self, is_text: bool, bytes: &[u8]) -> Result<Message, End> {
        self.fragments = Some(Fragments {
            is_text,
            bytes: BytesMut::from(bytes),
        });
        Ok(Message::Other)
    }
}

fn text(bytes: Bytes) -> Result<Message, End> {
    ByteString::try_from(bytes)
        .map(Message::Text)
        .map_err(|_| End::Violation(CloseCode::Invalid))
}

/// Returns the payload length that a frame declares, once enough of its header has arrived.
fn declared_length(frame: &[u8]) -> Option<u64> {
    Some(match *frame.get(1)? & 0x7f {
        126 => u16::from_be_bytes(frame.get(2..4)?.try_into().ok()?).into(),
        127 => u64::from_be_bytes(frame.get(2..10)?.try_into().ok()?),
        length => length.into(),
    })
}
