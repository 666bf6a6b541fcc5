import { randomUUID } from 'node:crypto'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../../support/cli/in-process.ts'
import { corrupt, pathOf, signedInBrowser, startSignIn, store, stored } from '../../support/cli/sign-in.ts'
import {
  type CliUser,
  CTRL_C,
  createCliUser,
  ENTER,
  endCommands,
  openTerminal,
  startCli,
} from '../../support/cli/terminal.ts'
import { listening } from '../../support/network/listening.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

afterAll(endCommands)

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await world[Symbol.asyncDispose]())

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

/** Creates a user who is signed in with an API key. */
async function withKey() {
  const user = await createCliUser()
  const owner = await world.client()
  const { key, id } = await owner.key()
  const { code, stderr } = await cli(user, ['login', world.baseUrl, '--api-key'], `${key}\n`)
  expect(code, stderr).toBe(0)
  return { user, key, revoke: () => owner.delete(`/api/auth/api-keys/${id}`) }
}

/** Settles when a process sleeps without using processor time: it then waits for its input. */
async function idle(pid: number | undefined): Promise<void> {
  let last = ''
  await waitFor(async () => {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')
    const [state, used] = [fields[2], fields.slice(13, 15).join()]
    const before = last
    last = used
    expect([state, used]).toEqual(['S', before])
  })
}

const inBrowser = (email: string) => signedInBrowser(world, email)
const signInUnderWay = (user: CliUser) => startSignIn(world, user)

describe.concurrent('signing in', () => {
  test('in the browser: the user confirms the code there, and the command line is then signed in as that user', async () => {
    const user = await createCliUser()
    const { program, browser, confirmation, code, answer } = await signInUnderWay(user)
    expect(confirmation.text).toContain(code)
    expect(confirmation.text).toContain('Is this your command line?')
    const signIn = await answer({ confirm: 'yes' })
    expect(signIn.text).toContain('Any other e-mail address')
    const done = await browser.submit(signIn, { email: 'ada@example.com' })
    expect(done.text).toContain('The command line is signed in')

    const ended = await program.ended
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.json).toMatchObject({ email: 'ada@example.com', server: world.baseUrl, profile: 'default' })
    const { json } = await cli(user, ['whoami', '--json'])
    expect(json).toMatchObject({ email: 'ada@example.com', credential: 'session' })

    expect(await modeOf(pathOf(user))).toBe(0o600)
    expect(await modeOf(join(user.configHome, 'wheelhouse'))).toBe(0o700)
    const { credential } = (await stored(user)).profiles.default
    expect(ended.stdout + ended.stderr + json).not.toContain(credential.token)
    expect(credential).toMatchObject({ use: 'access_token', refresh_token: expect.any(String) })
  })

  test('refused in the browser: fails and stores nothing', async () => {
    const user = await createCliUser()
    const { program, answer } = await signInUnderWay(user)
    expect((await answer({ abort: 'yes' })).text).toContain('rejected')
    const { code, stderr } = await program.ended
    expect(code).toBe(1)
    expect(JSON.parse(stderr.trim().split('\n').at(-1) as string)).toEqual({
      error: 'The sign-in was refused in the browser.',
      code: 'refused',
    })
    await expect(stat(pathOf(user))).rejects.toThrow('ENOENT')
  })

  test.each([
    ['while it waits for the browser', [], 'Ctrl-C cancels'],
    ['while an API key is typed', ['--api-key'], 'API key:'],
  ])('Ctrl-C %s ends it without an error and restores the terminal', async (_when, options, shown) => {
    const user = await createCliUser()
    const after = 'stty -a | tr ";" "\\n" | grep -q -- "-echo \\|-icanon" && echo RAW || echo RESTORED'
    const terminal = openTerminal(user, ['login', world.baseUrl, ...options], { after })
    await terminal.shows(shown)
    terminal.type(CTRL_C)
    const { code } = await terminal.ended
    expect(code).toBe(130)
    // A prompt is drawn again when it ends.
    const rest = terminal.shown().split(shown).at(-1)
    expect(rest).toMatch(/^[\s^C.]*wheelhouse: Interrupted\.\s+RESTORED\s*$/)
    await expect(stat(pathOf(user))).rejects.toThrow('ENOENT')
  })

  test('Ctrl-C ends it also while it waits for a key from a pipe', async () => {
    const user = await createCliUser()
    const program = startCli(user, ['login', world.baseUrl, '--api-key'])
    program.child.stdin?.write('svc_live_half')
    await idle(program.child.pid)
    program.signal('SIGINT')
    const { code, stderr } = await program.ended
    expect([130, null]).toContain(code) // null: it had not installed its handler yet
    expect(stderr).not.toMatch(/fault|Error|\bat /)
  })

  test('an expired token is renewed once, by one of many processes', async () => {
    const { user } = await inBrowser('grace@example.com')
    const before = (await stored(user)).profiles.default.credential
    await corrupt(user, { expires_at: '2020-01-01T00:00:00Z' })
    const answers = await Promise.all(Array.from({ length: 4 }, () => cli(user, ['whoami', '--json'])))
    for (const { code, json } of answers) {
      expect({ code, json }).toMatchObject({ code: 0, json: { email: 'grace@example.com' } })
    }
    const after = (await stored(user)).profiles.default.credential
    expect(after.token).not.toBe(before.token)
    expect(after.refresh_token).not.toBe(before.refresh_token)
    expect(Date.parse(after.expires_at)).toBeGreaterThan(Date.now())
  })

  test('a token that the platform refuses is renewed before it expires by the local clock', async () => {
    const { user } = await inBrowser('clock@example.com')
    await corrupt(user, { token: 'of.another.clock' })
    expect((await cli(user, ['whoami', '--json'])).json).toMatchObject({ email: 'clock@example.com' })
  })

  test('logout also ends the sign-in at the provider', async () => {
    const { user } = await inBrowser('leaves@example.com')
    const file = await stored(user)
    const { code, json } = await cli(user, ['logout', '--json'])
    expect({ code, json }).toEqual({
      code: 0,
      json: { signed_out: [{ profile: 'default', server: world.baseUrl }] },
    })
    expect((await stored(user)).profiles).toEqual({})
    expect((await cli(user, ['whoami', '-s', world.baseUrl])).code).toBe(3)
    file.profiles.default.credential.expires_at = '2020-01-01T00:00:00Z'
    await store(user, file)
    const again = await cli(user, ['whoami'])
    expect(again.code).toBe(3)
    expect(again.stderr).toContain(`wheelhouse login ${world.baseUrl}`)
  })
})

describe.concurrent('what goes on for long', () => {
  /** Creates a user with a modified sign-in. */
  async function corrupted(change: Record<string, string>): Promise<CliUser> {
    const { user } = await inBrowser(`${randomUUID()}@example.com`)
    await corrupt(user, change)
    return { ...user, env: { ...user.env, WHEELHOUSE_HUB_URL: world.hubUrl } }
  }

  test('renews a token that the hub refuses', async () => {
    const user = await corrupted({ token: 'of.another.clock' })
    // Only the hub receives a request: it accepts the credential and does not find the session.
    const unknown = '00000000-0000-4000-8000-000000000000'
    const { code, stderr } = await cli(user, ['chat', unknown, 'Hello'])
    expect({ code, stderr }).toMatchObject({ code: 4, stderr: expect.stringContaining('not found') })
  })

  test('ends when only a new sign-in helps', async () => {
    const user = await corrupted({ expires_at: '2020-01-01T00:00:00Z', refresh_token: 'spent long ago' })
    const { code, stderr } = await cli(user, ['watch', '--robots'])
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: `wheelhouse: Your sign-in has expired. Sign in again with: wheelhouse login ${world.baseUrl}\n`,
    })
  })
})

describe.concurrent('an API key', () => {
  test('is read from standard input and stored for its owner only', async () => {
    const { user, key } = await withKey()
    expect(await modeOf(pathOf(user))).toBe(0o600)
    expect((await stored(user)).profiles.default).toEqual({
      server: world.baseUrl,
      credential: { kind: 'api_key', key },
    })
    const { stdout, stderr } = await cli(user, ['whoami'])
    expect(stdout).toContain('API key')
    expect(stdout + stderr).not.toContain(key)
  })

  test('is typed without echo', async () => {
    const user = await createCliUser()
    const { key } = await (await world.client()).key()
    const screen = openTerminal(user, ['login', world.baseUrl, '--api-key'])
    await screen.shows('API key: ')
    screen.type(`${key}x\x7f${ENTER}`)
    expect((await screen.ended).code).toBe(0)
    expect(screen.shown()).toContain('You are signed in')
    expect(screen.shown()).not.toContain(key.slice(0, 20))
  })

  test.each([
    ['Ctrl-C', CTRL_C],
    ['Ctrl-D', '\x04'],
    ['Escape', '\x1b'],
  ])('prompt ends with %s', async (_, key) => {
    const screen = openTerminal(await createCliUser(), ['login', world.baseUrl, '--api-key'])
    await screen.shows('API key: ')
    screen.type(`svc_live_half${key}`)
    expect((await screen.ended).code).toBe(130)
    expect(screen.shown()).not.toContain('svc_live_half')
  })

  test('prompt is readable in a terminal of unknown width', async () => {
    const screen = openTerminal(await createCliUser(), ['login', world.baseUrl, '--api-key'], { columns: 0 })
    await screen.shows('API key: ')
    screen.type(CTRL_C)
    expect((await screen.ended).code).toBe(130)
  })

  test('that the platform refuses is not stored', async () => {
    const user = await createCliUser()
    const { code, stderr } = await cli(user, ['login', world.baseUrl, '--api-key'], 'svc_live_invented')
    expect({ code, stderr }).toMatchObject({ code: 3, stderr: expect.stringContaining('does not accept') })
    await expect(stat(pathOf(user))).rejects.toThrow('ENOENT')
  })

  test('that was revoked fails with a hint to sign in again', async () => {
    const { user, revoke } = await withKey()
    expect((await revoke()).status).toBe(204)
    const { code, stderr } = await cli(user, ['whoami'])
    expect(code).toBe(3)
    expect(stderr).toContain(`wheelhouse login ${world.baseUrl}`)
  })
})

describe.concurrent('the stored file', () => {
  test('loses the permissions of other users', async () => {
    const { user } = await withKey()
    await chmod(pathOf(user), 0o644)
    expect((await cli(user, ['whoami'])).code).toBe(0)
    expect(await modeOf(pathOf(user))).toBe(0o600)
  })

  test.each([
    ['damaged', '{"version":1,', 'is damaged'],
    ['of another version', '{"version":7,"profiles":{}}', 'another version'],
    ['something else', '["no"]', 'is not a credentials file of wheelhouse'],
  ])('that is %s fails with its path and is not changed', async (_, text, expectedError) => {
    const { user, key } = await withKey()
    await writeFile(pathOf(user), text)
    const { code, stderr } = await cli(user, ['whoami'])
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(expectedError) })
    expect(stderr).toContain(pathOf(user))
    expect((await cli(user, ['login', world.baseUrl, '--api-key'], key)).code).toBe(1)
    expect(await readFile(pathOf(user), 'utf8')).toBe(text)
  })

  test('contains several sign-ins and uses each only for its platform', async () => {
    const { user } = await withKey()
    await using other = await createOtherPlatform()
    const login = await cli(user, ['login', other.url, '--profile', 'other', '--api-key'], 'svc_live_other')
    expect(login.code, login.stderr).toBe(0)
    expect((await cli(user, ['profiles', 'list', '--json'])).json).toEqual([
      { name: 'default', server: world.baseUrl, current: false, credential: 'api_key', expires_at: null },
      { name: 'other', server: other.url, current: true, credential: 'api_key', expires_at: null },
    ])
    expect((await cli(user, ['whoami', '-p', 'default'])).code).toBe(0)
    expect((await cli(user, ['whoami', '-s', world.baseUrl, '--json'])).json.server).toBe(world.baseUrl)
    expect((await cli(user, ['profiles', 'use', 'default'])).code).toBe(0)
    expect((await cli(user, ['whoami', '--json'])).json.profile).toBe('default')
    expect((await cli(user, ['profiles', 'use', 'unknown'])).code).toBe(4)
    expect((await cli(user, ['whoami', '-p', 'default', '-s', other.url])).code).toBe(2)
    expect(other.credentials).toEqual(['Bearer svc_live_other'])
  })
})

/** Starts a fake platform that records the credentials it receives. */
async function createOtherPlatform() {
  const credentials: (string | undefined)[] = []
  const server = await listening((request, response) => {
    credentials.push(request.headers.authorization)
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ id: 'x', email: null, display_name: 'Other', roles: [] }))
  })
  return { ...server, credentials }
}
