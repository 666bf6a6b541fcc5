import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { atCommandLine, entriesOf, sessionOpen } from '../../support/cli/cli-world.ts'
import { CTRL_C, cliProcess, ENTER, endCommands, openTerminal, startCli } from '../../support/cli/terminal.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)

let world: World
beforeAll(async () => {
  // On a busy machine, the robots' heartbeats are late too.
  world = await createWorld({ env: { HEARTBEAT_TIMEOUT_MS: '20000' } })
})
afterAll(async () => await world[Symbol.asyncDispose]())

const at = (testUser: TestUser, env: Record<string, string> = {}) => atCommandLine(world, testUser, env)
const fixture = () => sessionOpen(world)

/** Checks that the output ends by restoring the screen and the cursor of the terminal. */
function expectRestored(written: string): void {
  expect(written.lastIndexOf('\u001b[?1049l')).toBeGreaterThan(written.lastIndexOf('\u001b[?1049h'))
  expect(written.lastIndexOf('\u001b[?25h')).toBeGreaterThan(written.lastIndexOf('\u001b[?25l'))
}

describe('wheelhouse watch', () => {
  test('prints events as JSON Lines and ends with the session', async () => {
    const { owner, operator, sessionId, end, sendMessage } = await fixture()
    const watch = startCli(await at(owner), ['watch', '--json'])
    await watch.expectText('"type":"telemetry"')
    await sendMessage('Hello, I have your robot')
    await watch.expectText('Hello, I have your robot')
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'pause', reason: 'lunch' })
    await watch.expectText('"status":"PAUSED","robot_connected":true')
    await watch.expectText(/"type":"latency","operator_ms":null,"robot_ms":[\d.]+/)
    await end()
    const { code, stdout, stderr } = await watch.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })

    const entries = entriesOf(stdout)
    const log = entries.filter(({ type }) => type === 'event')
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
    expect(log.map(({ event }) => event)).toEqual([
      'session.started',
      'chat.message',
      'session.paused',
      'session.ended',
    ])
    expect(entries.find(({ type }) => type === 'session').session).toMatchObject({
      id: sessionId,
      status: 'ACTIVE',
    })
    expect(entries.find(({ type }) => type === 'telemetry').data.pose.x_m).toBe(1)
    expect(entries.at(-1)).toMatchObject({ type: 'end', reason: 'the session is COMPLETED' })
    for (const { at } of entries) expect(Number.isNaN(Date.parse(at))).toBe(false)
  })

  test('prints the log of a session that is over, after a given entry', async () => {
    const { owner, sessionId, end, sendMessage } = await fixture()
    await sendMessage('one')
    await end()
    const whole = await cliProcess(await at(owner), ['watch', sessionId.slice(0, 8), '--lines'])
    expect(whole.code).toBe(0)
    expect(whole.stdout).toMatch(/session started\n.*\(operator\): one\n.*session ended\n.*is COMPLETED\n$/)
    const rest = await cliProcess(await at(owner), ['watch', sessionId, '--after', '2', '--json'])
    expect(entriesOf(rest.stdout).filter(({ type }) => type === 'event')).toHaveLength(1)
  })

  test('delivers every event across restarts of hub and platform', async () => {
    const { owner, sessionId, end, sendMessage } = await fixture()
    await using hub = await createTcpProxy(world.hubUrl)
    await using api = await createTcpProxy(world.baseUrl)
    const user = await at(owner, { WHEELHOUSE_HUB_URL: hub.url, WHEELHOUSE_URL: api.url })
    const watch = startCli(user, ['watch', sessionId, '--json'])
    await watch.expectText('"session.started"')
    await watch.expectText('"link","state":"online"')
    hub.cut()
    api.cut()
    await watch.expectText('"hub","state":"disconnected"')
    for (const word of ['one', 'two', 'three']) await sendMessage(word)
    hub.restore()
    api.restore()
    await watch.expectText('"body":"three"')
    await end()
    const { code, stdout } = await watch.ended
    expect(code).toBe(0)
    const seqs = entriesOf(stdout)
      .filter(({ type }) => type === 'event')
      .map(({ seq }) => seq)
    expect(seqs).toEqual([1, 2, 3, 4, 5])
  })

  test('Ctrl-C ends it without an effect on session and robot', async () => {
    const { owner, read } = await fixture()
    const watch = startCli(await at(owner), ['watch', '--json'])
    await watch.expectText('"type":"telemetry"')
    watch.signal('SIGINT')
    const { code, stderr } = await watch.ended
    expect(code).toBe(130)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'interrupted' })
    expect(await read()).toMatchObject({ status: 'ACTIVE', control: { stop: null } })
  })

  test('rejects invalid arguments', async () => {
    const { owner } = await fixture()
    const user = await at(owner)
    const unknown = '00000000-0000-4000-8000-000000000000'
    const results = await Promise.all([
      cliProcess(user, ['watch', unknown]),
      cliProcess(user, ['watch', '--robots', unknown]),
      cliProcess(user, ['watch', '--after', '-1']),
      cliProcess(await at(await world.operator()), ['watch']),
      cliProcess({ ...user, env: { ...user.env, WHEELHOUSE_API_KEY: 'svc_live_nonsense' } }, [
        'watch',
        unknown,
      ]),
    ])
    expect(results.map(({ code }) => code)).toEqual([4, 2, 2, 4, 3])
    for (const { stdout, stderr } of results) {
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^wheelhouse: .*\n$/m)
      expect(stderr).not.toContain('    at ')
    }
  })

  test('needs a session when several are open', async () => {
    const { owner, sessionId } = await fixture()
    const robot = await world.robot(owner)
    await world.connect(robot)
    const other = await (await world.operator()).post('/api/sessions', { robotId: robot.id })
    const { code, stderr } = await cliProcess(await at(owner), ['watch'])
    expect(code).toBe(2)
    expect(stderr).toContain(sessionId)
    expect(stderr).toContain(other.body.sessionId)
  })
})

describe('wheelhouse watch in a terminal', () => {
  test('shows the session, sends chat messages and stops the robot', async () => {
    const { owner, sessionId, read, sendMessage } = await fixture()
    const watch = openTerminal(await at(owner), ['watch'])
    await watch.shows(/Ronja .*ACTIVE/)
    await watch.shows(/robot +connected/)
    await watch.shows(/telemetry +0\.\d s ago +x 1\.00 m, y 1\.00 m/)
    await watch.shows(/latency .*robot \d/)
    await sendMessage('red \u001b[31m bell \u0007 turned \u202e')
    await watch.shows('red \\u001b[31m bell \\u0007 turned \\u202e')
    for (const command of ['\u001b[31m bell', '\u0007', '\u202e'])
      expect(watch.written()).not.toContain(command)

    watch.type('cLook out: stone\r')
    await watch.shows('Look out: stone')
    await waitFor(async () => {
      const { body } = await owner.get(`/api/sessions/${sessionId}/messages`)
      expect(body.messages.at(-1)).toMatchObject({ body: 'Look out: stone', sender_role: 'client' })
    })
    expect((await read()).control.stop).toBeNull() // an s in a line of chat is a letter

    watch.type(' ')
    await watch.shows('LATCHED: stopped by an observer')
    await waitFor(async () => {
      expect((await read()).control.stop?.reason).toBe('stopped by an observer')
    })
    await watch.shows('the stop is recorded')
    watch.type('q')
    const { code } = await watch.ended
    expect(code).toBe(0)
    expectRestored(watch.written())
  })

  test('requests the stop through the hub while the gateway is unreachable', async () => {
    const { owner, read } = await fixture()
    await using api = await createTcpProxy(world.baseUrl)
    const user = await at(owner, { WHEELHOUSE_URL: api.url })
    const { sessions } = (await owner.get('/api/sessions')).body
    api.cut() // no ticket: the link to the gateway never comes up
    const watch = openTerminal(user, ['watch', sessions[0].id])
    await watch.shows('session started')
    watch.type('s')
    await watch.shows('the stop is recorded')
    expect((await read()).control.stop?.reason).toBe('stopped by an observer')
    watch.type('q')
    expect((await watch.ended).code).toBe(0)
  })

  test('Ctrl-C restores the terminal', async () => {
    const { owner, read } = await fixture()
    const watch = openTerminal(await at(owner), ['watch'])
    await watch.shows(/robot +connected/)
    watch.type(CTRL_C)
    expect((await watch.ended).code).toBe(130)
    expectRestored(watch.written())
    expect((await read()).status).toBe('ACTIVE')
  })
})

describe('wheelhouse watch --robots', () => {
  test('prints changes line by line, and as a board in a terminal', async () => {
    const owner = await world.client()
    const robot = await world.robot(owner, { name: 'Bolt' })
    const user = await at(owner)
    const lines = startCli(user, ['watch', '--robots', '--json'])
    const board = openTerminal(user, ['watch', '--robots'])
    await lines.expectText('"status":"OFFLINE"')
    await board.shows(/1 robots .*1 OFFLINE/)
    const link = await world.connect(robot)
    await lines.expectText('"status":"AVAILABLE"')
    await board.shows(/1 AVAILABLE/)
    await board.shows('Bolt')
    await link.close()
    await waitFor(() => {
      const robotEntries = entriesOf(lines.stdout()).filter(({ type }) => type === 'robot')
      expect(robotEntries.map(({ status }) => status)).toEqual(['OFFLINE', 'AVAILABLE', 'OFFLINE'])
      expect(robotEntries[0]).toMatchObject({ robot_id: robot.id, name: 'Bolt' })
    })
    lines.signal('SIGTERM')
    board.type('q')
    expect((await lines.ended).code).toBe(143)
    expect((await board.ended).code).toBe(0)
  })
})

describe('wheelhouse chat', () => {
  test('sends one message and prints its number, also from standard input; a repeated id appears once', async () => {
    const { owner, sessionId } = await fixture()
    const user = await at(owner)
    const first = await cliProcess(user, [
      'chat',
      sessionId,
      'Careful',
      'with',
      'the vase',
      '--json',
      '--message-id',
      'm-1',
    ])
    const again = await cliProcess(user, ['chat', sessionId, 'Careful with the vase', '--message-id', 'm-1'])
    const piped = await cliProcess(user, ['chat', sessionId, '-'], 'two\nlines\n')
    expect([first.code, again.code, piped.code]).toEqual([0, 0, 0])
    expect(first.json).toMatchObject({ seq: 2, body: 'Careful with the vase', session_id: sessionId })
    expect(again.stderr).toBe('sent, number 2 in the log\n')
    const { body } = await owner.get(`/api/sessions/${sessionId}/messages`)
    expect(body.messages.map((message: { body: string }) => message.body)).toEqual([
      'Careful with the vase',
      'two\nlines',
    ])
  })

  test('succeeds only after the confirmation of the platform', async () => {
    const { owner, sessionId, end } = await fixture()
    await using hub = await createTcpProxy(world.hubUrl)
    hub.silence()
    const user = await at(owner, { WHEELHOUSE_HUB_URL: hub.url })
    const [undelivered, empty, unknown] = await Promise.all([
      cliProcess(user, ['chat', sessionId, 'hello', '--wait', '0.5']),
      cliProcess(user, ['chat', sessionId, ' ']),
      cliProcess(await at(owner), ['chat', '00000000-0000-4000-8000-000000000000', 'hello']),
    ])
    expect([undelivered.code, empty.code, unknown.code]).toEqual([6, 2, 4])
    expect(undelivered.stderr).toContain('has not confirmed')
    await end()
    expect((await cliProcess(await at(owner), ['chat', sessionId])).code).toBe(2)
    hub.cut()
    const waiting = startCli(user, ['chat', sessionId, 'hello'])
    await waitFor(() => expect(hub.refused).toBeGreaterThan(0))
    waiting.signal('SIGINT')
    expect((await waiting.ended).code).toBe(130)
  })

  test('runs a conversation at a terminal and marks unconfirmed messages', async () => {
    const { owner, sessionId, sendMessage } = await fixture()
    await sendMessage('before')
    const chat = openTerminal(await at(owner), ['chat', sessionId])
    await chat.shows(/operator\d+: before/)
    chat.type(`Hello there${ENTER}`)
    await chat.shows('✓ sent, number 3')
    await sendMessage('wipe \u001b[2J it')
    await chat.shows('wipe \\u001b[2J it')
    expect(chat.written()).not.toContain('\u001b[2J')
    chat.type('\u0004')
    expect((await chat.ended).code).toBe(0)
    const { body } = await owner.get(`/api/sessions/${sessionId}/messages`)
    expect(body.messages.at(-2).body).toBe('Hello there')
  })

  test('ends a conversation with the session and with Ctrl-C', async () => {
    const { owner, sessionId, end } = await fixture()
    const user = await at(owner)
    const [firstChat, other] = [
      openTerminal(user, ['chat', sessionId]),
      openTerminal(user, ['chat', sessionId]),
    ]
    await Promise.all([firstChat.shows('connected'), other.shows('connected')])
    firstChat.type(CTRL_C)
    expect((await firstChat.ended).code).toBe(130)
    await end()
    expect((await other.ended).code).toBe(0)
  })
})
