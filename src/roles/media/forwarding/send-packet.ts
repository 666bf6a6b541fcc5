import type { Track } from 'node-datachannel'

/**
 * Sends a packet over a track that is open. A packet that the network does not take is lost, as on its way: the receiver asks
 * for it again. A track that closes at this moment throws, which must not keep the packet from the other viewers.
 */
export function sendPacket(track: Track, { buffer, byteOffset, byteLength }: Uint8Array): void {
  try {
    track.sendMessageBinary(Buffer.from(buffer, byteOffset, byteLength))
  } catch {
    // The connection reports its end itself.
  }
}
