import type { ErrorCode } from '@wheelhouse/protocol'
import type { Context } from 'koa'
import { errorCodeOf, errorHeader } from '../../../core/errors/errors.ts'

interface RpcError {
  readonly code: number
  readonly message: string
}

export const parseError = (): RpcError => ({
  code: -32_700,
  message: 'Parse error: the body is not valid JSON',
})
export const invalidRequest = (why: string): RpcError => ({ code: -32_600, message: why })
export const methodNotFound = (): RpcError => ({ code: -32_601, message: 'Method not found' })

/** Returns the id of a request for its response; null when the message has no readable id. */
function requestIdOf(message: unknown): string | number | null {
  const id: unknown = Reflect.get(Object(message), 'id')
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** Sends a JSON-RPC error. */
export function sendError(
  http: Context,
  status: number,
  error: RpcError,
  message: unknown,
  errorCode: ErrorCode = errorCodeOf(status),
): void {
  http.status = status
  http.set(errorHeader(errorCode))
  http.body = { jsonrpc: '2.0', error, id: requestIdOf(message) }
}
