import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server'
import { toAppError } from '../../../core/errors/errors.ts'

/**
 * Handles a request other than a tool call. Errors of the platform become protocol errors with the same message.
 * Internal errors are not described.
 */
export async function withProtocolErrors<T>(
  report: (cause: unknown) => void,
  work: () => Promise<T>,
  uri?: string,
): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof ProtocolError) throw cause
    const { status, message, byConfiguration: bySetUp } = toAppError(cause)
    if (status === 404 && uri !== undefined) throw new ResourceNotFoundError(uri, message)
    if (status >= 500 && !bySetUp) report(cause)
    const code = status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
    throw new ProtocolError(code, message, { status })
  }
}
