import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { findProgram } from '../programs/installed-programs.ts'

const run = promisify(execFile)
/** Ends a hang. A command that exceeds it looks as if the system did not allow namespaces. */
const COMMAND_LIMIT_MS = 180_000
const FOLDER = '/run/netns'
const PREFIX = 'wheelhouse-lab'

/** The parts of the lab, each in a separate network namespace. The platform listens at the site. */
export type Namespaces = Readonly<Record<'site' | 'operators' | 'robots', string>>

/** This machine does not allow what the lab needs. */
export class NotAllowedError extends Error {
  override readonly name = 'NotAllowedError'
}

/** Returns the names of the namespaces of one run of the lab. */
export function namespacesOf(pid: number): Namespaces {
  const name = (side: keyof Namespaces) => `${PREFIX}-${pid}-${side}`
  return { site: name('site'), operators: name('operators'), robots: name('robots') }
}

/** Runs `ip`. @throws NotAllowedError with its last line if it fails */
export async function ip(...args: string[]): Promise<void> {
  const program = findProgram('ip')
  if (!program) throw new NotAllowedError('the program ip is missing (Debian: apt-get install iproute2)')
  await run(program, args, { timeout: COMMAND_LIMIT_MS }).catch((cause: { stderr?: string }) => {
    const reason = cause.stderr?.trim().split('\n').at(-1) || String(cause)
    throw new NotAllowedError(`ip ${args.join(' ')}: ${reason}`)
  })
}

/** Returns a command that runs another one in a namespace. */
export function inNamespace(namespace: string): string[] {
  return [findProgram('ip') ?? 'ip', 'netns', 'exec', namespace]
}

/**
 * Creates namespaces that only this run uses, after deleting those of runs that have ended without their cleanup.
 * @throws NotAllowedError where namespaces are not allowed
 */
export async function createNamespaces(pid: number): Promise<Namespaces> {
  if (process.platform !== 'linux') throw new NotAllowedError('network namespaces exist on Linux only')
  await deleteAbandoned()
  const namespaces = namespacesOf(pid)
  for (const name of Object.values(namespaces)) {
    await ip('netns', 'add', name)
    await ip('-n', name, 'link', 'set', 'lo', 'up')
    await set(name, 'net.ipv4.tcp_no_metrics_save=1')
    await set(name, 'net.ipv4.tcp_congestion_control=cubic').catch(() =>
      set(name, 'net.ipv4.tcp_congestion_control=reno'),
    )
  }
  return namespaces
}

/**
 * Changes a setting of TCP inside a namespace, so that runs on different machines compare: no memory of earlier
 * connections; Linux's default congestion control, or its oldest one, which every namespace may use and which also
 * reacts to loss.
 */
const set = (namespace: string, setting: string) => ip('netns', 'exec', namespace, 'sysctl', '-qw', setting)

/** Deletes the namespaces of a run. Their devices and routes vanish with them. Ignores those that do not exist. */
export async function deleteNamespaces(pid: number): Promise<void> {
  for (const name of await existing()) {
    if (Object.values(namespacesOf(pid)).includes(name)) await ip('netns', 'delete', name)
  }
}

/** Deletes the namespaces of runs whose process no longer exists. */
async function deleteAbandoned(): Promise<void> {
  for (const name of await existing()) {
    const pid = Number(new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1])
    // Another run may delete the same namespace at the same time.
    if (pid > 0 && !isRunning(pid)) await ip('netns', 'delete', name).catch(() => {})
  }
}

const existing = () => readdir(FOLDER).catch(() => [])

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM'
  }
}
