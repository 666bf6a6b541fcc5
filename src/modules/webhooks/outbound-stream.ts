import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pinnedTo } from './pinned-lookup.ts'
import type { Targets } from './target.ts'

/** Time until the head of a response, and without data within its body. */
const SILENT_MS = 10_000

/** A response whose body arrives as long as the connection exists. */
export interface OutboundResponse {
  readonly status: number
  readonly contentType: string
  readonly body: AsyncIterable<Buffer>
}

/**
 * Creates a function that requests an address that a user chose, and returns the response as it arrives. It follows the rules of
 * webhooks: it connects only to an address that it has just checked, on a new connection, and follows no redirects.
 */
export const createStreamRequester =
  ({ targets, silentMs = SILENT_MS }: { targets: Targets; silentMs?: number }) =>
  /** @throws Error if there is no response, or TargetRefused if the address is not allowed */
  async (text: string, stop: AbortSignal): Promise<OutboundResponse> => {
    const { url, addresses } = await targets.check(text)
    return await new Promise((resolve, reject) => {
      const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
        agent: false, // reuses no connection of an earlier check and no proxy of the environment
        lookup: pinnedTo(addresses),
        signal: stop,
        timeout: silentMs,
      })
      request.on('timeout', () => request.destroy(new Error('The address sends nothing')))
      request.on('error', reject)
      request.on('response', (response: IncomingMessage) => {
        const { statusCode: status = 0, headers } = response
        // Errors of a body end its iteration. Without a reader, they must not end the process.
        response.on('error', () => {})
        resolve({ status, contentType: headers['content-type'] ?? '', body: bodyOf(response) })
      })
      request.end()
    })
  }

/** Returns the body. Its connection ends with the iteration. */
async function* bodyOf(response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of response) yield chunk as Buffer
  } finally {
    response.destroy()
  }
}
