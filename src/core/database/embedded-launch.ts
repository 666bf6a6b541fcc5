import { execFile } from 'node:child_process'
import { parse } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * How this machine starts PostgreSQL's programs. PostgreSQL refuses to run as root, so under root they run
 * as another account; everywhere else `prefix` is empty and there is no `account`.
 */
export interface Launcher {
  readonly prefix: readonly string[]
  readonly account?: SystemAccount | undefined
}

/** A system account by number. */
export interface SystemAccount {
  readonly uid: number
  readonly gid: number
}

/** A program with its arguments and spawn options, ready for `spawn` or `execFile`. */
export function command(launcher: Launcher, program: string, args: readonly string[]) {
  const [file, ...rest] = [...launcher.prefix, program, ...args] as [string, ...string[]]
  // The working directory of the caller may be closed to the other account; the root never is.
  const options = { cwd: parse(program).root, ...(launcher.prefix.length === 0 ? launcher.account : {}) }
  return { file, args: rest, options }
}

/** Whether this process is root, which PostgreSQL refuses to run as. */
export const isRoot = () => process.getuid?.() === 0

/** Whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The account PostgreSQL runs as when we are root: the system's `postgres` user, made when absent. */
export async function postgresAccount(): Promise<SystemAccount> {
  const found = await lookUp('postgres')
  if (found) return found
  const args = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  try {
    await run('useradd', [...args, '--shell', '/usr/sbin/nologin', 'postgres'])
  } catch (cause) {
    // Another Wheelhouse may have made it in the same moment.
    const created = await lookUp('postgres')
    if (created) return created
    throw new Error(
      'PostgreSQL refuses to run as root, and no user "postgres" could be made for it to run as. ' +
        'Run Wheelhouse as a normal user, add a system user "postgres", or set DATABASE_URL.',
      { cause },
    )
  }
  const created = await lookUp('postgres')
  if (!created) throw new Error('useradd succeeded, but the user "postgres" is still unknown')
  return created
}

async function lookUp(name: string): Promise<SystemAccount | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

/**
 * The first way of running `program` as `account` that proves to work: it must load the program with its
 * libraries and write in `directory`.
 *
 * Changing the user is enough where that user may enter both places. A checkout under root's home or a
 * `mktemp -d` (mode 0700) is closed to it, so there the program keeps one capability that only opens
 * directories and files. Reading is all it needs, but containers usually hold the wider dac_override only.
 */
export async function chooseLauncher(
  account: SystemAccount,
  program: string,
  directory: string,
): Promise<Launcher> {
  const candidates: Launcher[] = [
    { prefix: [], account },
    { prefix: keepCapability(account, 'dac_read_search'), account },
    { prefix: keepCapability(account, 'dac_override'), account },
  ]
  for (const candidate of candidates) if (await canRun(candidate, program, directory)) return candidate
  throw new Error(
    `PostgreSQL refuses to run as root, and user ${account.uid} can reach neither ${program} nor ${directory}. ` +
      'Run Wheelhouse as a normal user, open the directories above them (chmod o+x), or set DATABASE_URL.',
  )
}

/**
 * no_setuid_fixup matters: PostgreSQL checks its own programs with access(2), which otherwise ignores the
 * capabilities of every user but root.
 */
const keepCapability = ({ uid, gid }: SystemAccount, capability: string) => [
  'setpriv',
  `--reuid=${uid}`,
  `--regid=${gid}`,
  '--clear-groups',
  '--securebits=+no_setuid_fixup',
  `--inh-caps=+${capability}`,
  `--ambient-caps=+${capability}`,
]

async function canRun(launcher: Launcher, program: string, directory: string): Promise<boolean> {
  const script = ': > "$1/.probe" && rm "$1/.probe" && test -x "$0" && exec "$0" --version'
  const { file, args, options } = command(launcher, '/bin/sh', ['-c', script, program, directory])
  try {
    await run(file, args, options)
    return true
  } catch {
    return false
  }
}
