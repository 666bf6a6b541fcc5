import { randomUUID } from 'node:crypto'
import type { NotificationType } from '@wheelhouse/protocol'
import { expect } from 'vitest'
import { NOTIFICATION_DIGESTS } from '../../../src/modules/notifications/digest.service.ts'
import { NOTIFICATION_MAILS } from '../../../src/modules/notifications/mail.service.ts'
import { type ReceivedMail, startMailServer } from '../network/smtp.ts'
import { runningJobs } from './jobs.ts'
import type { TestUser } from './test-user.ts'
import { waitFor } from './wait.ts'
import { createWorld, type WorldOptions } from './world.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

/** Creates a platform with a mail server and a clock that the test can advance. */
export async function createMailFixture(options: WorldOptions = {}) {
  const mail = await startMailServer()
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  // Robots send one heartbeat and are lost only when a test disconnects them, because a lost robot is mailed at once.
  const env = { ...mail.env, HEARTBEAT_TIMEOUT_MS: String(10 * MINUTE_MS), ...options.env }
  const world = await createWorld({ ...options, env, now })
  const decisions = new Map<string, number>()
  const {
    core: { db, transact },
  } = world.platform

  const addressed = (user: TestUser) => (item: ReceivedMail) => item.to.includes(`${user.name}@test.local`)
  const to = (user: TestUser) => mail.taken.filter(addressed(user))
  /** Runs the due jobs now, in addition to the polls of the worker. */
  const run = () => world.runJobs(NOTIFICATION_DIGESTS, NOTIFICATION_MAILS)
  /** Returns the numbers of a user's pending digests and mails. */
  async function left(user: TestUser) {
    const [digests, mails] = await Promise.all([
      db.selectFrom('notification_digests').selectAll().where('user_id', '=', user.id).execute(),
      db
        .selectFrom('notification_mails')
        .selectAll()
        .where('user_id', '=', user.id)
        .where('delivered_at', 'is', null)
        .execute(),
    ])
    return { digests: digests.length, mails: mails.length }
  }

  /** Writes a notification for each of the data. */
  const notify = (user: TestUser, type: NotificationType, ...items: Record<string, unknown>[]) =>
    transact(async (tx) => {
      for (const data of items) await tx.notify(now(), [{ userId: user.id, type, data }])
    })

  return {
    mail,
    world,
    now,
    db,
    /** The mails to a user that the server has accepted. */
    to,
    /** The mails to a user that the server has read completely, accepted or not. */
    seen: (user: TestUser) => mail.seen.filter(addressed(user)),
    later: (ms: number) => {
      aheadMs += ms
    },
    notify,
    /** Notifies a user of `count` decisions about robot types that it numbers from 1 for each user, in one transaction. */
    async decide(user: TestUser, count = 1) {
      const first = (decisions.get(user.id) ?? 0) + 1
      decisions.set(user.id, first + count - 1)
      const data = (index: number) => ({
        certification_id: randomUUID(),
        robot_type: `type-${first + index}`,
      })
      await notify(
        user,
        'certification.approved',
        ...Array.from({ length: count }, (_, index) => data(index)),
      )
    },
    /** Creates a running session. */
    async session() {
      const [owner, operator] = [await world.client(), await world.operator()]
      const robot = await world.robot(owner, { name: 'Warehouse arm' })
      const link = await world.connect(robot)
      link.beat()
      const id = await waitFor(async () => {
        const started = await operator.post('/api/sessions', { robotId: robot.id })
        expect(started.status).toBe(201)
        return started.body.sessionId as string
      })
      return { owner, operator, robot, link, id, path: `/api/sessions/${id}` }
    },
    run,
    prefer: (user: TestUser, preferences: object) =>
      user.post('/api/auth/profile', { notification_preferences: preferences }),
    /** Runs the due jobs, and waits until the server has accepted `count` mails to a user. */
    async arrived(user: TestUser, count: number) {
      await run()
      await waitFor(() => expect(to(user)).toHaveLength(count))
    },
    /** Runs the due jobs, and waits until `count` attempts to mail a user have failed. */
    async attempted(user: TestUser, count: number) {
      await run()
      await waitFor(async () => {
        const mail = await db
          .selectFrom('notification_mails')
          .select(['attempts', 'delivered_at'])
          .where('user_id', '=', user.id)
          .executeTakeFirst()
        expect(mail).toEqual({ attempts: count, delivered_at: null })
        expect(await runningJobs(world.database.url, NOTIFICATION_MAILS.name)).toBe(0)
      })
    },
    left,
    /** Waits until no digest and no mail of a user is pending. */
    async settled(user: TestUser) {
      await run()
      await waitFor(async () => expect(await left(user)).toEqual({ digests: 0, mails: 0 }))
    },
    async [Symbol.asyncDispose]() {
      mail.release()
      await mail.stop()
      await world[Symbol.asyncDispose]()
    },
  }
}
export type MailFixture = Awaited<ReturnType<typeof createMailFixture>>

/** Decodes quoted-printable text. */
function unquoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
/** Returns the parts of a mail with two alternatives, each with its headers. */
function partsOf({ headers, body }: ReceivedMail): string[] {
  const boundary = /^Content-Type: multipart\/alternative; *boundary="([^"]+)"/im.exec(headers)?.[1]
  if (boundary === undefined) throw new Error('the mail has no parts')
  return body.split(`--${boundary}`).slice(1, -1)
}
function decodedPart(mail: ReceivedMail, type: string): string {
  const part = partsOf(mail).find((text) => new RegExp(`^Content-Type: ${type}`, 'im').test(text))
  if (part === undefined) throw new Error(`the mail has no part of the type ${type}`)
  const end = part.indexOf('\r\n\r\n')
  const [headers, content] = [part.slice(0, end), part.slice(end + 4)]
  const isQuoted = /^Content-Transfer-Encoding: quoted-printable/im.test(headers)
  return isQuoted ? unquoted(content.replace(/=\r\n/g, '')) : content
}
/** Returns the decoded text part of a mail. */
export const textOf = (mail: ReceivedMail): string => decodedPart(mail, 'text/plain')
/** Returns the decoded HTML part of a mail. */
export const htmlOf = (mail: ReceivedMail): string => decodedPart(mail, 'text/html')
/** Returns the decoded value of a header. */
export const header = ({ headers }: ReceivedMail, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im')
    .exec(headers)?.[1]
    ?.replace(/\?= =\?UTF-8\?Q\?/g, '')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_all, word: string) => unquoted(word.replace(/_/g, ' ')))
