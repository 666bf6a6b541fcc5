import { rtp } from '@wheelhouse/protocol'
import { PeerConnection, type Track, Video } from 'node-datachannel'
import { vp8Frame } from './test-frames.ts'
import { connectTo, localDescription, rtpPacket } from './webrtc-client.ts'

const PAYLOAD_TYPE = 96
const LAYER_EXTENSION = 4
const FRAME_MS = 30

/** A layer: its name, and the bytes of each frame. */
interface Layer {
  readonly name: string
  readonly ssrc: number
  readonly frameBytes: number
}

/** The number of a frame is that of its layer's first one, and counts from there. */
const FIRST_NUMBERS = { l: 0, h: 1_000_000 } as const
const layers: readonly Layer[] = [
  { name: 'l', ssrc: 11, frameBytes: 200 },
  { name: 'h', ssrc: 12, frameBytes: 1_100 },
]

/** Returns the layer that a frame number belongs to. */
export const layerOf = (frameNumber: number): 'l' | 'h' => (frameNumber < FIRST_NUMBERS.h ? 'l' : 'h')

/** A WHIP client that sends its picture in two layers. */
export class LayeredPublisher {
  readonly #connection = new PeerConnection('layers', { iceServers: [] })
  readonly #track: Track
  readonly #timer: NodeJS.Timeout
  /** Layers whose next frame must be a keyframe. */
  readonly #wanted = new Set<number>()
  #number = 0

  constructor() {
    const video = new Video('0', 'SendOnly')
    video.addVP8Codec(PAYLOAD_TYPE)
    this.#track = this.#connection.addTrack(video)
    this.#track.onMessage((packet) => this.#receive(packet))
    this.#timer = setInterval(() => this.#send(), FRAME_MS)
  }

  /** Publishes. Returns the answer. */
  async publish(url: string, token: string): Promise<string> {
    const offer = [
      (await localDescription(this.#connection, 'offer')).trimEnd(),
      `a=extmap:${LAYER_EXTENSION} urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id`,
      ...layers.map(({ name }) => `a=rid:${name} send`),
      `a=simulcast:send ${layers.map(({ name }) => name).join(';')}`,
    ]
    return await connectTo(this.#connection, { url, token, sdp: `${offer.join('\r\n')}\r\n` })
  }

  #receive(packet: Buffer): void {
    for (const message of rtp.readRtcp(packet))
      if (message.type === 'keyframe_request') this.#wanted.add(message.ssrc)
  }

  #send(): void {
    if (!this.#track.isOpen()) return
    this.#number++
    for (const layer of layers) this.#track.sendMessageBinary(this.#packetOf(layer))
  }

  #packetOf({ name, ssrc, frameBytes }: Layer): Buffer {
    const number = FIRST_NUMBERS[name as 'l' | 'h'] + this.#number
    const keyframe = this.#wanted.delete(ssrc) || this.#number === 1
    const extension = Buffer.from([0xbe, 0xde, 0, 1, LAYER_EXTENSION << 4, name.charCodeAt(0), 0, 0])
    const payload = Buffer.concat([Buffer.from([0x10]), vp8Frame(number, { keyframe, bytes: frameBytes })])
    const fields = {
      payloadType: PAYLOAD_TYPE,
      sequenceNumber: this.#number & 0xffff,
      timestamp: (this.#number * FRAME_MS * 90) >>> 0,
      ssrc,
      marker: true, // one packet for each frame
    }
    return rtpPacket(fields, payload, extension)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#connection.close()
  }
}
