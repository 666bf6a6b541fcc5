import type { MediaLibrary } from './media-library.ts'
import type { PeerConnectionConstructor } from './peer-connection.ts'

/** Returns whether the library may be loaded: it aborts a process that loads it in two threads. */
const isMainThread = () => globalThis.process?.getBuiltinModule('node:worker_threads')?.isMainThread === true

/**
 * Returns the RTCPeerConnection of the optional package `node-datachannel`; undefined if it is not installed. Worker threads
 * have none.
 */
export async function loadPeerConnection(): Promise<PeerConnectionConstructor | undefined> {
  if (!isMainThread()) return undefined
  try {
    const { RTCPeerConnection } = await import('node-datachannel/polyfill')
    return RTCPeerConnection as unknown as PeerConnectionConstructor // the package's types are those of browsers
  } catch {
    return undefined
  }
}

/** Returns the optional package `node-datachannel`, which publishes cameras; undefined if it is not installed. */
export async function loadMediaLibrary(): Promise<MediaLibrary | undefined> {
  if (!isMainThread()) return undefined
  try {
    return (await import('node-datachannel')) as unknown as MediaLibrary // a part of its types
  } catch {
    return undefined
  }
}
