import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Lab, openLab } from '../bench/lab.ts'
import { users } from '../bench/rest/fixtures.ts'
import { startWheelhouse } from '../bench/targets.ts'

const run = promisify(execFile)
const LIMIT_MS = 300_000
const usage = `npm run compatibility -- FOLDER
  Uses the SDK and the command line of an earlier version with this platform. The folder is a checkout with its node_modules,
  from which they are packed, or one into which npm has installed them.`

/** Commands of the command line that need an account only. `{session}` and `{robot}` are the newest ones. */
const commands = [
  'status',
  'whoami',
  'robots list',
  'robots show {robot}',
  'sessions list',
  'sessions show {session}',
  'search Rover',
  'stats',
  'events --limit 5',
  'recordings list',
  'datasets list',
  'invoices list',
  'notifications',
  'export sessions --format csv',
]

/** Returns a folder with the packages: the given one or, for a checkout, an empty one into which they are packed and installed. */
async function install(checkout: string, home: string) {
  const [packed, folder] = [join(home, 'packed'), join(home, 'project')]
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, HOME: home }
  if (!existsSync(join(checkout, 'tools/scripts/pack.mjs'))) return { folder: checkout, env }
  await run(process.execPath, [join(checkout, 'tools/scripts/pack.mjs'), '--to', packed], { cwd: checkout })
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const tarballs = (await readdir(packed)).filter((name) => name.endsWith('.tgz'))
  const paths = tarballs.map((name) => join(packed, name))
  await run('npm', ['install', '--no-audit', '--no-fund', ...paths], { cwd: folder, env })
  return { folder, env }
}

async function check(lab: Lab, { folder, env }: Awaited<ReturnType<typeof install>>) {
  const wheelhouse = await startWheelhouse(lab, 'single')
  const [[owner], [operator]] = [await users(lab.db, 1, 'client'), await users(lab.db, 1, 'operator')]
  const settings = { ...env, API: wheelhouse.apiUrl, HUB: wheelhouse.hubUrl }
  const keys = { OWNER_KEY: owner?.apiKey, OPERATOR_KEY: operator?.apiKey }
  const version = JSON.parse(
    await readFile(join(folder, 'node_modules/@wheelhouse/cli/package.json'), 'utf8'),
  )
  print(`SDK and command line ${version.version} with the platform of this checkout`)
  const scenario = fileURLToPath(new URL('scenario.mjs', import.meta.url))
  const options = { cwd: folder, timeout: LIMIT_MS }
  print((await run(process.execPath, [scenario], { ...options, env: { ...settings, ...keys } })).stdout)
  const { rows } = await lab.db.query<{ id: string; robot_id: string }>(
    'select id, robot_id from sessions where client_id = $1',
    [owner?.id],
  )
  for (const command of commands) {
    const args = command
      .replace('{session}', rows[0]?.id ?? '')
      .replace('{robot}', rows[0]?.robot_id ?? '')
      .split(' ')
    const account = {
      WHEELHOUSE_URL: wheelhouse.apiUrl,
      WHEELHOUSE_HUB_URL: wheelhouse.hubUrl,
      WHEELHOUSE_API_KEY: owner?.apiKey,
    }
    const { stdout } = await run(join(folder, 'node_modules/.bin/wheelhouse'), [...args, '--json'], {
      ...options,
      env: { ...env, ...account },
    })
    print(`ok wheelhouse ${command}: ${stdout.length} characters`)
  }
  await wheelhouse.stop()
}

const print = (text: string): void => void process.stdout.write(`${text.trimEnd()}\n`)

async function main(): Promise<void> {
  const [checkout] = process.argv.slice(2)
  if (checkout === undefined || checkout === '--help') return print(usage)
  const home = await mkdtemp(join(tmpdir(), 'wheelhouse-compatibility-'))
  let close: Lab['close'] = async () => {}
  try {
    const installed = await install(resolve(checkout), home)
    const lab = await openLab(1, (closeLab) => {
      close = closeLab
    })
    await check(lab, installed)
  } finally {
    await close()
    await rm(home, { recursive: true, force: true })
  }
}

main().catch((cause: unknown) => {
  const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }
  process.stderr.write(`${stdout}${stderr}\n${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 1
})
