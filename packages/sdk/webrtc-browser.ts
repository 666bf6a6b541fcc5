import type { MediaLibrary } from './media-library.ts'
import type { PeerConnectionConstructor } from './peer-connection.ts'

/** Returns the browser's RTCPeerConnection; undefined if it has none. */
export const loadPeerConnection = async (): Promise<PeerConnectionConstructor | undefined> =>
  (globalThis as { RTCPeerConnection?: PeerConnectionConstructor }).RTCPeerConnection

/** Browsers publish a camera with their own WebRTC, by WHIP. */
export const loadMediaLibrary = async (): Promise<MediaLibrary | undefined> => undefined
