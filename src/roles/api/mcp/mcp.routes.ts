import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Context, Middleware } from 'koa'
import {
  AppError,
  errorCodeOf,
  errorHeader,
  notAllowed,
  toAppError,
  unauthorized,
} from '../../../core/errors/errors.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { readBody } from '../../../core/http/json-body.ts'
import type { RateLimits } from '../../../core/http/rate-limits.ts'
import {
  type LimitedRequest,
  type RequestLimits,
  withFailureLimit,
} from '../../../core/http/request-authorization.ts'
import type { Log } from '../../../core/log.ts'
import type { Auth } from '../../../modules/identity/index.ts'
import { invalidRequest, methodNotFound, parseError, sendError } from './json-rpc.ts'
import { createMcpGuard } from './mcp-guard.ts'
import { MCP_PATH, metadataUrl } from './mcp-metadata.ts'
import { createMcpServer, type McpDeps } from './mcp-server.ts'
import { sessionOfRobot } from './robot-session.ts'
import type { CallContext } from './route-invoker.ts'
import { isStopTool } from './tool-calls.ts'

export interface McpRouteDeps extends McpDeps {
  readonly auth: Auth
  readonly limits: RateLimits
  readonly requestLimits: RequestLimits
  readonly baseUrl: string
  readonly corsOrigins: readonly string[]
  readonly log: Log
}

/**
 * Creates the MCP endpoint. Requests are independent: each has its credential and a new server, so any process can
 * handle it. HTTP errors have the body `{"error"}` of the API. Errors of a valid JSON-RPC request are JSON-RPC
 * errors.
 */
export function mcpRoutes(deps: McpRouteDeps): Middleware {
  const { auth, limits, log, report } = deps
  const guard = createMcpGuard(deps)
  const identify = withAuthChallenge(
    withFailureLimit(identifyByBearer(auth), limits),
    metadataUrl(deps.baseUrl),
  )
  const contexts = new WeakMap<Request, CallContext>()
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const context = requestInfo && contexts.get(requestInfo)
      if (!context) throw new Error('A request that the server did not send')
      try {
        return createMcpServer(deps, context)
      } catch (cause) {
        report(cause) // the handler only reports that the request failed
        throw cause
      }
    },
    // The message of the error repeats the request, which may contain any text.
    { onerror: ({ name }) => log.debug({ error: name }, 'MCP request rejected') },
  )

  async function respond(http: Context, context: CallContext, message: unknown): Promise<void> {
    await deps.requestLimits(http, context.caller, await limitedRequest(deps, message, context))
    if (Array.isArray(message))
      return sendError(http, 400, invalidRequest('Batches are not supported'), message)
    // The server has no subscriptions: clients poll lists and logs with `after`.
    if (methodOf(message) === 'subscriptions/listen') return sendError(http, 404, methodNotFound(), message)
    const disconnected = new AbortController()
    http.res.once('close', () => disconnected.abort())
    const request = webRequest(http, disconnected.signal)
    contexts.set(request, context)
    const response = await handler.fetch(request, { parsedBody: message })
    if (response.status >= 500) report(new Error(`The MCP handler responded with ${response.status}`))
    send(http, response)
  }

  return async (http, next) => {
    if (http.path !== MCP_PATH && http.path !== `${MCP_PATH}/`) return await next()
    guard(http)
    // Read first, because a stop must not wait for the authentication. A refused credential comes before a refused message.
    const [reading] = await Promise.allSettled([http.method === 'POST' ? readMessage(http) : undefined])
    const work = identify(http).then((caller) => answer(http, caller, reading))
    const stop = stopOf(deps, reading.status === 'fulfilled' ? reading.value : undefined)
    await (stop ? deps.directStop({ ...stop, caller: auth.rememberedCaller(http) }, work) : work)
  }

  async function answer(http: Context, caller: Caller, reading: PromiseSettledResult<unknown>) {
    if (http.method !== 'POST') throw notAllowed(http.method, ['POST'])
    if (reading.status === 'rejected') return refuseMessage(http, reading.reason)
    const message = reading.value
    try {
      await respond(http, { caller, http }, message)
    } catch (cause) {
      const { status, code, headers, message: why } = toAppError(cause)
      if (status >= 500) throw cause
      http.set(headers)
      sendError(http, status, { code: -32_000, message: why }, message, code)
    }
  }
}

/**
 * Returns an authentication that ignores cookies: browsers add them to requests of any page, so a cookie proves no
 * intent.
 */
const identifyByBearer = (auth: Auth) => async (http: Context) => {
  if (http.req.headers.authorization === undefined)
    throw unauthorized('unauthenticated', 'Send an Authorization: Bearer header')
  return await auth.identify(http)
}

/** Adds a challenge to a 401 that names the metadata with the identity provider (RFC 9728, RFC 6750). */
function withAuthChallenge(identify: ReturnType<typeof withFailureLimit>, metadata: string): typeof identify {
  return async (http) => {
    try {
      return await identify(http)
    } catch (cause) {
      if (!(cause instanceof AppError) || cause.status !== 401) throw cause
      const errorParameter = http.req.headers.authorization === undefined ? '' : 'error="invalid_token", '
      throw new AppError(401, cause.code, cause.message, {
        cause,
        headers: { 'WWW-Authenticate': `Bearer ${errorParameter}resource_metadata="${metadata}"` },
      })
    }
  }
}

/**
 * Returns the parsed body.
 * @throws 400, 413, 415
 */
async function readMessage(http: Context): Promise<unknown> {
  if (!http.request.is('json'))
    throw new AppError(415, 'unsupported_media_type', 'Content-Type must be application/json')
  await readBody(http, async () => {})
  return http.request.body
}

/** Answers a message that could not be read. @throws 413, 415 */
function refuseMessage(http: Context, cause: unknown): void {
  const error = toAppError(cause)
  if (error.status !== 400) throw cause
  const isParseError = error.cause instanceof SyntaxError
  sendError(http, 400, isParseError ? parseError() : invalidRequest(error.message), undefined)
}

/**
 * Returns the route that a message is counted as: a tool call counts as a call of its route. A tool call that names a
 * robot counts as a call for its session, so that a stop by a participant is never limited.
 */
async function limitedRequest(
  deps: McpRouteDeps,
  message: unknown,
  context: CallContext,
): Promise<LimitedRequest> {
  const call = toolCallOf(deps, message)
  if (!call) return { method: 'POST', path: MCP_PATH, body: undefined }
  const { tool, given } = call
  const [method, path] = tool.route.split(' ') as [string, string]
  const namedId: unknown = tool.id && Reflect.get(given, tool.id)
  const id =
    namedId ??
    (tool.acceptsRobot ? await sessionOfNamedRobot(deps, Reflect.get(given, 'robot'), context) : undefined)
  return { method, path: typeof id === 'string' ? path.replace('{id}', () => id) : path, body: tool.fixed }
}

/** Returns the session of a robot by the id or name of the robot; undefined when the caller has no access to it. */
async function sessionOfNamedRobot(
  { routes }: McpRouteDeps,
  robot: unknown,
  context: CallContext,
): Promise<string | undefined> {
  if (typeof robot !== 'string') return undefined
  return await sessionOfRobot(robot, routes, context).catch((cause) => {
    if (cause instanceof AppError && cause.status < 500) return undefined // the tool reports this error
    throw cause
  })
}

/** Returns the tool that a message calls, and its arguments; undefined for other messages. */
function toolCallOf({ toolbox }: McpRouteDeps, message: unknown) {
  const params = Object(methodOf(message) === 'tools/call' ? paramsOf(message) : undefined)
  const name: unknown = Reflect.get(params, 'name')
  const tool = typeof name === 'string' ? toolbox.byName(name)?.spec : undefined
  return tool && { tool, given: Object(Reflect.get(params, 'arguments')) as Record<string, unknown> }
}

/** Returns the session and the reason of a tool call that stops a robot; undefined for other messages. */
function stopOf(deps: McpRouteDeps, message: unknown) {
  const call = toolCallOf(deps, message)
  if (!call || !isStopTool(call.tool)) return undefined
  const { sessionId, reason } = call.given
  if (typeof sessionId !== 'string') return undefined
  return { sessionId, reason: typeof reason === 'string' ? reason : undefined }
}

const methodOf = (message: unknown): unknown => Reflect.get(Object(message), 'method')
const paramsOf = (message: unknown): unknown => Reflect.get(Object(message), 'params')

/** Returns the request for the MCP handler, without its credentials, which are already verified. */
function webRequest(http: Context, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(http.req.headers)) {
    if (value === undefined || name === 'authorization' || name === 'cookie') continue
    headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return new Request(new URL(http.path, 'http://localhost'), { method: 'POST', headers, signal })
}

/** Sends the response of the handler: one JSON text, or a short stream of events. */
function send(http: Context, response: Response): void {
  http.status = response.status
  http.body = response.body ? Readable.fromWeb(response.body as ReadableStream) : ''
  http.remove('Content-Type') // the default of Koa
  for (const name of ['content-type', 'allow', 'x-accel-buffering', 'mcp-protocol-version']) {
    const value = response.headers.get(name)
    if (value !== null) http.set(name, value)
  }
  http.set('Cache-Control', 'no-store')
  if (response.status >= 400) http.set(errorHeader(errorCodeOf(response.status)))
}
