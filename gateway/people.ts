import { within } from '../src/async.ts'
import type { Driving } from '../src/control/driving.service.ts'
import type { Log } from '../src/log.ts'
import type { BatteryFeed } from './battery-feed.ts'
import type { Drive } from './drive.ts'
import type { DriverFrames } from './driver-frames.ts'
import type { Drives } from './drives.ts'
import type { PersonLink } from './person-link.ts'

/** People who look on at one session through one gateway. */
const MAX_WATCHERS = 100
/** Of a person whose session is being looked up, in which `stop` alone is kept. */
const LOOK_UP_LIMIT_MS = 5_000
/** How long the first operator of a session waits for the database at the most. */
const RECORD_LIMIT_MS = 1_000

/** Operators and watchers connected to this gateway, from the open socket to its end. */
export function createPeople(parts: {
  drives: Drives
  frames: DriverFrames
  battery: BatteryFeed
  /** Somebody pressed the stop. */
  press: (link: PersonLink, reason: string | undefined) => void
  /** Looks up the robots that changed lately. Throws when the database is away. */
  lookAround: () => Promise<void>
  driving: Pick<Driving, 'recordJoin'>
  log: Log
  clockMs: () => number
  /** From the last sign of life on, a pong of the peer's library included. */
  silenceLimitMs: number
}) {
  const { drives, frames, battery, press, lookAround, driving, log, clockMs, silenceLimitMs } = parts
  const links = new Set<PersonLink>()
  let count = 0

  /** The session of a ticket. One that has just begun may not have been heard of yet. */
  async function find(sessionId: string): Promise<Drive | undefined> {
    const known = drives.of(sessionId)
    if (known) return known
    await lookAround()
    return drives.of(sessionId)
  }

  /**
   * Records the first operator of a session before the first frame may pass: the database decides whether the session
   * was paused for the want of one, and this gateway knows it when the operator joins. While the database is away, the
   * operator joins all the same; the session writer records it later.
   */
  async function recordFirstJoin(drive: Drive): Promise<Drive | undefined> {
    const { id } = drive.session
    const record = async () => {
      const eventSeq = await driving.recordJoin(id)
      if (eventSeq === undefined || eventSeq > drive.session.eventSeq) await lookAround()
      drive.session = { ...drive.session, driven: true }
    }
    await within(RECORD_LIMIT_MS, 'the database does not answer', record()).catch((cause) =>
      log.warn({ err: cause, sessionId: id }, 'first operator not recorded yet'),
    )
    drive.driven = true
    drives.attendance(drive) // also when the operator is gone by now
    return drives.of(id)
  }

  async function findToJoin(link: PersonLink): Promise<Drive | undefined> {
    const drive = await find(link.admission.sessionId)
    const isOperator = link.isOperator && link.admission.userId === drive?.session.operatorId
    if (!drive || !isOperator || drive.driven || drive.session.driven) return drive
    return await recordFirstJoin(drive)
  }

  async function letIn(link: PersonLink): Promise<void> {
    const { sessionId } = link.admission
    const drive = await findToJoin(link).catch((cause) => {
      log.warn({ err: cause, sessionId }, 'session of a ticket not looked up')
      return undefined
    })
    if (!link.open) return
    if (!drive) return link.close('robotMoved') // another gateway has it, or soon will: fetch a new ticket
    join(link, drive)
  }

  function join(link: PersonLink, drive: Drive): void {
    const nowMs = clockMs()
    if (link.isOperator) {
      if (link.admission.userId !== drive.session.operatorId) return link.close('notAllowed')
      const before = drive.operator
      if (before && before.number > link.number) return link.close('replaced') // it took longer to be let in
      drive.newOperator(link)
      if (before) {
        before.drive = null
        before.close('replaced')
      }
      drives.attendance(drive)
    } else {
      if (drive.watchers.size >= MAX_WATCHERS) {
        link.send('{"type":"error","message":"Too many people watch this session"}', nowMs)
        return link.close('notAllowed')
      }
      drive.watchers.add(link)
    }
    link.drive = drive
    link.send(drive.stateFrame(), nowMs)
    battery.show(link, nowMs)
    const { earlyStop } = link
    link.earlyStop = null
    if (earlyStop) press(link, earlyStop.reason)
  }

  return {
    get size() {
      return links.size
    },
    all: (): Iterable<PersonLink> => links,

    opened(link: PersonLink): void {
      link.number = ++count
      links.add(link)
      letIn(link).catch((cause) => {
        log.error({ err: cause }, 'somebody not let in')
        link.close('draining')
      })
    },

    message(link: PersonLink, data: ArrayBuffer, isBinary: boolean): void {
      link.lastSignMs = clockMs()
      frames.read(link, data, isBinary)
    },

    /** An operator who is gone stops the robot at once: first of all, whatever fails afterwards. */
    closed(link: PersonLink): void {
      link.detach()
      links.delete(link)
      const { drive } = link
      if (!drive) return
      if (drive.operator === link) {
        drive.standIfMoving('operator_lost', clockMs())
        drive.newOperator(null)
        drives.attendance(drive)
        drive.tellState(clockMs())
      }
      link.drive = null
      drive.watchers.delete(link)
      drives.deserted(drive)
    },

    /** Cuts off who has been silent for too long: their connection is dead, whatever it looks like. */
    cutSilent(): void {
      const nowMs = clockMs()
      for (const link of links) {
        const limitMs = link.drive ? silenceLimitMs : Math.max(silenceLimitMs, LOOK_UP_LIMIT_MS)
        if (nowMs - link.lastSignMs > limitMs) link.cut()
      }
    },

    /** Sends away everybody who came with one of these API keys. */
    revoke(apiKeyIds: readonly string[]): void {
      for (const link of links) {
        const { apiKeyId } = link.admission
        if (apiKeyId !== undefined && apiKeyIds.includes(apiKeyId)) link.close('credentialRevoked')
      }
    },

    watchers: (): PersonLink[] => [...links].filter((link) => !link.isOperator),

    /** The API keys that people here came with. */
    apiKeys: (): string[] => [...new Set([...links].flatMap((link) => link.admission.apiKeyId ?? []))],
  }
}
export type People = ReturnType<typeof createPeople>
