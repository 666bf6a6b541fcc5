import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { bodyParser } from '@koa/bodyparser'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { isValueNestedTooDeep, MAX_FRAME_DEPTH } from '@wheelhouse/protocol'
import type { Context, Middleware } from 'koa'
import {
  AppError,
  errorCodeOf,
  errorHeader,
  notAllowed,
  toAppError,
  unauthorized,
} from '../../core/errors/errors.ts'
import { REQUEST_BODY_LIMIT } from '../../core/http/app.ts'
import type { RateLimits } from '../../core/http/rate-limits.ts'
import {
  type LimitedRequest,
  type RequestLimits,
  withFailureLimit,
} from '../../core/http/request-authorization.ts'
import type { Log } from '../../core/log.ts'
import type { Auth } from '../../modules/identity/index.ts'
import { invalidRequest, methodNotFound, parseError, sendError } from './json-rpc.ts'
import { createMcpGuard } from './mcp-guard.ts'
import { MCP_PATH, metadataUrl } from './mcp-metadata.ts'
import { createMcpServer, type McpDeps } from './mcp-server.ts'
import { sessionOfRobot } from './robot-session.ts'
import type { CallContext } from './route-invoker.ts'

const TOO_DEEP = `The message is nested deeper than ${MAX_FRAME_DEPTH} levels`

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
    const caller = await identify(http)
    if (http.method !== 'POST') throw notAllowed(http.method, ['POST'])
    const message = await readMessage(http)
    if (message === undefined) return sendError(http, 400, parseError(), undefined)
    if (isValueNestedTooDeep(message)) return sendError(http, 400, invalidRequest(TOO_DEEP), message)
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

const readBody = bodyParser({ enableTypes: ['json'], jsonLimit: REQUEST_BODY_LIMIT, encoding: 'utf-8' })

/**
 * Returns the parsed body; undefined when it is not JSON.
 * @throws 413, 415
 */
async function readMessage(http: Context): Promise<unknown> {
  if (!http.request.is('json'))
    throw new AppError(415, 'unsupported_media_type', 'Content-Type must be application/json')
  try {
    await readBody(http, async () => {})
    return http.request.body
  } catch (cause) {
    if (toAppError(cause).status === 400) return undefined
    throw cause
  }
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
  const params = Object(methodOf(message) === 'tools/call' ? paramsOf(message) : undefined)
  const name: unknown = Reflect.get(params, 'name')
  const tool = typeof name === 'string' ? deps.toolbox.byName(name)?.spec : undefined
  if (!tool) return { method: 'POST', path: MCP_PATH, body: undefined }
  const [method, path] = tool.route.split(' ') as [string, string]
  const given = Object(Reflect.get(params, 'arguments'))
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
