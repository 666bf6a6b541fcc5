import type { PeerConnectionConstructor } from './peer-connection.ts'

/**
 * Returns the RTCPeerConnection of the optional package `node-datachannel`; undefined if it is not installed. It is not loaded in worker
 * threads: the library aborts a process that loads it in two threads.
 */
export async function loadPeerConnection(): Promise<PeerConnectionConstructor | undefined> {
  if (globalThis.process?.getBuiltinModule('node:worker_threads')?.isMainThread !== true) return undefined
  try {
    const { RTCPeerConnection } = await import('node-datachannel/polyfill')
    return RTCPeerConnection as unknown as PeerConnectionConstructor // the package's types are those of browsers
  } catch {
    return undefined
  }
}
