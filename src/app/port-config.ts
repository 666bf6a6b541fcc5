import { z } from 'zod'
import { HIGHEST_PORT, port } from './config-values.ts'

/** The variables of the ports. 0 selects a free one. */
export const portVariables = {
  PORT: port.default(3000),
  /** Unset, these follow from PORT, see `portsFrom`. */
  HUB_PORT: port.optional(),
  GATEWAY_PORT: port.optional(),
  /** UDP port of the cameras. */
  MEDIA_UDP_PORT: port.optional(),
  /** UDP port of the browsers that TURN servers relay over TCP or TLS. */
  MEDIA_RELAY_PORT: port.default(0),
  /** TCP port of the recorder, for gateways and media roles. */
  RECORDER_PORT: port.optional(),
  WORKER_PORT: port.optional(),
  /** UDP port of the data channels, or `off`. By default the number of GATEWAY_PORT. */
  GATEWAY_UDP_PORT: z.union([z.literal('off'), port]).optional(),
}

const Variables = z.object(portVariables)
type Variables = z.infer<typeof Variables>

/**
 * Returns the ports that follow from PORT unless they are set, so that a second platform on a machine needs only another PORT.
 * With PORT=0, all are free ones.
 */
export function portsFrom(env: Variables) {
  const from = (distance: number) => (env.PORT === 0 ? 0 : env.PORT + distance)
  return {
    HUB_PORT: env.HUB_PORT ?? from(1),
    GATEWAY_PORT: env.GATEWAY_PORT ?? from(2),
    MEDIA_UDP_PORT: env.MEDIA_UDP_PORT ?? from(4),
    RECORDER_PORT: env.RECORDER_PORT ?? from(5),
  }
}

/** Returns the problems that concern several variables. */
export function portProblems(env: Variables): string[] {
  const tooHigh = Object.entries(portsFrom(env)).filter(([, number]) => number > HIGHEST_PORT)
  if (tooHigh.length === 0) return []
  const followers = tooHigh.map(([name, number]) => `${name} would be ${number}`).join(', ')
  return [`PORT is too high: ${followers}. Set a lower PORT, or these ports`]
}
