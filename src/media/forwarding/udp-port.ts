import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { MediaSettings } from './media-messages.ts'

/**
 * Returns the UDP port to use. Port 0 becomes a free one.
 * @throws if the port is in use: the library would not report it.
 */
export async function openUdpPort({
  bindAddress,
  port,
}: Pick<MediaSettings, 'bindAddress' | 'port'>): Promise<number> {
  const socket = createSocket({ type: bindAddress?.includes(':') ? 'udp6' : 'udp4', reuseAddr: false })
  socket.bind({ port, ...(bindAddress && { address: bindAddress }), exclusive: true })
  await once(socket, 'listening')
  const chosen = socket.address().port
  socket.close()
  return chosen
}
