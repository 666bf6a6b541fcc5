import { decodeOrderedFrame } from '@wheelhouse/protocol'
import type { ChannelHost } from '../../../gateway/channel/channel-host.ts'
import { type ChannelEvents, DataChannel } from '../../../gateway/channel/data-channel.ts'
import { FrameSequence } from '../../../packages/sdk/frame-sequence.ts'
import type { Sent } from './fake-socket.ts'

/** The peer's end of a data channel without a network: messages arrive immediately, unless it does not deliver. */
export class FakeChannelPeer {
  /** Receives a frame of the gateway. */
  onFrame: ((frame: Sent) => void) | undefined
  /** Receives a frame of the gateway that is lost. */
  onLost: ((frame: Sent) => void) | undefined
  /** Whether messages arrive, in both directions. */
  delivers = true
  readonly #sendOverSocket: (frame: object) => void
  #events: ChannelEvents | undefined
  #channel: DataChannel | undefined

  constructor(sendOverSocket: (frame: object) => void) {
    this.#sendOverSocket = sendOverSocket
  }

  get open(): boolean {
    return this.#channel?.open === true
  }

  get works(): boolean {
    return this.open && this.delivers
  }

  /** Offers a channel, which opens at once. */
  offer(): void {
    this.#sendOverSocket({ type: 'channel_offer', sdp: 'v=0' })
  }

  /** Sends a message to the gateway. */
  send(frame: object | Uint8Array): void {
    if (!this.open || !this.delivers) return
    this.#events?.message(frame instanceof Uint8Array ? frame : JSON.stringify(frame))
  }

  /** Ends the channel, as the network does. */
  lose(): void {
    const channel = this.#channel
    if (!channel) return
    channel.close()
    channel.events.closed(undefined)
  }

  /** Receives a message of the gateway; answers probes. */
  receive(frame: string | Uint8Array): void {
    const copy = typeof frame === 'string' ? frame : Uint8Array.from(frame).buffer
    if (!this.delivers) this.onLost?.(copy)
    else if (typeof frame === 'string' && frame.startsWith('{"type":"probe"'))
      queueMicrotask(() => this.send({ ...JSON.parse(frame), type: 'probe_answer' })) // as a network: not before `send` returns
    else this.onFrame?.(copy)
  }

  attach(channel: DataChannel, events: ChannelEvents): void {
    this.#channel = channel
    this.#events = events
  }
}

/** Replaces the process of the data channels. */
export class FakeChannels {
  readonly host: ChannelHost
  readonly #open = new Map<number, FakeChannelPeer>()
  #offering: FakeChannelPeer | undefined
  #lastId = 0

  constructor(preciseMs: () => number) {
    const open = this.#open
    this.host = {
      get size() {
        return open.size
      },
      offer: (_sdp, events) => {
        const port = {
          send: (id: number, frame: string | Uint8Array) => {
            open.get(id)?.receive(frame)
            return true
          },
          close: (id: number) => void open.delete(id),
        }
        const channel = new DataChannel(++this.#lastId, port, events, preciseMs)
        const peer = this.#offering
        if (peer) {
          peer.attach(channel, events)
          open.set(channel.id, peer)
          queueMicrotask(() => {
            events.answered('v=0')
            channel.opened()
          })
        }
        return channel
      },
      close() {},
    }
  }

  /** Creates the peer's end of the channels of one socket. */
  peer(sendOverSocket: (frame: object) => void): FakeChannelPeer {
    const peer = new FakeChannelPeer(sendOverSocket)
    const { offer } = peer
    peer.offer = () => {
      this.#offering = peer
      offer.call(peer)
      this.#offering = undefined
    }
    return peer
  }
}

/** Reads the frames of a robot with a data channel as robots do: each at most once, in the order in which they were sent. */
export class RobotSequence {
  readonly #sequence = new FrameSequence()

  /** Returns the frame without its order; undefined if the robot ignores it. */
  unordered(frame: Sent): Sent | undefined {
    if (typeof frame !== 'string') {
      const ordered = decodeOrderedFrame(new Uint8Array(frame))
      if (!ordered) return frame
      return this.#sequence.accept(ordered.order, ordered.after)
        ? Uint8Array.from(ordered.frame).buffer
        : undefined
    }
    const value = JSON.parse(frame)
    if (value.type === 'welcome') this.#sequence.reset()
    const isLatch = value.type === 'stop_cleared' || value.latched === true
    const { order, after } = value
    if (value.type === 'session') this.#sequence.session(order)
    else if (value.type === 'limits') return this.#sequence.acceptLimits(order, after) ? frame : undefined
    else if (!(isLatch ? this.#sequence.acceptLatch(order) : this.#sequence.accept(order, after)))
      return undefined
    return frame
  }
}
