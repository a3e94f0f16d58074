//! From a line to the message that it is, or to the error that answers it.

use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, ClientJsonRpcMessage, ClientRequest, ConstString,
    DiscoverRequest, DiscoverRequestMethod, ErrorData, InitializeRequest, InitializeResultMethod,
    JsonRpcRequest, ListToolsRequest, ListToolsRequestMethod, RequestId,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::error::Category;

/// What a line is.
#[derive(Debug)]
pub(super) enum Received {
    /// A request or a notification, as well-formed as the method asks for.
    Message(Box<ClientJsonRpcMessage>),
    /// An error to be sent, about the request with that id, if it has one.
    Refused(ErrorData, Option<RequestId>),
    /// Nothing that wants an answer.
    Nothing,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads one line.
pub(super) fn read(line: &[u8]) -> Received {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    match line.first() {
        None => return Received::Nothing,
        Some(b'{') => {}
        Some(_) => return Received::Refused(no_object(line), None),
    }
    let envelope = match serde_json::from_slice::<Envelope>(line) {
        Ok(envelope) => envelope,
        Err(reason) => return Received::Refused(malformed(&reason), None),
    };
    match envelope.kind() {
        Ok(Kind::Request(id, method)) => request(line, id, &method),
        // What cannot be read wants no answer either.
        Ok(Kind::Notification) => serde_json::from_slice(line)
            .map_or(Received::Nothing, |message| Received::Message(Box::new(message))),
        Ok(Kind::Response) => Received::Nothing,
        Err((reason, id)) => Received::Refused(ErrorData::invalid_request(reason, None), id),
    }
}

/// The members that every message has, whatever is in it.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default)]
    jsonrpc: Value,
    /// The inner `None` is `null`.
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    method: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Tells `null` from what is not there.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

enum Kind {
    Request(RequestId, String),
    Notification,
    /// To a question that nobody asked.
    Response,
}

impl Envelope {
    fn kind(self) -> Result<Kind, (&'static str, Option<RequestId>)> {
        let method = match self.method {
            Some(Value::String(method)) => method,
            None if self.result.is_some() || self.error.is_some() => return Ok(Kind::Response),
            _ => return Err(("the message has no method", self.id.and_then(request_id))),
        };
        let id = match self.id {
            None => None,
            Some(id) => {
                let id = request_id(id).ok_or(("an id is a string or an integer", None))?;
                Some(id)
            }
        };
        if self.jsonrpc != "2.0" {
            return Err(("jsonrpc must be \"2.0\"", id));
        }
        Ok(id.map_or(Kind::Notification, |id| Kind::Request(id, method)))
    }
}

fn request_id(id: Value) -> Option<RequestId> {
    serde_json::from_value(id).ok()
}

fn request(line: &[u8], id: RequestId, method: &str) -> Received {
    let read = match method {
        CallToolRequestMethod::VALUE => params::<CallToolRequest>(line),
        ListToolsRequestMethod::VALUE => params::<ListToolsRequest>(line),
        InitializeResultMethod::VALUE => params::<InitializeRequest>(line),
        DiscoverRequestMethod::VALUE => params::<DiscoverRequest>(line),
        _ => params::<ClientRequest>(line),
    };
    match read {
        Ok(request) => Received::Message(Box::new(ClientJsonRpcMessage::request(request, id))),
        Err(reason) if reason.classify() == Category::Data => {
            let reason = format!("the params of {method} do not fit: {}", told(&reason));
            Received::Refused(ErrorData::invalid_params(reason, None), Some(id))
        }
        // Nested too deep: the envelope passed over it.
        Err(reason) => Received::Refused(malformed(&reason), Some(id)),
    }
}

fn params<'de, R>(line: &'de [u8]) -> serde_json::Result<ClientRequest>
where
    R: Deserialize<'de> + Into<ClientRequest>,
{
    serde_json::from_slice::<JsonRpcRequest<R>>(line).map(|message| message.request.into())
}

fn no_object(line: &[u8]) -> ErrorData {
    match serde_json::from_slice::<IgnoredAny>(line) {
        Err(reason) => malformed(&reason),
        Ok(_) if line.starts_with(b"[") => {
            ErrorData::invalid_request("batches are not supported; send one message a line", None)
        }
        Ok(_) => ErrorData::invalid_request("a message is a JSON object", None),
    }
}

fn malformed(reason: &serde_json::Error) -> ErrorData {
    match reason.classify() {
        Category::Data => ErrorData::invalid_request(told(reason), None),
        _ => ErrorData::parse_error(format!("the line is not JSON: {reason}"), None),
    }
}

/// The reason alone: everything stands in line 1.
fn told(reason: &serde_json::Error) -> String {
    let reason = reason.to_string();
    reason.split(" at line ").next().unwrap_or(&reason).to_owned()
}

#[cfg(test)]
mod tests;
