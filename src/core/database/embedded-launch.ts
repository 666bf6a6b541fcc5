import { execFile } from 'node:child_process'
import { parse } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * How this machine starts the programs of PostgreSQL. PostgreSQL refuses to run as root, so under root they run as
 * another account. Otherwise `prefix` is empty and `account` is undefined.
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

/** Returns a program with its arguments and spawn options for `spawn` or `execFile`. */
export function command(launcher: Launcher, program: string, args: readonly string[]) {
  const [file, ...rest] = [...launcher.prefix, program, ...args] as [string, ...string[]]
  // The other account may not have access to the current working directory. It always has access to the root
  // directory.
  const options = { cwd: parse(program).root, ...(launcher.prefix.length === 0 ? launcher.account : {}) }
  return { file, args: rest, options }
}

/** Returns whether this process runs as root. PostgreSQL refuses to run as root. */
export const isRoot = () => process.getuid?.() === 0

/** Returns whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Returns the account that runs PostgreSQL under root: the system user `postgres`. Creates the user when it does not
 * exist.
 */
export async function postgresAccount(): Promise<SystemAccount> {
  const found = await lookUp('postgres')
  if (found) return found
  const args = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  try {
    await run('useradd', [...args, '--shell', '/usr/sbin/nologin', 'postgres'])
  } catch (cause) {
    // Another Wheelhouse may have created the user at the same time.
    const created = await lookUp('postgres')
    if (created) return created
    throw new Error(
      'PostgreSQL refuses to run as root, and Wheelhouse could not create the user "postgres" to run it. ' +
        'Run Wheelhouse as a normal user, add a system user "postgres", or set DATABASE_URL.',
      { cause },
    )
  }
  const created = await lookUp('postgres')
  if (!created) throw new Error('useradd succeeded, but the user "postgres" does not exist')
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
 * Returns the first launcher that can run `program` as `account`: it must load the program with its libraries and
 * write in `directory`.
 *
 * Changing the user is sufficient when that user can access both paths. A checkout under the home directory of root
 * or a `mktemp -d` (mode 0700) is closed to it. In that case the program keeps one capability that only opens
 * directories and files. The read capability is sufficient, but containers usually have only the wider dac_override.
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
    `PostgreSQL refuses to run as root, and user ${account.uid} has no access to ${program} or ${directory}. ` +
      'Run Wheelhouse as a normal user, open the directories above them (chmod o+x), or set DATABASE_URL.',
  )
}

/**
 * Returns the prefix that runs a command as an account with one capability. no_setuid_fixup is required: PostgreSQL
 * checks its own programs with access(2), which otherwise ignores the capabilities of every user except root.
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
