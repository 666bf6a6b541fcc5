import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readExtension } from './extensions.ts'
import { compactDuration, compactNtp, ntpOf, unixMsOf } from './ntp.ts'
import { readRtcp } from './rtcp-read.ts'
import {
  bitrateLimit,
  keyframeRequest,
  nack,
  receiverReport,
  referenceTime,
  referenceTimeEcho,
  senderReport,
  sourceDescription,
} from './rtcp-write.ts'
import { isRtcp, plainPacket, readRtp, sequenceDistance, timestampDistance, writeHeader } from './rtp.ts'

const header = { payloadType: 96, sequenceNumber: 65_535, timestamp: 4_000_000_000, ssrc: 3_000_000_000 }

/** Returns a packet with a header extension, two contributing sources and padding. */
function fullPacket(): Buffer {
  const packet = Buffer.alloc(12 + 8 + 8 + 5 + 3, 0xee)
  packet[0] = 0x80 | 0x20 | 0x10 | 2
  packet[1] = 0x80
  writeHeader(packet, header)
  packet.writeUInt16BE(0xbede, 20)
  packet.writeUInt16BE(1, 22)
  packet.write('hello', 28, 'latin1')
  packet[packet.length - 1] = 3
  return packet
}

describe('a packet of RTP', () => {
  test('is read with extension, contributing sources and padding', () => {
    const read = readRtp(fullPacket())
    expect(read).toMatchObject({ ...header, marker: true })
    expect(fullPacket().toString('latin1', read?.payloadStart, read?.payloadEnd)).toBe('hello')
  })

  test('keeps payload, marker and fields in its plain form', () => {
    const packet = fullPacket()
    const plain = plainPacket(packet, readRtp(packet) as NonNullable<ReturnType<typeof readRtp>>)
    expect(plain).toHaveLength(17)
    expect(readRtp(plain)).toMatchObject({ ...header, marker: true, payloadStart: 12, payloadEnd: 17 })
  })

  test('of any bytes is read or refused, never more', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const packet = Buffer.from(bytes)
        const read = readRtp(packet)
        if (read) expect(plainPacket(packet, read).length).toBeLessThanOrEqual(packet.length)
      }),
    )
  })

  test('is newer across the wrap of its numbers', () => {
    expect(sequenceDistance(65_534, 2)).toBe(4)
    expect(sequenceDistance(2, 65_534)).toBe(-4)
    expect(timestampDistance(2 ** 32 - 10, 10)).toBe(20)
  })
})

describe('messages of RTCP', () => {
  test('are read as they were written, all in one packet', () => {
    const ntp = ntpOf(1_795_000_000_123)
    const block = {
      ssrc: 7,
      fractionLost: 0.25,
      packetsLost: 12,
      highestSequenceNumber: 70_000,
      jitter: 90,
      lastSenderReport: 5,
      delaySinceSenderReport: 6,
    }
    const compound = Buffer.concat([
      senderReport({ ssrc: 1, ntp, rtpTimestamp: 9, packets: 3, bytes: 4 }),
      sourceDescription(1, 'a name'),
      receiverReport(1, block),
      nack(1, 7, [10, 11, 26, 27, 65_535]),
      keyframeRequest(1, 7),
      bitrateLimit(1, 7, 2_500_000),
      referenceTime(1, ntp),
      referenceTimeEcho(1, { receiverSsrc: 2, compactNtp: compactNtp(ntp), delay: 3 }),
    ])
    expect(isRtcp(compound)).toBe(true)
    expect(compound.length % 4).toBe(0)
    expect(readRtcp(compound)).toEqual([
      { type: 'sender_report', ssrc: 1, ntp, rtpTimestamp: 9 },
      { type: 'reception_report', ssrc: 7, fractionLost: 0.25 },
      { type: 'nack', ssrc: 7, sequenceNumbers: [10, 11, 26, 27, 65_535] },
      { type: 'keyframe_request', ssrc: 7 },
      { type: 'bitrate_limit', bitsPerSecond: expect.closeTo(2_500_000, -2) },
      { type: 'reference_time', senderSsrc: 1, compactNtp: compactNtp(ntp) },
      { type: 'reference_time_echo', compactNtp: compactNtp(ntp), delay: 3 },
    ])
  })

  test('of any bytes are read without an exception, and in bounded number', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 256 }),
        fc.constantFrom(200, 201, 205, 206, 207),
        (bytes, type) => {
          const packet = Buffer.from(bytes)
          if (packet.length > 3) {
            packet[0] = 0x80 | ((packet[0] as number) & 0x1f)
            packet[1] = type
          }
          expect(readRtcp(packet).length).toBeLessThanOrEqual(64)
        },
      ),
    )
  })

  test('name at most some hundred lost packets', () => {
    const pairs = Buffer.alloc(4 * 10_000, 0xff)
    const packet = Buffer.concat([nack(1, 2, []), pairs])
    packet.writeUInt16BE(packet.length / 4 - 1, 2)
    const [message] = readRtcp(packet)
    expect(message?.type === 'nack' && message.sequenceNumbers.length).toBeLessThan(300)
  })
})

test('NTP times keep milliseconds, and their compact form counts 1/65,536 s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4_000_000_000_000 }), (ms) => {
      expect(unixMsOf(ntpOf(ms))).toBeCloseTo(ms, 1)
    }),
  )
  const delta = compactNtp(ntpOf(2_500)) - compactNtp(ntpOf(1_000))
  expect(delta).toBe(compactDuration(1_500))
})

describe('header extensions', () => {
  /** Returns a packet with an extension block of some bytes. */
  const packetWith = (profile: number, block: readonly number[]): Buffer => {
    const words = Math.ceil(block.length / 4)
    const packet = Buffer.alloc(12 + 4 + 4 * words + 2)
    packet[0] = 0x90
    packet.writeUInt16BE(profile, 12)
    packet.writeUInt16BE(words, 14)
    packet.set(block, 16)
    return packet
  }
  const text = (value: Uint8Array | undefined) => value && Buffer.from(value).toString('latin1')

  test('are found among others and padding, in both forms', () => {
    const oneByte = packetWith(0xbede, [0x10, 0x61, 0, 0x22, 0x66, 0x6f, 0x6f])
    expect(text(readExtension(oneByte, 1))).toBe('a')
    expect(text(readExtension(oneByte, 2))).toBe('foo')
    expect(readExtension(oneByte, 3)).toBeUndefined()
    const twoBytes = packetWith(0x1000, [0x01, 0x00, 0x12, 0x02, 0x68, 0x69])
    expect(text(readExtension(twoBytes, 1))).toBe('')
    expect(text(readExtension(twoBytes, 0x12))).toBe('hi')
  })

  test('of any bytes are read without an exception, and within the packet', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 12, maxLength: 40 }),
        fc.integer({ min: 1, max: 255 }),
        (bytes, id) => {
          bytes[0] = 0x90
          const value = readExtension(bytes, id)
          if (value)
            expect(value.byteOffset + value.length).toBeLessThanOrEqual(bytes.byteOffset + bytes.length)
        },
      ),
    )
  })
})
