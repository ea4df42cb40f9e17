//! All connected clients, so that the server can close them when it stops.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex};

use actix_http::ws::CloseCode;

use crate::outbox::Outbox;

pub type ClientId = u64;

#[derive(Default)]
pub struct Clients(Mutex<Connected>);

#[derive(Default)]
struct Connected {
    last: ClientId,
    outboxes: HashMap<ClientId, Arc<Outbox>>,
    closing: bool,
}

impl Clients {
    /// None once the server is closing.
    pub fn add(&self, outbox: &Arc<Outbox>) -> Option<ClientId> {
        let mut connected = self.0.lock().unwrap();
        if connected.closing {
            return None;
        }
        connected.last += 1;
        let id = connected.last;
        connected.outboxes.insert(id, outbox.clone());
        Some(id)
    }

    pub fn remove(&self, id: ClientId) {
        self.0.lock().unwrap().outboxes.remove(&id);
    }

    pub fn close_all(&self, code: CloseCode) {
        let mut connected = self.0.lock().unwrap();
        connected.closing = true;
        for outbox in connected.outboxes.values() {
            outbox.close(Some(code.into()));
        }
    }

    pub fn abort_all(&self) {
        for outbox in mem::take(&mut self.0.lock().unwrap().outboxes).into_values() {
            outbox.abort();
        }
    }
}
