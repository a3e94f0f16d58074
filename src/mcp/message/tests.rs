use rmcp::model::{ErrorCode, JsonRpcMessage};

use super::*;

/// What a line is, in one word or in its error: code, id and message.
fn said(line: &[u8]) -> String {
    match read(line) {
        Received::Nothing => "nothing".to_owned(),
        Received::Refused(ErrorData { code: ErrorCode(code), message, .. }, id) => {
            let id = id.map_or("-".to_owned(), |id| id.to_string());
            format!("{code} {id} {message}")
        }
        Received::Message(message) => match *message {
            JsonRpcMessage::Request(asked) => format!("{} {}", asked.id, asked.request.method()),
            JsonRpcMessage::Notification(_) => "notification".to_owned(),
            other => panic!("{other:?}"),
        },
    }
}

#[test]
fn a_line_is_a_message_or_the_error_that_answers_it() {
    let call = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":"#;
    let fits = format!("\u{feff}{call}{{\"name\":\"x\"}}}}\r\n");
    let misses = format!("{call}{{\"arguments\":{{}}}}}}");
    let wrong = format!("{call}{{\"name\":\"x\",\"arguments\":\"no\"}}}}");
    let cases: &[(&str, &str)] = &[
        ("", "nothing"),
        (" \r\n", "nothing"),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "1 ping"),
        (r#"{"method":"no/such","id":"x","jsonrpc":"2.0","params":{}}"#, "x no/such"),
        (&fits, "a tools/call"),
        (&misses, "-32602 a the params of tools/call do not fit: missing field `name`"),
        (
            &wrong,
            "-32602 a the params of tools/call do not fit: invalid type: string \"no\", \
             expected a map",
        ),
        (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "notification"),
        (r#"{"jsonrpc":"2.0","method":"tools/call"}"#, "notification"),
        (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}"#, "nothing"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "nothing"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, "nothing"),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            "-32600 - an id is a string or an integer",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            "-32600 - an id is a string or an integer",
        ),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "-32600 1 jsonrpc must be \"2.0\""),
        (r#"{"id":1,"method":"ping"}"#, "-32600 1 jsonrpc must be \"2.0\""),
        (r#"{"jsonrpc":"2.0","id":1}"#, "-32600 1 the message has no method"),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "-32600 1 the message has no method"),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "-32600 - duplicate field `id`"),
        ("7", "-32600 - a message is a JSON object"),
        ("[]", "-32600 - batches are not supported; send one message a line"),
        (
            "{\"id\"",
            "-32700 - the line is not JSON: EOF while parsing an object at line 1 column 5",
        ),
        ("hello", "-32700 - the line is not JSON: expected value at line 1 column 1"),
    ];
    for (line, wanted) in cases {
        assert_eq!(said(line.as_bytes()), *wanted, "{line}");
    }
}

#[test]
fn what_is_nested_too_deep_is_refused_with_the_id() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let batch = "-32600 - batches are not supported; send one message a line";
    assert_eq!(said(deep.as_bytes()), batch);
    for params in [deep.clone(), format!(r#"{{"name":"x","arguments":{{"a":{deep}}}}}"#)] {
        let call = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}"#);
        let told = said(call.as_bytes());
        assert!(told.starts_with("-32700 5 the line is not JSON: recursion limit"), "{told}");
    }
    let told = said(format!(r#"{{"id":{deep}}}"#).as_bytes());
    assert!(told.starts_with("-32700 - the line is not JSON: recursion limit"), "{told}");
}

#[test]
fn bytes_that_are_no_text_are_no_json() {
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}";
    assert!(said(line).starts_with("-32700 - the line is not JSON: invalid unicode code point"));
}
