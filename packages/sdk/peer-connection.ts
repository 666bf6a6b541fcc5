/** The part of the standard RTCDataChannel that links use. */
export interface DataChannelLike {
  binaryType: string
  readonly bufferedAmount: number
  readonly readyState: string
  send(data: string | Uint8Array<ArrayBuffer>): void
  close(): void
  addEventListener(type: 'open' | 'close', listener: () => void): void
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void
}

interface SessionDescription<Type extends string> {
  readonly type: Type
  readonly sdp: string
}

/** The part of the standard RTCPeerConnection that links use. */
export interface PeerConnectionLike {
  readonly localDescription: { readonly sdp?: string } | null
  readonly connectionState: string
  createDataChannel(
    label: string,
    settings: { readonly ordered: boolean; readonly maxRetransmits: number },
  ): DataChannelLike
  createOffer(): Promise<{ readonly type: string; readonly sdp?: string }>
  setLocalDescription(description: SessionDescription<'offer'>): Promise<void>
  setRemoteDescription(description: SessionDescription<'answer'>): Promise<void>
  close(): void
  addEventListener(type: 'connectionstatechange', listener: () => void): void
}

/** The standard constructor of browsers, or of a library that behaves like it. */
export type PeerConnectionConstructor = new (configuration: { iceServers: [] }) => PeerConnectionLike
