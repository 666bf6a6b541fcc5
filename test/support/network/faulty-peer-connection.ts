import { RTCPeerConnection } from 'node-datachannel/polyfill'
import type {
  DataChannelLike,
  PeerConnectionConstructor,
  PeerConnectionLike,
} from '../../../packages/sdk/peer-connection.ts'

type Packet = () => void

/** A network between a client and the gateway for WebRTC only, with faults that a test sets. */
export class FaultyNetwork {
  /** Drops all messages from now on, in both directions, as a firewall that begins to block UDP does. */
  blocked = false
  /** Holds back messages until `release`. */
  held = false
  /** Delivers messages twice. */
  repeats = false
  /** Answers never reach the client, so that no channel opens. */
  unreachable = false
  offers = 0
  /** Messages that reached the gateway's side of the network, or the client. */
  delivered = 0
  #packets: Packet[] = []

  /** Delivers what was held back, the newest first. */
  release(): void {
    this.held = false
    for (const packet of this.#packets.splice(0).reverse()) packet()
  }

  /** The constructor that a link under test uses. */
  readonly PeerConnection: PeerConnectionConstructor = createConstructor(this)

  transmit(packet: Packet): void {
    if (this.blocked) return
    this.delivered++
    if (this.held) {
      this.#packets.push(packet)
      return
    }
    packet()
    if (this.repeats) packet()
  }
}

function createConstructor(network: FaultyNetwork): PeerConnectionConstructor {
  return class {
    constructor(configuration: { iceServers: [] }) {
      network.offers++
      const peer = new RTCPeerConnection(configuration) as unknown as PeerConnectionLike
      const { createDataChannel, setRemoteDescription } = peer
      peer.createDataChannel = (label, settings) =>
        faultyChannel(network, createDataChannel.call(peer, label, settings))
      peer.setRemoteDescription = (description) =>
        network.unreachable ? Promise.resolve() : setRemoteDescription.call(peer, description)
      // biome-ignore lint/correctness/noConstructorReturn: the link gets the real connection, with two methods replaced
      return peer
    }
  } as unknown as PeerConnectionConstructor
}

function faultyChannel(network: FaultyNetwork, channel: DataChannelLike): DataChannelLike {
  const { send, addEventListener } = channel
  channel.send = (data) =>
    network.transmit(() => {
      if (channel.readyState === 'open') send.call(channel, data)
    })
  channel.addEventListener = (type: string, listener: (event: { data: unknown }) => void) => {
    if (type !== 'message') return addEventListener.call(channel, type as 'message', listener)
    addEventListener.call(channel, 'message', (event) => network.transmit(() => listener(event)))
  }
  return channel
}
