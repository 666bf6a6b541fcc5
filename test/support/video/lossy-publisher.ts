import { PeerConnection, type Track, Video } from 'node-datachannel'
import { PacketSender } from '../../../packages/sdk/camera/packet-sender.ts'
import type { CameraCodec } from '../../../packages/sdk/camera/packetizer.ts'
import { connectTo, localDescription } from './webrtc-client.ts'

const PAYLOAD_TYPE = 96
const SSRC = 21
const FRAME_MS = 30
const REPORT_MS = 500

/** A WHIP client that loses packets: some once, so that they can be sent again, and some always. */
export class LossyPublisher {
  readonly #connection = new PeerConnection('lossy', { iceServers: [] })
  readonly #track: Track
  readonly #sender: PacketSender
  readonly #timers: NodeJS.Timeout[]
  readonly #frameOf: (number: number, keyframe: boolean) => Buffer
  #wanted = true
  #number = 0
  /** Decides about each packet of video, also when it is sent again. */
  drops: (packet: Uint8Array) => boolean = () => false
  readonly bitrates: number[] = []
  /** The frames that were sent, by number. */
  readonly sent = new Map<number, Buffer>()
  keyframes = 0

  constructor(codec: CameraCodec, frameOf: (number: number, keyframe: boolean) => Buffer) {
    this.#frameOf = frameOf
    const video = new Video('0', 'SendOnly')
    if (codec === 'VP8') video.addVP8Codec(PAYLOAD_TYPE)
    else video.addH264Codec(PAYLOAD_TYPE, 'profile-level-id=42e01f;packetization-mode=1')
    video.addSSRC(SSRC, 'lossy', 'lossy', 'lossy')
    const track = this.#connection.addTrack(video)
    this.#track = track
    const sendMessageBinary = (packet: Uint8Array) =>
      (isVideo(packet) && this.drops(packet)) || track.sendMessageBinary(Buffer.from(packet))
    this.#sender = new PacketSender(
      { isOpen: () => track.isOpen(), sendMessageBinary },
      {
        codec,
        payloadType: PAYLOAD_TYPE,
        ssrc: SSRC,
        onBitrate: (bitsPerSecond) => this.bitrates.push(bitsPerSecond),
        onKeyframeNeeded: () => {
          this.#wanted = true
        },
      },
    )
    track.onMessage((packet) => this.#sender.receive(packet))
    this.#timers = [
      setInterval(() => this.#send(), FRAME_MS),
      setInterval(() => this.#sender.report(Date.now()), REPORT_MS),
    ]
  }

  async publish(url: string, token: string): Promise<void> {
    await connectTo(this.#connection, { url, token, sdp: await localDescription(this.#connection, 'offer') })
  }

  #send(): void {
    if (!this.#track.isOpen()) return
    const isKeyframe = this.#wanted
    const frame = this.#frameOf(++this.#number, isKeyframe)
    if (isKeyframe) this.keyframes++
    this.#wanted = false
    this.sent.set(this.#number, frame)
    this.#sender.send(frame, Date.now())
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#connection.close()
  }
}

const isVideo = (packet: Uint8Array) => ((packet[1] as number) & 0x7f) === PAYLOAD_TYPE
