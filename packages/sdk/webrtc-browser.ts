import type { PeerConnectionConstructor } from './peer-connection.ts'

/** Returns the browser's RTCPeerConnection; undefined if it has none. */
export const loadPeerConnection = async (): Promise<PeerConnectionConstructor | undefined> =>
  (globalThis as { RTCPeerConnection?: PeerConnectionConstructor }).RTCPeerConnection
