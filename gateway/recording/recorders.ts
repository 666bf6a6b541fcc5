import { singleFlight } from '../../src/core/concurrency/concurrency.ts'
import type { Log } from '../../src/core/log.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { createRecordSender } from '../../src/core/recording/record-sender.ts'
import type { GatewayServices } from '../services.ts'

/** How often the list of recorders is read. A lost one is noticed by its connection, at once. */
const POLL_MS = 1_000
const STOP_POLL_MS = 20

/** Creates the connections of a gateway to the recorders. */
export function createRecorders(deps: {
  recorderNodes: GatewayServices['recorderNodes']
  /** Returns the header Authorization of a new connection. */
  authorization: () => string
  guard: Guard
  log: Log
}) {
  const { recorderNodes } = deps
  let known: Awaited<ReturnType<typeof recorderNodes.live>> = []
  const sender = createRecordSender({
    ...deps,
    recorders: () => known,
    nowMs: () => performance.timeOrigin + performance.now(),
  })
  const poll = singleFlight(async () => {
    // Without the database, the recorders that were known last are used.
    known = await recorderNodes.live().catch(() => known)
  })
  return {
    sender,
    pollMs: POLL_MS,
    poll,
    /** Settles when all records of closed streams are durable. The caller limits its time. */
    async flush(): Promise<void> {
      while (!sender.isIdle) await new Promise((resolve) => setTimeout(resolve, STOP_POLL_MS))
    },
  }
}
export type Recorders = ReturnType<typeof createRecorders>
