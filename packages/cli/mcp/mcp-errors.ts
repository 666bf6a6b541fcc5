import {
  isJSONRPCErrorResponse,
  type JSONRPCErrorResponse,
  parseJSONRPCMessage,
  type RequestId,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { type ExitOutcome, outcomeOf } from '../exit-codes.ts'
import { Failure } from '../failure.ts'

/** Error code for a request without a response of the platform. JSON-RPC reserves -32000 to -32099 for servers. */
const NO_ANSWER = -32000

const MAX_QUOTED = 300

/** Returns the error response for a request that the platform did not answer: why, and what to do. */
export function refusalOf(id: RequestId, cause: unknown, platform: string): JSONRPCErrorResponse {
  const reported = answerIn(cause)
  if (reported) return { ...reported, id }
  const status = statusOf(cause)
  return failure(id, errorMessage(cause, platform), status === 0 ? undefined : { status })
}

/** Returns the outcome of a failed request; `done` if the platform returned a JSON-RPC error. */
export function outcomeOfRefusal(cause: unknown): ExitOutcome {
  if (answerIn(cause)) return 'done'
  return cause instanceof Failure ? cause.outcome : outcomeOf(statusOf(cause))
}

export function failure(id: RequestId, message: string, data?: object): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message, ...(data && { data }) } }
}

/** Returns the JSON-RPC error in a failed HTTP response, if any. */
function answerIn(cause: unknown): JSONRPCErrorResponse | undefined {
  if (!(cause instanceof SdkHttpError) || typeof cause.data.text !== 'string') return undefined
  try {
    const message = parseJSONRPCMessage(JSON.parse(cause.data.text))
    return isJSONRPCErrorResponse(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** Returns a readable message for a failure of the connection to the platform. */
export function errorMessage(cause: unknown, platform: string): string {
  // A failure of the credential already says what to do.
  if (cause instanceof Failure) return cause.message
  const status = statusOf(cause)
  if (status === 401) return `${platform} refused the credential. Sign in again: wheelhouse login`
  if (status === 0) return `${platform} cannot be reached: ${reasonOf(cause)}. Try again later`
  const errorText = cause instanceof SdkHttpError ? errorTextOf(cause.data.text) : undefined
  if (status === 404 && !errorText) return `${platform} has no MCP server`
  return `${platform} answered ${status}${errorText ? `: ${errorText}` : ''}`
}

/** Returns the HTTP status; 0 without a response. */
function statusOf(cause: unknown): number {
  if (cause instanceof UnauthorizedError) return 401
  return cause instanceof SdkHttpError ? cause.status : 0
}

/** Returns the message of the platform's `{"error": "…"}`. */
function errorTextOf(text: unknown): string | undefined {
  try {
    const body: unknown = typeof text === 'string' ? JSON.parse(text) : null
    const reported = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
    return typeof reported === 'string' ? reported.slice(0, MAX_QUOTED) : undefined
  } catch {
    return undefined
  }
}

/** Returns the message of the cause, because `fetch failed` contains no details. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause).slice(0, MAX_QUOTED)
  const inner = cause.cause instanceof Error && cause.cause.message ? cause.cause.message : cause.message
  return inner.slice(0, MAX_QUOTED)
}
