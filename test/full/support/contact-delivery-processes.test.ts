import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CONTACT_MAILS } from '../../../src/modules/support/contact-delivery.ts'
import { query } from '../../support/processes/processes.ts'
import {
  type ContactFixture,
  createContactFixture,
  HOUR_MS,
  MINUTE_MS,
  stored,
} from '../../support/world/contact-fixture.ts'
import { recoverAbandoned, runningJobs } from '../../support/world/jobs.ts'
import { waitFor } from '../../support/world/wait.ts'

/** Its first process has no mail server, so that only the processes of a test deliver. */
let fixture: ContactFixture
beforeAll(async () => {
  fixture = await createContactFixture({ bus: 'redis', env: { SMTP_URL: '' } })
})
afterAll(() => fixture?.[Symbol.asyncDispose]())

type Process = Awaited<ReturnType<ContactFixture['world']['addNode']>>
const processes: Process[] = []
afterEach(async () => {
  await fixture.mail.reset()
  for (const process of processes.splice(0)) await process.stop()
})

/** Starts a process with a mail server, which ends with the test. */
async function start(roles: 'worker' | 'api'): Promise<Process> {
  const process = await fixture.world.addNode(roles, fixture.mail.env)
  processes.push(process)
  return process
}

const running = () => runningJobs(fixture.world.database.url, CONTACT_MAILS.name)
const arrives = (id: string) => waitFor(() => expect(fixture.taken(id)).toHaveLength(1))

test('two workers and the API process send each message once', async () => {
  const { mail, send, seen, later, world, idle } = fixture
  const api = await start('api')
  const all = [api, await start('worker'), await start('worker')]
  await mail.stop()
  const replies = await Promise.all(Array.from({ length: 30 }, (_, n) => send(`n${n}`, api.baseUrl)))
  const ids = replies.map((reply) => reply.body.id)
  await idle()
  await mail.start()
  later(HOUR_MS)
  await world.syncJobClock()
  await Promise.all(all.map(({ platform }) => platform.core.jobs.runDue(CONTACT_MAILS)))
  for (const id of ids) await arrives(id)
  expect(ids.map((id) => seen(id).length)).toEqual(Array(30).fill(1))
})

test('messages without a mail server stay pending until a process with a mail server delivers them', async () => {
  const { send, seen } = fixture
  const [first, second] = [await send('one'), await send('two')]
  for (const reply of [first, second]) expect(reply).toMatchObject(stored)

  await start('worker')
  await arrives(first.body.id)
  await arrives(second.body.id)
  // The process with a mail server also delivers messages that another process stores.
  const third = await send('three')
  expect(third).toMatchObject(stored)
  await arrives(third.body.id)
  for (const { body } of [first, second, third]) expect(seen(body.id)).toHaveLength(1)
})

test('the next worker continues after a worker that stops between attempts', async () => {
  const { mail, send, message, later, taken } = fixture
  await mail.stop()
  const { id } = (await send()).body
  const worker = await start('worker')
  await waitFor(async () => expect((await message(id)).attempts).toBe(1))
  await worker.stop()
  await mail.start()
  later(MINUTE_MS)
  expect(taken(id)).toEqual([])
  await start('worker')
  await arrives(id)
})

test('a process that stops while it waits for the server’s answer records the answer', async () => {
  const { mail, send, message, seen } = fixture
  mail.is('waits')
  const { id } = (await send()).body
  const worker = await start('worker')
  await waitFor(() => expect(mail.held()).toBe(1))
  const stopped = worker.stop()
  mail.release()
  await stopped
  expect(await message(id)).toMatchObject({ delivered: true, attempts: 1 })
  expect(seen(id)).toHaveLength(1)
})

test('a process that stops before the server greets releases the message immediately', async () => {
  const { mail, send } = fixture
  mail.is('never greets')
  const { id } = (await send()).body
  const before = mail.connections()
  const worker = await start('worker')
  await waitFor(() => expect(mail.connections()).toBe(before + 1))
  await worker.stop()
  expect(await running()).toBe(0)
  mail.is('takes')
  await start('worker')
  await arrives(id)
})

test('another process takes over from a killed process after its heartbeats stop', async () => {
  const { mail, send, message, later, world } = fixture
  const { id } = (await send()).body
  // A process takes the job and ends without a result.
  await query(
    world.database.url,
    `update pgboss.job set state = 'active', started_on = pgboss.job_now(), heartbeat_on = pgboss.job_now()
     where name = '${CONTACT_MAILS.name}' and data->>'id' = $1`,
    [id],
  )
  const before = mail.connections()
  const worker = await start('worker')
  const recover = async () => {
    await world.syncJobClock()
    await recoverAbandoned(worker.platform.core.jobs)
    await worker.platform.core.jobs.runDue(CONTACT_MAILS)
  }
  await recover()
  expect(mail.connections(), 'its heartbeats are recent').toBe(before)

  later(MINUTE_MS)
  await recover()
  expect(mail.connections(), 'the process may still be alive').toBe(before)
  later(MINUTE_MS)
  await arrives(id)
  await waitFor(async () => expect(await message(id)).toMatchObject({ delivered: true, attempts: 1 }))
})

test('a job lasts while its process is alive, even with a slow server', async () => {
  const { mail, send, message, seen } = fixture
  const workers = [await start('worker'), await start('worker')]
  mail.is('waits')
  const { id } = (await send()).body
  await waitFor(() => expect(mail.held()).toBe(1))
  for (let round = 0; round < 5; round++) {
    for (const { platform } of workers) {
      await recoverAbandoned(platform.core.jobs)
      await platform.core.jobs.runDue(CONTACT_MAILS)
    }
  }
  expect(seen(id)).toHaveLength(1)
  mail.release()
  await waitFor(async () => expect(await message(id)).toMatchObject({ delivered: true, attempts: 1 }))
})
