import { rosbridgeTransport } from './rosbridge.ts'
import { socketIoTransport } from './socket-io.ts'
import type { Transport } from './transport.ts'
import { webSocketWheelhouse, wheelhouseTransport } from './wheelhouse.ts'
import { wsTransport } from './ws.ts'

/** All transports, in the order of the report. A new one needs a file and an entry here. */
export const transports: readonly Transport[] = [
  wheelhouseTransport,
  webSocketWheelhouse,
  wsTransport,
  rosbridgeTransport,
  socketIoTransport,
]

/** Returns a transport by its name. @throws Error if it does not exist */
export function transportNamed(name: string): Transport {
  const found = transports.find((transport) => transport.name === name)
  if (!found) throw new Error(`No transport is called ${name}.`)
  return found
}
