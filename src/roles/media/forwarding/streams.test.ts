import { rtp } from '@wheelhouse/protocol'
import type { Track } from 'node-datachannel'
import { describe, expect, test } from 'vitest'
import { BitrateControl } from './bitrate-control.ts'
import { CaptureClock } from './capture-clock.ts'
import { IncomingStream, RateMeter, ReceptionStatistics } from './incoming-stream.ts'
import { LostPackets } from './lost-packets.ts'
import { OutgoingStream } from './outgoing-stream.ts'
import { ViewerTrack } from './viewer-track.ts'

const header = (sequenceNumber: number, timestamp = 0): rtp.RtpHeader => ({
  payloadType: 96,
  marker: false,
  sequenceNumber: sequenceNumber & 0xffff,
  timestamp: timestamp >>> 0,
  ssrc: 5,
  payloadStart: 12,
  payloadEnd: 13,
})

describe('lost packets', () => {
  test('are requested, again after the round trip, and not for ever', () => {
    const lost = new LostPackets()
    for (const number of [65_534, 65_535, 2]) lost.received(number, 0)
    expect(lost.due(0, 100)).toEqual([0, 1])
    expect(lost.due(50, 100)).toEqual([])
    lost.received(0, 60)
    for (let attempt = 2; attempt <= 6; attempt++) expect(lost.due(attempt * 100, 100)).toEqual([1])
    expect(lost.due(1_000, 100)).toEqual([])
  })

  test('are given up after a large gap', () => {
    const lost = new LostPackets()
    lost.received(0, 0)
    expect(lost.received(1_000, 0)).toBe(false)
    expect(lost.due(0)).toEqual([])
  })
})

describe('reception statistics', () => {
  test('count the loss since the last report, across the wrap', () => {
    const statistics = new ReceptionStatistics()
    for (const number of [65_533, 65_534, 1, 2]) statistics.received(number, 0, 0)
    expect(statistics.takeLoss()).toEqual({ fractionLost: 1 / 3, packetsLost: 2 })
    expect(statistics.highestSequenceNumber).toBe(65_538)
    for (const number of [3, 4]) statistics.received(number, 0, 0)
    expect(statistics.takeLoss()).toEqual({ fractionLost: 0, packetsLost: 2 })
  })
})

describe('the capture clock', () => {
  test('uses the fastest report and half of the round trip', () => {
    const clock = new CaptureClock(90_000)
    expect(clock.captureMs(0)).toBeUndefined()
    // The sender's clock is 1,000,000 ms behind; the way takes 30 ms and then 80 ms.
    const report = (senderMs: number): rtp.SenderReport => ({
      type: 'sender_report',
      ssrc: 1,
      ntp: rtp.ntpOf(senderMs),
      rtpTimestamp: (senderMs * 90) >>> 0,
    })
    clock.reported(report(1_000), 1_001_030)
    expect(clock.captureMs((2_500 * 90) >>> 0)).toBeUndefined()
    clock.reported(report(2_000), 1_002_080)
    clock.echoed(
      { type: 'reference_time_echo', compactNtp: rtp.compactNtp(rtp.ntpOf(1_002_000)), delay: 0 },
      1_002_060,
    )
    expect(clock.roundTripMs).toBeCloseTo(60, 0)
    expect(clock.captureMs((2_500 * 90) >>> 0)).toBeCloseTo(1_002_500, 0)
  })
})

describe('the capture time of a stream', () => {
  const CAPTURE_TIME = 5
  const stream = () =>
    new IncomingStream({ ssrc: 5, reporterSsrc: 1, clockRateHz: 90_000, captureTimeId: CAPTURE_TIME })
  /** Returns a packet whose extension says when its frame was captured. */
  const stampedPacket = (captureMs: number): Buffer => {
    const packet = Buffer.alloc(12 + 4 + 12 + 1)
    packet[0] = 0x90
    packet.writeUInt16BE(0xbede, 12)
    packet.writeUInt16BE(3, 14)
    packet[16] = (CAPTURE_TIME << 4) | 7
    packet.writeBigUInt64BE(rtp.ntpOf(captureMs), 17)
    return packet
  }
  const report = (senderMs: number): rtp.SenderReport => ({
    type: 'sender_report',
    ssrc: 5,
    ntp: rtp.ntpOf(senderMs),
    rtpTimestamp: 0,
  })

  test('is the one of the packet, by the clock of the reports', () => {
    const incoming = stream()
    for (const ms of [999_500, 1_000_000]) incoming.handle(report(ms), 4_000_000 + ms)
    incoming.receive(stampedPacket(1_000_060), header(1, 900_000), 5_000_100)
    expect(incoming.captureMs).toBeCloseTo(5_000_060, 0)
  })

  test('is unknown for a stamp that is far from the time of arrival', () => {
    const incoming = stream()
    for (const ms of [999_500, 1_000_000]) incoming.handle(report(ms), 4_000_000 + ms)
    incoming.receive(stampedPacket(900_000_000_000), header(1, 900_000), 5_000_100)
    expect(incoming.captureMs).toBeUndefined()
  })
})

describe('the bitrate', () => {
  const unlimited = { isWatched: true, viewerLimit: undefined }

  test('grows without a queue, falls with one, and has bounds', () => {
    const control = new BitrateControl(2_000_000)
    let nowMs = 0
    const run = (seconds: number, lateMs: (second: number) => number, received: number, loss = 0) => {
      let limit = 0
      for (let second = 0; second < seconds; second++) {
        for (let frame = 0; frame < 30; frame++) {
          nowMs += 1_000 / 30
          control.frame(nowMs + lateMs(second), nowMs)
        }
        limit = control.update(nowMs, received, loss, unlimited)
      }
      return limit
    }
    expect(run(60, () => 0, 1_000_000)).toBe(2_000_000)
    expect(run(3, (second) => 200 * (second + 1), 500_000)).toBeLessThanOrEqual(400_000)
    expect(run(30, () => 0, 500_000)).toBeGreaterThan(600_000)
    expect(run(100, () => 0, 500_000, 0.5)).toBe(100_000)
  })

  test('is low while no client watches, and continues where it was', () => {
    const control = new BitrateControl(4_000_000)
    for (let second = 0; second < 10; second++) control.update(second * 1_000, 1_000_000, 0, unlimited)
    const before = control.update(10_000, 1_000_000, 0, unlimited)
    expect(before).toBeGreaterThan(2_000_000)
    expect(control.update(20_000, 90_000, 0, { isWatched: false, viewerLimit: undefined })).toBe(300_000)
    expect(control.update(60_000, 90_000, 0, unlimited)).toBe(before)
  })

  test('of a watched camera never looks like the one of an unwatched camera', () => {
    for (const viewerLimit of [299_999, 300_000, 300_001]) {
      const allowed = new BitrateControl(4_000_000).update(0, 1_000_000, 0, { isWatched: true, viewerLimit })
      const [message] = rtp.readRtcp(rtp.bitrateLimit(1, 5, allowed))
      expect(message).toMatchObject({ type: 'bitrate_limit' })
      expect(message).not.toMatchObject({ bitsPerSecond: 300_000 })
    }
    const [unwatched] = rtp.readRtcp(rtp.bitrateLimit(1, 5, 300_000))
    expect(unwatched).toMatchObject({ bitsPerSecond: 300_000 })
  })

  test('is at most what the operator receives', () => {
    const control = new BitrateControl(4_000_000)
    expect(control.update(0, 1_000_000, 0, { isWatched: true, viewerLimit: 700_000 })).toBe(700_000)
  })
})

test('a rate is that of the last second', () => {
  const meter = new RateMeter()
  for (let ms = 0; ms < 3_000; ms += 10) meter.add(ms, 5)
  expect(meter.perSecond(2_999)).toBe(500)
  expect(meter.perSecond(3_500)).toBeLessThan(300)
  expect(meter.perSecond(10_000)).toBe(0)
})

describe('an outgoing stream', () => {
  const incoming = (ssrc: number) => new IncomingStream({ ssrc, reporterSsrc: 1, clockRateHz: 90_000 })
  const packetOf = (number: number, timestamp: number) => {
    const packet = Buffer.alloc(13)
    packet[0] = 0x80
    rtp.writeHeader(packet, header(number, timestamp))
    return packet
  }
  /** Passes a packet through, and returns the header that the receiver sees. */
  function pass(
    stream: OutgoingStream,
    source: IncomingStream,
    number: number,
    timestamp: number,
    nowMs: number,
  ) {
    const packet = packetOf(number, timestamp)
    const read = rtp.readRtp(packet) as rtp.RtpHeader
    const { plain } = source.receive(packet, read, nowMs)
    return stream.rewrite(plain, read, source, nowMs) ? rtp.readRtp(plain) : undefined
  }

  test('continues its numbers and its time when the source changes', () => {
    const stream = new OutgoingStream({
      ssrc: 77,
      payloadType: 100,
      clockRateHz: 90_000,
      firstSequenceNumber: 65_534,
    })
    const [first, second] = [incoming(1), incoming(2)]
    const seen = [
      pass(stream, first, 10, 1_000, 0),
      pass(stream, first, 11, 4_000, 33),
      pass(stream, second, 40_000, 9_000_000, 1_033),
      pass(stream, second, 40_001, 9_003_000, 1_066),
    ]
    expect(seen.map((packet) => packet?.sequenceNumber)).toEqual([65_535, 0, 1, 2])
    const times = seen.map((packet) => packet?.timestamp as number)
    expect(times.map((time) => rtp.timestampDistance(times[0] as number, time))).toEqual([
      0, 3_000, 93_000, 96_000,
    ])
    expect(seen.every((packet) => packet?.ssrc === 77 && packet.payloadType === 100)).toBe(true)
  })

  describe('reports', () => {
    const START_MS = Date.UTC(2026, 10, 20)
    const stream = () =>
      new OutgoingStream({ ssrc: 77, payloadType: 100, clockRateHz: 90_000, firstSequenceNumber: 0 })
    /** Passes one frame that was captured `ageMs` before it arrives, by reports up to its arrival. */
    function passFrame(ageMs: number, own = stream(), source = incoming(1)) {
      for (const sinceMs of [500, 0])
        source.handle(
          {
            type: 'sender_report',
            ssrc: 1,
            ntp: rtp.ntpOf(START_MS - sinceMs),
            rtpTimestamp: 900_000 - sinceMs * 90,
          },
          START_MS - sinceMs,
        )
      const passed = pass(own, source, 1, 900_000 - ageMs * 90, START_MS)
      return { own, timestamp: passed?.timestamp as number }
    }
    const reportOf = (own: OutgoingStream, nowMs: number) => {
      const bytes = own.report(nowMs)
      return bytes && rtp.readRtcp(bytes).find(({ type }) => type === 'sender_report')
    }

    test('the time of sending, and the timestamp of a frame that is captured then', () => {
      const { own, timestamp } = passFrame(1_000)
      const report = reportOf(own, START_MS + 200) as rtp.SenderReport
      expect(rtp.unixMsOf(report.ntp)).toBeCloseTo(START_MS + 200, 0)
      expect(rtp.timestampDistance(timestamp, report.rtpTimestamp) / 90).toBeCloseTo(1_200, 0)
    })

    test('nothing while the capture times are unknown, or cannot be true', () => {
      const own = stream()
      pass(own, incoming(1), 1, 0, START_MS)
      expect(own.report(START_MS)).toBeUndefined()
      for (const ageMs of [61_000, -2_000])
        expect(passFrame(ageMs).own.report(START_MS), String(ageMs)).toBeUndefined()
    })
  })

  test('sends lost packets again with the same header, and none from before its beginning', () => {
    const stream = new OutgoingStream({
      ssrc: 77,
      payloadType: 100,
      clockRateHz: 90_000,
      firstSequenceNumber: 0,
    })
    const source = incoming(1)
    expect(pass(stream, source, 10, 1_000, 0)?.sequenceNumber).toBe(1)
    expect(pass(stream, source, 9, 500, 0)).toBeUndefined()
    expect(pass(stream, source, 11, 4_000, 0)?.sequenceNumber).toBe(2)
    const again = stream.lost(1) as Buffer
    expect(rtp.readRtp(again)).toMatchObject({ sequenceNumber: 1, ssrc: 77, payloadType: 100 })
    expect(stream.lost(0)).toBeUndefined()
    expect(stream.lost(3)).toBeUndefined()
  })
})

test('a viewer that requests every packet again gets a burst of them', () => {
  let sent = 0
  const track = { isOpen: () => true, sendMessageBinary: () => ++sent > 0 } as unknown as Track
  const viewer = new ViewerTrack(track, {
    ssrc: 9,
    payloadType: 96,
    clockRateHz: 90_000,
    isVideo: true,
    nowMs: 0,
  })
  const stream = new IncomingStream({ ssrc: 5, reporterSsrc: 1, clockRateHz: 90_000 })
  const packet = Buffer.alloc(20)
  packet[0] = 0x80
  const { plain } = stream.receive(packet, header(1), 0)
  viewer.forward({ kind: 'video', stream, header: header(1), plain, isStart: true }, 0)
  const sequenceNumber = (9 + 1) & 0xffff // the number after the first one of the track
  for (let request = 0; request < 10_000; request++)
    viewer.handle({ type: 'nack', ssrc: 9, sequenceNumbers: [sequenceNumber] }, 0)
  expect(sent).toBe(1 + 256)
  viewer.handle({ type: 'nack', ssrc: 9, sequenceNumbers: [sequenceNumber] }, 1_000)
  expect(sent, 'after a second').toBe(1 + 256 + 1)
})
