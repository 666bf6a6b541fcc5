import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  attribute,
  bindingRequest,
  message,
  samplePassword,
  sampleRequest,
  signed,
} from '../../../../test/support/network/binding-request.ts'
import { type BindingRequest, isAuthentic, readBindingRequest, withTieBreaker } from './binding-request.ts'

const TIE_BREAKER_AT = 52
const read = (packet: Buffer) => readBindingRequest(packet) as BindingRequest

/** The attributes of the sample of RFC 5769 that its integrity protects. */
const sampleAttributes = sampleRequest.subarray(20, -32)
const sampleId = sampleRequest.subarray(8, 20)

describe('the sample request of RFC 5769', () => {
  test('is read, and is authentic with its password only', () => {
    const request = read(sampleRequest)
    expect(request).toMatchObject({ ufrag: 'evtj', tieBreakerStart: TIE_BREAKER_AT, isTieBreakerZero: false })
    expect(isAuthentic(request, samplePassword)).toBe(true)
    expect(isAuthentic(request, `${samplePassword} `)).toBe(false)
    expect(isAuthentic(request, '')).toBe(false)
  })

  test('proves what these tests sign', () => {
    // The padding of the sample is blanks, which is protected too.
    expect(signed(sampleAttributes, samplePassword, sampleId)).toEqual(sampleRequest)
  })

  test('with the tie-breaker 0 gets the tie-breaker 1, and is signed as if it were sent so', () => {
    const withValue = (value: bigint) => {
      const attributes = Buffer.from(sampleAttributes)
      attributes.writeBigUInt64BE(value, TIE_BREAKER_AT - 20)
      return signed(attributes, samplePassword, sampleId)
    }
    const packet = withValue(0n)
    const before = Buffer.from(packet)
    const request = read(packet)
    expect(request.isTieBreakerZero).toBe(true)
    expect(withTieBreaker(request, samplePassword)).toEqual(withValue(1n))
    expect(packet, 'the packet itself').toEqual(before)
  })
})

test('a request without a fingerprint stays without one', () => {
  const whole = bindingRequest({ username: 'abcd:efgh', password: 'p' })
  const packet = Buffer.from(whole.subarray(0, -8))
  packet.writeUInt16BE(packet.length - 20, 2)
  const request = read(packet)
  expect(isAuthentic(request, 'p')).toBe(true)
  const changed = read(withTieBreaker(request, 'p'))
  expect(changed.packet).toHaveLength(packet.length)
  expect(changed.isTieBreakerZero).toBe(false)
  expect(isAuthentic(changed, 'p')).toBe(true)
})

test('what follows the integrity is not believed', () => {
  const whole = bindingRequest({ username: 'abcd:efgh', password: 'p', tieBreaker: 5n })
  const body = Buffer.concat([
    whole.subarray(20, -8),
    attribute(0x0006, Buffer.from('evil:x')),
    attribute(0x802a, Buffer.alloc(8)),
  ])
  const request = read(message(body))
  expect(request).toMatchObject({ ufrag: 'abcd', isTieBreakerZero: false })
  expect(isAuthentic(request, 'p')).toBe(true)
})

describe('refuses', () => {
  const good = bindingRequest({ username: 'abcd:efgh', password: 'p' })
  const changed = (change: (packet: Buffer) => void) => {
    const packet = Buffer.from(good)
    change(packet)
    return packet
  }
  test.each<[string, Buffer]>([
    ['an empty packet', Buffer.alloc(0)],
    ['a header only', message(Buffer.alloc(0))],
    ['another kind of message', changed((packet) => packet.writeUInt16BE(0x0101, 0))],
    ['another cookie', changed((packet) => packet.writeUInt32BE(0, 4))],
    ['a length that is not that of the packet', changed((packet) => packet.writeUInt16BE(8, 2))],
    ['a giant attribute', changed((packet) => packet.writeUInt16BE(0xffff, 22))],
    [
      'an attribute that ends after the packet',
      changed((packet) => packet.writeUInt16BE(6, good.length - 6)),
    ],
    ['a short integrity', message(attribute(0x0008, Buffer.alloc(16)))],
    ['a short tie-breaker', message(attribute(0x802a, Buffer.alloc(4)))],
    ['a fingerprint that is not the last', message(Buffer.concat([good.subarray(-8), good.subarray(20)]))],
    ['no user name', signed(attribute(0x802a, Buffer.alloc(8)), 'p')],
    ['no tie-breaker', signed(attribute(0x0006, Buffer.from('abcd:efgh')), 'p')],
    ['no integrity', message(good.subarray(20, -32))],
    ['a request that is too large', signed(attribute(0x8022, Buffer.alloc(1_480)), 'p')],
  ])('%s', (_, packet) => {
    expect(readBindingRequest(packet)).toBeUndefined()
  })

  test('every truncated request', () => {
    for (let bytes = 0; bytes < good.length; bytes++)
      expect(readBindingRequest(good.subarray(0, bytes)), String(bytes)).toBeUndefined()
  })

  test('a request in which one bit differs: it is not read, or not authentic, or differs in the fingerprint only', () => {
    for (let bit = 0; bit < good.length * 8; bit++) {
      const packet = changed((copy) => {
        copy[bit >> 3] = (copy[bit >> 3] as number) ^ (1 << (bit & 7))
      })
      const request = readBindingRequest(packet)
      const isPastIntegrity = bit >> 3 >= good.length - 8
      if (!isPastIntegrity) expect(request && isAuthentic(request, 'p'), String(bit)).not.toBe(true)
    }
  })
})

test('packets of any content never throw, and are authentic only with the password', () => {
  const attributes = fc.array(
    fc.tuple(
      fc.oneof(fc.constantFrom(0x0006, 0x0008, 0x8028, 0x8029, 0x802a), fc.nat(0xffff)),
      fc
        .oneof(fc.constantFrom(4, 8, 20), fc.nat(40))
        .chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
    ),
    { maxLength: 8 },
  )
  const messages = attributes.map((list) =>
    message(Buffer.concat(list.map(([type, value]) => attribute(type, Buffer.from(value))))),
  )
  const anything = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
  fc.assert(
    fc.property(fc.oneof(messages, anything), (packet) => {
      const request = readBindingRequest(packet)
      if (!request) return
      expect(isAuthentic(request, 'a password')).toBe(false)
      expect(withTieBreaker(request, 'a password')).toHaveLength(packet.length)
    }),
    { numRuns: 500 },
  )
})
