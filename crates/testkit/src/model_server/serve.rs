//! The server.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Path, State},
    http::{StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    api::{Api, Transfer},
    reply::Reply,
    request::{ModelRequest, Purpose},
    script::Script,
    step::ScriptStep,
};

/// A model on a free port of the loopback interface. It stops when it is dropped.
///
/// Each turn of a client takes the next step of the script. What clients ask for themselves, such as titles, is
/// answered without taking one.
pub struct ModelServer {
    address: SocketAddr,
    desk: Arc<ServerDesk>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the server's thread and its owner share.
struct ServerDesk {
    script: Mutex<Script>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ModelServer {
    /// Starts a server whose script is empty.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        let address = listener.local_addr().expect("it is bound");
        listener.set_nonblocking(true).expect("a socket can be told not to block");
        let desk = Arc::new(ServerDesk { script: Mutex::new(Script::new()), requests: Mutex::default() });
        let (stop, stopped) = oneshot::channel();
        let routes = routes(Arc::clone(&desk));
        let thread = thread::spawn(move || serve(listener, routes, stopped));
        Self { address, desk, stop: Some(stop), thread: Some(thread) }
    }

    /// Starts a server with a script.
    pub fn with_script(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let server = Self::start();
        server.script(steps);
        server
    }

    /// Adds steps for every conversation that has no script of its own.
    pub fn script(&self, steps: impl IntoIterator<Item = ScriptStep>) {
        self.desk.script().extend(steps);
    }

    /// Adds a script for conversations whose first words contain `opening`, such as a sub-agent's.
    pub fn script_for(&self, opening: &str, steps: impl IntoIterator<Item = ScriptStep>) {
        self.desk.script().extend_marked(opening, steps);
    }

    /// Says what the model answers when it is to sum up a conversation.
    pub fn summarize_as(&self, summary: &str) {
        self.desk.script().set_summary(summary);
    }

    /// Returns how many steps nobody has taken yet.
    pub fn remaining_steps(&self) -> usize {
        self.desk.script().remaining()
    }

    /// Returns the address without a path, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns all that clients asked the model, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.desk.requests().clone()
    }

    /// Returns those requests that went on with a conversation.
    pub fn turns(&self) -> Vec<ModelRequest> {
        let is_turn = |request: &ModelRequest| request.purpose() == Purpose::Turn;
        self.requests().into_iter().filter(is_turn).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // Dropping the sender is what stops the server.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It can only fail by a panic in a handler, which the client has already seen as a broken connection.
            let _ = thread.join();
        }
    }
}

impl ServerDesk {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn requests(&self) -> MutexGuard<'_, Vec<ModelRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: ModelRequest, transfer: Transfer) -> Response {
        let step = self.script().answer(&request);
        let reply = Reply::new(&request, step);
        let written = request.api().write(&reply, transfer);
        self.requests().push(request);
        let kind = match transfer {
            Transfer::Whole => "application/json",
            Transfer::Stream => "text/event-stream",
        };
        ([(header::CONTENT_TYPE, kind)], written).into_response()
    }
}

fn serve(listener: TcpListener, routes: Router, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("the listener does not block");
        tokio::select! {
            served = axum::serve(listener, routes) => served.expect("it accepts for ever"),
            // The owner is gone. Connections that clients keep open are cut, not waited for.
            _ = stopped => {}
        }
    });
}

fn routes(desk: Arc<ServerDesk>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(messages_tokens))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/models", get(models))
        .route("/v1beta/models/{call}", post(gemini))
        .fallback(unknown)
        // Conversations grow beyond what is a sensible limit elsewhere.
        .layer(DefaultBodyLimit::disable())
        .with_state(desk)
}

async fn messages(State(desk): State<Arc<ServerDesk>>, uri: Uri, body: String) -> Response {
    let body = parsed(&body);
    let transfer = if body["stream"] == true { Transfer::Stream } else { Transfer::Whole };
    desk.answer(ModelRequest::new(Api::Messages, uri.path(), None, body), transfer)
}

async fn messages_tokens(body: String) -> Response {
    axum::Json(json!({"input_tokens": body.len().div_ceil(4)})).into_response()
}

async fn chat(State(desk): State<Arc<ServerDesk>>, uri: Uri, body: String) -> Response {
    let body = parsed(&body);
    let transfer = if body["stream"] == true { Transfer::Stream } else { Transfer::Whole };
    desk.answer(ModelRequest::new(Api::Chat, uri.path(), None, body), transfer)
}

async fn responses(State(desk): State<Arc<ServerDesk>>, uri: Uri, body: String) -> Response {
    let body = parsed(&body);
    let transfer = if body["stream"] == true { Transfer::Stream } else { Transfer::Whole };
    desk.answer(ModelRequest::new(Api::Responses, uri.path(), None, body), transfer)
}

async fn models() -> Response {
    axum::Json(json!({"object": "list", "data": [], "models": []})).into_response()
}

async fn gemini(State(desk): State<Arc<ServerDesk>>, uri: Uri, Path(call): Path<String>, body: String) -> Response {
    let (model, method) = call.split_once(':').unwrap_or((&call, ""));
    let request = |body: &str| ModelRequest::new(Api::Gemini, uri.path(), Some(model), parsed(body));
    match method {
        "generateContent" => desk.answer(request(&body), Transfer::Whole),
        "streamGenerateContent" => desk.answer(request(&body), Transfer::Stream),
        "countTokens" => axum::Json(json!({"totalTokens": body.len().div_ceil(4)})).into_response(),
        _ => unknown().await,
    }
}

async fn unknown() -> Response {
    let problem = json!({"error": {"type": "not_found_error", "message": "the scripted model has no such endpoint"}});
    (StatusCode::NOT_FOUND, axum::Json(problem)).into_response()
}

/// Takes a body that is no JSON as null, which is no turn.
fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_default()
}
