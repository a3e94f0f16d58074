//! From the answer of a tool to the result that the protocol knows.

use rmcp::model::{CallToolResult, ContentBlock};

use crate::output::Content;
use crate::toolkit::Answer;

/// The text and what goes with it; of a success also its details, where they are an object.
///
/// The details of an error are left out: they are not what the tool's output schema describes.
pub(super) fn result(answer: &Answer) -> CallToolResult {
    let content = answer.content().into_iter().map(block).collect();
    if answer.is_error() {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    let details = answer.details();
    result.structured_content = details.is_object().then(|| details.clone());
    result
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text { text } => ContentBlock::text(text),
        Content::Image { data, mime_type } => ContentBlock::image(data, mime_type),
    }
}

/// About how many bytes a result takes: its details say about the same as its text.
pub(super) fn size(result: &CallToolResult) -> usize {
    let sizes = result.content.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.len().saturating_mul(2),
        ContentBlock::Image(image) => image.data.len(),
        _ => 0,
    });
    sizes.sum()
}
