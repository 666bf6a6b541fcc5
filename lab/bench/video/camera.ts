import { rtp } from '@wheelhouse/protocol'
import { PeerConnection, type Track, Video } from 'node-datachannel'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { localDescription, rtpPacket } from '../../../test/support/video/webrtc-client.ts'
import { stampedFrame } from './stamps.ts'

// A program with one camera that sends the same frames over every connection: to a forwarding server, or directly to viewers.

const PAYLOAD_TYPE = 96
const PACKET_BYTES = 1_200
/** Ticks of RTP timestamps per millisecond. */
const TICKS_PER_MS = 90
/** Payload descriptors (RFC 7741, section 4.2): the first packet of a frame, and the others. */
const [FRAME_START, CONTINUATION] = [0x10, 0x00]

interface Sender {
  readonly track: Track
  readonly ssrc: number
  sequenceNumber: number
}

const senders = new Set<Sender>()
const connections: PeerConnection[] = []
let isKeyframeNeeded = true
let timer: NodeJS.Timeout | undefined

function connect(manual: boolean): PeerConnection {
  const connection = new PeerConnection('camera', { iceServers: [], disableAutoNegotiation: manual })
  connections.push(connection)
  return connection
}

function addTrack(connection: PeerConnection, mid: string): void {
  const ssrc = 1_000 + connections.length
  const video = new Video(mid, 'SendOnly')
  video.addVP8Codec(PAYLOAD_TYPE)
  video.addSSRC(ssrc, 'camera', 'camera', 'camera')
  const track = connection.addTrack(video)
  track.onMessage((packet) => {
    if (rtp.readRtcp(packet).some(({ type }) => type === 'keyframe_request')) isKeyframeNeeded = true
  })
  senders.add({ track, ssrc, sequenceNumber: 0 })
}

function send(sender: Sender, frame: Buffer, timestamp: number): void {
  if (!sender.track.isOpen()) return
  for (let start = 0; start < frame.length; start += PACKET_BYTES) {
    sender.sequenceNumber = (sender.sequenceNumber + 1) & 0xffff
    const { sequenceNumber, ssrc } = sender
    const marker = start + PACKET_BYTES >= frame.length
    const descriptor = Buffer.from([start === 0 ? FRAME_START : CONTINUATION])
    const payload = Buffer.concat([descriptor, frame.subarray(start, start + PACKET_BYTES)])
    const fields = { payloadType: PAYLOAD_TYPE, sequenceNumber, timestamp, ssrc, marker }
    sender.track.sendMessageBinary(rtpPacket(fields, payload))
  }
}

const handlers = {
  /** Returns an offer to a forwarding server. */
  async offer(): Promise<string> {
    const connection = connect(false)
    addTrack(connection, '0')
    return await localDescription(connection, 'offer')
  },
  /** Connects the last offer. */
  accept(answer: string): void {
    connections.at(-1)?.setRemoteDescription(answer, 'answer')
  },
  /** Connects a viewer directly. */
  async answer(viewerOffer: string): Promise<string> {
    const connection = connect(true)
    connection.setRemoteDescription(viewerOffer, 'offer')
    addTrack(connection, /^a=mid:(\S+)/m.exec(viewerOffer)?.[1] ?? '0')
    return await localDescription(connection, 'answer')
  },
  /** Sends frames from now on. */
  start({ bitsPerSecond, framesPerSecond }: { bitsPerSecond: number; framesPerSecond: number }): void {
    const bytes = Math.round(bitsPerSecond / 8 / framesPerSecond)
    clearInterval(timer)
    timer = setInterval(() => {
      const frame = stampedFrame(bytes, isKeyframeNeeded)
      isKeyframeNeeded = false
      const timestamp = Math.round(performance.now() * TICKS_PER_MS) >>> 0
      for (const sender of senders) send(sender, frame, timestamp)
    }, 1_000 / framesPerSecond)
  },
  /** Sends nothing more. */
  pause: () => clearInterval(timer),
}
export type CameraProgram = typeof handlers

offer(handlers)
sendReady(0)
