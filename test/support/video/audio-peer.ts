import { rtp } from '@wheelhouse/protocol'
import { Audio, PeerConnection, type Track, Video } from 'node-datachannel'
import { vp8Frame } from './test-frames.ts'
import { connectTo, localDescription, rtpPacket } from './webrtc-client.ts'

const VP8 = 96
const [VIDEO_SSRC, AUDIO_SSRC] = [21, 22]
const SEND_MS = 20

/** A WHIP or WHEP client with video and a microphone. It sends texts instead of sound. */
export class AudioPeer {
  readonly received = new Set<string>()
  readonly #connection = new PeerConnection('audio', { iceServers: [] })
  readonly #video: Track
  readonly #audio: Track
  readonly #timer: NodeJS.Timeout
  readonly #sound: string
  /** Number of Opus in the offer. */
  readonly #payloadType: number
  #number = 0

  /** `sendsVideo` publishes; otherwise the peer is a viewer. */
  constructor({
    sound,
    sendsVideo,
    payloadType,
  }: { sound: string; sendsVideo: boolean; payloadType: number }) {
    this.#payloadType = payloadType
    this.#sound = sound
    const video = new Video('0', sendsVideo ? 'SendOnly' : 'RecvOnly')
    video.addVP8Codec(VP8)
    if (sendsVideo) video.addSSRC(VIDEO_SSRC, 'peer', 'peer', 'video')
    this.#video = this.#connection.addTrack(video)
    const audio = new Audio('1', 'SendRecv')
    audio.addOpusCodec(payloadType)
    audio.addSSRC(AUDIO_SSRC, 'peer', 'peer', 'audio')
    this.#audio = this.#connection.addTrack(audio)
    this.#audio.onMessage((packet) => this.#receive(packet))
    this.#video.onMessage(() => {})
    this.#timer = setInterval(() => this.#send(sendsVideo), SEND_MS)
  }

  /** Connects to a WHIP or WHEP endpoint. */
  async connect(url: string, token: string): Promise<void> {
    const sdp = await localDescription(this.#connection, 'offer')
    await connectTo(this.#connection, { url, token, sdp })
  }

  #receive(packet: Buffer): void {
    const header = rtp.isRtcp(packet) ? undefined : rtp.readRtp(packet)
    // A packet of another payload type would be no sound.
    if (header?.payloadType === this.#payloadType)
      this.received.add(packet.toString('latin1', header.payloadStart, header.payloadEnd))
  }

  #send(sendsVideo: boolean): void {
    this.#number++
    const keyframe = Buffer.concat([
      Buffer.from([0x10]),
      vp8Frame(this.#number, { keyframe: true, bytes: 500 }),
    ])
    if (sendsVideo) this.#sendTo(this.#video, { payloadType: VP8, ssrc: VIDEO_SSRC, payload: keyframe })
    const payload = Buffer.from(this.#sound, 'latin1')
    this.#sendTo(this.#audio, { payloadType: this.#payloadType, ssrc: AUDIO_SSRC, payload })
  }

  #sendTo(track: Track, parts: { payloadType: number; ssrc: number; payload: Buffer }): void {
    if (!track.isOpen()) return
    const { payload, ...fields } = parts
    const sequenceNumber = this.#number & 0xffff
    const timestamp = (this.#number * SEND_MS * 90) >>> 0
    track.sendMessageBinary(rtpPacket({ ...fields, sequenceNumber, timestamp, marker: true }, payload))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#connection.close()
  }
}
