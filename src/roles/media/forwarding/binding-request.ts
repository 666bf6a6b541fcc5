import { createHmac, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

// The binding requests with which ICE checks a path (RFC 8489, RFC 8445).

const HEADER_BYTES = 20
const BINDING_REQUEST = 0x0001
const MAGIC_COOKIE = 0x2112a442
const USERNAME = 0x0006
const MESSAGE_INTEGRITY = 0x0008
const FINGERPRINT = 0x8028
const ICE_CONTROLLED = 0x8029
const ICE_CONTROLLING = 0x802a
const ATTRIBUTE_HEADER_BYTES = 4
const INTEGRITY_BYTES = 20
const FINGERPRINT_BYTES = 4
const TIE_BREAKER_BYTES = 8
const FINGERPRINT_MASK = 0x5354_554e
/** Largest binding request. Larger ones are not checked: they do not fit into a packet of a network. */
const MAX_REQUEST_BYTES = 1_500

/** A binding request of which nothing is verified. */
export interface BindingRequest {
  readonly packet: Buffer
  /** The ufrag of the peer to which it is sent. */
  readonly ufrag: string
  /** Where the value of ICE-CONTROLLING or ICE-CONTROLLED begins. */
  readonly tieBreakerStart: number
  readonly isTieBreakerZero: boolean
  /** Where the value of MESSAGE-INTEGRITY begins. */
  readonly integrityStart: number
  /** Where the value of FINGERPRINT begins; undefined without one. */
  readonly fingerprintStart: number | undefined
}

/** Reads a binding request. Returns undefined for any other packet, and for one without user name, tie-breaker or integrity. */
export function readBindingRequest(packet: Buffer): BindingRequest | undefined {
  const { length } = packet
  if (length < HEADER_BYTES || length > MAX_REQUEST_BYTES || packet.readUInt16BE(0) !== BINDING_REQUEST)
    return undefined
  if (packet.readUInt16BE(2) !== length - HEADER_BYTES || packet.readUInt32BE(4) !== MAGIC_COOKIE)
    return undefined
  let ufrag: string | undefined
  let tieBreakerStart: number | undefined
  let integrityStart: number | undefined
  let fingerprintStart: number | undefined
  let at = HEADER_BYTES
  while (at + ATTRIBUTE_HEADER_BYTES <= length) {
    const [type, bytes] = [packet.readUInt16BE(at), packet.readUInt16BE(at + 2)]
    const start = at + ATTRIBUTE_HEADER_BYTES
    at = start + Math.ceil(bytes / 4) * 4
    if (at > length) return undefined
    if (type === FINGERPRINT) {
      if (bytes !== FINGERPRINT_BYTES || at !== length) return undefined // it is the last one
      fingerprintStart = start
    } else if (integrityStart !== undefined) {
    } else if (type === MESSAGE_INTEGRITY) {
      if (bytes !== INTEGRITY_BYTES) return undefined
      integrityStart = start
    } else if (type === USERNAME) {
      ufrag ??= packet.toString('latin1', start, start + bytes).split(':', 1)[0]
    } else if (type === ICE_CONTROLLING || type === ICE_CONTROLLED) {
      if (bytes !== TIE_BREAKER_BYTES) return undefined
      tieBreakerStart ??= start
    }
  }
  if (at !== length || ufrag === undefined || tieBreakerStart === undefined || integrityStart === undefined)
    return undefined
  const isTieBreakerZero = packet.readBigUInt64BE(tieBreakerStart) === 0n
  return { packet, ufrag, tieBreakerStart, isTieBreakerZero, integrityStart, fingerprintStart }
}

/** Returns whether the sender of a request knows the password of the peer. */
export function isAuthentic(request: BindingRequest, password: string): boolean {
  const { packet, integrityStart } = request
  const sent = packet.subarray(integrityStart, integrityStart + INTEGRITY_BYTES)
  return timingSafeEqual(sent, integrityOf(request, password))
}

/** Returns a copy of a request with the tie-breaker 1, signed again. The request must be authentic. */
export function withTieBreaker(request: BindingRequest, password: string): Buffer {
  const { tieBreakerStart, integrityStart, fingerprintStart } = request
  const packet = Buffer.from(request.packet)
  packet.writeBigUInt64BE(1n, tieBreakerStart)
  integrityOf({ ...request, packet }, password).copy(packet, integrityStart)
  if (fingerprintStart !== undefined) {
    const checked = packet.subarray(0, fingerprintStart - ATTRIBUTE_HEADER_BYTES)
    packet.writeUInt32BE((crc32(checked) ^ FINGERPRINT_MASK) >>> 0, fingerprintStart)
  }
  return packet
}

/** Returns the integrity of a message with a short-term credential (RFC 8489, section 14.5): as if it ended with this attribute. */
function integrityOf({ packet, integrityStart }: BindingRequest, password: string): Buffer {
  const protectedPart = Buffer.from(packet.subarray(0, integrityStart - ATTRIBUTE_HEADER_BYTES))
  protectedPart.writeUInt16BE(integrityStart + INTEGRITY_BYTES - HEADER_BYTES, 2)
  return createHmac('sha1', password).update(protectedPart).digest()
}
