import type { StopReason } from '@wheelhouse/protocol'
import { alone } from '../src/core/concurrency/async.ts'
import type { Guard } from '../src/core/errors/guard.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Log } from '../src/core/log.ts'
import { type RevocationSources, watchRevocations } from '../src/modules/identity/revocation-watch.ts'
import type { Driving } from '../src/modules/sessions/control/driving.service.ts'
import type { TicketStore } from '../src/modules/sessions/control/ticket.store.ts'
import type { BatteryFeed } from './battery-feed.ts'
import type { Drive } from './drive.ts'
import { createDriverFrames } from './driver-frames.ts'
import { createDrives } from './drives.ts'
import { createPeople } from './people.ts'
import type { PersonLink } from './person-link.ts'
import { createRecords } from './records.ts'
import { createRelay } from './relay.ts'
import { createRevocations } from './revocations.ts'
import type { RobotLink } from './robot-link.ts'
import { createStops } from './stops.ts'

/** Parts of a measuring period. In each of them it is the turn of some sessions: a ping is a system call. */
export const MEASURE_TURNS = 50

/** Everything that has to do with driving, put together. */
export function createDriveRoom(parts: {
  driving: Driving
  ticketStore: Pick<TicketStore, 'verdictOf'>
  accounts: Pick<RevocationSources, 'apiKeys' | 'users'>
  bus: Bus
  log: Log
  guard: Guard
  nodeId: string
  settings: {
    readonly deadmanMs: number
    readonly heartbeatTimeoutMs: number
    readonly operatorGraceMs: number
  }
  clockMs: () => number
  battery: BatteryFeed
  /** Looks these robots up soon. */
  lookUp: (robotIds: Iterable<string>) => void
  /** Looks up what changed lately. Throws when the database is away. */
  lookAround: () => Promise<void>
}) {
  const { driving, bus, log, guard, nodeId, settings, battery, clockMs, lookUp, lookAround } = parts
  const preciseMs = () => performance.now()
  const drives = createDrives({ nodeId, clockMs, onEnd: (drive) => records.ended(drive) })
  const records = createRecords({
    ...{ driving, drives, lookUp, log, clockMs },
    operatorGraceMs: settings.operatorGraceMs,
  })
  const relay = createRelay({ guard, deadmanMs: settings.deadmanMs, preciseMs, clockMs })
  /** One session that fails must not keep the others waiting. A robot that is cut off brakes, and comes back. */
  const repeatStop = guard.handler(
    'session:repeat-stop',
    (drive: Drive) => drive.repeatStop(clockMs()),
    (drive) => drive.robot?.close('internalError'),
  )
  const stops = createStops({ drives, records, clockMs })
  const halt = (drive: Drive, { admission }: PersonLink, reason: string | undefined) =>
    stops.press(drive, { userId: admission.userId, reason })
  const press = (link: PersonLink, reason: string | undefined) => {
    if (link.drive) halt(link.drive, link, reason)
  }
  const revocations = createRevocations(clockMs)
  const frames = createDriverFrames({ relay, press, deadmanMs: settings.deadmanMs, clockMs })
  const people = createPeople({
    ...{ drives, frames, battery, halt, revocations, lookAround, driving, log, clockMs },
    verdictOf: parts.ticketStore.verdictOf,
    silenceLimitMs: settings.heartbeatTimeoutMs,
  })
  let turn = 0

  /** Asks everybody for a pong, and tells those who take part how long the last ones took. */
  const measure = guard.handler('session:latency', (drive: Drive): void => {
    const { robot, operator } = drive
    drive.tally.measure(preciseMs(), {
      robot: () => robot?.ping() ?? false,
      operator: () => operator?.ping() ?? false,
    })
    const frame = drive.tally.frame(preciseMs())
    for (const person of drive.people()) {
      if (person !== drive.operator) person.ping()
      person.sendIfFlowing(frame, clockMs())
    }
  })

  async function checkRights(): Promise<void> {
    const apiKeys = people.apiKeys()
    if (apiKeys.length > 0) people.revoke(await driving.endedKeys(apiKeys))
    const watchers = people.watchers()
    if (watchers.length === 0) return
    const outsiders = new Set(await driving.outsiders(watchers.map(({ admission }) => admission)))
    for (const link of watchers) if (outsiders.has(link.admission)) link.close('notAllowed')
  }

  return {
    drives,
    relay,
    people,
    revocations,
    get counts() {
      return { ...relay.counts, ...stops.counts }
    },

    robotAnswered: (link: RobotLink) => link.drive?.tally.robotAnswered(preciseMs()),
    personAnswered(link: PersonLink): void {
      link.lastSignMs = clockMs()
      if (link.drive?.operator === link) link.drive.tally.operatorAnswered(preciseMs())
    },

    /** Somebody slow has read some of what waits, which no dead connection does. No pings go to the slow. */
    personDrained(link: PersonLink): void {
      link.lastSignMs = clockMs()
      relay.personDrained(link)
    },

    /** Stops that came another way, and credentials that ended; returns how to stop listening. */
    listen(): () => void {
      const ends = [guard.subscribe(bus, 'robot.stop', stops.heard)]
      const watch = watchRevocations(
        { ...parts.accounts, bus, guard, log },
        {
          keyRevoked(apiKeyId) {
            revocations.keyRevoked(apiKeyId)
            people.revoke([apiKeyId])
          },
          permissionsChanged: revocations.permissionsChanged,
        },
      )
      return () => {
        watch.close()
        for (const end of ends) end()
      }
    },

    /** Finds credentials that ended and whose hint did not arrive, and who looks on without a right to it any more. */
    checkRights: alone(() =>
      checkRights().catch((cause) => log.debug({ err: cause }, 'rights of people not looked up')),
    ),

    /** Sends stops again that robots have not answered. Call it again and again. */
    repeatStops(): void {
      for (const drive of drives.all()) repeatStop(drive)
    },
    /** Retries admissions, and carries out stops that wait for one. Call it again and again. */
    retryAdmissions: people.retryAdmissions,
    /** Cuts dead connections. Call it again and again. */
    cutSilent: people.cutSilent,
    /** Begins to write what is due. Call it again and again. */
    write: records.tick,

    /** Measures the sessions whose turn it is. Call it `MEASURE_TURNS` times in the period of one measurement. */
    measure(): void {
      turn = (turn + 1) % MEASURE_TURNS
      for (const drive of drives.all()) {
        if (drive.turn % MEASURE_TURNS === turn && !drive.deserted) measure(drive)
      }
    },

    /** Has every robot that may be moving stand. */
    standStill(reason: StopReason): void {
      for (const drive of drives.all()) drive.standIfMoving(reason, clockMs())
    },

    /** Writes what is still to be written; settles also when the database does not take it. */
    flush: records.flush,
  }
}
export type DriveRoom = ReturnType<typeof createDriveRoom>
