import { createGuard, type Guard } from '../../../src/core/process/guard.ts'
import { createLog, type Log } from '../../../src/core/log.ts'

/** A guard that counts nothing, for parts that are tried without a platform. */
export const plainGuard = (log: Log = createLog({ level: 'silent', pretty: false })): Guard =>
  createGuard({ role: 'test', log, count() {} })
