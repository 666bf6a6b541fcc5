import { type connectOrm, queries } from '../../../src/app/database/orm.ts'
import { type Bus, createMemoryBus } from '../../../src/core/events/bus.ts'
import { createTransactor, type Transact } from '../../../src/core/events/transactor.ts'
import { writeNotifications } from '../../../src/modules/notifications/notify.ts'

type Orm = Awaited<ReturnType<typeof connectOrm>>

/** These tests start no workers: their transactions create no jobs. */
const noJobs = { insert: async () => {}, announce: () => {} }

/** Returns transactions over an ORM that a test has opened, as the composition root makes them. */
export const testTransactor = (orm: Orm, bus: Bus = createMemoryBus(() => {})): Transact =>
  createTransactor({
    db: queries(orm.em.fork()),
    bus,
    forkEntityManager: () => orm.em.fork(),
    writeNotifications,
    jobs: noJobs,
  })
