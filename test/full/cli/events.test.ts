import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atCommandLine, entriesOf } from '../../support/cli/cli-world.ts'
import { CTRL_C, cliProcess, endCommands, openTerminal, startCli } from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)

let world: World
beforeAll(async () => {
  // On a busy machine, the robots' heartbeats are late too.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '20000' } })
})
afterAll(async () => await world[Symbol.asyncDispose]())

/** Creates an owner with an open session. */
async function fixture() {
  const [owner, operator] = [await world.client(), await world.operator()]
  await owner.get('/api/events') // stores events from now on
  const robot = await world.robot(owner)
  const link = (await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  const sendMessage = (body: string) => operator.post(`/api/sessions/${sessionId}/messages`, { body })
  const eventsOf = async (query = '') => (await owner.get(`/api/events${query}`)).body.events
  await waitFor(async () => expect(await eventsOf('?types=session.started')).toHaveLength(1))
  return {
    owner,
    link,
    sendMessage,
    eventsOf,
    end: () => owner.patch(`/api/sessions/${sessionId}`, { action: 'end' }),
  }
}

const bodiesOf = (events: { data: { data: { body: string } } }[]) => events.map(({ data }) => data.data.body)

describe.concurrent('wheelhouse events', () => {
  test('continues across lost connections without a gap', async () => {
    const { owner, sendMessage, eventsOf } = await fixture()
    await using api = await createTcpProxy(world.baseUrl)
    const user = await atCommandLine(world, owner, { WHEELHOUSE_URL: api.url })
    const options = ['--follow', '--after', 'oldest', '--type', 'chat.message', '--type', 'session.*']
    const following = startCli(user, ['events', ...options])
    await following.expectText('session.started')
    api.cut()
    await following.expectText('Trying again', 'stderr')
    for (const word of ['one', 'two', 'three']) await sendMessage(word)
    api.restore()
    await following.expectText('The platform is reachable again', 'stderr')
    await following.expectText('"body":"three"')
    following.signal('SIGINT')
    const { code, stdout } = await following.ended
    expect(code).toBe(130)
    const numbers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.trim().split(' ')[0]))
    expect(numbers).toEqual(
      (await eventsOf('?types=chat.message,session.*')).map(({ seq }: { seq: number }) => seq),
    )
  })

  test('waits for the next event of a type', async () => {
    const { owner, sendMessage } = await fixture()
    await sendMessage('before')
    const asked: (string | undefined)[] = []
    await using api = await listening(async ({ url, headers }, response) => {
      asked.push(url)
      const { authorization = '' } = headers
      const answer = await fetch(world.baseUrl + url, { headers: { authorization } })
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    })
    const user = await atCommandLine(world, owner, { WHEELHOUSE_URL: api.url })
    const options = ['--follow', '--type', 'chat.message', '--limit', '1', '--json']
    const waiting = startCli(user, ['events', ...options])
    // The first request has returned the current cursor.
    await waitFor(() =>
      expect(asked).toEqual([expect.not.stringContaining('wait='), expect.stringContaining('wait=25')]),
    )
    await sendMessage('after')
    const { code, stdout, stderr } = await waiting.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(bodiesOf(entriesOf(stdout))).toEqual(['after'])
  })

  test('of many pages are printed in order up to a limit, with the cursor to continue', async () => {
    const { owner, sendMessage, eventsOf } = await fixture()
    for (const word of ['one', 'two', 'three']) await sendMessage(word)
    await waitFor(async () => expect(await eventsOf('?types=chat.message')).toHaveLength(3))
    const user = await atCommandLine(world, owner)
    const all = await eventsOf()
    const whole = await cliProcess(user, ['events'])
    expect(whole.stdout.trimEnd().split('\n')).toHaveLength(all.length)
    expect(whole.stderr).toContain(`wheelhouse events --after ${all.at(-1).seq}`)
    const two = await cliProcess(user, ['events', '--type', 'chat.message', '--limit', '2', '--json'])
    expect(bodiesOf(entriesOf(two.stdout))).toEqual(['one', 'two'])
    const none = await cliProcess(user, ['events', '--after', 'latest', '--json'])
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  test('fails for deleted events and for unknown types', async () => {
    const { owner, eventsOf } = await fixture()
    const user = await atCommandLine(world, owner)
    const head = (await eventsOf()).at(-1).seq
    await sql`update event_streams set pruned_to = ${head} where user_id = ${owner.id}`.execute(
      world.platform.core.db,
    )
    const old = await Promise.all(
      [
        ['--after', '0'],
        ['--after', '0', '--follow'],
      ].map((more) => cliProcess(user, ['events', ...more, '--json'])),
    )
    for (const { code, stdout, stderr } of old) {
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
      expect(JSON.parse(stderr)).toEqual({
        code: 'not_found',
        error: expect.stringMatching(/after 0 are no longer stored.*--after latest/),
      })
    }
    const wrong = [
      ['--type', 'session'],
      ['--after', 'yesterday'],
      ['--limit', '0'],
    ]
    const refused = await Promise.all(wrong.map((more) => cliProcess(user, ['events', ...more])))
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 2])
  })

  test('prints one escaped line per event in a terminal, until Ctrl-C', async () => {
    const { owner, sendMessage } = await fixture()
    const screen = openTerminal(await atCommandLine(world, owner), ['events', '--follow', '--after', '0'])
    await sendMessage('red \u001b[31m bell \u0007')
    await screen.shows('red \\u001b[31m bell \\u0007')
    for (const command of ['\u001b[31m bell', '\u0007']) expect(screen.written()).not.toContain(command)
    screen.type(CTRL_C)
    expect((await screen.ended).code).toBe(130)
  })
})
