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

/** JSON-RPC leaves -32000 to -32099 to servers; this one says that the platform gave no answer of its own. */
export const NO_ANSWER = -32000

const MAX_QUOTED = 300

/** What the client hears of a request that got no answer in the protocol: why, and what to do about it. */
export function refusalOf(id: RequestId, cause: unknown, platform: string): JSONRPCErrorResponse {
  const reported = answerIn(cause)
  if (reported) return { ...reported, id }
  const status = statusOf(cause)
  return failure(id, errorMessage(cause, platform), status === 0 ? undefined : { status })
}

/** Returns what a refusal means for the exit code: `done` where the platform answered in the protocol. */
export function outcomeOfRefusal(cause: unknown): ExitOutcome {
  if (answerIn(cause)) return 'done'
  return cause instanceof Failure ? cause.outcome : outcomeOf(statusOf(cause))
}

export function failure(id: RequestId, message: string, data?: object): JSONRPCErrorResponse {
  return { jsonrpc: '2.0', id, error: { code: NO_ANSWER, message, ...(data && { data }) } }
}

/** The protocol's own error, where the platform sent one with a status that is no success. */
function answerIn(cause: unknown): JSONRPCErrorResponse | undefined {
  if (!(cause instanceof SdkHttpError) || typeof cause.data.text !== 'string') return undefined
  try {
    const message = parseJSONRPCMessage(JSON.parse(cause.data.text))
    return isJSONRPCErrorResponse(message) ? message : undefined
  } catch {
    return undefined
  }
}

/** What went wrong between here and the platform, in words for people. */
export function errorMessage(cause: unknown, platform: string): string {
  // Of the credential: it says what to do itself.
  if (cause instanceof Failure) return cause.message
  const status = statusOf(cause)
  if (status === 401) return `${platform} refused the credential. Sign in again: wheelhouse login`
  if (status === 0) return `${platform} cannot be reached: ${reasonOf(cause)}. Try again later`
  const errorText = cause instanceof SdkHttpError ? errorTextOf(cause.data.text) : undefined
  if (status === 404 && !errorText) return `${platform} has no MCP server`
  return `${platform} answered ${status}${errorText ? `: ${errorText}` : ''}`
}

/** The HTTP status; 0 when no answer came. */
function statusOf(cause: unknown): number {
  if (cause instanceof UnauthorizedError) return 401
  return cause instanceof SdkHttpError ? cause.status : 0
}

/** The platform's `{"error": "…"}`. */
function errorTextOf(text: unknown): string | undefined {
  try {
    const body: unknown = typeof text === 'string' ? JSON.parse(text) : null
    const reported = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
    return typeof reported === 'string' ? reported.slice(0, MAX_QUOTED) : undefined
  } catch {
    return undefined
  }
}

/** `fetch failed` says little; its cause says more. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause).slice(0, MAX_QUOTED)
  const inner = cause.cause instanceof Error && cause.cause.message ? cause.cause.message : cause.message
  return inner.slice(0, MAX_QUOTED)
}
