import { createLog, type Log } from '../../../src/core/log.ts'
import { createGuard, type Guard } from '../../../src/core/process/guard.ts'

/** Creates a guard without metrics, for parts that are tested without a platform. */
export const plainGuard = (log: Log = createLog({ level: 'silent', pretty: false })): Guard =>
  createGuard({ role: 'test', log, count() {} })
