import type { GatewayConnection } from '../base/connection.ts'
import type { TextFrame } from '../base/parse-frame.ts'

/**
 * Handles a probe, or the answer to one.
 * @returns the round trip of an answered probe in milliseconds; null for another probe; undefined for any other frame
 */
export function readProbe({ channel }: GatewayConnection, value: TextFrame): number | null | undefined {
  if (value.type !== 'probe' && value.type !== 'probe_answer') return undefined
  const number = 'n' in value ? value.n : undefined
  if (channel === null || !Number.isSafeInteger(number) || (number as number) < 0) return null
  if (value.type === 'probe') {
    channel.answerProbe(number as number)
    return null
  }
  return channel.probeAnswered(number as number) ?? null
}
