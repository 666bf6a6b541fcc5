import type { CloseReason } from '@wheelhouse/protocol'
import { within } from '../src/core/concurrency/async.ts'
import type { Log } from '../src/core/log.ts'
import type { Driving } from '../src/modules/sessions/control/driving.service.ts'
import type { TicketStore, TicketVerdict } from '../src/modules/sessions/control/ticket.store.ts'
import type { BatteryFeed } from './battery-feed.ts'
import type { Drive } from './drive.ts'
import type { DriverFrames } from './driver-frames.ts'
import type { Drives } from './drives.ts'
import type { PersonLink } from './person-link.ts'
import type { Revocations } from './revocations.ts'

/** People who look on at one session through one gateway. */
const MAX_WATCHERS = 100
/** How long a link may wait for its admission, in which `stop` alone is kept. */
const ADMISSION_LIMIT_MS = 5_000
/** Between two tries of an admission that the database did not decide. */
const RETRY_MS = 500
/** How long the first operator of a session waits for the database at the most. */
const RECORD_LIMIT_MS = 1_000

/** How a link ends whose ticket is not valid any more. */
const closings = {
  credential_ended: 'credentialRevoked',
  permissions_changed: 'ticketVoid',
  superseded: 'ticketVoid',
} as const satisfies Record<Exclude<TicketVerdict, 'valid'>, CloseReason>

/** Operators and watchers connected to this gateway, from the open socket to its end. */
export function createPeople(parts: {
  drives: Drives
  frames: DriverFrames
  battery: BatteryFeed
  /** Halts the robot on behalf of a participant. */
  halt: (drive: Drive, link: PersonLink, reason: string | undefined) => void
  verdictOf: TicketStore['verdictOf']
  revocations: Revocations
  /** Looks up the robots that changed lately. Throws when the database is away. */
  lookAround: () => Promise<void>
  driving: Pick<Driving, 'recordJoin'>
  log: Log
  clockMs: () => number
  /** From the last sign of life on, a pong of the peer's library included. */
  silenceLimitMs: number
}) {
  const { drives, frames, battery, halt, verdictOf, revocations, lookAround, driving, log } = parts
  const { clockMs, silenceLimitMs } = parts
  const links = new Set<PersonLink>()
  let count = 0
  let refused = 0

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

  /** Admits a link whose ticket the database confirms. Until then no frame of it counts but `stop`, which is kept. */
  async function admit(link: PersonLink): Promise<void> {
    const verdict = await verdictOf(link.admission)
    if (verdict !== 'valid') {
      link.earlyStop = null
      refused++
      return link.close(closings[verdict])
    }
    const drive = await findToJoin(link)
    if (!drive) return link.close('robotMoved') // another gateway has it, or soon will: fetch a new ticket
    if (link.open) join(link, drive)
    haltEarly(link, drive)
  }

  /** Carries out the stop that came before the link was admitted. */
  function haltEarly(link: PersonLink, drive: Drive | undefined): void {
    const { earlyStop } = link
    link.earlyStop = null
    if (earlyStop && drive) halt(drive, link, earlyStop.reason)
  }

  /** Admits a link, or has it tried again: the database may be away for a moment only. */
  function tryAdmission(link: PersonLink): void {
    link.retryAtMs = 0
    admit(link).catch((cause) => {
      haltUnconfirmed(link)
      if (clockMs() - link.openedMs < ADMISSION_LIMIT_MS) {
        link.retryAtMs = clockMs() + RETRY_MS
        return
      }
      log.warn({ err: cause, sessionId: link.admission.sessionId }, 'participant not admitted')
      link.close('draining')
    })
  }

  /** Halts without the database: the ticket is signed, no revocation of it is known, and a halt is the safe side. */
  function haltUnconfirmed(link: PersonLink): void {
    const drive = drives.of(link.admission.sessionId)
    // A session that is not known yet keeps its stop for the next try.
    if (drive && !revocations.end(link.admission)) haltEarly(link, drive)
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
  }

  return {
    get size() {
      return links.size
    },
    /** Links that were closed because their tickets were not valid any more. */
    get refused() {
      return refused
    },
    all: (): Iterable<PersonLink> => links,

    opened(link: PersonLink): void {
      link.number = ++count
      links.add(link)
      tryAdmission(link)
    },

    message(link: PersonLink, data: ArrayBuffer, isBinary: boolean): void {
      link.lastSignMs = clockMs()
      frames.read(link, data, isBinary)
      // A stop waits for no database.
      if (link.earlyStop) haltUnconfirmed(link)
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

    /** Retries admissions, and carries out stops that wait for one for too long. Call it again and again. */
    retryAdmissions(): void {
      const nowMs = clockMs()
      for (const link of links) {
        if (link.earlyStop) haltUnconfirmed(link)
        if (link.retryAtMs > 0 && nowMs >= link.retryAtMs) tryAdmission(link)
      }
    },

    /** Cuts off who has been silent for too long: their connection is dead, whatever it looks like. */
    cutSilent(): void {
      const nowMs = clockMs()
      for (const link of links) {
        const limitMs = link.drive ? silenceLimitMs : Math.max(silenceLimitMs, ADMISSION_LIMIT_MS)
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
