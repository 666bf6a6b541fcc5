import { afterAll, beforeAll, expect, test } from 'vitest'
import { NOTIFICATION_DIGESTS } from '../../../src/modules/notifications/digest.service.ts'
import { NOTIFICATION_MAILS } from '../../../src/modules/notifications/mail.service.ts'
import {
  createMailFixture,
  type MailFixture,
  MINUTE_MS,
  textOf,
} from '../../support/world/notification-mails.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

let fixture: MailFixture
beforeAll(async () => {
  fixture = await createMailFixture({ bus: 'redis' })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('three concurrent workers mail each notification once', async () => {
  const { world, mail } = fixture
  const workers = await Promise.all([world.addNode('worker', mail.env), world.addNode('worker', mail.env)])
  const users = await Promise.all(Array.from({ length: 10 }, () => world.operator()))
  for (let round = 0; round < 3; round++) {
    await Promise.all(users.map((user) => fixture.decide(user)))
    fixture.later(MINUTE_MS) // the last round is due while the next one is written
  }
  await Promise.all([
    fixture.run(),
    ...workers.map(async ({ platform }) => {
      await platform.core.jobs.runDue(NOTIFICATION_DIGESTS)
      await platform.core.jobs.runDue(NOTIFICATION_MAILS)
    }),
  ])
  const notified = (user: TestUser) =>
    fixture
      .to(user)
      .flatMap((item) => [...textOf(item).matchAll(/type "(type-\d+)"/g)].map(([, type]) => type))
      .toSorted()
  await waitFor(() => {
    fixture.later(MINUTE_MS) // a user with an undelivered mail is rechecked after a minute
    for (const user of users) expect(notified(user)).toHaveLength(3)
  })
  for (const user of users) {
    await fixture.settled(user)
    expect(new Set(notified(user)).size, 'mailed twice').toBe(3)
  }
  const mails = users.map((user) => [fixture.seen(user).length, fixture.to(user).length])
  for (const [seen, taken] of mails) expect(seen).toBe(taken)
  const ids = mail.taken.map((item) => item.messageId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const worker of workers) await worker.stop()
})
