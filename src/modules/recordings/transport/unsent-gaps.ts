import { waitUntil } from '../../../core/concurrency/concurrency.ts'
import type { Log } from '../../../core/log.ts'
import type { Period } from './sample-backlog.ts'
import type { StreamDescription } from './sent-stream.ts'

/** A period of a source whose samples have reached no recorder. */
export interface UnsentGap extends Period {
  readonly source: string
  readonly reason: 'recorder_lost'
}

/** Creates the list of streams that have reached no recorder. Their source stores the gap: no recorder knows of it. */
export function createUnsentGaps({
  log,
  store,
}: {
  log: Log
  store: (sessionId: string, gap: UnsentGap) => Promise<void>
}) {
  let running = 0
  return {
    /** Stores the gap of a stream. Never rejects. */
    async report({ sessionId, source }: StreamDescription, { fromMs, toMs }: Period): Promise<void> {
      running++
      try {
        await store(sessionId, { source, fromMs, toMs, reason: 'recorder_lost' })
      } catch (err) {
        log.warn({ err, sessionId, source }, 'failed to store the gap of a stream without a recorder')
      } finally {
        running--
      }
    },

    /** Settles when all gaps so far are stored, or after a time limit. */
    async settled(limitMs: number): Promise<void> {
      await waitUntil(() => running === 0, limitMs)
    },
  }
}
export type UnsentGaps = ReturnType<typeof createUnsentGaps>
