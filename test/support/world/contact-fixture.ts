import { expect } from 'vitest'
import { CONTACT_MAILS } from '../../../src/modules/support/contact-delivery.ts'
import { startMailServer } from '../network/smtp.ts'
import { runningJobs } from './jobs.ts'
import { waitFor } from './wait.ts'
import { createWorld, type WorldOptions } from './world.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

const input = {
  name: 'Ada',
  email: 'ada@example.com',
  category: 'Other' as const,
  message: 'Can you help me?',
}

/** The answer to a message that is stored and not yet delivered. */
export const stored = { status: 201, body: { success: true, stored: true, delivered: false } }

/** Creates a platform with a mail server and a clock that the test can advance. */
export async function createContactFixture(options: WorldOptions = {}) {
  const mail = await startMailServer()
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  // Many visitors at once: on a busy machine, a request would wait too long for one of four connections.
  const env = { ...mail.env, DATABASE_POOL_SIZE: '16', ...options.env }
  const world = await createWorld({ ...options, env, now })
  const admin = await world.admin()
  const about = (id: string) => (item: { messageId: string }) =>
    item.messageId === `<contact-${id}@wheelhouse.test>`
  /** Returns the newest messages as admins see them. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on arbitrary received data
  const messages = async (): Promise<any[]> =>
    (await admin.get('/api/admin/contact-messages')).body.contact_messages

  return {
    mail,
    world,
    later: (ms: number) => {
      aheadMs += ms
    },
    /** Sends a message with the contact form of a process. */
    async send(subject = 'Hello', baseUrl = world.baseUrl) {
      const response = await fetch(`${baseUrl}/api/contact`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...input, subject }),
      })
      const body = (await response.json()) as { id: string; stored: boolean; delivered: boolean }
      return { status: response.status, body }
    },
    messages,
    /** Returns a message as admins see it. */
    message: async (id: string) => (await messages()).find((item) => item.id === id),
    /** The mails of a message that the server has accepted. */
    taken: (id: string) => mail.taken.filter(about(id)),
    /** The mails of a message that the server has read completely, accepted or not. */
    seen: (id: string) => mail.seen.filter(about(id)),
    /** Settles when no attempt is under way: the results of all attempts are recorded. */
    idle: () =>
      waitFor(async () => expect(await runningJobs(world.database.url, CONTACT_MAILS.name)).toBe(0)),
    /** Runs the due jobs now, in addition to the polls of the worker. */
    async run() {
      await world.syncJobClock()
      await world.platform.core.jobs.runDue(CONTACT_MAILS)
    },
    async [Symbol.asyncDispose]() {
      mail.release()
      await mail.stop() // ends open connections
      await world[Symbol.asyncDispose]()
    },
  }
}
export type ContactFixture = Awaited<ReturnType<typeof createContactFixture>>
