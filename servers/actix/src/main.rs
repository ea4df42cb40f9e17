//! The whiteboard suite on actix-web. Starts the server and stops it on SIGTERM.

mod app;
mod board;
mod client;
mod clients;
mod inbox;
mod message;
mod outbox;
#[cfg(test)]
mod tests;

use std::str::FromStr;
use std::{env, io, thread};

use actix_web::rt::System;
use actix_web::rt::signal::unix::{SignalKind, signal};

fn main() -> io::Result<()> {
    let port = variable("PORT").unwrap_or(8080);
    let workers = variable("WORKERS").unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    System::new().block_on(async {
        let mut terminated = signal(SignalKind::terminate())?;
        app::serve(("0.0.0.0", port), workers, async move {
            terminated.recv().await;
        })
        .await
    })
}

fn variable<T: FromStr>(name: &str) -> Option<T> {
    env::var(name).ok()?.parse().ok()
}
