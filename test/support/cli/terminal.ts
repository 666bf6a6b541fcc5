import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { waitFor } from '../world/wait.ts'

const MAIN = fileURLToPath(new URL('../../../packages/cli/main.ts', import.meta.url))

/** A user of `wheelhouse`: a settings folder, and an environment without other settings of Wheelhouse. */
export interface CliUser {
  readonly configHome: string
  readonly env: Readonly<Record<string, string>>
}

/** Cleanups to run after a test file, whose tests may run concurrently. */
const leftovers = new Set<() => Promise<unknown>>()

/** Ends running commands and removes the folders of their users: call `afterAll(endCommands)` in every file. */
export async function endCommands(): Promise<void> {
  for (const end of leftovers) await end()
  leftovers.clear()
}

/** Creates a user with an empty settings folder, which `endCommands` removes. */
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
  /** Parsed standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read arbitrary output and assert on it
  readonly json: any
}

/** Starts `wheelhouse …` with pipes, like a script. */
export function startCli(user: CliUser, args: readonly string[], input?: string) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: user.env, stdio: 'pipe' })
  return follow(child, input)
}

/** Runs `wheelhouse …` in its own process to its end. `cli` of in-process.ts is cheaper. */
export async function cliProcess(user: CliUser, args: readonly string[], input = ''): Promise<Finished> {
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
  child.stdin?.on('error', () => {}) // the process may end without reading
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
    /** Waits until standard output (or error) contains the text. */
    expectText: (text: string | RegExp, from: 'stdout' | 'stderr' = 'stdout') =>
      waitFor(() => {
        const sent = from === 'stdout' ? stdout : stderr
        const found = typeof text === 'string' ? sent.includes(text) : text.test(sent)
        if (!found) throw new Error(`"${text}" was not printed:\n${stdout}\n${stderr}`)
        return sent
      }),
    signal: (name: NodeJS.Signals) => child.kill(name),
  }
}

export const CTRL_C = '\x03'
export const ENTER = '\r'

const shellQuoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * Starts `wheelhouse …` in a pseudo-terminal (`script` of util-linux), which echoes typed text and converts Ctrl-C into a
 * signal. Both output streams appear on one screen. `after` is a shell command that runs in the same terminal after the
 * program has ended.
 */
export function openTerminal(
  user: CliUser,
  args: readonly string[],
  { columns = 100, rows = 30, after }: { columns?: number; rows?: number; after?: string } = {},
) {
  const command = [process.execPath, MAIN, ...args].map(shellQuoted).join(' ')
  // The shell continues to run `after`. It ignores no signal that ends the command.
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
    /** Returns all output with its control sequences. */
    written: stdout,
    /** Returns all output without control sequences. */
    shown: () => stripVTControlCharacters(stdout()),
    /** Waits until the screen has shown the text. */
    shows: (text: string | RegExp) =>
      waitFor(() => {
        const sent = stripVTControlCharacters(stdout())
        const found = typeof text === 'string' ? sent.includes(text) : text.test(sent)
        if (!found) throw new Error(`"${text}" was not shown:\n${sent}`)
        return sent
      }),
    says: expectText,
    type: (keys: string) => void child.stdin?.write(keys),
  }
}
