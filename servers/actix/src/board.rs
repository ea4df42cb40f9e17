//! The members of each board; sends one frame to all members of a board.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

use actix_web::web::Bytes;

use crate::clients::ClientId;
use crate::outbox::Outbox;

/// Maps ids to the boards that clients join. Draws bypass it: a client keeps references to its boards.
#[derive(Default)]
pub struct Boards(Mutex<HashMap<String, Arc<Board>>>);

pub struct Board {
    id: String,
    members: RwLock<HashMap<ClientId, Arc<Outbox>>>,
}

impl Boards {
    pub fn join(&self, board_id: &str, client: ClientId, outbox: &Arc<Outbox>) -> Arc<Board> {
        let mut boards = self.0.lock().unwrap();
        let board = boards.entry(board_id.to_owned()).or_insert_with(|| {
            Arc::new(Board {
                id: board_id.to_owned(),
                members: RwLock::default(),
            })
        });
        board.members.write().unwrap().insert(client, outbox.clone());
        board.clone()
    }

    pub fn leave(&self, board: &Board, client: ClientId) {
        let mut boards = self.0.lock().unwrap();
        let mut members = board.members.write().unwrap();
        members.remove(&client);
        if members.is_empty() {
            boards.remove(&board.id);
        }
    }
}

impl Board {
    /// Returns how many bytes are then queued for the member that is furthest behind.
    pub fn broadcast(&self, frame: &Bytes) -> usize {
        let members = self.members.read().unwrap();
        members
            .values()
            .map(|member| member.push(frame.clone()))
            .max()
            .unwrap_or(0)
    }
}
