import { rtp } from '@wheelhouse/protocol'
import { PeerConnection, type Track, Video } from 'node-datachannel'
import { localDescription, postOffer } from './webrtc-client.ts'

const VP8 = 96
const H264 = 97
const REPORT_MS = 200

export interface ViewerRequest {
  readonly url: string
  readonly token: string
  /** Changes the offer before it is sent. */
  readonly edit?: (sdp: string) => string
}

/** A WHEP client without a decoder: it keeps the packets that arrive. */
export class TestViewer {
  readonly packets: { header: rtp.RtpHeader; payload: Buffer }[] = []
  readonly messages: rtp.RtcpMessage[] = []
  readonly #connection: PeerConnection
  readonly #track: Track
  readonly #timer: NodeJS.Timeout
  #receivedMs = Number.NaN
  response!: Response
  answer = ''

  constructor() {
    this.#connection = new PeerConnection('viewer', { iceServers: [] })
    const video = new Video('0', 'RecvOnly')
    video.addVP8Codec(VP8)
    video.addH264Codec(H264)
    this.#track = this.#connection.addTrack(video)
    this.#track.onMessage((packet) => this.#receive(packet))
    this.#timer = setInterval(() => this.send(rtp.receiverReport(1, undefined)), REPORT_MS)
  }

  #receive(packet: Buffer): void {
    if (rtp.isRtcp(packet)) return void this.messages.push(...rtp.readRtcp(packet))
    const header = rtp.readRtp(packet)
    this.#receivedMs = performance.now()
    if (header)
      this.packets.push({ header, payload: packet.subarray(header.payloadStart, header.payloadEnd) })
  }

  /** Returns an offer with all candidates. */
  async offer(): Promise<string> {
    return await localDescription(this.#connection, 'offer')
  }

  /** Sends an offer. Returns the answer, or the text of the error. */
  async request({ url, token, edit = (sdp) => sdp }: ViewerRequest): Promise<string> {
    this.response = await postOffer(url, token, edit(await this.offer()))
    this.answer = await this.response.text()
    return this.answer
  }

  /** Connects with an answer. */
  accept(answer: string): void {
    this.#connection.setRemoteDescription(answer, 'answer')
  }

  /** Sends an offer and, if it is accepted, connects. */
  async watch(request: ViewerRequest): Promise<Response> {
    const answer = await this.request(request)
    if (this.response.status === 201) this.accept(answer)
    return this.response
  }

  /** How long no video has arrived, in milliseconds. */
  get silentMs(): number {
    return performance.now() - this.#receivedMs
  }

  /** Sends a packet of RTCP to the platform. */
  send(packet: Uint8Array): void {
    try {
      if (this.#track.isOpen()) this.#track.sendMessageBinary(Buffer.from(packet))
    } catch (cause) {
      // The thread of the library may have closed it since.
      if (this.#track.isOpen()) throw cause
    }
  }

  get state(): string {
    return this.#connection.state()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#connection.close()
  }
}
