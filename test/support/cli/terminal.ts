import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { vi } from 'vitest'

const MAIN = fileURLToPath(new URL('../../../packages/cli/main.ts', import.meta.url))
const waitOptions = { timeout: 30_000, interval: 20 }

/** What somebody who calls `wheelhouse` has: a settings folder, and an environment without anything of ours. */
export interface CliUser {
  readonly configHome: string
  readonly env: Readonly<Record<string, string>>
}

/** What must be gone after a file of tests, whose tests may run side by side. */
const leftovers = new Set<() => Promise<unknown>>()

/** Ends the commands that still run, and removes what their users have kept: `afterAll(endCommands)` in every file. */
export async function endCommands(): Promise<void> {
  for (const end of leftovers) await end()
  leftovers.clear()
}

/** Somebody with an empty settings folder, which is gone after the tests. */
export async function createCliUser(env: Record<string, string> = {}): Promise<CliUser> {
  const configHome = await mkdtemp(join(tmpdir(), 'wheelhouse-cli-'))
  leftovers.add(() => rm(configHome, { recursive: true, force: true }))
  const { PATH, HOME, LANG } = process.env
  const outer = { ...(PATH && { PATH }), ...(HOME && { HOME }), ...(LANG && { LANG }) }
  return { configHome, env: { ...outer, XDG_CONFIG_HOME: configHome, ...env } }
}

export interface Finished {
  /** The exit code; null when a signal ended the process. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Standard output as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever was printed and asserts on it
  readonly json: any
}

/** `wheelhouse …` with pipes: a process of its own, as scripts call it. */
export function startCli(user: CliUser, args: readonly string[], input?: string) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: user.env, stdio: 'pipe' })
  return follow(child, input)
}

/** `wheelhouse …` to its end. */
export async function cli(user: CliUser, args: readonly string[], input = ''): Promise<Finished> {
  return await startCli(user, args, input).ended
}

function follow(child: ChildProcess, input?: string) {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  child.stdin?.on('error', () => {}) // it may end without reading
  if (input !== undefined) child.stdin?.end(input)
  const ended = once(child, 'close').then(
    ([code]): Finished => ({
      code,
      stdout,
      stderr,
      get json() {
        return JSON.parse(stdout)
      },
    }),
  )
  const end = async () => {
    child.kill('SIGKILL')
    await ended
  }
  leftovers.add(end)
  void ended.finally(() => leftovers.delete(end))
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    /** Settles once standard output (or error) contains it. */
    expectText: (text: string | RegExp, from: 'stdout' | 'stderr' = 'stdout') =>
      vi.waitFor(() => {
        const sent = from === 'stdout' ? stdout : stderr
        const found = typeof text === 'string' ? sent.includes(text) : text.test(sent)
        if (!found) throw new Error(`"${text}" was not said:\n${stdout}\n${stderr}`)
        return sent
      }, waitOptions),
    signal: (name: NodeJS.Signals) => child.kill(name),
  }
}

export const CTRL_C = '\x03'
export const ENTER = '\r'

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * `wheelhouse …` in a terminal of its own (a pseudo-terminal by `script` of util-linux), which echoes what is typed and
 * turns Ctrl-C into a signal. Both outputs arrive on the one screen. `after` is a command of the shell that runs in the
 * same terminal once the program has ended.
 */
export function openTerminal(
  user: CliUser,
  args: readonly string[],
  { columns = 100, rows = 30, after }: { columns?: number; rows?: number; after?: string } = {},
) {
  const command = [process.execPath, MAIN, ...args].map(shellQuoted).join(' ')
  // The shell lives on to run `after`; it ignores no signal that ends the command.
  const run =
    after === undefined ? `exec ${command}` : `trap : INT; ${command}; code=$?; ${after}; exit $code`
  const inside = `stty cols ${columns} rows ${rows}; ${run}`
  const child = spawn('script', ['-qfe', '-E', 'always', '-c', inside, '/dev/null'], {
    env: { ...user.env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { ended, stdout, expectText } = follow(child)
  return {
    ended,
    /** All that was ever written on the screen, with its control sequences. */
    written: stdout,
    /** The same without them. */
    shown: () => stripVTControlCharacters(stdout()),
    /** Settles once the screen has shown it. */
    shows: (text: string | RegExp) =>
      vi.waitFor(() => {
        const sent = stripVTControlCharacters(stdout())
        const found = typeof text === 'string' ? sent.includes(text) : text.test(sent)
        if (!found) throw new Error(`"${text}" was not shown:\n${sent}`)
        return sent
      }, waitOptions),
    says: expectText,
    type: (keys: string) => void child.stdin?.write(keys),
  }
}
