import { createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The sample request of RFC 5769, section 2.1. Its ufrag is `evtj`; its tie-breaker is the value of ICE-CONTROLLED, at 52. */
export const sampleRequest = Buffer.from(
  [
    '00010058 2112a442 b7e7a701 bc34d686 fa87dfae 80220010 5354554e 20746573 7420636c 69656e74 00240004 6e0001ff',
    '80290008 932ff9b1 51263b36 00060009 6576746a 3a683676 59202020 00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249',
    'c1b571a2 80280004 e57a3bcf',
  ]
    .join('')
    .replaceAll(' ', ''),
  'hex',
)
export const samplePassword = 'VOkJxbRl1RmTxUk/WvJxBt'

export const attribute = (type: number, value: Buffer): Buffer => {
  const header = Buffer.alloc(4)
  header.writeUInt16BE(type, 0)
  header.writeUInt16BE(value.length, 2)
  return Buffer.concat([header, value, Buffer.alloc((4 - (value.length % 4)) % 4)])
}

/** Returns a message of STUN with a body, as if the body had `more` bytes more. */
export function message(body: Buffer, more = 0, transactionId: Buffer = Buffer.alloc(12, 7)): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt16BE(0x0001, 0)
  header.writeUInt16BE(body.length + more, 2)
  header.writeUInt32BE(0x2112a442, 4)
  return Buffer.concat([header, transactionId, body])
}

/** Signs attributes: appends MESSAGE-INTEGRITY and FINGERPRINT, in the words of RFC 8489, section 14. */
export function signed(attributes: Buffer, password: string, transactionId?: Buffer): Buffer {
  const hmac = createHmac('sha1', password)
    .update(message(attributes, 24, transactionId))
    .digest()
  const body = Buffer.concat([attributes, attribute(0x0008, hmac)])
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE((crc32(message(body, 8, transactionId)) ^ 0x5354554e) >>> 0)
  return message(Buffer.concat([body, attribute(0x8028, crc)]), 0, transactionId)
}

/** Returns the binding request of a controlling peer, as Chromium sends it. */
export function bindingRequest(options: {
  username: string
  password: string
  tieBreaker?: bigint
  transactionId?: Buffer
}): Buffer {
  const tieBreaker = Buffer.alloc(8)
  tieBreaker.writeBigUInt64BE(options.tieBreaker ?? 0n)
  const attributes = [
    attribute(0x0006, Buffer.from(options.username)),
    attribute(0x802a, tieBreaker),
    attribute(0x0024, Buffer.from([0x6e, 0, 1, 0xff])),
  ]
  return signed(Buffer.concat(attributes), options.password, options.transactionId)
}
