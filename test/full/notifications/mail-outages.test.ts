import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase } from '../../support/database/database.ts'
import type { ReceivedMail } from '../../support/network/smtp.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import {
  createMailFixture,
  HOUR_MS,
  header,
  type MailFixture,
  MINUTE_MS,
} from '../../support/world/notification-mails.ts'
import { waitFor } from '../../support/world/wait.ts'

let proxy: TcpProxy
let fixture: MailFixture
beforeAll(async () => {
  const database = await createTestDatabase()
  proxy = await createTcpProxy(database.url)
  fixture = await createMailFixture({ env: { DATABASE_URL: proxy.url }, database })
})
afterEach(() => fixture.mail.reset())
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]()
  await proxy?.[Symbol.asyncDispose]()
})

describe('an outage', () => {
  test('of the mail server delays the mail; later notifications are combined in a second mail', async () => {
    const operator = await fixture.world.operator()
    await fixture.mail.stop()
    await fixture.decide(operator)
    fixture.later(MINUTE_MS)
    await fixture.run()
    expect(await fixture.left(operator)).toEqual({ digests: 0, mails: 1 })
    for (let hour = 0; hour < 12; hour++) {
      await fixture.decide(operator)
      fixture.later(HOUR_MS)
      await fixture.run()
    }
    expect(await fixture.left(operator)).toEqual({ digests: 1, mails: 1 })
    await fixture.mail.start()
    fixture.later(HOUR_MS)
    await fixture.arrived(operator, 1)
    fixture.later(15 * MINUTE_MS)
    await fixture.arrived(operator, 2)
    expect(header(fixture.to(operator)[1]!, 'Subject')).toContain('(and 11 more)')
    await fixture.settled(operator)
    expect(fixture.seen(operator)).toHaveLength(2)
  })

  test('of the mail server: notifications that are read before its end are not mailed', async () => {
    const operator = await fixture.world.operator()
    await fixture.mail.stop()
    await fixture.decide(operator, 2)
    fixture.later(MINUTE_MS)
    await fixture.run()
    expect(await fixture.left(operator)).toEqual({ digests: 0, mails: 1 })
    await operator.post('/api/notifications/read', { up_to: '2' })
    await fixture.mail.start()
    fixture.later(HOUR_MS)
    await fixture.settled(operator)
    expect(fixture.seen(operator)).toEqual([])
  })

  test('of three days: the mail is abandoned, and older notifications are not mailed', async () => {
    const waiting = await fixture.world.operator()
    fixture.mail.is({ refuses: 'recipient', code: 550 })
    await fixture.decide(waiting)
    fixture.later(MINUTE_MS)
    await fixture.attempted(waiting, 1)
    fixture.later(72 * HOUR_MS - 2 * MINUTE_MS)
    await fixture.run()
    await fixture.attempted(waiting, 2) // an attempt that started before the limit must have finished
    expect((await fixture.left(waiting)).mails).toBe(1)

    const old = await fixture.session()
    await fixture.db
      .updateTable('notifications')
      .set({ created_at: new Date(fixture.now().getTime() - 73 * HOUR_MS) })
      .where('user_id', '=', old.owner.id)
      .execute()
    fixture.mail.is('takes')
    fixture.later(2 * HOUR_MS)
    for (const user of [waiting, old.owner]) {
      await fixture.settled(user)
      expect(fixture.to(user)).toEqual([])
    }
    await old.operator.patch(old.path, { action: 'end' })
  })

  test('of the mail server after the whole mail: the same mail is sent again', async () => {
    const operator = await fixture.world.operator()
    fixture.mail.is('dies after')
    await fixture.decide(operator, 3)
    fixture.later(MINUTE_MS)
    await fixture.run()
    await waitFor(() => expect(fixture.seen(operator)).toHaveLength(1))
    await waitFor(async () => {
      const [row] = await fixture.db
        .selectFrom('notification_mails')
        .select('last_error')
        .where('user_id', '=', operator.id)
        .execute()
      expect(row?.last_error).toContain('may have been delivered')
    })
    fixture.mail.is('takes')
    await operator.post('/api/notifications/2/read')
    fixture.later(MINUTE_MS)
    await fixture.arrived(operator, 1)
    const [first, second] = fixture.seen(operator) as [ReceivedMail, ReceivedMail]
    expect(second.messageId).toMatch(/^<notifications-[0-9a-f-]{36}@wheelhouse\.test>$/)
    expect(second.messageId).toBe(first.messageId)
    expect(second.body).toBe(first.body)
  })

  test('of the database: due notifications are mailed after it', async () => {
    const { errors } = fixture.world
    expect(errors).toEqual([])
    const operator = await fixture.world.operator()
    await fixture.decide(operator)
    await fixture.world.drained()
    proxy.cut()
    fixture.later(MINUTE_MS)
    await expect(fixture.run()).rejects.toThrow()
    proxy.restore()
    await waitFor(() => expect(fixture.to(operator)).toHaveLength(1))
    await fixture.settled(operator)
    errors.length = 0 // the errors of the outage are expected
  })
})
