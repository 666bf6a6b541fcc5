import { Transform } from 'node:stream'
import { createTcpProxy } from '../../test/support/network/tcp-proxy.ts'

export interface BreakableLink {
  /** The address for a client; each connection leads to another one of the hubs. */
  readonly url: string
  /** Number of connections that were broken. */
  readonly breaks: number
  /** Breaks the connection without a close frame to either side; returns whether there was one. */
  cut(): boolean
  /** Breaks the connection after this many more bytes from the hub: in the middle of a packet. */
  cutAfter(bytes: number): void
  /** Cancels a planned break. */
  cancelBreak(): void
  [Symbol.asyncDispose](): Promise<void>
}

/** Creates the network between one client and the hubs; it can break at any moment, also inside a packet. */
export async function createBreakableLink(pickHub: () => string): Promise<BreakableLink> {
  let breaks = 0
  let bytesLeft = Number.POSITIVE_INFINITY

  const proxy = await createTcpProxy(pickHub, {
    createFilter: () =>
      new Transform({
        transform(chunk: Buffer, _encoding, done) {
          const passed = chunk.subarray(0, bytesLeft)
          bytesLeft -= passed.length
          done(null, passed)
          // The socket has written the bytes before the reset in the next turn.
          if (bytesLeft === 0 && passed.length > 0) setImmediate(cut)
        },
      }),
  })
  const cut = () => {
    if (proxy.reset() === 0) return false
    bytesLeft = Number.POSITIVE_INFINITY
    breaks++
    return true
  }

  return {
    url: new URL(proxy.url).origin,
    get breaks() {
      return breaks
    },
    cut,
    cutAfter(bytes) {
      bytesLeft = bytes
    },
    cancelBreak() {
      bytesLeft = Number.POSITIVE_INFINITY
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  }
}
