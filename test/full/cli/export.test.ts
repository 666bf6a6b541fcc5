import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { atCommandLine } from '../../support/cli/cli-world.ts'
import { parseCsv } from '../../support/cli/csv.ts'
import {
  type CliUser,
  cliProcess,
  createCliUser,
  endCommands,
  openTerminal,
  startCli,
} from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'
import { datasetsOf, episodeFrame } from '../../support/world/episodes.ts'
import { ownerOf } from '../../support/world/past-sessions.ts'
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

const at = (testUser: TestUser) => atCommandLine(world, testUser)

/** Creates an owner with one completed and one open session. */
async function actors() {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner, { name: '=Arm, "big"' })
  const link = (await world.connect(robot)).beat()
  const start = async () =>
    (await operator.post('/api/sessions', { robotId: robot.id })).body.sessionId as string
  const over = await start()
  await owner.patch(`/api/sessions/${over}`, { action: 'end' })
  const open = await start()
  return { owner, robot, link, over, open }
}

/** Creates a folder for files. */
async function folderOf(user: CliUser): Promise<string> {
  const folder = join(user.configHome, 'files')
  await mkdir(folder)
  return folder
}

/** Starts a fake platform whose exports `send` answers. */
async function fakePlatform(send: (response: ServerResponse) => void): Promise<CliUser> {
  const server = await listening((request, response) => {
    request.resume().on('end', () => {
      if (request.url !== '/api/session-exports/count') return send(response)
      response.setHeader('Content-Type', 'application/json')
      response.end('{"rows":1,"direct":true}')
    })
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return createCliUser({ WHEELHOUSE_URL: server.url, WHEELHOUSE_API_KEY: 'svc_live_any' })
}

describe('wheelhouse export', () => {
  test('writes filtered sessions to a file or to standard output, in the format of the platform', async () => {
    const { owner, over, open, robot } = await actors()
    const user = await at(owner)
    const file = join(await folderOf(user), 'sessions.csv')
    const [written, printed, filtered, none, reported] = await Promise.all([
      cliProcess(user, ['export', '--output', file]),
      cliProcess(user, ['export', 'sessions', '--format', 'json']),
      cliProcess(user, [
        'export',
        '-f',
        'json',
        '--status',
        'ACTIVE',
        '--from',
        '2026-01-01',
        '--robot',
        robot.id.slice(0, 8),
      ]),
      cliProcess(user, ['export', '-f', 'json', '--to', '2026-01-01T00:00:00Z']),
      cliProcess(user, ['export', '--json', '-o', `${file}.2`]),
    ])
    for (const { code } of [written, printed, filtered, none, reported]) expect(code).toBe(0)
    expect(written.stdout).toBe('')
    expect(written.stderr).toContain(file)
    const [header, ...rows] = parseCsv(await readFile(file, 'utf8'))
    expect(rows.map((row) => row[header?.indexOf('id') ?? -1])).toEqual([open, over])
    expect(printed.json).toEqual({ sessions: (await owner.get('/api/sessions')).body.sessions })
    expect(filtered.json.sessions).toMatchObject([{ id: open }])
    expect(none.json).toEqual({ sessions: [] })
    expect(reported.json).toMatchObject({
      what: 'sessions',
      path: `${file}.2`,
      bytes: (await stat(file)).size,
    })
    expect((await readdir(join(file, '..'))).sort()).toEqual(['sessions.csv', 'sessions.csv.2'])
  })

  test('lets the platform write a large export first, and downloads it', async () => {
    const owner = await ownerOf(world, 10_001)
    const user = await at(owner)
    const file = join(await folderOf(user), 'sessions.csv')
    const [direct, stored] = await Promise.all([
      cliProcess(user, ['export', '--format', 'csv']),
      cliProcess(user, ['export', '--output', file, '--json']),
    ])
    expect([direct.code, stored.code], stored.stderr).toEqual([0, 0])
    const text = await readFile(file, 'utf8')
    expect(text === direct.stdout).toBe(true)
    expect(parseCsv(text)).toHaveLength(10_002)
    const notifications = (await owner.get('/api/notifications')).body.notifications
    // A worker may have issued invoices for the sessions.
    const ready = notifications.filter(({ type }: { type: string }) => type === 'export.ready')
    expect(ready).toMatchObject([{ data: { rows: 10_001 } }])
    // The platform keeps no copy of a file that has arrived.
    expect((await owner.get('/api/session-exports')).body.exports).toEqual([])
  })

  test('writes datasets and their episodes, page by page', async () => {
    const { owner, robot, link } = await actors()
    const counted = (count: number) =>
      waitFor(async () => expect((await datasetsOf(owner))[0]?.episode_count).toBe(count))
    for (let number = 0; number < 60; number++) link.send(episodeFrame())
    await counted(60)
    for (let number = 60; number < 101; number++) link.send(episodeFrame())
    await counted(101)
    const user = await at(owner)
    const [datasets, episodes, table] = await Promise.all([
      cliProcess(user, ['export', 'datasets', '-f', 'json']),
      cliProcess(user, ['export', 'episodes', '-f', 'json']),
      cliProcess(user, ['export', 'episodes']),
    ])
    expect(datasets.json).toEqual((await owner.get('/api/client/datasets')).body)
    const { id } = datasets.json.datasets[0]
    expect(
      new Set(episodes.json.episodes.map(({ episode_id }: { episode_id: string }) => episode_id)).size,
    ).toBe(101)
    expect(episodes.json.episodes[0]).toMatchObject({ robot_id: robot.id, dataset_id: id })
    const [header, ...rows] = parseCsv(table.stdout)
    expect(rows).toHaveLength(101)
    // Texts that a spreadsheet would run as formulas are escaped.
    expect(rows[0]?.[header?.indexOf('robot_name') ?? -1]).toBe(`'=Arm, "big"`)
    const first = await cliProcess(user, ['export', 'episodes', '--dataset', id.slice(0, 8), '--json'])
    expect(first.json).toEqual(episodes.json)
  })

  test('shows the progress in a terminal on standard error, never among the records', async () => {
    const { owner, over } = await actors()
    const user = await at(owner)
    const file = join(await folderOf(user), 'sessions.json')
    const shown = openTerminal(user, ['export', '-f', 'json', '-o', file])
    expect((await shown.ended).code).toBe(0)
    expect(shown.shown()).toMatch(/sessions {2}\d+ (B|KiB)/)
    expect(shown.written().lastIndexOf('\u001b[?25h')).toBeGreaterThan(
      shown.written().lastIndexOf('\u001b[?25l'),
    )
    const printed = openTerminal(user, ['export'])
    expect((await printed.ended).code).toBe(0)
    expect(printed.shown()).toContain(over)
    expect(printed.shown()).not.toMatch(/sessions {2}\d+ (B|KiB)/)
  })

  test('an incomplete download leaves no partial file and an existing file unchanged', async () => {
    const user = await fakePlatform((response) => {
      response.writeHead(200, { 'Content-Type': 'text/csv' }).write('id,status\r\n1,COMPLETED\r\n')
      setTimeout(() => response.destroy(), 50)
    })
    const folder = await folderOf(user)
    await writeFile(join(folder, 'old.csv'), 'old')
    const [fresh, over, printed] = await Promise.all([
      cliProcess(user, ['export', '-o', join(folder, 'new.csv')]),
      cliProcess(user, ['export', '-o', join(folder, 'old.csv')]),
      cliProcess(user, ['export']),
    ])
    expect([fresh.code, over.code, printed.code]).toEqual([6, 6, 6])
    expect(fresh.stderr).toContain('broke before the download was complete')
    expect(await readdir(folder)).toEqual(['old.csv'])
    expect(await readFile(join(folder, 'old.csv'), 'utf8')).toBe('old')
  })

  test('Ctrl-C ends an endless download and leaves no partial file', async () => {
    const asked = Promise.withResolvers<void>()
    const user = await fakePlatform((response) => {
      response.writeHead(200, { 'Content-Type': 'text/csv' }).write('id,status\r\n')
      asked.resolve()
    })
    const folder = await folderOf(user)
    const running = startCli(user, ['export', '-o', join(folder, 'new.csv')])
    await asked.promise
    await waitFor(async () => expect(await readdir(folder)).toHaveLength(1))
    running.signal('SIGINT')
    expect((await running.ended).code).toBe(130)
    expect(await readdir(folder)).toEqual([])
  })

  test('follows links and writes into devices instead of replacing them', async () => {
    const { owner } = await actors()
    const user = await at(owner)
    const folder = await folderOf(user)
    await writeFile(join(folder, 'target.csv'), 'old')
    await symlink('target.csv', join(folder, 'link.csv'))
    const [linked, device] = await Promise.all([
      cliProcess(user, ['export', '-o', join(folder, 'link.csv')]),
      cliProcess(user, ['export', '-o', '/dev/null']),
    ])
    expect([linked.code, device.code]).toEqual([0, 0])
    expect(await readFile(join(folder, 'target.csv'), 'utf8')).toMatch(/^id,/)
    expect((await stat('/dev/null')).isCharacterDevice()).toBe(true)
  })

  test('rejects invalid options and unknown ids', async () => {
    const { owner } = await actors()
    const user = await at(owner)
    const results = await Promise.all([
      cliProcess(user, ['export', 'everything']),
      cliProcess(user, ['export', '--from', 'yesterday']),
      cliProcess(user, ['export', 'datasets', '--status', 'ACTIVE']),
      cliProcess(user, ['export', '--dataset', '1']),
      cliProcess(user, ['export', 'episodes', '--dataset', '00000000-0000-4000-8000-000000000000']),
      cliProcess(user, ['export', '--robot', 'nonsense']),
      cliProcess(user, ['export', '-o', '/nowhere/at/all.csv']),
      cliProcess(await at(await world.operator()), ['export', 'datasets']),
    ])
    expect(results.map(({ code }) => code)).toEqual([2, 2, 2, 2, 4, 4, 1, 7])
    for (const { stdout, stderr } of results) {
      expect(stdout).toBe('')
      expect(stderr).toMatch(/^wheelhouse: /)
      expect(stderr).not.toContain('    at ')
    }
  })
})
