//! What the server answers to each method, whatever the tools are.

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, ErrorData, GetSkillRequestParams, GetSkillResult, Implementation,
    InitializeRequestParams, InitializeResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde_json::Value;

use super::call::Calls;
use super::ending::Stop;
use super::instructions;
use super::outbox::Outbox;
use super::skills::SkillResources;
use crate::context::Call;
use crate::schema;
use crate::skills::SkillCatalog;
use crate::toolkit::Toolkit;

/// How long a client may keep what never changes while the server runs, in milliseconds.
const FRESH: u64 = 5 * 60 * 1000;

/// The tools of one toolkit, for one client.
pub(super) struct ToolService {
    toolkit: Toolkit,
    tools: Vec<Tool>,
    /// Bytes of their listing.
    tools_size: usize,
    instructions: String,
    skills: SkillResources,
    calls: Calls,
    outbox: Outbox,
}

/// About how many bytes something takes in a message.
fn size(part: &impl Serialize) -> usize {
    serde_json::to_string(part).map_or(0, |text| text.len())
}

impl ToolService {
    /// What is answered from these tools and skills, with `most` calls at once.
    pub(super) fn new(
        (toolkit, skills): (Toolkit, SkillCatalog),
        most: usize,
        outbox: Outbox,
        stop: Stop,
    ) -> ToolService {
        let rendered = toolkit.specs().map(schema::mcp);
        // The SDK takes everything that the rendering makes.
        let tools: Vec<Tool> =
            rendered.filter_map(|tool| serde_json::from_value(tool).ok()).collect();
        let tools_size = tools.iter().map(size).sum();
        let instructions = instructions::of(toolkit.specs());
        let calls = Calls::new(toolkit.clone(), most, outbox.clone(), stop);
        let skills = SkillResources::new(skills);
        ToolService { toolkit, tools, tools_size, instructions, skills, calls, outbox }
    }

    /// The calls, to wait for those that are left in the end.
    pub(super) fn calls(&self) -> Calls {
        self.calls.clone()
    }

    /// The words of the toolkit on a name that it does not know.
    fn unknown(&self, name: &str) -> ErrorData {
        let answer = self.toolkit.call(name, Value::Null, &Call::default());
        let reason = answer.error().map(ToString::to_string).unwrap_or_default();
        ErrorData::invalid_params(reason, None)
    }
}

impl ServerHandler for ToolService {
    fn get_info(&self) -> ServerConfig {
        let ourselves = Implementation::new("ripkit", env!("CARGO_PKG_VERSION"));
        let tools = ServerCapabilities::builder().enable_tools();
        let capabilities = if self.skills.is_empty() {
            tools.build()
        } else {
            tools.enable_resources().enable_skills().build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(ourselves.with_title("ripkit file tools"))
            .with_instructions(&self.instructions)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // What was agreed on, not what was asked for, decides the form of later answers.
        context.peer.set_peer_info(request.with_protocol_version(answer.protocol_version.clone()));
        Ok(answer)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(FRESH).with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("there is one page, and it has no cursor", None));
        }
        self.outbox.charge_at_once(&context.id, self.tools_size).await;
        let page = ListToolsResult::with_all_items(self.tools.clone());
        let older = context.protocol_version().is_none_or(|version| version.has_initialize());
        Ok(if older { page } else { page.with_ttl_ms(FRESH).with_cache_scope(CacheScope::Public) })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.toolkit.spec(&request.name).is_none() {
            return Err(self.unknown(&request.name));
        }
        let args = Value::Object(request.arguments.unwrap_or_default());
        let result = self.calls.run(request.name.into_owned(), args, context).await?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let room = self.outbox.reserve().await;
        let resources = self.skills.resources();
        self.outbox.charge(room, &context.id, size(&resources)).await;
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let room = self.outbox.reserve().await;
        let read = self.skills.read(request.uri).await?;
        self.outbox.charge(room, &context.id, size(&read)).await;
        Ok(read.into())
    }

    async fn list_skills(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.skills.list().await.map(ListSkillsResult::with_all_items)
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.skills.get(request.uri).await.map(GetSkillResult::new)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let reason = format!("there is no method {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, reason, None))
    }
}
