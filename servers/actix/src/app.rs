//! The HTTP server: answers /healthz, upgrades /ws, and stops both. Module `client` handles the messages of clients.

use std::any::Any;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use actix_http::body::MessageBody;
use actix_http::ws::{CloseCode, handshake};
use actix_web::dev::{Extensions, ServerHandle};
use actix_web::error::ErrorServiceUnavailable;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, Responder, rt, web};

use crate::board::Boards;
use crate::client::Client;
use crate::clients::Clients;
use crate::inbox::Inbox;
use crate::outbox::Outbox;

/// How long a client may take to answer a close frame. SIGTERM has to end the process within 5 s, and a worker checks
/// only once a second whether its last connection is closed.
pub const CLOSE_TIMEOUT: Duration = Duration::from_millis(2500);
const SHUTDOWN_SECONDS: u64 = 4;

#[derive(Default)]
pub struct Whiteboard {
    pub boards: Boards,
    pub clients: Clients,
}

/// Serves until `stopped` and until every client is gone.
pub async fn serve(
    address: impl ToSocketAddrs,
    workers: usize,
    stopped: impl Future<Output = ()> + 'static,
) -> io::Result<()> {
    let whiteboard = web::Data::new(Whiteboard::default());
    let shared = whiteboard.clone();
    let server = HttpServer::new(move || {
        App::new()
            .app_data(shared.clone())
            .route("/healthz", web::get().to(health))
            .route("/ws", web::get().to(upgrade))
    })
    .workers(workers)
    .tcp_nodelay(true)
    .on_connect(keep_socket)
    // `client` decides when a connection ends.
    .client_disconnect_timeout(Duration::ZERO)
    .shutdown_timeout(SHUTDOWN_SECONDS)
    .disable_signals()
    .bind(address)?
    .run();

    let handle = server.handle();
    rt::spawn(async move {
        stopped.await;
        stop(&handle, &whiteboard.clients).await;
    });
    server.await
}

async fn stop(server: &ServerHandle, clients: &Clients) {
    let ended = server.stop(true);
    clients.close_all(CloseCode::Away);
    rt::time::sleep(CLOSE_TIMEOUT).await;
    clients.abort_all();
    ended.await;
}

async fn health() -> impl Responder {
    web::Json(serde_json::json!({
        "server": "actix",
        "runtime": concat!("Rust ", env!("RUST_VERSION")),
        "framework": concat!("actix-web ", env!("ACTIX_WEB_VERSION"), " with actix-http ", env!("ACTIX_HTTP_VERSION")),
    }))
}

async fn upgrade(
    request: HttpRequest,
    payload: web::Payload,
    whiteboard: web::Data<Whiteboard>,
) -> actix_web::Result<HttpResponse> {
    let mut response = handshake(request.head())?;
    let socket = request
        .conn_data::<Arc<TcpStream>>()
        .ok_or_else(|| ErrorServiceUnavailable("too many sockets"))?;
    let outbox = Outbox::new(Arc::downgrade(socket));
    let id = whiteboard
        .clients
        .add(&outbox)
        .ok_or_else(|| ErrorServiceUnavailable("going away"))?;
    let frames = outbox.frames();
    rt::spawn(async move {
        Client::new(id, outbox, &whiteboard.boards)
            .serve(Inbox::new(payload))
            .await;
        whiteboard.clients.remove(id);
    });
    Ok(response.message_body(frames.boxed())?.into())
}

/// actix owns the socket, and a response cannot end it while the client does not read. The kept socket can.
fn keep_socket(connection: &dyn Any, data: &mut Extensions) {
    if let Some(stream) = connection.downcast_ref::<rt::net::TcpStream>()
        && let Ok(socket) = stream.as_fd().try_clone_to_owned()
    {
        data.insert(Arc::new(TcpStream::from(socket)));
    }
}
