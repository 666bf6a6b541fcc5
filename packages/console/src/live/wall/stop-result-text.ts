import { messageOf } from '../../ui/message-of.ts'
import type { StopResult } from './fleet-stop.ts'

/** Returns the result of a stop as a sentence. */
export function stopResultText(result: StopResult): string {
  if (result.phase === 'rejected') return `Not stopped. ${messageOf(result.error)}`
  return result.phase === 'requested' ? 'Stop requested. Not confirmed yet.' : 'Stopped.'
}
