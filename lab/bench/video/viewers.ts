import { rtp } from '@wheelhouse/protocol'
import { PeerConnection, type Track, Video } from 'node-datachannel'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { localDescription } from '../../../test/support/video/webrtc-client.ts'
import { ageUs } from './stamps.ts'

// A program with many viewers that decode nothing: they count packets, and read the age of each complete frame.

const PAYLOAD_TYPE = 96
const REPORT_MS = 1_000
/** Ages that are kept. */
const MAX_AGES = 500_000

interface Viewer {
  readonly connection: PeerConnection
  track: Track | undefined
  packets: number
  bytes: number
  readonly firstFrame: PromiseWithResolvers<number>
}

const viewers = new Map<number, Viewer>()
let ages: number[] = []

function open(id: number, manual: boolean): Viewer {
  const connection = new PeerConnection(`viewer-${id}`, { iceServers: [], disableAutoNegotiation: manual })
  const viewer: Viewer = {
    connection,
    track: undefined,
    packets: 0,
    bytes: 0,
    firstFrame: Promise.withResolvers<number>(),
  }
  viewers.set(id, viewer)
  return viewer
}

function addTrack(viewer: Viewer, mid: string, payloadType: number): void {
  const video = new Video(mid, 'RecvOnly')
  video.addVP8Codec(payloadType)
  viewer.track = viewer.connection.addTrack(video)
  viewer.track.onMessage((packet) => receive(viewer, packet))
}

function receive(viewer: Viewer, packet: Buffer): void {
  if (rtp.isRtcp(packet)) return
  const header = rtp.readRtp(packet)
  if (!header) return
  viewer.packets++
  viewer.bytes += packet.length
  if (!header.marker) return
  viewer.firstFrame.resolve(performance.timeOrigin + performance.now())
  const age = ageUs(packet.subarray(header.payloadStart, header.payloadEnd))
  if (ages.length < MAX_AGES) ages.push(age)
}

const handlers = {
  /** Opens a viewer and returns its offer. */
  async offer(id: number): Promise<string> {
    const viewer = open(id, false)
    addTrack(viewer, '0', PAYLOAD_TYPE)
    return await localDescription(viewer.connection, 'offer')
  },
  /** Connects an offer. */
  accept(id: number, answer: string): void {
    viewers.get(id)?.connection.setRemoteDescription(answer, 'answer')
  },
  /** Opens a viewer for the offer of a server and returns its answer. */
  async answer(id: number, serverOffer: string): Promise<string> {
    const viewer = open(id, true)
    viewer.connection.setRemoteDescription(serverOffer, 'offer')
    const payloadType = Number(/^a=rtpmap:(\d+) VP8\/90000/m.exec(serverOffer)?.[1] ?? PAYLOAD_TYPE)
    addTrack(viewer, /^a=mid:(\S+)/m.exec(serverOffer)?.[1] ?? '0', payloadType)
    return await localDescription(viewer.connection, 'answer')
  },
  /** Settles with the time of the first complete frame of a viewer, in Unix milliseconds. */
  firstFrame: async (id: number): Promise<number> =>
    (await viewers.get(id)?.firstFrame.promise) ?? Number.NaN,
  /** Begins a measurement. */
  mark(): void {
    ages = []
    for (const viewer of viewers.values()) [viewer.packets, viewer.bytes] = [0, 0]
  },
  /** Returns what arrived since the mark: ages of frames in microseconds, and packets of each viewer. */
  read: () => ({ ages, packets: [...viewers.values()].map(({ packets }) => packets) }),
}
export type ViewerProgram = typeof handlers

setInterval(() => {
  const report = Buffer.from(rtp.receiverReport(1, undefined))
  for (const { track } of viewers.values()) if (track?.isOpen()) track.sendMessageBinary(report)
}, REPORT_MS)
offer(handlers)
sendReady(0)
