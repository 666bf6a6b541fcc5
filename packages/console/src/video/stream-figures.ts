/** How a WebRTC video arrives. */
export interface StreamFigures {
  /** Time from the capture of the newest frame to its display; undefined if the server does not send the capture times. */
  readonly latencyMs: number | undefined
  readonly framesPerSecond: number
  readonly bitsPerSecond: number
  /** Lost packets of the last interval, 0 to 1. */
  readonly lostShare: number
  /** Number of times that the picture froze since the video began. */
  readonly freezes: number
}

/** Counters of a video since it began. */
interface Counters {
  readonly atMs: number
  readonly bytes: number
  readonly packets: number
  readonly lost: number
  readonly frames: number
  readonly freezes: number
}

/** Returns a function that reads the figures since its last call; undefined on the first one. */
export function createFigureReader(
  peer: Pick<RTCPeerConnection, 'getStats'>,
  latencyMs: () => number | undefined,
): () => Promise<StreamFigures | undefined> {
  let before: Counters | undefined
  return async () => {
    const now = countersOf(await peer.getStats())
    const last = before
    before = now
    if (!now || !last || now.atMs <= last.atMs) return undefined
    const seconds = (now.atMs - last.atMs) / 1_000
    const lost = Math.max(0, now.lost - last.lost)
    const packets = now.packets - last.packets + lost
    return {
      latencyMs: latencyMs(),
      framesPerSecond: (now.frames - last.frames) / seconds,
      bitsPerSecond: ((now.bytes - last.bytes) * 8) / seconds,
      lostShare: packets > 0 ? lost / packets : 0,
      freezes: now.freezes,
    }
  }
}

function countersOf(report: RTCStatsReport): Counters | undefined {
  const all = [...report.values()] as readonly (RTCInboundRtpStreamStats & { freezeCount?: number })[]
  const stats = all.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'video')
  return (
    stats && {
      atMs: stats.timestamp,
      bytes: stats.bytesReceived ?? 0,
      packets: stats.packetsReceived ?? 0,
      lost: stats.packetsLost ?? 0,
      frames: stats.framesDecoded ?? 0,
      freezes: stats.freezeCount ?? 0,
    }
  )
}
