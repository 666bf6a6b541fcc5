import { connect, type Socket } from 'node:net'

const READ_BYTES = 256 * 1024
/** Shared by all sockets: every read is processed before the next one begins. */
const readBuffer = Buffer.alloc(READ_BYTES)

export interface RawSocketOptions {
  readonly port: number
  /** Source address, when one does not have enough ports. */
  readonly localAddress?: string
}

/**
 * Connects to a port of this machine.
 * @param read processes received bytes, which are valid during the call
 */
export function connectRaw({ port, localAddress }: RawSocketOptions, read: (data: Buffer) => void): Socket {
  const onread = {
    buffer: readBuffer,
    callback: (bytes: number) => {
      read(readBuffer.subarray(0, bytes))
      return true
    },
  }
  return connect({ host: '127.0.0.1', port, noDelay: true, ...(localAddress && { localAddress }), onread })
}
