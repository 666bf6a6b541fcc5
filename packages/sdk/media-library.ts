// The part of the optional package `node-datachannel` that publishes cameras.

interface MediaTrack {
  isOpen(): boolean
  sendMessageBinary(packet: Uint8Array): boolean
  onOpen(listener: () => void): void
  onMessage(listener: (packet: Uint8Array) => void): void
}

interface VideoDescription {
  addVP8Codec(payloadType: number): void
  addH264Codec(payloadType: number, parameters?: string): void
  addSSRC(ssrc: number, name: string, streamId: string, trackId: string): void
}

/** A TURN server in the form of the library. */
export interface MediaIceServer {
  readonly hostname: string
  readonly port: number
  readonly username: string
  readonly password: string
  readonly relayType: 'TurnUdp' | 'TurnTcp' | 'TurnTls'
}

export interface MediaConnection {
  addTrack(video: VideoDescription): MediaTrack
  setLocalDescription(type: 'offer'): void
  setRemoteDescription(sdp: string, type: 'answer'): void
  localDescription(): { readonly sdp: string } | null
  onGatheringStateChange(listener: (state: string) => void): void
  onStateChange(listener: (state: string) => void): void
  close(): void
}

export interface MediaLibrary {
  readonly PeerConnection: new (
    name: string,
    configuration: { iceServers: MediaIceServer[] },
  ) => MediaConnection
  readonly Video: new (mid: string, direction: 'SendOnly') => VideoDescription
}
